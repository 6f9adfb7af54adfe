"""The figures and tables of a document, and its section paths as text."""

from __future__ import annotations

import csv
import io
import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from uuid import UUID

import msgspec
from django.db.models import Max, Min

from documents.models import CitationUnit, Document, Page
from pdf.geometry import Box, PageFrame, Rect, bounding_box
from pdf.structure import TableRow
from text.terms import one_line

MOST_FIGURES = 1000
SMALLEST = 0.01  # of the page's area: a smaller figure without a caption is decoration


@dataclass(frozen=True, slots=True)
class ListedFigure:
    """A figure or table with its caption or name, or all figures of a page that have neither.

    ``boxes`` are display fractions of its page.
    """

    page: int
    caption: str
    is_table: bool
    boxes: tuple[Box, ...]

    @property
    def area(self) -> Box:
        """Return the bounding box of its boxes."""
        return bounding_box(Rect(*box) for box in self.boxes)


@dataclass(frozen=True, slots=True)
class TableArea:
    """The part of a table on one page; ``box`` in display fractions."""

    index: int
    page: int
    box: Box


def figures_of(document: Document) -> list[ListedFigure]:
    """Return figures and tables in page order, with and without captions. Seven queries."""
    pages = document.pages.exclude(figures=[]).order_by("number").defer("text", "word_boxes", "furniture")
    figures = [
        ListedFigure(page.number, figure["caption"], False, page.frame.display_boxes([figure["rect"]]))
        for page in pages
        for figure in page.figures
        if figure["caption"] or page.frame.to_display(Rect(*figure["rect"])).area > SMALLEST
    ]
    names = _table_names(document)
    tables = [
        ListedFigure(area.page, names.pop(area.index), True, (area.box,))
        for area in table_areas(document)
        if area.index in names
    ]
    captions = {_letters(one): one for one in _captions(document)}
    figures = _with_parts(
        figures, captions, _paragraphs(document, figures, {page.number: page.frame for page in pages})
    )
    listed = [
        _with_text_of(captions.pop(_letters(one), one), one)
        for one in [*merged_without_caption(figures), *tables]
    ]
    return sorted([*listed, *captions.values()], key=lambda figure: figure.page)[:MOST_FIGURES]


def _letters(figure: ListedFigure) -> tuple[int, str]:
    """Return the page and the caption without spaces and hyphens, which lines of a caption may add."""
    return figure.page, re.sub(r"[\s-]", "", figure.caption)


def _with_text_of(caption: ListedFigure, figure: ListedFigure) -> ListedFigure:
    """Return the figure with the text of its caption's unit, whose hyphenated words are joined."""
    return replace(figure, caption=one_line(caption.caption))


Caption = tuple[int, str]  # its page and letters


def _with_parts(
    figures: Sequence[ListedFigure],
    captions: Mapping[Caption, ListedFigure],
    paragraphs: Mapping[int, Sequence[Rect]],
) -> list[ListedFigure]:
    """Return the figures, those of several pictures with all of them.

    A picture without a caption belongs to the next caption below it, where no paragraph stands between; above
    it, where most captions of the document stand above their pictures.
    """
    below = [captions[key].area[1] > one.area[1] for one in figures if (key := _letters(one)) in captions]
    is_above = sum(below) * 2 < len(below)
    parts: dict[Caption, list[ListedFigure]] = {}
    alone: list[ListedFigure] = []
    for one in figures:
        if one.caption:
            parts.setdefault(_letters(one), []).append(one)
        elif found := _caption_of(one, captions, paragraphs.get(one.page, ()), is_above):
            parts.setdefault(found, []).append(one)
        else:
            alone.append(one)
    whole = (
        replace(
            next((one for one in pictures if one.caption), None) or captions[key],
            boxes=tuple(box for one in pictures for box in one.boxes),
        )
        for key, pictures in parts.items()
    )
    return [*whole, *alone]


def _caption_of(
    picture: ListedFigure,
    captions: Mapping[Caption, ListedFigure],
    paragraphs: Sequence[Rect],
    is_above: bool,
) -> Caption | None:
    """Return the caption that a picture belongs to."""
    box = Rect(*picture.area)
    gaps = {
        _gap(box, Rect(*caption.area), is_above): key
        for key, caption in captions.items()
        if key[0] == picture.page and not caption.is_table and box.overlap_x(Rect(*caption.area)) > 0
    }
    beside = [
        gap for gap in gaps if gap.height > -box.height / 2
    ]  # a box may end a little beyond its caption
    nearest = min(beside, key=lambda gap: gap.height, default=None)
    if nearest is None or any(
        nearest.y0 < one.center[1] < nearest.y1 and one.overlap_x(nearest) > 0 for one in paragraphs
    ):
        return None
    return gaps[nearest]


def _gap(picture: Rect, caption: Rect, is_above: bool) -> Rect:
    """Return what stands between a picture and its caption, as wide as the picture."""
    top, bottom = (caption.y1, picture.y0) if is_above else (picture.y1, caption.y0)
    return Rect(picture.x0, top, picture.x1, bottom)


