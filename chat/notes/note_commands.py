"""Notes: saved without overwriting anybody's words, added to, brought back as they were."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from urllib.parse import urlencode

from django.contrib.auth.models import User
from django.db import transaction
from django.urls import reverse
from django.utils import timezone
from merge3 import Merge3

from chat.answers.question_commands import question_of
from chat.citations.marker_decoder import defused, format_marker
from chat.citations.snapshots import quoted
from chat.models import Citation, Message, Note, NoteVersion
from chat.notes.live_citations import cited_in, copied_citations
from documents.models import Document

VERSIONS_KEPT = timedelta(days=1)  # all of them; of older ones the last of each hour


@dataclass(frozen=True, slots=True)
class Written:
    """What an editor holds, and the revision it began from."""

    title: str
    content: str
    revision: int


def save_note(note: Note, written: Written) -> Note:
    """Saves what was written; what others saved meanwhile is merged with it, line by line."""
    with transaction.atomic():
        locked = Note.objects.select_for_update().get(pk=note.pk)
        content = written.content
        if written.revision != locked.revision:
            content = merged(base_of(locked, written.revision), locked.content, content)
        if (content, written.title) != (locked.content, locked.title):
            change_note(locked, title=written.title, content=content)
    return locked


def change_note(locked: Note, **values: object) -> None:
    """Gives a note (its row is locked) other words; the old ones stay as a version."""
    keep_version(locked)
    for name, value in values.items():
        setattr(locked, name, value)
    locked.revision += 1
    locked.save()
    locked.citations.add(*cited_in(locked.content, locked.owner))


def keep_version(note: Note) -> None:
    NoteVersion.objects.create(note=note, revision=note.revision, title=note.title, content=note.content)
    old = NoteVersion.objects.filter(note=note, created_at__lt=timezone.now() - VERSIONS_KEPT)
    old.exclude(pk__in=old.last_of_each_hour()).delete()


def base_of(note: Note, revision: int) -> str:
    """The words both writers began from; '' when that version is no longer kept."""
    found = NoteVersion.objects.filter(note=note, revision=revision).values_list("content", flat=True)
    return found.first() or ""


def merged(base: str, theirs: str, ours: str) -> str:
    """Both changes; where they touch the same lines, both versions of these lines, theirs first."""
    pieces: list[str] = []
    for group in Merge3(lines(base), lines(theirs), lines(ours)).merge_groups():
        kind, *versions = group
        pieces += [*versions[1], *versions[2]] if kind == "conflict" else versions[0]
    return "".join(pieces)


def lines(text: str) -> list[str]:
    """Lines with their ends; the last one gets one too, so that what is put after it begins a line."""
    return (
        f"{text}\n".splitlines(keepends=True) if text and not text.endswith("\n") else text.splitlines(True)
    )


def restore_version(note: Note, version: NoteVersion) -> Note:
    """The note as it was then; what it is now becomes a version."""
    with transaction.atomic():
        locked = Note.objects.select_for_update().get(pk=note.pk)
        change_note(locked, title=version.title, content=version.content)
    return locked


def add_answer(answer: Message, user: User) -> Note:
    """Adds a question and its answer, citations live, to the last note about what was asked."""
    with transaction.atomic():
        note = Note.objects.select_for_update().get(pk=note_about(answer, user).pk)
        content, citations = copied_citations(answer)
        note.citations.add(*citations)
        asked = one_line(question_of(answer).content)
        change_note(note, content=f"{begun(note)}### {asked}\n\n{content}\n")
    return note


def add_quote(note: Note, document: Document, page: int, words: str) -> Note:
    """Adds words selected on a page, cited live; a link to their page when no passage holds them."""
    citations = Citation.objects.bulk_create(quoted(document, page, words))
    cited = "".join(format_marker(citation.pk, citation.page_number) for citation in citations)
    link = f"[p. {page}]({reverse('document', args=[document.pk])}?{urlencode({'page': page, 'q': words})})"
    with transaction.atomic():
        locked = Note.objects.select_for_update().get(pk=note.pk)
        locked.citations.add(*citations)
        change_note(locked, content=f"{begun(locked)}> {one_line(words)} {cited or link}\n")
    return locked


def begun(note: Note) -> str:
    """What the note holds, ready for another paragraph."""
    return f"{note.content.rstrip()}\n\n" if note.content.strip() else ""


def one_line(text: str) -> str:
    return defused(" ".join(text.split()))


def note_about(answer: Message, user: User) -> Note:
    """The user's last note on the conversation's one document; for several documents, one of its own."""
    documents = list(answer.conversation.documents.all()[:2])
    document = documents[0] if len(documents) == 1 else None
    title = document.title[:200] if document else answer.conversation.title
    found = Note.objects.visible_to(user).filter(document=document)
    if document is None:
        found = found.filter(title=title)
    return found.first() or Note.objects.create(owner=user, document=document, title=title)
