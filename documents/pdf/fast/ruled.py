"""The tables of a page that rulings show, each standing among its lines as one until the order is known."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

from documents.pdf.fast.blocks import Block
from documents.pdf.fast.cells import is_value
from documents.pdf.fast.grid import Grid, beside, grid_table, grids
from documents.pdf.fast.ladder import ladder_table, ladders, parted
from documents.pdf.fast.lines import Line, rows_of
from documents.pdf.fast.mirroring import read_leftwards
from documents.pdf.fast.words import RawWord
from documents.pdf.geometry import Rect

# Rulings that cut more than this share of their rows off from values, or values from their heads.
CUT_SHARE = 0.5


class Inset(Line):
    """Blocks found already, standing in the page as one line does until the order is known."""

    __slots__ = ("blocks",)

    def __init__(self, rect: Rect, blocks: list[Block]) -> None:
        style = blocks[0].lines[0].style
        super().__init__([RawWord(*rect, "", style, rect.y1, -1)])
        self.blocks = blocks


def with_ruled_tables(lines: Sequence[Line], rulings: Sequence[Rect]) -> list[Line]:
    """The lines, those of ruled tables replaced by one Inset each."""
    rest = list(lines)
    for grid in whole_grids(grids(rulings), rest):
        rest = _with_inset(rest, grid.rect, partial(grid_table, grid))
    for ladder in ladders(rulings):
        for part in parted(ladder, _inside(ladder.rect, rest)):
            rest = _with_inset(rest, part.rect, partial(ladder_table, part))
    return rest


def _with_inset(lines: list[Line], rect: Rect, table: Callable[[list[Line]], list[Block]]) -> list[Line]:
    inside = _inside(rect, lines)
    blocks = table(inside) if inside else []
    if any(line.rtl for line in inside) and all(block.cells for block in blocks):
        blocks = read_leftwards(blocks)
    if not blocks:
        return lines
    taken = set(map(id, inside))
    return [line for line in lines if id(line) not in taken] + [Inset(rect, blocks)]


def whole_grids(found: Sequence[Grid], lines: Sequence[Line]) -> list[Grid]:
    """The grids that hold whole rows; one that cuts them is joined with what is ruled beside, or left out."""
    whole: list[Grid] = []
    parts: list[Grid] = []
    for grid in found:
        (parts if cuts_rows(grid.rect, lines) else whole).append(grid)
    while parts:
        grid = parts.pop()
        for other in parts:
            if joined := beside(grid, other):
                parts.remove(other)
                (parts if cuts_rows(joined.rect, lines) else whole).append(joined)
                break
    return whole


def cuts_rows(rect: Rect, lines: Sequence[Line]) -> bool:
    """Whether the rows inside go on beyond a side, with values: shading and underlines close in no table."""
    band = [line for line in lines if rect.y0 <= (line.y0 + line.y1) / 2 <= rect.y1 and line.chars]
    inside = set(map(id, _inside(rect, band)))
    if len(inside) == len(band):
        return False
    left = right = count = 0
    for row in rows_of(band):
        places = [n for n, line in enumerate(row) if id(line) in inside]
        if not places or not any(is_value(line.text) for line in row):
            continue
        count += 1
        left += places[0] > 0 and is_value(row[places[0]].text)
        right += places[-1] + 1 < len(row) and is_value(row[places[-1] + 1].text)
    return max(left, right) > CUT_SHARE * count


def _inside(rect: Rect, lines: Sequence[Line]) -> list[Line]:
    """The lines whose middle lies in the rectangle."""
    x0, x1, y0, y1 = 2 * rect.x0, 2 * rect.x1, 2 * rect.y0, 2 * rect.y1
    return [
        line
        for line in lines
        if x0 <= line.x0 + line.x1 <= x1 and y0 <= line.y0 + line.y1 <= y1 and line.chars
    ]
