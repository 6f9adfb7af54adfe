"""Make units of a table's rows: one per logical row, its cells in columns, its header rows known.

Right-to-left tables are mirrored first, so that their first column is leftmost as in any other table.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise
from operator import attrgetter

from msgspec.structs import replace

from pdf.extract.words import RawWord
from pdf.layout.lines import Line, merged, rows_of
from pdf.layout.page_layout import Block, TableBlock, TableCell
from pdf.tables.aligned import BETWEEN, WRAP_DISTANCE
from pdf.tables.cells import (
    ColumnSpans,
    Row,
    cell_text,
    columns_of,
    is_currency,
    is_date,
    is_value,
    is_value_cell,
)

# A space between words is narrower than this (ems); what parts cells is wider.
WORD_SPACE = 0.4

_CONTINUES = re.compile(r"^[^\W\d_A-Z]|^(?:and|or|of|in|to|for)\b")


def table_blocks(rows: Sequence[Row]) -> list[Block]:
    """One block per row; every cell knows its column."""
    if any(row.is_text for row in rows):
        return _described_blocks(rows)
    columns = columns_of(rows)
    cells = [placed(row, columns) for row in rows]
    return blocks_of(logical_rows(cells), len(columns.spans))


def _described_blocks(rows: Sequence[Row]) -> list[Block]:
    """The rows, each with the text below it as its last cell; a row with such a text heads none."""
    columns = columns_of([row for row in rows if not row.is_text])
    last = len(columns.spans)
    cells: list[list[TableCell]] = []
    for row in rows:
        if not row.is_text:
            cells.append(placed(row, columns))
        elif cells[-1][-1].column == last:
            cells[-1][-1].lines += row.lines
        else:
            cells[-1].append(TableCell(last, list(row.lines)))
    first = next(n for n, row in enumerate(cells) if row[-1].column == last)
    return blocks_of(cells, last + 1, heads=first)


def blocks_of(rows: Sequence[list[TableCell]], columns: int, heads: int | None = None) -> list[Block]:
    """Blocks of one table from the cells of its rows. ``heads``: at most so many of them are heads."""
    table = TableBlock(columns=columns)
    blocks = [
        Block("table", [line for cell in cells for line in cell.lines], table=table, row=n, cells=cells)
        for n, cells in enumerate(rows)
    ]
    _mark_heads(blocks, table, len(blocks) if heads is None else heads)
    return blocks


def placed(row: Row, columns: ColumnSpans) -> list[TableCell]:
    """The row's cells by column; a line that runs on through gutters is parted there."""
    cells: list[TableCell] = []
    for cell in row.cells:
        hit = columns.hit(cell)
        for column, lines in [(hit[0], cell)] if len(hit) == 1 else _by_column(cell, columns):
            if cells and cells[-1].column == column:
                cells[-1].lines += lines
            else:
                cells.append(TableCell(column, list(lines)))
    return cells


def _by_column(cell: list[Line], columns: ColumnSpans) -> list[tuple[int, list[Line]]]:
    """The lines of a cell that stands under no column or several, each at its own; a sign at its number's."""
    pieces: list[tuple[int, list[Line]]] = []
    signs: list[Line] = []
    for line in cell:
        if is_currency(line.text) and line is not cell[-1]:
            signs.append(line)
            continue
        hit = columns.hit([line])
        if len(hit) > 1:
            parts = [(column, [piece]) for column, piece in _parted(line, columns, hit)]
        else:
            parts = [(_nearest(columns, line), [line])]
        parts[0][1][:0], signs = signs, []
        pieces += parts
    return pieces


def _nearest(columns: ColumnSpans, line: Line) -> int:
    middle = (line.x0 + line.x1) / 2
    distances = [max(a - middle, middle - b) for a, b in columns.spans]
    return distances.index(min(distances))


def _parted(line: Line, columns: ColumnSpans, hit: Sequence[int]) -> list[tuple[int, Line]]:
    """The pieces of a line by column, if each word keeps to one; else the line at its first column.

    Words that only a space keeps apart stay together: a head over several columns.
    """
    parts: dict[int, list[RawWord]] = {}
    for word in line.words:
        under = [i for i in hit if columns.spans[i][0] < word.x1 and word.x0 < columns.spans[i][1]]
        if len(under) > 1:
            return [(hit[0], line)]
        column = under[0] if under else max(parts, default=hit[0])
        parts.setdefault(column, []).append(word)
    pieces = [(column, Line(words)) for column, words in parts.items()]
    if any(_run_on(left, right) for (_, left), (_, right) in pairwise(pieces)):
        return [(hit[0], line)]
    return pieces


def _run_on(left: Line, right: Line) -> bool:
    """Whether words, not numbers, go on after no more than a space."""
    if right.x0 - left.x1 >= WORD_SPACE * left.size:
        return False
    return not any(is_value(text) and not is_date(text) for text in (left.text, right.text))


