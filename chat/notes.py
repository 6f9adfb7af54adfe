"""Notes: citations, saving with a three-way merge, versions, added answers and quotes, search."""

from __future__ import annotations

import logging
import re
import time
from collections import Counter
from collections.abc import Container, Iterator
from dataclasses import dataclass
from datetime import timedelta
from functools import reduce
from operator import or_
from typing import Any
from urllib.parse import urlencode
from uuid import UUID, uuid4

import msgspec
from django.contrib.auth.models import AnonymousUser, User
from django.db import transaction
from django.db.models import Exists, OuterRef, Q, QuerySet
from django.db.models.functions import Length
from django.urls import reverse
from django.utils import timezone
from django.utils.safestring import SafeString
from merge3 import Merge3

from chat.answers.events import CitationShown
from chat.citations.snapshots import quoted
from chat.citations.stored_citations import shown_citations
from chat.markdown.html import ON_A_PAGE, render_message
from chat.markdown.source_map import parsed_blocks
from chat.models import Citation, Message, Note, NoteVersion
from citing.marker_decoder import StoredMark, defused_line, format_marker, stored_marks, with_marks
from documents.importers.block import ImportedBlock, make_block
from documents.importers.block_import import parsed_document
from documents.ingestion.leases import Lease, LostLease
from documents.ingestion.parser import content_of
from documents.ingestion.persistence import replace_content
from documents.models import Document
from documents.models.library import uuid_or_none
from retrieval.index.document_index import index_document
from retrieval.provider_calls import ProviderError
from retrieval.query.scope import Scope
from retrieval.results import Hit, SearchOptions, SearchResult
from retrieval.search import search

# --- Citations in notes: independent copies of an answer's citations ---
#
# A note refers to a citation by ``[[cite:<citation id>:<page>]]``. The copy belongs to the note, so a retried
# answer or a deleted conversation does not change it.

logger = logging.getLogger(__name__)
LONGEST_NOTE = 500_000  # characters
DIGITS = 8  # of a citation's id, which identify it together with its page
EDITED = re.compile(rf"\[\[p\. (\d{{1,7}}) #([0-9a-f]{{{DIGITS}}})\]\]")


def copied_citations(answer: Message) -> tuple[str, list[Citation]]:
    """Store copies of the answer's citations. Return its Markdown with their markers, and the copies."""
    copies = list(answer.citations.order_by("position"))
    for copy in copies:
        copy.pk, copy.message_id, copy.feedback = uuid4(), None, ""
        copy._state.adding = True
    Citation.objects.bulk_create(copies)
    markers = [format_marker(copy.pk, copy.page_number) for copy in copies]
    content = with_marks(answer.content, lambda at, mark: markers[at] if at < len(markers) else "")
    return content.strip(), copies


def cited_in(content: str, user: User | AnonymousUser) -> list[Citation]:
    """Return the citations referred to in a note that its owner may see."""
    ids = {key for mark in stored_marks(content) if (key := uuid_or_none(mark.unit_id))}
    return list(Citation.objects.visible_to(user).filter(pk__in=ids))


def for_editor(content: str, user: User | AnonymousUser) -> str:
    """Convert a note for its editor: ``[[p. 8 #4188e6d9]]`` is a citation, by page and start of its id.

    Ambiguous citations are not converted.
    """
    known = Counter((citation.pk.hex[:DIGITS], citation.page_number) for citation in cited_in(content, user))

    def written(_: int, mark: StoredMark) -> str:
        key = uuid_or_none(mark.unit_id)
        if key and known[key.hex[:DIGITS], mark.page] == 1:
            return f"[[p. {mark.page} #{key.hex[:DIGITS]}]]"
        return content[mark.start : mark.end]

    return with_marks(content, written)


def from_editor(content: str, user: User | AnonymousUser) -> str:
    """Convert a note from its editor; a citation may be copied from any note of the user."""
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


def numbered_note(note: Note, user: User | AnonymousUser) -> tuple[str, list[CitationShown]]:
    """Return the note without markers of deleted citations, and the others, numbered by first use."""
    by_id = {UUID(shown.id): shown for shown in shown_citations(cited_in(note.content, user))}
    numbers: dict[UUID, int] = {}
    used = []
    for key in live_marks(note.content, by_id):
        number = numbers.setdefault(key, len(numbers) + 1)
        used.append(msgspec.structs.replace(by_id[key], number=number))
    return only_live(note.content, by_id), used


