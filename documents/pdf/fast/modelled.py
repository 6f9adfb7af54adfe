"""Blocks of a page as a layout model's boxes say: the ``ml`` engine's other half.

The model says where paragraphs, headings, lists and tables are; rows and cells,
levels, sections and text come from the same code as the ``fast`` engine's.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from documents.pdf.fast.blocks import Block
from documents.pdf.fast.cells import Row
from documents.pdf.fast.frames import to_reading
from documents.pdf.fast.lines import Line, merged, rows_of
from documents.pdf.fast.lists import marker_of
from documents.pdf.fast.order import blocks_in_order
from documents.pdf.fast.sheets import Sheet
from documents.pdf.fast.tablerows import table_blocks
from documents.pdf.geometry import Rect
from documents.pdf.structure import UnitType


class ModelBox(NamedTuple):
    """One box of the model, in page space. ``kind`` is the model's own name for it."""

    rect: Rect
    kind: str


_KINDS: dict[str, UnitType] = {
    "title": "heading",
    "section-header": "heading",
    "list-item": "list",
    "caption": "caption",
    "footnote": "footnote",
    "formula": "formula",
}
_HEAD, _FOOT, _TABLE = "page-header", "page-footer", "table"


def arrange_as_modelled(sheet: Sheet, boxes: Sequence[ModelBox]) -> None:
    """Gives the sheet its blocks, and its furniture where the model saw more of it."""
    placed = _in_boxes(sheet, boxes)
    blocks: list[Block] = []
    for box, lines in zip(boxes, placed[:-1], strict=True):
        if not lines:
            continue
        if box.kind == _HEAD:
            sheet.head += [merged(row) for row in rows_of(lines)]
        elif box.kind == _FOOT:
            sheet.foot += [merged(row) for row in rows_of(lines)]
        else:
            blocks += _blocks(box.kind, lines, sheet)
    sheet.blocks = _with_rest(blocks, blocks_in_order(placed[-1], sheet.rulings) if placed[-1] else [])
    sheet.head.sort(key=lambda line: line.y0)
    sheet.foot.sort(key=lambda line: line.y0)


def _in_boxes(sheet: Sheet, boxes: Sequence[ModelBox]) -> list[list[Line]]:
    """The lines in each box, last those in none. A line belongs to the smallest box around its middle."""
    frame = sheet.raw.frame
    rects = [to_reading(box.rect, sheet.turn, frame.width, frame.height) for box in boxes]
    placed: list[list[Line]] = [[] for _ in range(len(boxes) + 1)]
    for line in sheet.lines:
        x, y = line.rect.center
        around = [(rect.area, number) for number, rect in enumerate(rects) if rect.contains(x, y)]
        placed[min(around)[1] if around else -1].append(line)
    return placed


def _blocks(kind: str, lines: list[Line], sheet: Sheet) -> list[Block]:
    if kind == _TABLE:
        found = blocks_in_order(lines, sheet.rulings)
        whole = sum(block.table is not None for block in found) > len(found) / 2
        return found if whole else table_blocks([Row(row) for row in rows_of(lines)])
    rows = [merged(row) for row in rows_of(lines)]
    block = Block(_KINDS.get(kind, "prose"), rows)
    if block.kind == "heading":
        block.level = 2
    elif marker := marker_of(rows[0].words[0].text):
        block.kind, block.marker = "list", marker
    return [block]


def _with_rest(blocks: list[Block], rest: list[Block]) -> list[Block]:
    """Blocks the model did not see, each before the first that begins below it."""
    for extra in rest:
        top = extra.rect.y0
        below = (
            i
            for i, block in enumerate(blocks)
            if block.rect.y0 > top and block.rect.overlap_x(extra.rect) > 0
        )
        blocks.insert(next(below, len(blocks)), extra)
    return blocks
