"""The row of heads that stands above the first ruling of a table."""

from __future__ import annotations

from collections.abc import Sequence

from documents.pdf.fast.blocks import Block, TableBlock, TableCell, around
from documents.pdf.fast.cells import Row, cell_text, is_date, is_value
from documents.pdf.fast.lines import Line, rows_of
from documents.pdf.fast.tablerows import blocks_of

# It stands at most this far above the table's first row (line heights).
DISTANCE = 2.0


def with_head_above(blocks: list[Block], lines: Sequence[Line]) -> tuple[list[Block], list[Line]]:
    """The table with the heads right above it as its first row, and the lines that are left of ``lines``."""
    table = blocks[0].table
    if table is None or not lines:
        return blocks, list(lines)
    row = Row(rows_of(lines)[-1])
    columns = _columns_headed(row, blocks, table)
    if not columns:
        return blocks, list(lines)
    head = [TableCell(column, list(cell)) for column, cell in zip(columns, row.cells, strict=True)]
    taken = set(map(id, row.lines))
    return (
        blocks_of([head, *(block.cells for block in blocks)], table.columns),
        [line for line in lines if id(line) not in taken],
    )


def _columns_headed(row: Row, blocks: Sequence[Block], table: TableBlock) -> list[int]:
    """The column that each cell of the row heads; empty when it is no row of heads."""
    distance = min([line.y0 for line in blocks[0].lines]) - row.y1
    if len(row.cells) < 2 or distance > DISTANCE * row.size:
        return []
    if any(is_value(text) and not is_date(text) for text in map(cell_text, row.cells)):
        return []
    spans = _spans(blocks)
    columns = []
    for cell in row.cells:
        x0, x1 = cell[0].x0, cell[-1].x1
        over = [column for column, (left, right) in spans.items() if x1 > left and x0 < right]
        if len(over) != 1 or over[0] in columns:
            return []
        columns += over
    return columns


def _spans(blocks: Sequence[Block]) -> dict[int, tuple[float, float]]:
    """From where to where each column's text reaches, in the rows that have most cells."""
    most = max(len(block.cells) for block in blocks)
    spans: dict[int, tuple[float, float]] = {}
    for block in blocks:
        for cell in block.cells if len(block.cells) == most else ():
            x0, _, x1, _ = around(cell.lines)
            left, right = spans.get(cell.column, (x0, x1))
            spans[cell.column] = min(left, x0), max(right, x1)
    return spans
