"""Which answers and notes rest on a document: the marks in the reader's margin."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from urllib.parse import parse_qs
from uuid import UUID

from django.contrib.auth.models import User
from django.db.models import Q
from django.urls import reverse

from chat.models import Citation, Note
from chat.places import Highlight, Place, highlights_at
from chat.showing import shown_citations
from documents.models import Document
from documents.pdf.geometry import Box

MOST_MARKS = 2000
MOST_NOTES = 50
MOST_LINKS = 100  # of all notes; each may be looked up on its page


@dataclass(frozen=True, slots=True)
class Mark:
    """A place that an answer or a note rests on.

    Attributes:
        box: the page's width, at the height of the words, in display fractions.
        number: the citation's; its colour.
        note: the note it belongs to; None for an answer's.
    """

    page: int
    box: Box
    number: int
    title: str
    href: str
    note: UUID | None = None


def marks_on(document: Document, user: User) -> list[Mark]:
    """The user's own answers and notes that rest on the document, the latest first."""
    return [*_of_answers(document, user), *_of_notes(document, user)]


def _of_answers(document: Document, user: User) -> Iterator[Mark]:
    """Two queries."""
    cited = Citation.objects.visible_to(user).filter(document=document, message__isnull=False)
    rows = cited.select_related("message__conversation")
    listed = list(rows.order_by("-created_at")[:MOST_MARKS])
    for row, shown in zip(listed, shown_citations(listed), strict=True):
        assert row.message is not None
        title = f"{row.message.conversation.title}: {shown.claim[:200] or shown.quote[:200]}"
        if boxes := shown.rects or shown.unit_rects:
            yield Mark(shown.page, _strip(boxes), shown.number, title, shown.href)


def _of_notes(document: Document, user: User) -> Iterator[Mark]:
    """Notes rest on the citations in them, and on the places that their links name."""
    notes = Note.objects.visible_to(user).filter(
        Q(citations__document=document) | Q(content__contains=reverse("document", args=[document.pk]))
    )
    left = MOST_LINKS
    for note in notes.distinct().prefetch_related("citations")[:MOST_NOTES]:
        places = _linked(note.content, document)[:left]
        left -= len(places)
        lit = [found for place in places for found in highlights_at(document, place)]
        for page, box in [*_cited(note, document), *_strips(lit)]:
            yield Mark(page, box, 1, str(note), reverse("note", args=[note.pk]), note.pk)


def _cited(note: Note, document: Document) -> Iterator[tuple[int, Box]]:
    for shown in shown_citations(row for row in note.citations.all() if row.document_id == document.pk):
        if boxes := shown.rects or shown.unit_rects:
            yield shown.page, _strip(boxes)


def _linked(content: str, document: Document) -> list[Place]:
    """The places of the document that the Markdown links to."""
    path = re.escape(reverse("document", args=[document.pk]))
    asked = (parse_qs(query) for query in re.findall(rf"{path}\?([^)\s>]+)", content))
    return [
        Place(int(number), quote=query.get("q", [""])[0])
        for query in asked
        if (number := query.get("page", [""])[0]).isdecimal() and len(number) < 8
    ]


def _strips(highlights: Iterable[Highlight]) -> Iterator[tuple[int, Box]]:
    for found in highlights:
        if boxes := found.anchor or found.unit:
            yield found.page, _strip(boxes)


def _strip(boxes: Iterable[Box]) -> Box:
    """Across the whole page, from the top of the first to the end of the last."""
    tops, ends = zip(*((box[1], box[3]) for box in boxes), strict=True)
    return (0.0, min(tops), 1.0, max(ends))
