"""Citations in notes: copies that outlive their answer, shown like those of answers.

A note names a citation as ``[[cite:<citation id>:<page>]]``. The copy belongs to
the note: answering again, or deleting the conversation, takes nothing from it.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Container
from functools import reduce
from operator import or_
from uuid import UUID, uuid4

import msgspec
from django.contrib.auth.models import AnonymousUser, User
from django.db.models import Q
from django.utils.safestring import SafeString

from chat.citations.marker_decoder import StoredMark, format_marker, stored_marks, with_marks
from chat.citations.presenters import shown_citations
from chat.markdown.html import ON_A_PAGE, render_message
from chat.models import Citation, Message, Note

DIGITS = 8  # of a citation's id: with its page enough to know it by
EDITED = re.compile(rf"\[\[p\. (\d{{1,7}}) #([0-9a-f]{{{DIGITS}}})\]\]")


def copied_citations(answer: Message) -> tuple[str, list[Citation]]:
    """The answer's Markdown with markers of copies of its citations, and these copies, stored."""
    copies = list(answer.citations.order_by("position"))
    for copy in copies:
        copy.pk, copy.message_id, copy.feedback = uuid4(), None, ""
        copy._state.adding = True
    Citation.objects.bulk_create(copies)
    markers = [format_marker(copy.pk, copy.page_number) for copy in copies]
    content = with_marks(answer.content, lambda at, mark: markers[at] if at < len(markers) else "")
    return content.strip(), copies


def cited_in(content: str, user: User | AnonymousUser) -> list[Citation]:
    """The citations named in a note that its writer may see."""
    ids = {key for mark in stored_marks(content) if (key := as_uuid(mark.unit_id))}
    return list(Citation.objects.visible_to(user).filter(pk__in=ids))


def for_editor(content: str, user: User | AnonymousUser) -> str:
    """A note as its writer edits it: ``[[p. 8 #4188e6d9]]`` for a citation, page and first digits of its id.

    What ``from_editor`` could not tell apart stays as it is stored.
    """
    known = Counter((citation.pk.hex[:DIGITS], citation.page_number) for citation in cited_in(content, user))

    def written(_: int, mark: StoredMark) -> str:
        key = as_uuid(mark.unit_id)
        if key and known[key.hex[:DIGITS], mark.page] == 1:
            return f"[[p. {mark.page} #{key.hex[:DIGITS]}]]"
        return content[mark.start : mark.end]

    return with_marks(content, written)


def from_editor(content: str, user: User | AnonymousUser) -> str:
    """The note as it is stored; a mark may have been carried over from any note of its writer."""
    wanted = {match[2] for match in EDITED.finditer(content)}
    if not wanted:
        return content
    begins = [Q(pk__range=(UUID(f"{digits:0<32}"), UUID(f"{digits:f<32}"))) for digits in wanted]
    found = Citation.objects.visible_to(user).exclude(notes=None).filter(reduce(or_, begins))
    by_name = {(key.hex[:DIGITS], page): key for key, page in found.values_list("pk", "page_number")}

    def stored(match: re.Match[str]) -> str:
        key = by_name.get((match[2], int(match[1])))
        return format_marker(key, int(match[1])) if key else match[0]

    return EDITED.sub(stored, content)


def rendered_note(note: Note, user: User | AnonymousUser) -> SafeString:
    """The note's safe HTML; citations are numbered by first use, those that are gone vanish. Four queries."""
    by_id = {UUID(shown.id): shown for shown in shown_citations(cited_in(note.content, user))}
    numbers: dict[UUID, int] = {}
    used = []
    for key in live_marks(note.content, by_id):
        number = numbers.setdefault(key, len(numbers) + 1)
        used.append(msgspec.structs.replace(by_id[key], number=number))
    return render_message(only_live(note.content, by_id), used, top=ON_A_PAGE)


def live_marks(content: str, known: Container[UUID | None]) -> list[UUID]:
    ids = [as_uuid(mark.unit_id) for mark in stored_marks(content)]
    return [key for key in ids if key is not None and key in known]


def only_live(content: str, known: Container[UUID | None]) -> str:
    """The content without markers of citations that are not known."""
    return with_marks(
        content, lambda at, mark: content[mark.start : mark.end] if as_uuid(mark.unit_id) in known else ""
    )


def as_uuid(text: str) -> UUID | None:
    try:
        return UUID(text)
    except ValueError:
        return None
