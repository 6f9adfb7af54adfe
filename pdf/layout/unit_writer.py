"""Write the page's text, the units that are slices of it, its figures and its confidence.

A figure is a region, not a unit: the labels in a chart are words of the page like all others and belong to
units, so that they can be found and cited.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from operator import attrgetter

from msgspec.structs import replace

from pdf.extract.word_repair import Vocabulary
from pdf.extract.words import RawWord, is_unspaced, pieces
from pdf.geometry import Box, Rect, bounding_box, rect_of
from pdf.layout.lines import SAME_BASELINE, Line, rows_of
from pdf.layout.page_layout import (
    Block,
    ColumnHeads,
    PageLayout,
    TableBlock,
    TableCell,
    bounds_of,
    empty_page_layout,
    is_right_to_left,
)
from pdf.structure import Cell, Figure, Furniture, ParsedPage, ParsedUnit, TableRow, Word
from pdf.tables.cells import is_value
from pdf.tables.column_headers import column_headers

_log = logging.getLogger(__name__)

# Maximum distance of a caption from its figure (points).
CAPTION_DISTANCE = 40.0
# Smaller pictures are ornaments: bullets, logos, rules (points).
SMALLEST_SIDE = 40.0
# Maximum distance of the labels of a chart's axes from its plot or from one another (points).
LABEL_DISTANCE = 14.0
# A drawing covered by a table to at least this share is the table's own shading and frame.
TABLE_SHARE = 0.5


def figures(page_layout: PageLayout) -> list[tuple[Rect, str]]:
    """Return the page's figures with the captions near them, in the reading frame, from top to bottom."""
    if not page_layout.images and not page_layout.drawings:
        return []
    captions = [block for block in page_layout.blocks if block.kind == "caption"]
    pictures = [rect for rect in page_layout.images if min(rect.width, rect.height) >= SMALLEST_SIDE]
    drawn = [
        with_labels(rect, page_layout.blocks)
        for rect in page_layout.drawings
        if not _is_of_a_table(rect, page_layout.blocks)
    ]
    charts = [rect for rect in drawn if not any(_holds(picture, rect) for picture in pictures)]
    found = [(rect, _nearest_caption(rect, captions)) for rect in [*pictures, *charts]]
    return sorted(found, key=lambda figure: figure[0].y0) if charts else found


def with_labels(chart: Rect, blocks: Sequence[Block]) -> Rect:
    """Return the box of the chart with the short lines beside its plot: labels of its axes, its legend."""
    labels = [
        block.rect
        for block in blocks
        if block.kind == "prose" and len(block.lines) == 1 and block.rect.width <= chart.width
    ]
    grown = chart
    for label in sorted(labels, key=lambda rect: _distance(rect, chart)):
        if _distance(label, grown) <= LABEL_DISTANCE and _stays_beside(label, chart):
            grown = grown.union(label)
    return grown


def _stays_beside(label: Rect, chart: Rect) -> bool:
    """Return whether the label is centred on some part of the chart's width or height."""
    x, y = label.center
    return chart.x0 <= x <= chart.x1 or chart.y0 <= y <= chart.y1


def _distance(a: Rect, b: Rect) -> float:
    return max(0.0, -a.overlap_x(b), -a.overlap_y(b))


def _is_of_a_table(rect: Rect, blocks: Sequence[Block]) -> bool:
    rows = [block.rect for block in blocks if block.table is not None]
    shared = sum(max(0.0, row.overlap_x(rect)) * max(0.0, row.overlap_y(rect)) for row in rows)
    return shared > TABLE_SHARE * rect.area


def _holds(picture: Rect, chart: Rect) -> bool:
    return picture.contains(*chart.center)


def _nearest_caption(rect: Rect, captions: Sequence[Block]) -> str:
    near = [
        (distance, block.text)
        for block in captions
        if block.rect.overlap_x(rect) > 0
        and (distance := max(0.0, -block.rect.overlap_y(rect))) <= CAPTION_DISTANCE
    ]
    return min(near)[1] if near else ""


def confidence(page_layout: PageLayout) -> float:
    """Return the share (0..1) of the page's characters in blocks whose layout is likely right.

    Doubtful are blocks that overlap another one (the order may be wrong), and one-line prose without final
    punctuation that is not a heading (labels of figures, forms, tables that were not recognised).
    """
    total = doubtful = 0
    boxes = [(block, block.rect) for block in page_layout.blocks if block.table is None]
    for i, (block, rect) in enumerate(boxes):
        chars = sum([line.chars for line in block.lines])
        total += chars
        loose = (
            block.kind == "prose"
            and len(block.lines) == 1
            and not block.lines[0].text.endswith((".", ":", "。"))
        )
        crossed = any(_run_together(rect, other) for _, other in boxes[max(0, i - 3) : i])
        doubtful += chars if crossed else chars // 2 if loose else 0
    return round(1 - doubtful / total, 3) if total else 1.0


