"""Unruled tables: runs of rows whose cells stand under one another.

Rows with two or more cells are the seeds; rows that keep to one column join
them, prose that runs across the gutters ends them.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from documents.pdf.fast.blocks import Block, TableBlock, TableCell
from documents.pdf.fast.lines import Line
from documents.pdf.fast.lists import marker_of

# Cells of a row are at least this far apart (ems).
COLUMN_GAP = 1.2
# Rows of one table are at most this many line heights apart.
ROW_DISTANCE = 3.2
# Share of value cells that makes aligned rows a table without rulings.
VALUE_SHARE = 0.5

_VALUE = re.compile(
    r"^[\s$€£¥₹%(),.+\-–—−*/:<>≤≥~#x×✓✔√●○✗✘X]*$|"
    r"^[$€£¥₹(\[\-–—−+<>~*†]*\s*(?:US\$|[A-Z]{0,3}\$)?\s*[\d٠-٩][\d٠-٩,.\s/:\-–]*\s*[%)\]x×*†‡+]*(?:\s?(?:%|pts?|bps|bn|m|million|billion|x))?[)*†‡\d]*$|"
    r"^(?:n/?[am]\.?|nil|none|yes|no|tbd|nm|-+)$",
    re.IGNORECASE,
)
_CURRENCY = re.compile(r"^[(\[]?(?:US|C|A|HK)?[$€£¥₹]$")
_TAIL = re.compile(r"^[%)\]*x†‡]+$")


@dataclass(slots=True)
class Row:
    """Cells left to right; each cell is the lines that make it up."""

    cells: list[list[Line]]

    @property
    def multi(self) -> bool:
        return len(self.cells) > 1

    @property
    def lines(self) -> list[Line]:
        return [line for cell in self.cells for line in cell]

    @property
    def y0(self) -> float:
        return min(line.y0 for line in self.lines)

    @property
    def y1(self) -> float:
        return max(line.y1 for line in self.lines)

    @property
    def size(self) -> float:
        return max(line.size for line in self.lines)


def is_value(text: str) -> bool:
    """A number, amount, percentage, dash or check mark: what stands in a table's body."""
    return bool(_VALUE.match(text))


def row_of(lines: Sequence[Line]) -> Row:
    """Cells of one row: currency signs go with the number behind them, closing signs with the one before."""
    cells: list[list[Line]] = []
    for line in lines:
        if cells:
            last = cells[-1][-1]
            gap = line.x0 - last.x1
            if gap < COLUMN_GAP * max(line.size, last.size) or _belongs(last, line, gap):
                cells[-1].append(line)
                continue
        cells.append([line])
    if len(cells) > 1 and len(cells[0]) == 1 and marker_of(cells[0][0].text) and not is_value_cell(cells[1]):
        gap = cells[1][0].x0 - cells[0][0].x1
        if gap < 4 * cells[0][0].size:
            cells[:2] = [cells[0] + cells[1]]
    return Row(cells)


def _belongs(last: Line, line: Line, gap: float) -> bool:
    if _CURRENCY.match(last.text):
        return line.text[:1].isdigit() or line.text[:1] in "(—–-"
    return bool(_TAIL.match(line.text)) and gap < 2 * line.size


def is_value_cell(cell: list[Line]) -> bool:
    return is_value(" ".join(line.text for line in cell))


@dataclass(slots=True)
class _Columns:
    """Intervals of x that the cells of a table have covered so far."""

    spans: list[tuple[float, float]]

    def hit(self, cell: list[Line]) -> list[int]:
        x0, x1 = cell[0].x0, cell[-1].x1
        return [i for i, (a, b) in enumerate(self.spans) if min(x1, b) - max(x0, a) > 0]

    def add(self, cell: list[Line]) -> None:
        x0, x1 = cell[0].x0, cell[-1].x1
        keep = []
        for a, b in self.spans:
            if min(x1, b) - max(x0, a) > 0:
                x0, x1 = min(x0, a), max(x1, b)
            else:
                keep.append((a, b))
        self.spans = sorted([*keep, (x0, x1)])


def bands(rows: Sequence[Row], x0: float, x1: float) -> list[tuple[int, int]]:
    """Ranges of rows, end exclusive, that are tables."""
    found: list[tuple[int, int]] = []
    i = 0
    while i < len(rows):
        if rows[i].multi:
            end, columns = _grown(rows, i)
            start = _with_head(rows, i, columns, found[-1][1] if found else 0)
            if _is_table(rows[i:end], columns):
                found.append((start, end))
                i = end
                continue
        i += 1
    return found