def logical_rows(rows: Sequence[list[TableCell]]) -> list[list[TableCell]]:
    """Rows that only go on with the cells above joined to them, wrapped heads to the row that ends them."""
    out: list[list[TableCell]] = []
    for cells in rows:
        if out and (_is_between(cells, out[-1]) or _goes_on(cells, out[-1]) or _ends_head(cells, out[-1])):
            absorb(out[-1], cells)
        else:
            out.append(cells)
    return out


def _is_between(cells: list[TableCell], above: list[TableCell]) -> bool:
    """Whether the cells stand about the height of others that are broken: nearer than lines can follow.

    A text goes on beside values or another text; values below values are rows, or the scale of a chart.
    """
    line = cells[0].lines[0]
    near = [
        (cell.column, other)
        for cell in above
        for other in cell.lines
        if 0 < line.baseline - other.baseline <= BETWEEN * line.size
    ]
    columns = {cell.column for cell in cells}
    if not near or not columns.isdisjoint(column for column, _ in near):
        return False
    valued = any(is_value_cell(cell.lines) for cell in cells)
    if valued and any(is_value(other.text) for _, other in near):
        return False
    shared = [cell for cell in (*above, *cells) if cell.column in columns & {other.column for other in above}]
    if len(shared) > 2:
        shared = [*above, *cells]
    return not any(is_value(other.text) for cell in shared for other in cell.lines)


def _goes_on(cells: list[TableCell], above: list[TableCell]) -> bool:
    """A lone cell right below the text of the same column, plainly its next line."""
    if len(cells) > 1:
        return False
    over = next((cell for cell in above if cell.column == cells[0].column), None)
    if over is None:
        return False
    last, line = over.lines[-1], cells[0].lines[0]
    close = line.y0 - last.y1 < WRAP_DISTANCE * line.size and last.style.bold == line.style.bold
    if cells[0].column > 0:
        return close and len(above) > 1 and above[0].column == 0 and not is_value_cell(cells[0].lines)
    return close and len(above) > 1 and bool(_CONTINUES.match(line.text)) and line.x0 > over.lines[0].x0 - 1


def _ends_head(cells: list[TableCell], above: list[TableCell]) -> bool:
    """The row above holds the beginning of this row's head, broken for want of room."""
    if len(above) > 1 or above[0].column != 0 or cells[0].column != 0 or len(cells) < 2:
        return False
    last, line = above[0].lines[-1], cells[0].lines[0]
    return (
        line.y0 - last.y1 < 0.5 * line.size
        and not last.text.endswith(":")
        and bool(_CONTINUES.match(line.text))
        and last.style.bold == line.style.bold
    )


def absorb(above: list[TableCell], cells: list[TableCell]) -> None:
    """Adds the cells to those of the row above."""
    for cell in cells:
        same = next((c for c in above if c.column == cell.column), None)
        if same:
            same.lines.extend(cell.lines)
        else:
            above.append(cell)
    above.sort(key=lambda cell: cell.column)


def _mark_heads(blocks: list[Block], table: TableBlock, most: int) -> None:
    """The rows above the first that holds a value (a date is none) are heads.

    Below heads of the columns, the head of a group of rows is none; ``(In millions)`` is.
    """
    for n, block in enumerate(blocks[:most]):
        body = [cell_text(cell.lines) for cell in block.cells if cell.column > 0]
        if any(is_value(text) and not is_date(text) for text in body):
            break
        if not body and n and _heads_rows(block.lines[0].text, table):
            break
        block.header = True
        table.head.append(block)
    if len(table.head) == len(blocks):
        for block in blocks[1:]:
            block.header = False
        del table.head[1:]


def _heads_rows(text: str, table: TableBlock) -> bool:
    """Whether a lone text in the first column heads the rows below it: the columns have their heads."""
    headed = any(cell.column > 0 for head in table.head for cell in head.cells)
    return text.endswith(":") or (headed and not text.startswith("("))


def mirrored_row(row: Sequence[Line]) -> list[Line]:
    """The lines of a row as they stand in a mirror, left to right there."""
    return sorted((mirrored(line) for line in row), key=attrgetter("x0"))


def mirrored(line: Line) -> Line:
    """The line with x turned over at 0; its words stay in the order they are read."""
    return Line([replace(word, x0=-word.x1, x1=-word.x0) for word in line.words])


def turned_back(blocks: Sequence[Block]) -> list[Block]:
    """Rows found in the mirror as they stand on the page."""
    for block in blocks:
        assert block.table is not None
        last = block.table.columns - 1
        block.cells = [
            TableCell(last - cell.column, [mirrored(line) for line in cell.lines])
            for cell in block.cells[::-1]
        ]
    return read_leftwards(blocks)


def read_leftwards(blocks: Sequence[Block]) -> list[Block]:
    """Rows, the pieces that make one line of a right-to-left cell joined in the order they are read."""
    for block in blocks:
        for cell in block.cells:
            if len(cell.lines) > 1 and any(line.rtl for line in cell.lines):
                cell.lines = [merged(row, rtl=True) for row in rows_of(cell.lines)]
        block.lines = [line for cell in block.cells for line in cell.lines]
    return list(blocks)