def rendered_note(note: Note, user: User | AnonymousUser) -> SafeString:
    """Return the note's safe HTML. Four queries."""
    return render_message(*numbered_note(note, user), top=ON_A_PAGE)


def live_marks(content: str, known: Container[UUID | None]) -> list[UUID]:
    ids = [uuid_or_none(mark.unit_id) for mark in stored_marks(content)]
    return [key for key in ids if key is not None and key in known]


def only_live(content: str, known: Container[UUID | None]) -> str:
    """Remove the markers of unknown citations."""
    return with_marks(
        content,
        lambda at, mark: content[mark.start : mark.end] if uuid_or_none(mark.unit_id) in known else "",
    )


# --- Saving, versions, additions ---

VERSIONS_KEPT = timedelta(days=1)  # of older versions only the last of each hour is kept


@dataclass(frozen=True, slots=True)
class Written:
    """The text in an editor, and the revision that the edit is based on."""

    title: str
    content: str
    revision: int


def save_note(note: Note, written: Written) -> Note:
    """Save a note; merge it by lines with a version saved in the meantime."""
    with transaction.atomic():
        locked = Note.objects.select_for_update().get(pk=note.pk)
        content = written.content
        if written.revision != locked.revision:
            content = merged(base_of(locked, written.revision), locked.content, content)
        if (content, written.title) != (locked.content, locked.title):
            change_note(locked, title=written.title, content=content)
    return locked


def change_note(locked: Note, **values: object) -> None:
    """Change a note, whose row is locked, and keep the old text as a version."""
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
    """Return the common base of both edits; '' when that version was deleted."""
    found = NoteVersion.objects.filter(note=note, revision=revision).values_list("content", flat=True)
    return found.first() or ""


def merged(base: str, theirs: str, ours: str) -> str:
    """Merge both changes; conflicting lines are kept in both versions, theirs first."""
    pieces: list[str] = []
    for group in Merge3(lines(base), lines(theirs), lines(ours)).merge_groups():
        kind, *versions = group
        pieces += [*versions[1], *versions[2]] if kind == "conflict" else versions[0]
    return "".join(pieces)


def lines(text: str) -> list[str]:
    """Split into lines with their ends; the last line gets one, too, so that text can be appended."""
    return (
        f"{text}\n".splitlines(keepends=True) if text and not text.endswith("\n") else text.splitlines(True)
    )


def restore_version(note: Note, version: NoteVersion) -> Note:
    """Restore a version; the current text becomes a version."""
    with transaction.atomic():
        locked = Note.objects.select_for_update().get(pk=note.pk)
        change_note(locked, title=version.title, content=version.content)
    return locked


def add_answer(answer: Message, user: User) -> Note:
    """Add a question and its answer with citations to the latest note on the same document."""
    with transaction.atomic():
        note = Note.objects.select_for_update().get(pk=note_about(answer, user).pk)
        content, citations = copied_citations(answer)
        note.citations.add(*citations)
        asked = defused_line(answer.question.content)
        change_note(note, content=f"{begun(note)}### {asked}\n\n{content}\n")
    return note


def add_quote(note: Note, document: Document, page: int, words: str) -> Note:
    """Add words selected on a page with a citation, or with a link to the page when no passage has them."""
    citations = Citation.objects.bulk_create(quoted(document, page, words))
    cited = "".join(format_marker(citation.pk, citation.page_number) for citation in citations)
    link = f"[p. {page}]({reverse('document', args=[document.pk])}?{urlencode({'page': page, 'q': words})})"
    with transaction.atomic():
        locked = Note.objects.select_for_update().get(pk=note.pk)
        locked.citations.add(*citations)
        change_note(locked, content=f"{begun(locked)}> {defused_line(words)} {cited or link}\n")
    return locked


def begun(note: Note) -> str:
    """Return the note's content, ready for another paragraph."""
    return f"{note.content.rstrip()}\n\n" if note.content.strip() else ""


def note_about(answer: Message, user: User) -> Note:
    """Return the user's latest note on the conversation's document; for several, the one of its title."""
    documents = list(answer.conversation.documents.all()[:2])
    document = documents[0] if len(documents) == 1 else None
    title = document.title[:200] if document else answer.conversation.title
    found = Note.objects.visible_to(user).filter(document=document)
    if document is None:
        found = found.filter(title=title)
    return found.first() or Note.objects.create(owner=user, document=document, title=title)