def _grown(rows: Sequence[Row], start: int) -> tuple[int, _Columns]:
    columns = _Columns([])
    for cell in rows[start].cells:
        columns.add(cell)
    end, i = start + 1, start + 1
    pending: list[Row] = []
    while i < len(rows):
        row, above = rows[i], rows[i - 1]
        if row.y0 - above.y1 > ROW_DISTANCE * max(row.size, above.size):
            break
        if row.multi:
            if not _aligned(row, columns):
                break
            for cell in row.cells:
                if len(columns.hit(cell)) <= 1:
                    columns.add(cell)
            pending = []
            end = i + 1
        elif len(columns.hit(row.cells[0])) <= 1 and len(pending) < 8 and not _crosses(row, columns):
            pending.append(row)
        else:
            break
        i += 1
    while end < i and _continues_cell(rows[end], rows[end - 1], columns):
        end += 1
    return end, columns


def _continues_cell(row: Row, above: Row, columns: _Columns) -> bool:
    """Whether a row of one cell goes on with the last row's text, close below it."""
    if row.multi or row.y0 - above.y1 > 0.6 * row.size:
        return False
    cell = row.cells[0]
    hit = columns.hit(cell)
    if len(hit) != 1 or len(columns.spans) < 2:
        return False
    over = [c for c in above.cells if columns.hit(c) == hit]
    return (
        bool(over)
        and abs(over[0][0].x0 - cell[0].x0) < 2.2 * row.size
        and over[0][0].style.bold == cell[0].style.bold
    )


def _aligned(row: Row, columns: _Columns) -> bool:
    """Most cells stand under one column each, and no cell runs under nearly all."""
    hits = [columns.hit(cell) for cell in row.cells]
    return sum(1 for hit in hits[1:] if hit) >= 1 and len(hits[0]) < max(2, len(columns.spans))


def _crosses(row: Row, columns: _Columns) -> bool:
    """Whether a row of one cell is prose: long, and reaching over where the values stand."""
    cell = row.cells[0]
    values = columns.spans[1:]
    return bool(values) and cell[0].x0 <= columns.spans[0][1] and cell[-1].x1 > values[0][0]


def _with_head(rows: Sequence[Row], start: int, columns: _Columns, floor: int) -> int:
    """Rows above that stand over the value columns only: the heads."""
    if len(columns.spans) < 2:
        return start
    values_from = columns.spans[0][1]
    while start > floor:
        row, below = rows[start - 1], rows[start]
        if below.y0 - row.y1 > 1.2 * row.size or row.cells[0][0].x0 < values_from:
            break
        start -= 1
    return start


def _is_table(rows: Sequence[Row], columns: _Columns) -> bool:
    multi = [row for row in rows if row.multi]
    if len(multi) < 2:
        return False
    cells = [cell for row in multi for cell in row.cells[1:]]
    values = sum(is_value_cell(cell) for cell in cells)
    if values >= VALUE_SHARE * len(cells):
        return True
    return len(columns.spans) >= 3 and len(multi) >= 3 and values >= 0.2 * len(cells)


def table_blocks(rows: Sequence[Row]) -> list[Block]:
    """One block per row; every cell knows its column."""
    spans = _Columns([])
    body = [row for row in rows if row.multi]
    for row in sorted(body, key=lambda row: -len(row.cells)):
        for cell in row.cells:
            if len(spans.hit(cell)) <= 1:
                spans.add(cell)
    table = TableBlock(columns=len(spans.spans))
    blocks = []
    for n, row in enumerate(_logical_rows(rows, spans)):
        cells = [TableCell((spans.hit(cell) or [0])[0], cell) for cell in row.cells]
        blocks.append(Block("table", row.lines, table=table, row=n, cells=cells))
    _mark_head(blocks, table)
    return blocks


def _logical_rows(rows: Sequence[Row], spans: _Columns) -> list[Row]:
    return list(rows)


def _mark_head(blocks: list[Block], table: TableBlock) -> None:
    """The rows above the first with a value that is no year are heads."""
    for block in blocks:
        texts = [" ".join(line.text for line in cell.lines) for cell in block.cells[1:]]
        if any(is_value(text) and not re.fullmatch(r"(19|20)\d\d", text) for text in texts):
            break
        block.header = True
        table.head.append(block)
    if len(table.head) == len(blocks):
        for block in blocks[1:]:
            block.header = False
        del table.head[1:]