FEWEST_LINES = 3  # of a paragraph: labels in a figure have one or two


def _paragraphs(
    document: Document, figures: Sequence[ListedFigure], frames: Mapping[int, PageFrame]
) -> dict[int, list[Rect]]:
    """Return the boxes (display fractions) of paragraphs beside figures, by page. One query."""
    pictures = {page: [Rect(*box) for one in on for box in one.boxes] for page, on in by_page(figures)}
    prose = CitationUnit.objects.filter(document=document, unit_type=CitationUnit.Type.PROSE)
    units = prose.filter(page_number__in=pictures)
    found: dict[int, list[Rect]] = {}
    for number, rects, bbox in units.values_list("page_number", "rects", "bbox"):
        box = Rect(*frames[number].display_boxes([bbox])[0])
        is_inside = any(picture.contains(*box.center) for picture in pictures[number])
        if len(rects) >= FEWEST_LINES and not is_inside:
            found.setdefault(number, []).append(box)
    return found


def by_page(figures: Iterable[ListedFigure]) -> Iterator[tuple[int, list[ListedFigure]]]:
    """Yield the pages and their figures."""
    return ((page, list(on_page)) for page, on_page in groupby(figures, key=lambda figure: figure.page))


# A picture of at least this share of the page is a scan or the text's background; but on a page with fewer
# characters than FEW_CHARS, such as a cover, it is a photograph.
WHOLE, FEW_CHARS = 0.7, 200


def figure_boxes(document: Document) -> dict[int, tuple[Box, ...]]:
    """Return the boxes (display fractions) of figures by page, without scans and backgrounds. One query."""
    pages = document.pages.exclude(figures=[]).order_by("number").defer("word_boxes", "furniture")
    shown = {page.number: _figures_on(page) for page in pages}
    return {number: boxes for number, boxes in shown.items() if boxes}


def _figures_on(page: Page) -> tuple[Box, ...]:
    boxes = page.frame.display_boxes(figure["rect"] for figure in page.figures)
    if page.ocr:  # these were found within the scan
        return boxes
    if page.awaits == Page.Awaits.PAGE and sum(Rect(*box).area for box in boxes) >= WHOLE:  # in strips
        return ()
    return tuple(box for box in boxes if len(page.text) < FEW_CHARS or Rect(*box).area < WHOLE)


TABLE_WORD = re.compile(r"\W*(tab|表)", re.I)  # Table, Tabelle, tableau, tabla, tabella, …


def _captions(document: Document) -> list[ListedFigure]:
    """Return caption units as figures, also of drawings that were not recognised. Two queries."""
    captions = CitationUnit.objects.filter(document=document, unit_type=CitationUnit.Type.CAPTION)
    listed = list(captions.order_by("position").values_list("page_number", "content", "bbox"))
    frames = document.pages.frame_of_each({page for page, _, _ in listed})
    return [
        ListedFigure(page, one_line(text), bool(TABLE_WORD.match(text)), frames[page].display_boxes([rect]))
        for page, text, rect in listed
        if page in frames
    ]


def merged_without_caption(figures: Iterable[ListedFigure]) -> Iterator[ListedFigure]:
    """Yield figures with a caption; merge those of a page without one, such as a row of logos."""
    for page, listed in by_page(figures):
        yield from (figure for figure in listed if figure.caption)
        if boxes := tuple(box for figure in listed if not figure.caption for box in figure.boxes):
            yield ListedFigure(page, "", False, boxes)


def table_areas(document: Document) -> list[TableArea]:
    """Return the parts of all tables, page by page. Two queries."""
    rows = (
        CitationUnit.objects.filter(document=document, table_index__isnull=False)
        .values_list("table_index", "page_number")
        .annotate(Min("bbox__0"), Min("bbox__1"), Max("bbox__2"), Max("bbox__3"))
        .order_by("page_number", "table_index")
    )
    listed = list(rows)
    frames = document.pages.frame_of_each({page for _, page, *_ in listed})
    return [
        TableArea(index, page, frames[page].display_boxes([rect])[0])
        for index, page, *rect in listed
        if page in frames
    ]


LEAST_INSIDE = 0.5  # of a unit's area: a unit with more inside belongs to a drawn region


def units_in(document_id: UUID, number: int, box: Box) -> list[UUID]:
    """Return the units of a page that are mostly inside ``box`` (display fractions). Two queries."""
    page = Page.objects.filter(document=document_id, number=number).first()
    if page is None:
        return []
    units = CitationUnit.objects.filter(document=document_id, page_number=number).order_by("position")
    asked = page.frame.from_display(Rect(*box))
    return [
        pk for pk, rects in units.values_list("pk", "rects") if _share_inside(rects, asked) > LEAST_INSIDE
    ]