def _run_together(a: Rect, b: Rect) -> bool:
    apart = a.y0 >= b.y1 or b.y0 >= a.y1  # nearly always
    return not apart and a.overlap_y(b) > 2 and a.overlap_x(b) > 1


# Maximum indent of a line of a listing (characters).
DEEPEST_INDENT = 80
_COLUMN = attrgetter("column")


def emit_units(page_layouts: Sequence[PageLayout], vocabulary: Vocabulary) -> list[ParsedPage]:
    """Return the pages as values. Lines are numbered from 1 through all pages, as printed where they are."""
    pages, line = [], 1
    for page_layout in page_layouts:
        page, line = _written(page_layout, vocabulary, line)
        pages.append(page)
    return pages


def _written(page_layout: PageLayout, vocabulary: Vocabulary, line: int) -> tuple[ParsedPage, int]:
    """Return the page and the next line number; on failure its plain lines, or only the reason."""
    try:
        return PageWriter(page_layout, vocabulary, line).finished()
    except Exception:  # any: a bad page must not end the document
        _log.exception("writing page %d failed", page_layout.raw.number)
    page_layout.keep_plain_lines()
    try:
        return PageWriter(page_layout, vocabulary, line).finished()
    except Exception as error:
        empty = empty_page_layout(page_layout.raw, f"writing: {type(error).__name__}: {error}")
        return PageWriter(empty, vocabulary, line).finished()


