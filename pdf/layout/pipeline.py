"""Lay out a document: the passes from the words of its pages to units in reading order.

Continue paragraphs and tables across columns and pages, nest lists, assign captions to tables.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager

import pymupdf

from pdf.extract.page_content import LARGEST_PICTURE, DocumentFeatures, RawPage, document_features, read_page
from pdf.extract.word_repair import Vocabulary, join_kerned, join_letterspaced
from pdf.extract.words import is_contents_line
from pdf.gc_control import gc_paused
from pdf.geometry import PageFrame, Rect
from pdf.layout.block_kinds import assign_sections, classify_blocks, mark_headings
from pdf.layout.furniture import find_folds, separate_furniture
from pdf.layout.lines import Line, merged
from pdf.layout.page_layout import (
    FEWEST_ENTRIES,
    Block,
    PageLayout,
    column_is_right_to_left,
    page_layout_of,
)
from pdf.layout.reading_order import LABEL_CHARS, blocks_in_order
from pdf.layout.unit_writer import emit_units
from pdf.structure import OutlineEntry, ParsedPage
from pdf.tables.cells import cell_text, is_value_cell
from pdf.tables.evidence import confidence
from pdf.tags.blocks import group_by_tags

_log = logging.getLogger(__name__)


def read_pages(
    document: pymupdf.Document, page_numbers: Iterable[int], tags: bool = True
) -> list[ParsedPage]:
    """Return the pages as units. Numbers are 1-based; unreadable pages have the reason in ``failure``.

    ``tags``: use the document's structure tree where it is sound.
    """
    with gc_paused():
        traits = document_features(document, tags)
        raw_pages = (_read_or_failure(document, number, traits) for number in page_numbers)
        return layout(list(raw_pages), outline_of(document))


def outline_of(document: pymupdf.Document) -> list[OutlineEntry]:
    """Return the PDF's bookmarks in order; empty where they cannot be read."""
    try:
        return [
            OutlineEntry(level, title.strip(), page) for level, title, page in document.get_toc(simple=True)
        ]
    except Exception:  # treat a damaged outline as none
        return []


def _read_or_failure(document: pymupdf.Document, number: int, traits: DocumentFeatures) -> RawPage:
    try:
        return read_page(document.load_page(number - 1), traits)
    except Exception as error:  # MuPDF raises many kinds; a bad page must not end the document
        return RawPage(
            number=number, frame=PageFrame(612.0, 792.0), failure=f"{type(error).__name__}: {error}"[:200]
        )


def layout(raw_pages: Sequence[RawPage], outline: Sequence[OutlineEntry] = ()) -> list[ParsedPage]:
    """Return the units of pages that were read or recognised. ``outline``: the PDF's bookmarks."""
    vocabulary = Vocabulary(raw_pages)
    with left_out_on_failure():
        join_kerned(raw_pages, vocabulary)
        join_letterspaced(raw_pages, vocabulary)
    page_layouts = [page_layout_of(raw) for raw in raw_pages]
    with left_out_on_failure():
        separate_furniture(page_layouts)
        find_folds(page_layouts)
    for page_layout in page_layouts:
        arrange(page_layout)
    with left_out_on_failure():
        separate_contents(page_layouts)
    with left_out_on_failure():
        mark_headings(page_layouts, outline)
    for look in (
        classify_blocks,
        nest_lists,
        title_tables,
        number_tables,
        mark_continuations,
        assign_sections,
    ):
        with left_out_on_failure():
            look(page_layouts)
    return emit_units(page_layouts, vocabulary)


@contextmanager
def left_out_on_failure() -> Iterator[None]:
    """Skip a pass over the whole document that fails; its pages stay as they are."""
    try:
        yield
    except Exception:  # any: an unforeseen page must not fail the document
        _log.exception("a pass over the whole document failed")


def arrange(page_layout: PageLayout) -> None:
    """Find the blocks of one page. On failure, keep its lines in drawing order and log it."""
    try:
        page_layout.blocks = _blocks_of(page_layout)
        if page_layout.raw.elements:
            with left_out_on_failure():
                page_layout.blocks = group_by_tags(page_layout.blocks, page_layout.raw.elements)
    except Exception:  # any: an unforeseen page must keep its words
        _log.exception("the layout of page %d failed", page_layout.raw.number)
        page_layout.keep_plain_lines()


def _blocks_of(page_layout: PageLayout) -> list[Block]:
    """Return the page's blocks in reading order; two pages on one sheet one after the other."""
    lines, pictures = page_layout.lines, [*page_layout.drawings, *_labelled_images(page_layout)]
    shapes = (page_layout.rulings, page_layout.fills, pictures)
    fold = page_layout.fold
    if fold is None:
        return blocks_in_order(lines, *shapes)
    blocks: list[Block] = []
    for right in (True, False) if column_is_right_to_left(lines) else (False, True):
        half = [line for line in lines if (line.rect.center[0] >= fold) == right]
        within = [[rect for rect in rects if (rect.center[0] >= fold) == right] for rects in shapes]
        blocks += blocks_in_order(half, *within)
    return blocks


