"""From the lines of a page to its blocks in reading order."""

from __future__ import annotations

from collections.abc import Sequence

from documents.pdf.fast.blocks import Block
from documents.pdf.fast.columns import regions
from documents.pdf.fast.lines import Line, merged, rows_of
from documents.pdf.fast.paragraphs import paragraphs
from documents.pdf.fast.tables import bands, row_of, table_blocks


def blocks_in_order(lines: Sequence[Line]) -> list[Block]:
    """The page's blocks as they are read."""
    rtl = sum(line.chars if line.rtl else -line.chars for line in lines) > 0
    return [block for region in regions(lines, rtl) for block in region_blocks(region)]


def region_blocks(lines: Sequence[Line]) -> list[Block]:
    """Tables and paragraphs of one column, top to bottom."""
    rows = [row_of(row) for row in rows_of(lines)]
    x0, x1 = min(line.x0 for line in lines), max(line.x1 for line in lines)
    blocks: list[Block] = []
    done = 0
    for start, end in [*bands(rows, x0, x1), (len(rows), len(rows))]:
        blocks += paragraphs([merged(row.lines) for row in rows[done:start]])
        if end > start:
            blocks += table_blocks(rows[start:end])
        done = end
    return blocks