@dataclass(slots=True)
class PageWriter:
    """Build one page's text word by word: head furniture, units in reading order, foot furniture.

    ``spanning``: cells over several rows, each with its table and its last row. ``before``: lines of the
    document before the line that the page numbers 1.
    """

    page_layout: PageLayout
    vocabulary: Vocabulary
    line: int
    length: int = 0
    parts: list[str] = field(default_factory=list)
    words: list[Word] = field(default_factory=list)
    spanning: list[tuple[TableBlock, int, Cell]] = field(default_factory=list)
    to_page: Callable[[Box], Rect] = field(init=False)
    before: int = field(init=False)

    def __post_init__(self) -> None:
        self.to_page = rect_of if self.page_layout.is_plain else self.page_layout.to_page
        self.before = self.line - 1
        if numbers := self.page_layout.line_numbers:
            lines = [line for block in self.page_layout.blocks for line in block.lines]
            printed = [printed_number(line.rect, numbers) for line in lines]
            self.before = max(self.line - min([int(numbers[0].text), *printed]), 0)

    def finished(self) -> tuple[ParsedPage, int]:
        """Return the page, and the number of the line after its last."""
        page = self.parsed()
        numbered = (int(line.text) + self.before + 1 for line in self.page_layout.line_numbers)
        return page, max(self.line, *numbered, 0)

    def parsed(self) -> ParsedPage:
        raw = self.page_layout.raw
        head = [self._furniture(line) for line in self.page_layout.head]
        units = tuple(self._unit(block, index) for index, block in enumerate(self.page_layout.blocks))
        foot = [self._furniture(line) for line in self.page_layout.foot]
        return ParsedPage(
            number=raw.number,
            label=raw.label,
            frame=raw.frame,
            text="".join(self.parts),
            words=tuple(self.words),
            units=units,
            furniture=(*head, *foot),
            figures=tuple(
                Figure(self.page_layout.to_page(rect), caption) for rect, caption in figures(self.page_layout)
            ),
            ocr=raw.ocr,
            confidence=confidence(self.page_layout),
            hidden_words=raw.hidden_words,
            failure=raw.failure,
            first_line=self.before + 1 if units else 0,
        )

    def _add(self, text: str) -> None:
        self.parts.append(text)
        self.length += len(text)

    def _add_lines(self, lines: Sequence[Line], glue: str = " ") -> str:
        """Append the lines' words, with ``glue`` between lines; return their text."""
        if len(lines) == 1 and lines[0].text.isascii():  # most cells and many units: nothing to join
            self._add_words(lines[0].words)
            self._add(lines[0].text)
            return lines[0].text
        first_part, between = len(self.parts), ""
        next_words = [line.words[0].text for line in lines[1:]]
        for line, following in zip(lines, [*next_words, ""], strict=True):
            if between:
                self._add(between)
            last = line.words[-1].text
            kept, between = self.vocabulary.at_line_end(last, following, glue)
            if line.text.isascii() or not is_unspaced(line.text):
                self._add_words(line.words)
            else:
                self._add_characters(line.words)
            self._add(line.text if kept == last else line.text[: -len(last)] + kept)
            if len(kept) < len(last):
                word = self.words[-1]
                self.words[-1] = replace(word, char_end=self.length)
        return "".join(self.parts[first_part:])

    def _add_code(self, lines: Sequence[Line]) -> str:
        """Append a listing line by line, each with its indent as spaces; return its text."""
        first_part = len(self.parts)
        left = min([line.x0 for line in lines])
        for n, line in enumerate(lines):
            self._add("\n" * (n > 0) + " " * indent(line, left))
            self._add_lines([line])
        return "".join(self.parts[first_part:])

    def _add_words(self, words: Sequence[RawWord]) -> None:
        """Append the words of a line, with a space between them."""
        add, at = self.words.append, self.length
        if self.page_layout.is_plain:
            for word in words:
                add(Word(at, at := at + len(word.text), word.x0, word.y0, word.x1, word.y1))
                at += 1
        else:
            for word in words:
                end = at + len(word.text)
                add(Word(at, end, *self.to_page((word.x0, word.y0, word.x1, word.y1))))
                at = end + 1

    def _add_characters(self, words: Sequence[RawWord]) -> None:
        """Append the words of a script without spaces: its characters, and the runs between them."""
        add, to_page, at = self.words.append, self.to_page, self.length
        for raw in words:
            y0, y1 = raw.y0, raw.y1
            for piece, x0, x1 in pieces(raw.text, raw.x0, raw.x1):
                end = at + len(piece)
                add(Word(at, end, *to_page((x0, y0, x1, y1))))
                at = end
            at += 1

    def _furniture(self, line: Line) -> Furniture:
        start, text = self.length, self._add_lines([line])
        self._add("\n")
        is_line_number = any(line is each for each in self.page_layout.line_numbers)
        return Furniture(text, start, start + len(text), (self.to_page(line.rect),), is_line_number)

    def _unit(self, block: Block, index: int) -> ParsedUnit:
        first_part, start = len(self.parts), self.length
        cells: tuple[Cell, ...] = ()
        if block.cells:
            cells = self._add_cells(block)
            text = "".join(self.parts[first_part:])
        else:
            text = self._add_code(block.lines) if block.kind == "code" else self._add_lines(block.lines)
        end = self.length
        self._add("\n")
        lines = line_rects(block)
        rects = tuple(lines if self.page_layout.is_plain else map(self.to_page, lines))
        first_line, last_line = self._line_numbers(lines)
        return ParsedUnit(
            index=index,
            type=block.kind,
            text=text,
            char_start=start,
            char_end=end,
            line_start=first_line,
            line_end=last_line,
            bbox=rects[0] if len(rects) == 1 else bounding_box(rects),
            rects=rects,
            level=block.level,
            section_title=block.section_path[-1] if block.section_path else "",
            section_path=block.section_path,
            section_type=block.section_type,
            table=self._table_row(block, cells),
            list_marker=block.marker if block.kind == "list" else "",
            continues=block.continues,
        )

    def _line_numbers(self, lines: Sequence[Rect]) -> tuple[int, int]:
        """Return the numbers of first and last line through the document, as printed where they are."""
        if not (numbers := self.page_layout.line_numbers):
            first, self.line = self.line, self.line + len(lines)
            return first, self.line - 1
        printed = [printed_number(rect, numbers) + self.before for rect in lines]
        self.line = max(self.line, *printed) + 1
        return min(printed), max(printed)

    def _table_row(self, block: Block, cells: tuple[Cell, ...]) -> TableRow | None:
        table = block.table
        if table is None:
            return None
        sure = round(table.confidence, 2)
        if block.header:
            return TableRow(
                table.index, block.row, cells, header=True, caption=table.caption, confidence=sure
            )
        heads = self._heads_of(table)
        rects = tuple(rect and self.page_layout.to_page(rect) for rect in heads.rects)
        self.spanning = [item for item in self.spanning if item[0] is table and item[1] >= block.row]
        above = tuple((cell.column, cell.text) for _, _, cell in self.spanning)
        self.spanning += [(table, block.row + cell.rows - 1, cell) for cell in cells if cell.rows > 1]
        return TableRow(
            table.index,
            block.row,
            cells,
            False,
            heads.texts,
            table.caption,
            rects,
            heads.confidence,
            above,
            sure,
        )

    def _heads_of(self, table: TableBlock) -> ColumnHeads:
        if table.heads is None:
            table.heads = column_headers(table, self.page_layout.blocks, self.page_layout.rulings)
        return table.heads

    def _add_cells(self, block: Block) -> tuple[Cell, ...]:
        """Append the cells' texts in reading order, separated by tabs; return the cells, left to right."""
        cells = []
        headed = self._heads_of(block.table).headed if block.header and block.table else {}
        in_order = block.cells[::-1] if self._is_read_leftwards(block) else block.cells
        for n, cell in enumerate(in_order):
            if n:
                self._add("\t")
            start, text = self.length, self._add_lines(cell.lines)
            header = block.header or (n == 0 and len(in_order) > 1 and not is_value(text))
            place, columns = self.to_page(cell.rect), tuple(headed.get(id(cell), ()))
            column, span = _extent(cell, columns, block.cells)
            cells.append(Cell(column, text, place, header, start, self.length, columns, span, cell.rows))
        return tuple(sorted(cells, key=_COLUMN))

    def _is_read_leftwards(self, block: Block) -> bool:
        """Return whether most text of the table is right to left; a row may have only numbers."""
        table = block.table
        if table is None:
            return block.rtl
        if table.rtl is None:
            rows = [other for other in self.page_layout.blocks if other.table is table]
            lines = [line for row in rows for line in row.lines]
            table.rtl = any(line.rtl for line in lines) and is_right_to_left(
                [line for line in lines if not is_value(line.text)]
            )
        return table.rtl