def _labelled_images(page_layout: PageLayout) -> list[Rect]:
    """Return the images with labels: short lines, and no others, are printed on them. Empty for a scan.

    An image that covers much of the page is its background.
    """
    page = page_layout.width * page_layout.height
    found = []
    raw = page_layout.raw
    for image in page_layout.images if not (raw.ocr or raw.is_scan) else ():
        if image.area < LARGEST_PICTURE * page:
            on_it = [line.chars for line in page_layout.lines if image.contains(*line.rect.center)]
            if on_it and max(on_it) <= LABEL_CHARS:
                found.append(image)
    return found


# --- Tables of contents without leaders: their titles and page numbers look like rows ---


# Maximum blocks between the heading "Contents" and its table.
NEAR_HEADING = 3
_TITLES = (
    "contents|table of contents|brief contents|inhalt|inhaltsverzeichnis|sommaire|table des matières|índice"
    "|contenido|tabla de contenido|sumário|conteúdo|indice|sommario|inhoud|inhoudsopgave|innehåll|indhold"
    "|innhold|sisällys|spis treści|obsah|tartalom|içindekiler|cuprins|содержание|оглавление|зміст|目录|目錄"
    "|目次|차례|목차|فهرس|المحتويات|فهرس المحتويات|תוכן העניינים|विषय-सूची"
)
_CONTENTS = frozenset(_TITLES.split("|"))


def separate_contents(page_layouts: Sequence[PageLayout]) -> None:
    """Replace each table that is a table of contents by one prose block per row, its entry.

    It is below the heading "Contents" or next to an entry with leaders, or most rows have these; every row
    ends with a page number, which never decrease.
    """
    for page_layout in page_layouts:
        blocks = page_layout.blocks
        tables = [(rows, pages) for rows in _tables(blocks) if (pages := _pages(rows))]
        if tables:
            titled = [block.text.strip(" :.").casefold() in _CONTENTS for block in blocks[:-1]]
            headed = [n for n, named in enumerate(titled) if named]
        for rows, pages in tables:
            start = blocks.index(rows[0])
            around = (*blocks[max(0, start - 1) : start], *blocks[start + len(rows) : start + len(rows) + 1])
            beside = any(is_contents_line(block.text) for block in around)
            several = len(pages) >= FEWEST_ENTRIES
            near = several and any(0 < start - n <= NEAR_HEADING for n in headed)
            led = several and 2 * sum(is_contents_line(row.text) for row in rows) > len(rows)
            if (beside or near or led) and _increase(pages) and not _shaded(page_layout, rows):
                for row in rows:
                    row.kind, row.lines, row.table, row.cells = "prose", [merged(row.lines)], None, []
                    row.row, row.header = 0, False
                    page_layout.contents.add(row)


def _pages(rows: Sequence[Block]) -> list[str]:
    """Return the page number at the end of each row; empty where a row has none."""
    pages = [cell_text(row.cells[-1].lines).lstrip(". ·…") if len(row.cells) > 1 else "" for row in rows]
    return pages if all(map(_PAGE.fullmatch, pages)) else []


def _increase(pages: Sequence[str]) -> bool:
    """Return whether the decimal page numbers never decrease."""
    numbers = [int(page) for page in pages if page.isdecimal()]
    return numbers == sorted(numbers) != []


def _shaded(page_layout: PageLayout, rows: Sequence[Block]) -> bool:
    """Return whether a row has a background colour: the author made the contents a table, as in filings."""
    return any(fill.contains(*row.cells[-1].rect.center) for fill in page_layout.fills for row in rows)


_PAGE = re.compile(r"\d{1,4}|[ivxlc]+", re.I)


# --- Across columns and pages: continued paragraphs and tables, nested lists, captions of tables ---


# Items are of one depth when their markers differ by at most this (ems).
SAME_DEPTH = 0.8
DEEPEST = 6
# Maximum difference of the columns of a continued table (points).
SAME_COLUMN = 6.0

_ENDS = tuple('.!?:;。！？：；؟…”"»)')


def mark_continuations(page_layouts: Sequence[PageLayout]) -> None:
    """Mark prose that continues from the column or page before."""
    last: Block | None = None
    for page_layout in page_layouts:
        first_of_page = True
        for block in page_layout.blocks:
            if block.kind not in ("prose", "list"):
                if block.kind in ("heading", "table"):
                    last, first_of_page = None, False
                continue
            if last is not None and (first_of_page or block.opens_column) and _continues(last, block):
                block.continues = True
            last, first_of_page = block, False


def _continues(last: Block, block: Block) -> bool:
    return block.kind != "list" and _line_continues(last.lines[-1], block.lines[0])


def _line_continues(ended: Line, line: Line) -> bool:
    """Return whether the line continues the unfinished sentence of the other one, in its size."""
    if abs(ended.size - line.size) > 0.5:
        return False
    text = ended.text
    if text.endswith(("-", "\u00ad", "\u2010")):
        return True
    first = line.text.lstrip("“\"'(")[:1]
    return not text.endswith(_ENDS) and (first.islower() or not (first.isupper() or first.isdigit()))


