"""Right-to-left tables, seen in a mirror: first column leftmost, as in any other table."""

from __future__ import annotations

from collections.abc import Sequence
from operator import attrgetter

from msgspec.structs import replace

from documents.pdf.fast.blocks import Block, TableCell
from documents.pdf.fast.lines import Line, merged, rows_of


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