def _share_inside(rects: Sequence[Sequence[float]], outer: Rect) -> float:
    """Return the fraction of the rectangles' area inside ``outer``."""
    boxes = [Rect(*rect) for rect in rects]
    inside = sum(max(0.0, box.overlap_x(outer)) * max(0.0, box.overlap_y(outer)) for box in boxes)
    return inside / (sum(box.area for box in boxes) or 1.0)


def _table_names(document: Document) -> dict[int, str]:
    """Return the name of each table."""
    units = CitationUnit.objects.filter(document=document, table_index__isnull=False)
    firsts = units.order_by("table_index", "table_row").distinct("table_index")
    listed = firsts.values_list("table_index", "section_title", "cells")
    return {
        index: table_name(row.caption, section, (cell.text for cell in row.cells))
        for index, section, cells in listed
        if index is not None and (row := msgspec.convert(cells, TableRow))
    }


MOST_HEADS, LONGEST_HEAD = 3, 40


def table_name(caption: str, section: str, heads: Iterable[str]) -> str:
    """Return a table's caption; without one, its section and the beginning of its first row."""
    if caption:
        return caption
    row = [_shortened(one_line(text)) for text in heads if text.strip()][:MOST_HEADS]
    return BETWEEN.join(filter(None, (one_line(section).rstrip(" :"), ", ".join(row))))


def _shortened(head: str) -> str:
    """Cut a long head between words, where it has any."""
    return head if len(head) <= LONGEST_HEAD else head[:LONGEST_HEAD].rsplit(" ", 1)[0] + "…"


BETWEEN = " › "


def trail(path: Sequence[str], title: str = "") -> str:
    """Join a section path: ``Part II › Item 7``. Omit final colons, and headings equal to the one before.

    ``title``: what stands before it, also with what tells documents apart: ``Lease (Lease 2021.pdf)``.
    """
    previous = plain(title)
    shown = []
    for heading in path:
        words = plain(heading)
        if words != previous and not previous.startswith(f"{words} ("):
            shown.append(one_line(heading).rstrip(" :"))
        previous = words
    return BETWEEN.join(shown)


def plain(heading: str) -> str:
    return one_line(heading).strip(" .:").casefold()


@dataclass(frozen=True, slots=True)
class Table:
    """A table of a document, which may span pages.

    Attributes:
        name: the caption, or what a table without one is called in lists.
        rows: the texts of all cells; every row has ``columns`` of them.
        header_rows: the number of header rows at the top.
        unit_ids: the unit of each row.
    """

    document: UUID
    index: int
    caption: str
    name: str
    page_start: int
    page_end: int
    columns: int
    header_rows: int
    rows: tuple[tuple[str, ...], ...]
    unit_ids: tuple[UUID, ...]


def tables_of(document: Document, index: int | None = None) -> list[Table]:
    """Return the tables of a document in order, or only the one with this index. One query."""
    units = CitationUnit.objects.filter(document=document, table_index__isnull=False)
    if index is not None:
        units = units.filter(table_index=index)
    ordered = units.order_by("table_index", "table_row")
    return [_table(list(rows)) for _, rows in groupby(ordered, key=lambda unit: unit.table_index)]


def _table(units: list[CitationUnit]) -> Table:
    rows = [msgspec.convert(unit.cells, TableRow) for unit in units]
    columns = max((cell.column + 1 for row in rows for cell in row.cells), default=0)
    headers = next((at for at, row in enumerate(rows) if not row.header), len(rows))
    caption = next((row.caption for row in rows if row.caption), "")
    return Table(
        units[0].document_id,
        rows[0].index,
        caption,
        table_name(caption, units[0].section_title, (cell.text for cell in rows[0].cells)),
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
    """Return CSV (RFC 4180). An apostrophe disarms cells that look like formulas (OWASP CSV injection)."""
    out = io.StringIO()
    csv.writer(out).writerows([disarmed(text) for text in row] for row in table.rows)
    return out.getvalue()


def as_markdown(table: Table) -> str:
    """Return a GitHub table. It allows one header row; further ones go into the body."""
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
    """Escape text so that it cannot end the cell or become HTML."""
    line = " ".join(text.split())
    for character, entity in (("\\", "\\\\"), ("|", "\\|"), ("<", "&lt;"), ("`", "\\`"), ("[", "\\[")):
        line = line.replace(character, entity)
    return line


FORMULA_STARTS = tuple("=+-@")
NUMBER_CHARACTERS = set("0123456789.,()%$€£¥ +-–—")


def disarmed(text: str) -> str:
    """Return the text of a cell with an apostrophe before what a spreadsheet may take for a formula.

    Spreadsheets skip spaces and control characters, and some take full-width signs for plain ones, so the
    sign is judged by its compatibility form (NFKC). Numbers stay. Source: OWASP, CSV injection.
    """
    seen = unicodedata.normalize("NFKC", text[:50])
    first = next((sign for sign in seen if unicodedata.category(sign)[0] not in "CZ"), "")
    is_number = set(text) <= NUMBER_CHARACTERS
    return f"'{text}" if first in FORMULA_STARTS and not is_number else text
