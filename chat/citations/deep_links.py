"""What a link into a document lights: a page, a passage, quoted words."""

from __future__ import annotations

from dataclasses import dataclass
from urllib.parse import urlencode
from uuid import UUID

import msgspec

from chat.citations.anchoring.find_quote import Anchor, find_quote
from chat.citations.anchoring.page_sources import locate, pages_of_rows
from chat.citations.presenters import shown_citations
from chat.models import Citation
from documents.models import CitationUnit, Document
from pdf.geometry import Box

MOST_LINKED = 300  # characters of words in an address: enough to find them by


@dataclass(frozen=True, slots=True)
class LinkTarget:
    """A place in a document, as its links name it: ``?page=5&unit=…&q=…``; pages count from 1."""

    page: int | None = None
    unit: UUID | None = None
    quote: str = ""


def reader_query(page: int, words: str = "", **rows: object) -> str:
    """``page=5&q=…&unit=…``: opens the reader at the words, and at the rows (unit, citation) while they last.

    Words outlive a new reading of the document and the deletion of an answer: they are looked up anew.
    """
    words = " ".join(words.split())
    if len(words) > MOST_LINKED:
        words = words[:MOST_LINKED].rpartition(" ")[0] or words[:MOST_LINKED]
    named = {"page": page, "q": words, **rows}
    return urlencode({name: value for name, value in named.items() if value})


class Highlight(msgspec.Struct, frozen=True):
    """Layers of paint on one page, in display fractions, one box per line of text.

    Attributes:
        unit: painted pale: the whole passage.
        anchor: painted strong: the very words.
        heads: row and column heads of a cited cell.
        colour: the number of the citation it shows.
        verdict: that citation's.
    """

    page: int
    unit: tuple[Box, ...] = ()
    anchor: tuple[Box, ...] = ()
    heads: tuple[Box, ...] = ()
    colour: int = 1
    verdict: str = ""


def highlights_at(document: Document, place: LinkTarget) -> list[Highlight]:
    """One per page that the place runs over, the first first; empty when nothing was asked for."""
    if place.unit and (unit := document.units.filter(pk=place.unit).first()):
        return [_passage(document, unit, place.quote)]
    if place.quote and (anchor := find_target(document, place)):
        return [
            Highlight(part.page.number, anchor=part.page.frame.display_boxes(part.rects))
            for part in anchor.parts
        ]
    return [Highlight(max(place.page, 1))] if place.page is not None else []


def highlight_of(citation: Citation) -> Highlight:
    """A stored citation as it is lit; one query."""
    (seen,) = shown_citations([citation])
    return Highlight(seen.page, seen.unit_rects, seen.rects, seen.head_rects, seen.number, seen.verdict)


def _passage(document: Document, unit: CitationUnit, quote: str) -> Highlight:
    rows = document.pages.filter(number=unit.page_number)
    frame = rows.get().frame
    anchor = find_quote(pages_of_rows(rows), quote, unit.content) if quote else None
    words = anchor.rects if anchor else ()
    return Highlight(unit.page_number, frame.display_boxes(unit.rects), frame.display_boxes(words))


def find_target(document: Document, place: LinkTarget) -> Anchor | None:
    """Where the words stand: on the page that is named, or from there over its end; else anywhere."""
    if place.page is None:
        return locate(document.pk, place.quote)
    rows = document.pages.filter(number__range=(place.page, place.page + 1)).order_by("number")
    pages = pages_of_rows(rows)
    here = find_quote([page for page in pages if page.number == place.page], place.quote)
    if here and here.verdict != "partial":
        return here
    over = find_quote(pages, place.quote)
    return over if over and len(over.parts) > 1 else here or locate(document.pk, place.quote)
