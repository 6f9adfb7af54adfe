"""Captions and titles tied to the tables they name."""

from __future__ import annotations

from collections.abc import Sequence

from documents.pdf.fast.blocks import Block
from documents.pdf.fast.sheets import Sheet

# Blocks looked at above and below a table for its caption or title.
REACH = 2
TITLE_CHARS = 160


def title_tables(sheets: Sequence[Sheet]) -> None:
    """Gives each table its caption, or the heading or introducing line right above it."""
    for sheet in sheets:
        blocks = sheet.blocks
        for i, block in enumerate(blocks):
            if block.table is None or (i and blocks[i - 1].table is block.table):
                continue
            end = next((k for k in range(i, len(blocks)) if blocks[k].table is not block.table), len(blocks))
            above, below = blocks[max(0, i - REACH) : i][::-1], blocks[end : end + 1]
            block.table.caption = _title(above, below)


def _title(above: Sequence[Block], below: Sequence[Block]) -> str:
    for block in [*above, *below]:
        if block.kind == "caption":
            return block.text
    for block in above[:1]:
        text = block.text
        if block.kind == "heading" or (len(text) <= TITLE_CHARS and text.endswith(":")):
            return text
    return next((block.text for block in above[1:] if block.kind == "heading"), "")