# --- Search in notes: the document search, over a copy of each note ---
#
# A note's text is copied into a hidden ``Document`` with the note's id. A worker updates the copy once the
# note has not changed for ``AT_REST``. A search of its owner does so too, for some short notes: it may miss
# long notes, and the oldest of many, until a worker has indexed them.

NOTES_FOUND = 40
INDEX_SECONDS, SEARCH_INDEX_SECONDS = 2.0, 0.7  # of processor time, until no further note is begun
SHORT_NOTE = 100_000  # characters; they take a third of a second
AT_REST = timedelta(seconds=30)  # since the last save; before, the user may still be writing


@dataclass(frozen=True, slots=True)
class FoundNote:
    """A note, and its best passage for the query."""

    note: Note
    hit: Hit


def search_notes(query: str, user: User) -> tuple[SearchResult, list[FoundNote]]:
    """Search the user's notes; return the best first, each with its best passage."""
    short = Note.objects.alias(length=Length("content")).filter(owner=user, length__lte=SHORT_NOTE)
    index_notes(short, SEARCH_INDEX_SECONDS)
    result = search(query, Scope(user, of_notes=True), SearchOptions(limit=NOTES_FOUND))
    notes = (
        Note.objects.visible_to(user)
        .select_related("document")
        .in_bulk([hit.document_id for hit in result.hits])
    )
    best = {hit.document_id: hit for hit in reversed(result.hits)}
    return result, [FoundNote(notes[key], best[key]) for key in reversed(best) if key in notes]


def index_notes_at_rest(**signal: Any) -> None:
    """Index notes that have not been saved for ``AT_REST``. Called by the worker's sweep."""
    index_notes(Note.objects.filter(updated_at__lt=timezone.now() - AT_REST))


def index_notes(notes: QuerySet[Note], seconds: float = INDEX_SECONDS) -> None:
    """Index changed notes, newest first; delete the copies of deleted notes."""
    kept = Document.objects.filter(pk=OuterRef("pk"), kind=Document.Kind.NOTE)
    Document.objects.filter(pk__in=notes.filter(Exists(kept)).exclude(deleted_at=None).values("pk")).delete()
    behind = notes.filter(~Exists(kept.filter(indexed_at__gte=OuterRef("updated_at"))), deleted_at=None)
    begun = time.thread_time()
    for note in behind.select_related("owner").order_by("-updated_at")[:100]:
        if time.thread_time() - begun > seconds:
            return
        index_note(note)


def index_note(note: Note) -> None:
    """Store and index the text of a note. Of concurrent calls the later wins."""
    lease = Lease(note.pk, uuid4())
    values = {"title": note.title, "status": Document.Status.READY, "lease": lease.token}
    mine = {"owner": note.owner, "kind": Document.Kind.NOTE}
    Document.objects.update_or_create(pk=note.pk, defaults=values, create_defaults=values | mine)
    try:
        replace_content(lease, content_of(parsed_document(list(note_blocks(note)), "note"), note.title))
        index_document(lease.row.get())
    except ProviderError as error:  # without vectors it is still found by keywords
        logger.warning("a note could not be embedded: %s", error)
    except (LostLease, Document.DoesNotExist):
        return
    lease.row.update(lease=None, indexed_at=note.updated_at)


BLOCKS = {"heading_open": "heading", "fence": "code", "code_block": "code"}
LISTS = {"bullet_list_open": "bullet", "ordered_list_open": "numbered"}


def note_blocks(note: Note) -> Iterator[ImportedBlock]:
    """Yield the note's title and text as blocks, without citation markers."""
    if note.title:
        yield make_block(type="heading", text=note.title, level=1)
    for tokens in parsed_blocks(with_marks(note.content, lambda _, mark: "")):
        first = tokens[0]
        texts = [token.content for token in tokens if token.type in ("inline", "fence", "code_block")]
        if first.type == "table_open":
            width = sum(token.type == "th_open" for token in tokens)
            rows = [texts[at : at + width] for at in range(0, len(texts), width)]
            yield make_block(type="table", text="\n".join(texts), rows=rows, has_head=True)
            continue
        kind = "list" if first.type in LISTS else BLOCKS.get(first.type, "text")
        level = int(first.tag[1]) + 1 if kind == "heading" else None
        for text in filter(str.strip, texts):
            yield make_block(type=kind, text=text, level=level, list_style=LISTS.get(first.type, ""))