def _extent(cell: TableCell, headed: Sequence[int], row: Sequence[TableCell]) -> tuple[int, int]:
    """Return the first column of a cell and the number of columns that it covers.

    A head covers the columns that it is over, if they are adjacent and free of other heads of its row.
    """
    others = {other.column for other in row if other is not cell}
    covered = range(min(headed), max(headed) + 1) if headed else range(0)
    if cell.span > 1 or len(covered) < 2 or len(covered) != len(headed) or not others.isdisjoint(covered):
        return cell.column, cell.span
    return covered[0], len(covered)


def indent(line: Line, left: float) -> int:
    """Return the indent of a line after ``left``, in characters of its monospaced font."""
    word = line.words[0]
    width = (word.x1 - word.x0) / len(word.text)
    return min(DEEPEST_INDENT, round((line.x0 - left) / width)) if width > 0 else 0


def printed_number(rect: Rect, numbers: Sequence[Line]) -> int:
    """Return the line number beside a line of text, counted on from the nearest where it has none.

    ``numbers``: at least two, from top to bottom.
    """
    y = rect.center[1]
    nearest = min(numbers, key=lambda line: abs(line.rect.center[1] - y))
    span = int(numbers[-1].text) - int(numbers[0].text)
    pitch = (numbers[-1].rect.center[1] - numbers[0].rect.center[1]) / span
    return int(nearest.text) + round((y - nearest.rect.center[1]) / pitch)


def line_rects(block: Block) -> list[Rect]:
    """Return one rectangle per visual line: lines side by side in a table row become one."""
    lines = block.lines
    if block.table is None or len(lines) == 1:
        return [line.rect for line in lines]
    baselines = [line.baseline for line in lines]
    if max(baselines) - min(baselines) <= SAME_BASELINE * lines[0].size:
        return [bounds_of(lines)]
    return [bounds_of(row) for row in rows_of(lines)]


# --- Units from the pictures of a page, after those of its text ---

_SEPARATOR = "\n\n"


def renumbered(page: ParsedPage, lines: int) -> ParsedPage:
    """Return the page with its line numbers increased by ``lines``."""
    if not lines:
        return page
    units = tuple(
        replace(unit, line_start=unit.line_start + lines, line_end=unit.line_end + lines)
        for unit in page.units
    )
    return replace(page, units=units, first_line=page.first_line and page.first_line + lines)


def with_appended(page: ParsedPage, pictures: ParsedPage) -> ParsedPage:
    """Return the page with the text, words and units of its pictures after its own."""
    start = len(page.text) + len(_SEPARATOR) if page.text else 0
    return replace(
        page,
        text=page.text + (_SEPARATOR if page.text else "") + pictures.text,
        words=(*page.words, *(_moved(word, start) for word in pictures.words)),
        units=(*page.units, *(_as_page_unit(unit, page, start) for unit in pictures.units)),
        furniture=(*page.furniture, *(_moved_furniture(each, start) for each in pictures.furniture)),
    )


def _moved(word: Word, start: int) -> Word:
    return replace(word, char_start=word.char_start + start, char_end=word.char_end + start)


def _moved_furniture(each: Furniture, start: int) -> Furniture:
    return replace(each, char_start=each.char_start + start, char_end=each.char_end + start)


def _as_page_unit(unit: ParsedUnit, page: ParsedPage, start: int) -> ParsedUnit:
    """Return the unit of a picture as a unit of its page: prose in the section that the page ends with."""
    section = page.units[-1] if page.units else unit
    return replace(
        unit,
        index=len(page.units) + unit.index,
        type="list" if unit.type == "list" else "prose",
        level=unit.level if unit.type == "list" else None,
        char_start=unit.char_start + start,
        char_end=unit.char_end + start,
        section_title=section.section_title,
        section_path=section.section_path,
        section_type=section.section_type,
        table=None,
        continues=False,
        from_picture=True,
    )
