"""What a document contains as readers see it: headings, figures and tables."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import groupby
from uuid import UUID

import msgspec
from django.db.models import Max, Min

from documents.models import CitationUnit, Document, Page
from pdf.geometry import Box, PageFrame, Rect
from pdf.structure import TableRow

MOST_FIGURES = 1000
SMALLEST = 0.01  # of its page: what is smaller and has no caption is ornament


@dataclass(frozen=True, slots=True)
class ListedFigure:
    """A figure or table with its caption; ``boxes`` are display fractions of its page."""

    page: int
    caption: str
    is_table: bool
    boxes: tuple[Box, ...]


@dataclass(frozen=True, slots=True)
class TableArea:
    """Where a table, or the part of it that is on one page, stands; ``box`` in display fractions."""

    index: int
    page: int
    box: Box


def figures_of(document: Document) -> list[ListedFigure]:
    """Figures and tables in the order of their pages, those without a caption included. Four queries."""
    pages = document.pages.exclude(figures=[]).order_by("number").defer("text", "word_boxes", "furniture")
    figures = [
        ListedFigure(page.number, figure["caption"], False, page.frame.display_boxes([figure["rect"]]))
        for page in pages
        for figure in page.figures
        if figure["caption"] or page.frame.to_display(Rect(*figure["rect"])).area > SMALLEST
    ]
    captions = _table_captions(document)
    tables = [
        ListedFigure(area.page, captions.pop(area.index), True, (area.box,))
        for area in table_areas(document)
        if area.index in captions
    ]
    return sorted([*figures, *tables], key=lambda figure: figure.page)[:MOST_FIGURES]


def table_areas(document: Document) -> list[TableArea]:
    """The parts of all tables, page by page. Two queries."""
    rows = (
        CitationUnit.objects.filter(document=document, table_index__isnull=False)
        .values_list("table_index", "page_number")
        .annotate(Min("bbox__0"), Min("bbox__1"), Max("bbox__2"), Max("bbox__3"))
        .order_by("page_number", "table_index")
    )
    listed = list(rows)
    frames = _frames(document, {page for _, page, *_ in listed})
    return [
        TableArea(index, page, frames[page].display_boxes([rect])[0])
        for index, page, *rect in listed
        if page in frames
    ]


MOST_OF_IT = 0.5  # of a unit's area: more is inside of what was marked by hand


def units_in(document_id: UUID, number: int, box: Box) -> list[UUID]:
    """The units of a page that are mostly in ``box`` (display fractions), in their order. Two queries."""
    page = Page.objects.filter(document=document_id, number=number).first()
    if page is None:
        return []
    units = CitationUnit.objects.filter(document=document_id, page_number=number).order_by("position")
    asked = page.frame.from_display(Rect(*box))
    return [pk for pk, rects in units.values_list("pk", "rects") if _share_inside(rects, asked) > MOST_OF_IT]


def _share_inside(rects: Sequence[Sequence[float]], outer: Rect) -> float:
    """The part of the rectangles' area that is inside ``outer``."""
    boxes = [Rect(*rect) for rect in rects]
    inside = sum(max(0.0, box.overlap_x(outer)) * max(0.0, box.overlap_y(outer)) for box in boxes)
    return inside / (sum(box.area for box in boxes) or 1.0)


def _table_captions(document: Document) -> dict[int, str]:
    """By table: its caption, '' when it has none."""
    units = CitationUnit.objects.filter(document=document, table_index__isnull=False)
    firsts = units.order_by("table_index", "table_row").distinct("table_index")
    listed = firsts.values_list("table_index", "cells__caption")
    return {index: caption or "" for index, caption in listed if index is not None}


def _frames(document: Document, numbers: Iterable[int]) -> dict[int, PageFrame]:
    pages = Page.objects.filter(document=document, number__in=numbers)
    return {page.number: page.frame for page in pages.defer("text", "word_boxes", "furniture", "figures")}


BETWEEN = " › "


def trail(path: Sequence[str], title: str = "") -> str:
    """``Part II › Item 7``: a heading that repeats the one before it, or the title in front, is left out."""
    said = plain(title)
    shown = []
    for heading in path:
        if (words := plain(heading)) != said:
            shown.append(" ".join(heading.split()))
        said = words
    return BETWEEN.join(shown)


def plain(heading: str) -> str:
    return " ".join(heading.split()).strip(" .:").casefold()


FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r")
NUMBER_CHARACTERS = set("0123456789.,()%$€£¥ +-–—")


@dataclass(frozen=True, slots=True)
class Table:
    """A table of a document; it may go over several pages.

    Attributes:
        rows: the texts of all cells, row by row; every row has ``columns`` of them.
        header_rows: how many rows at the top head the columns.
        unit_ids: the unit of each row.
    """

    document: UUID
    index: int
    caption: str
    page_start: int
    page_end: int
    columns: int
    header_rows: int
    rows: tuple[tuple[str, ...], ...]
    unit_ids: tuple[UUID, ...]


def tables_of(document: Document, index: int | None = None) -> list[Table]:
    """The tables of a document in their order, or only the one with this index. One query."""
    units = CitationUnit.objects.filter(document=document, table_index__isnull=False)
    if index is not None:
        units = units.filter(table_index=index)
    ordered = units.order_by("table_index", "table_row")
    return [_table(list(rows)) for _, rows in groupby(ordered, key=lambda unit: unit.table_index)]


def _table(units: list[CitationUnit]) -> Table:
    rows = [msgspec.convert(unit.cells, TableRow) for unit in units]
    columns = max((cell.column + 1 for row in rows for cell in row.cells), default=0)
    headers = next((at for at, row in enumerate(rows) if not row.header), len(rows))
    return Table(
        units[0].document_id,
        rows[0].index,
        next((row.caption for row in rows if row.caption), ""),
        units[0].page_number,
        units[-1].page_number,
        columns,
        headers,
        tuple(_texts(row, columns) for row in rows),
        tuple(unit.pk for unit in units),
    )


def _texts(row: TableRow, columns: int) -> tuple[str, ...]:
    texts = [""] * columns
    for cell in row.cells:
        texts[cell.column] = cell.text
    return tuple(texts)


def as_csv(table: Table) -> str:
    """RFC 4180. Cells that a spreadsheet would run as a formula get an apostrophe (OWASP CSV injection)."""
    out = io.StringIO()
    csv.writer(out).writerows([_harmless(text) for text in row] for row in table.rows)
    return out.getvalue()


def as_markdown(table: Table) -> str:
    """GitHub's tables: one header row, so that further header rows stand in the body."""
    if not table.rows:
        return ""
    head = table.rows[0] if table.header_rows else ("",) * table.columns
    body = table.rows[1:] if table.header_rows else table.rows
    lines = [_markdown_row(head), _markdown_row(["---"] * table.columns), *map(_markdown_row, body)]
    caption = f"**{_escaped(table.caption)}**\n\n" if table.caption else ""
    return caption + "\n".join(lines) + "\n"


def _markdown_row(texts: Iterable[str]) -> str:
    return "| " + " | ".join(_escaped(text) for text in texts) + " |"


def _escaped(text: str) -> str:
    """Nothing of the document can end the cell or become HTML."""
    line = " ".join(text.split())
    for character, entity in (("\\", "\\\\"), ("|", "\\|"), ("<", "&lt;"), ("`", "\\`"), ("[", "\\[")):
        line = line.replace(character, entity)
    return line


def _harmless(text: str) -> str:
    is_number = bool(text) and set(text) <= NUMBER_CHARACTERS
    return f"'{text}" if text.startswith(FORMULA_STARTS) and not is_number else text