def nest_lists(page_layouts: Sequence[PageLayout]) -> None:
    """Set the depth of list items, from 0, by the x of their markers among the items around them."""
    for page_layout in page_layouts:
        edges: list[float] = []
        for block in page_layout.blocks:
            if block.kind != "list":
                if block.kind in ("heading", "table"):
                    edges = []
                continue
            line = block.lines[0]
            edge = -line.x1 if line.rtl else line.x0
            if block.opens_column:
                edges = []
            edges = [other for other in edges if other < edge - SAME_DEPTH * line.size]
            tagged = block.level or 0 if block.tag_role else 0
            block.level = min(DEEPEST, max(tagged, len(edges)))
            edges.append(edge)


def number_tables(page_layouts: Sequence[PageLayout]) -> None:
    """Number the tables of the document; one continued across a page break keeps number and head."""
    count = 0
    previous: list[Block] = []
    for page_layout in page_layouts:
        tables = _tables(page_layout.blocks)
        for position, rows in enumerate(tables):
            table = rows[0].table
            assert table is not None
            if table.parted_by not in ("grid", "rules"):  # judged with their rulings
                table.confidence = confidence(rows)
            if (
                position == 0
                and previous
                and rows[0] is page_layout.blocks[0]
                and _same_table(previous, rows)
            ):
                before = previous[-1].table
                assert before is not None
                table.index, table.caption = before.index, before.caption
                _continue_rows(previous, rows)
            else:
                table.index, count = count, count + 1
        last = tables[-1] if tables else []
        previous = last if last and page_layout.blocks[-1] is last[-1] else []


def _tables(blocks: Sequence[Block]) -> list[list[Block]]:
    tables: list[list[Block]] = []
    for block in blocks:
        if block.table is None:
            continue
        if tables and tables[-1][-1].table is block.table:
            tables[-1].append(block)
        else:
            tables.append([block])
    return tables


def _same_table(before: Sequence[Block], rows: Sequence[Block]) -> bool:
    """Return whether the columns of both are aligned, and the second has no other heads."""
    a, b = before[0].table, rows[0].table
    if a is None or b is None or a.columns != b.columns:
        return False
    if not _same_head(a.head, b.head) and _heads_its_values(b.head, rows):
        return False
    return (
        abs(min(r.rect.x0 for r in before) - min(r.rect.x0 for r in rows)) < SAME_COLUMN
        and abs(max(r.rect.x1 for r in before) - max(r.rect.x1 for r in rows)) < 10 * SAME_COLUMN
    )


def _heads_its_values(head: Sequence[Block], rows: Sequence[Block]) -> bool:
    """Return whether several columns have heads, and all with values do; a row of words is not a head."""
    headed = {cell.column for row in head for cell in row.cells if cell.column > 0}
    body = [cell for row in rows if not row.header for cell in row.cells if cell.column > 0]
    values = sum(is_value_cell(cell.lines) for cell in body)
    return len(headed) > 1 and headed.issuperset(cell.column for cell in body) and 2 * values > len(body)


def _continue_rows(before: Sequence[Block], rows: Sequence[Block]) -> None:
    """Continue the row numbers; a repeated head stays a head, a row mistaken for one becomes a row."""
    first = before[-1].row + 1
    table, old = rows[0].table, before[-1].table
    assert table is not None
    assert old is not None
    for n, row in enumerate(rows):
        row.row = first + n
    if old.head and not _same_head(old.head, table.head):
        for row in table.head:
            row.header = False
        table.head = old.head
    rows[0].continues = True


def _same_head(a: Sequence[Block], b: Sequence[Block]) -> bool:
    def texts(head: Sequence[Block]) -> list[str]:
        return [cell_text(cell.lines) for row in head for cell in row.cells]

    return texts(a) == texts(b)


# Blocks searched above and below a table for its caption or title.
REACH = 2
TITLE_CHARS = 160


def title_tables(page_layouts: Sequence[PageLayout]) -> None:
    """Set each table's caption, or the heading or introducing line right above it."""
    for page_layout in page_layouts:
        blocks = page_layout.blocks
        for i, block in enumerate(blocks):
            if block.table is None or (i and blocks[i - 1].table is block.table):
                continue
            end = next((k for k in range(i, len(blocks)) if blocks[k].table is not block.table), len(blocks))
            above, below = blocks[max(0, i - REACH) : i][::-1], blocks[end : end + 1]
            block.table.caption = _title(above, below)


def _title(above: Sequence[Block], below: Sequence[Block]) -> str:
    for block in [
        *above[:1],
        *below,
        *above[1:],
    ]:  # the nearest first: the second above may be another table's
        if block.kind == "caption":
            return block.text
    for block in above[:1]:
        text = block.text
        if block.kind == "heading" or (len(text) <= TITLE_CHARS and text.endswith(":")):
            return text
    return next((block.text for block in above[1:] if block.kind == "heading"), "")
