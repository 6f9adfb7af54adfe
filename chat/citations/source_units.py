"""Rows of the database as the values answering and the verifier read."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial
from typing import Any
from uuid import UUID

import msgspec

from citing.anchoring.page_text import LazyWords, packed_words
from citing.claims import SourceUnit
from documents.labels import labels_in_library
from documents.models import CitationUnit, Document, Page
from pdf.geometry import PageFrame, Rect
from pdf.structure import Location, TableRow
from pdf.word_boxes import WordBoxes, unpack

HEADING_CHARACTERS = 400  # of a page's text: the statement's name stands there
UNIT_FIELDS = (
    "id",
    "document_id",
    "page_number",
    "content",
    "unit_type",
    "char_start",
    "char_end",
    "line_start",
    "line_end",
    "rects",
    "section_path",
    "cells",
    "location",
)
UnitRow = Any
"""A CitationUnit, or a named tuple of UNIT_FIELDS: of the hundreds of units on the pages most are never
shown, and a model instance costs several times as much."""
PAGE_FIELDS = (
    *("document_id", "number", "label", "first_line", "text", "word_boxes"),
    *("width", "height", "rotation", "crop_x", "crop_y", "user_unit"),
)
DOCUMENT_FIELDS = (
    *("id", "owner", "title", "original_name", "created_at", "language"),
    *("sha256", "authors", "year", "metadata"),
)


@dataclass(frozen=True, slots=True)
class UnitPlace:
    """What a citation keeps of its unit beside the words themselves.

    Attributes:
        boxes: of its lines, as stored.
        lines: first and last one, numbered through the document, as is ``first_line``, the page's first.
        label: the printed page number; '' if there is none.
    """

    document: str
    title: str
    sha256: str
    lines: tuple[int, int]
    boxes: Sequence[Sequence[float]]
    frame: PageFrame
    page_text: str
    label: str = ""
    first_line: int = 0

    @property
    def rects(self) -> tuple[Rect, ...]:
        return tuple(Rect(*box) for box in self.boxes)

    @property
    def heading(self) -> str:
        """Return the words at the top of the page."""
        return self.page_text[:HEADING_CHARACTERS]

    def heading_below(self, unit: SourceUnit) -> str:
        """Return the heading that the unit stands under, where that is printed below those words; else ''."""
        section = " ".join(unit.section_path[-1:])
        between = " ".join(self.page_text[HEADING_CHARACTERS : unit.char_start].split())
        return section if section and " ".join(section.split()) in between else ""


@dataclass(slots=True)
class Sources:
    """Units by id (as text), with their places; ``shown`` keeps the order asked for."""

    shown: list[SourceUnit] = field(default_factory=list)
    units: dict[str, SourceUnit] = field(default_factory=dict)
    places: dict[str, UnitPlace] = field(default_factory=dict)
    pages: dict[tuple[str, int], list[SourceUnit]] = field(default_factory=dict)

    def neighbours(self, unit: SourceUnit) -> list[SourceUnit]:
        """Return the other units of its page, in reading order: heads and "in millions" are read there."""
        return [other for other in self.pages[unit.document, unit.page] if other.id != unit.id]


def load_sources(unit_ids: Sequence[UUID | str], with_neighbours: bool = True) -> Sources:
    """Return the units in the order of ``unit_ids``, if they exist, and their neighbours. Five queries."""
    asked = CitationUnit.objects.filter(pk__in=unit_ids)
    if with_neighbours:
        places = asked.values_list("document_id", "page_number")
        units = CitationUnit.objects.on_pages(places).order_by("document", "position")
    else:
        units = asked
    rows = {str(row.id): row for row in units.values_list(*UNIT_FIELDS, named=True)}
    shown = [rows[str(unit_id)] for unit_id in unit_ids if str(unit_id) in rows]
    return sources_of(shown, list(rows.values()))


def sources_of(shown: Sequence[UnitRow], others: Sequence[UnitRow] = ()) -> Sources:
    """Values of rows, with the words of their pages. Three queries."""
    rows = {row.id: row for row in others or shown}
    pages = _pages(rows.values())
    documents = Document.objects.only(*DOCUMENT_FIELDS).in_bulk({row.document_id for row in rows.values()})
    bylines = {key: document.short_byline for key, document in documents.items()}
    labels = labels_in_library(documents.values())
    titles = {key: labels[key] + one.named.removeprefix(one.title) for key, one in documents.items()}
    result = Sources()
    for row in rows.values():
        page = pages.get((row.document_id, row.page_number))
        if page is not None:
            _add(
                result,
                row,
                page,
                documents[row.document_id],
                labels[row.document_id],
                titles[row.document_id],
                bylines[row.document_id],
            )
    result.shown = [result.units[str(row.id)] for row in shown if str(row.id) in result.units]
    return result


def _pages(rows: Iterable[UnitRow]) -> dict[tuple[UUID, int], _PageWords]:
    places = ((row.document_id, row.page_number) for row in rows)
    found = Page.objects.on_pages(places, "number").only(*PAGE_FIELDS)
    return {
        (page.document_id, page.number): _PageWords(
            page.frame, page.text, bytes(page.word_boxes), page.label, page.first_line
        )
        for page in found
    }


@dataclass(frozen=True)
class _PageWords:
    """A page's words; of most units they are never looked at, so they are unpacked at the first look."""

    frame: PageFrame
    text: str
    packed: bytes
    label: str
    first_line: int

    @cached_property
    def boxes(self) -> WordBoxes:
        return unpack(self.packed, self.frame.width, self.frame.height)

    def words(self, start: int, end: int) -> LazyWords:
        return packed_words(partial(self._between, start, end))

    def _between(self, start: int, end: int) -> WordBoxes:
        inside = (self.boxes.spans[:, 0] >= start) & (self.boxes.spans[:, 0] < end)
        return WordBoxes(self.boxes.spans[inside], self.boxes.boxes[inside])


def _add(
    sources: Sources,
    row: UnitRow,
    page: _PageWords,
    document: Document,
    label: str,
    title: str,
    byline: str,
) -> None:
    unit_id, document_id = str(row.id), str(row.document_id)
    sources.units[unit_id] = SourceUnit(
        id=unit_id,
        document=document_id,
        page=row.page_number,
        text=row.content,
        char_start=row.char_start,
        words=page.words(row.char_start, row.char_end),
        type="prose" if row.unit_type == "abstract" else row.unit_type,
        section_path=tuple(row.section_path),
        table=msgspec.convert(row.cells, TableRow) if row.cells else None,
        title=title,
        language=document.language,
        byline=byline,
        location=msgspec.convert(row.location, Location) if row.location else None,
    )
    sources.places[unit_id] = UnitPlace(
        document=document_id,
        title=label,
        sha256=document.sha256,
        lines=(row.line_start, row.line_end),
        boxes=row.rects,
        frame=page.frame,
        page_text=page.text,
        label=page.label,
        first_line=page.first_line,
    )
    sources.pages.setdefault((document_id, row.page_number), []).append(sources.units[unit_id])
