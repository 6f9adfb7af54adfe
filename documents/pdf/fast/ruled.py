"""The tables of a page that rulings show, each standing among its lines as one until the order is known."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

from documents.pdf.fast.blocks import Block
from documents.pdf.fast.cells import is_value
from documents.pdf.fast.grid import SNAP, Grid, beside, grid_table, grids
from documents.pdf.fast.ladder import ROW_RUNGS, Ladder, ladder_table, ladders, parted, with_outer_rows
from documents.pdf.fast.lines import Line, rows_of
from documents.pdf.fast.mirroring import read_leftwards
from documents.pdf.fast.texttables import Inset, text_tables
from documents.pdf.geometry import Rect

# Rulings that cut more than this share of their rows off from values, or values from their heads.
CUT_SHARE = 0.5


def with_ruled_tables(
    lines: Sequence[Line], rulings: Sequence[Rect], fills: Sequence[Rect] = ()
) -> list[Line]:
    """The lines, those of ruled tables replaced by one Inset each."""
    rest = list(lines)
    for grid in whole_grids(grids(rulings), rest):
        rest = _with_inset(rest, grid.rect, partial(grid_table, grid))
    found = ladders(rulings)
    rest = _with_ladders(rest, [ladder for ladder in found if len(ladder.ys) >= ROW_RUNGS])
    rest = _with_ladders(rest, ladders(edges_of(fills), SNAP), shaded=True)
    small = [ladder for ladder in found if len(ladder.ys) < ROW_RUNGS]
    tables = [rect for rect, _, _ in text_tables(_plain(rest))] if small else []
    return _with_ladders(rest, [ladder for ladder in small if not _parts_rows(ladder, tables)])


def _parts_rows(ladder: Ladder, tables: Sequence[Rect]) -> bool:
    """Whether a table of texts reaches out above or below the rulings: then they part its rows."""
    return any(
        table.overlap_x(ladder.rect) > 0
        and table.overlap_y(ladder.rect) > 0
        and (table.y0 < ladder.rect.y0 - SNAP or table.y1 > ladder.rect.y1 + SNAP)
        for table in tables
    )


def _plain(lines: Sequence[Line]) -> list[Line]:
    return [line for line in lines if not (line.sideways or isinstance(line, Inset)) and line.chars]


def _with_ladders(lines: list[Line], found: Sequence[Ladder], shaded: bool = False) -> list[Line]:
    for ladder in found:
        for part in parted(ladder, _inside(ladder.rect, lines)):
            whole = with_outer_rows(part, lines, shaded)
            if not any(isinstance(line, Inset) and _reaches_into(line, whole.rect) for line in lines):
                lines = _with_inset(lines, whole.rect, partial(ladder_table, whole, shaded=shaded))
    return lines


def edges_of(fills: Sequence[Rect]) -> list[Rect]:
    """The upper and lower edges of shaded stripes: they part the rows of a table as rulings do."""
    return [Rect(x0, y, x1, y) for x0, y0, x1, y1 in fills for y in (y0, y1)]


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


def _reaches_into(line: Line, rect: Rect) -> bool:
    return line.rect.overlap_x(rect) > 0 and line.rect.overlap_y(rect) > 0


def _inside(rect: Rect, lines: Sequence[Line]) -> list[Line]:
    """The lines whose middle lies in the rectangle."""
    x0, x1, y0, y1 = 2 * rect.x0, 2 * rect.x1, 2 * rect.y0, 2 * rect.y1
    return [
        line
        for line in lines
        if x0 <= line.x0 + line.x1 <= x1 and y0 <= line.y0 + line.y1 <= y1 and line.chars
    ]
