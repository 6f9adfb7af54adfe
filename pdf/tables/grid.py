"""Find ruled tables: cells enclosed by drawn lines.

Rulings that touch make a grid. A word belongs to the cell between the nearest rulings on its four sides, so
that cells that span several rows or columns stay whole.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from pdf.extract.words import RawWord
from pdf.geometry import Rect
from pdf.layout.lines import Line, merged, rows_of
from pdf.layout.page_layout import Block, TableCell
from pdf.layout.paragraphs import paragraphs
from pdf.tables.cells import is_value
from pdf.tables.rows import blocks_of, parted
from pdf.tables.rulings import (
    SHORTEST,
    SNAP,
    Piece,
    band_edges,
    cell_borders,
    filled_borders,
    lines_in,
    tracks_of,
)

# Maximum pairs of rulings to compare: pages with more are maps and drawings.
MOST_CROSSINGS = 1_000_000
# In a table most cells are in columns of at least this share of the rows, if it has a minimum of rows.
COMMON_COLUMN = 0.35
COMMON_SHARE = 0.6
FORM_ROWS = 6
# Minimum share of common heights of two grids side by side that are one.
SAME_HEIGHTS = 0.8
# A text may reach this far beyond the rulings of its cell (points).
SLACK = 1.0

# First row and column of a cell, and the row and column after its last; heads may have halves of rows.
CellKey = tuple[float, int, float, int]


@dataclass(frozen=True, slots=True)
class Ruling:
    """A drawn line at ``at`` on one axis, from ``start`` to ``end`` on the other."""

    at: float
    start: float
    end: float


@dataclass(frozen=True, slots=True)
class RuledGrid:
    """Connected rulings. ``xs`` and ``ys`` are their positions, sorted and distinct."""

    rect: Rect
    horizontal: tuple[Ruling, ...]
    vertical: tuple[Ruling, ...]
    xs: tuple[float, ...]
    ys: tuple[float, ...]

    @property
    def closed(self) -> bool:
        """Return whether it has rulings at its left and right edges."""
        return all(any(abs(v.at - x) <= SNAP for v in self.vertical) for x in (self.rect.x0, self.rect.x1))

    def cells_at(self, xs: Iterable[float], y: float) -> list[CellKey]:
        """Return the key of the cell around each point at the height ``y``.

        Points outside belong to the outermost cells: a line whose middle is in the grid may extend beyond it.
        """
        beside = [v.at for v in self.vertical if v.start - SNAP <= y <= v.end + SNAP]
        cells: list[CellKey] = []
        for x in (min(max(x, self.rect.x0 + SNAP), self.rect.x1 - SNAP) for x in xs):
            across = [h.at for h in self.horizontal if h.start - SNAP <= x <= h.end + SNAP]
            left, right = _around(x, beside, self.rect.x0, self.rect.x1)
            top, bottom = _around(y, across, self.rect.y0, self.rect.y1)
            cells.append(
                (
                    bisect_left(self.ys, top - SNAP),
                    bisect_left(self.xs, left - SNAP),
                    bisect_left(self.ys, bottom - SNAP),
                    bisect_left(self.xs, right - SNAP),
                )
            )
        return cells


def _around(place: float, places: Sequence[float], first: float, last: float) -> tuple[float, float]:
    """Return the sorted places before and after ``place``; ``first`` and ``last`` if there is none."""
    i = bisect_right(places, place)
    return places[i - 1] if i else first, places[i] if i < len(places) else last


def _spans(ruling: Ruling, place: float) -> bool:
    return ruling.start - SNAP <= place <= ruling.end + SNAP


def grids(rulings: Iterable[Rect]) -> list[RuledGrid]:
    """Return the grids of a page that have at least two rows and two columns."""
    across, upright = [], []
    for x0, y0, x1, y1 in rulings:
        if x1 - x0 >= y1 - y0:
            if x1 - x0 >= SHORTEST:
                across.append(((y0 + y1) / 2, x0, x1))
        elif y1 - y0 >= SHORTEST:
            upright.append(((x0 + x1) / 2, y0, y1))
    if not upright or len(across) < 2:
        return []
    horizontal, vertical = _joined(across), _joined(upright)
    if len(horizontal) * len(vertical) > MOST_CROSSINGS:
        return []
    return [grid for group in _group_rulings(horizontal, vertical) if (grid := _grid(*group))]


def _joined(pieces: list[Piece]) -> list[Ruling]:
    """Join the pieces of one line, and the two lines of a double ruling."""
    out = []
    for track in tracks_of(pieces, SNAP):
        at, start, end = track[0]
        for _, s, e in track[1:]:
            if s <= end + SNAP:
                end = max(end, e)
            else:
                out.append(Ruling(at, start, end))
                start, end = s, e
        out.append(Ruling(at, start, end))
    return out


def _group_rulings(
    horizontal: list[Ruling], vertical: list[Ruling]
) -> list[tuple[list[Ruling], list[Ruling]]]:
    """Return the connected groups of rulings that touch or cross."""
    groups = []
    left = set(range(len(horizontal)))
    unseen = set(range(len(vertical)))
    while unseen:
        hs: set[int] = set()
        vs = {unseen.pop()}
        fresh = set(vs)
        while fresh:
            met = {i for i in left if any(_meet(horizontal[i], vertical[j]) for j in fresh)}
            left -= met
            hs |= met
            fresh = {j for j in unseen if any(_meet(horizontal[i], vertical[j]) for i in met)}
            unseen -= fresh
            vs |= fresh
        groups.append(([horizontal[i] for i in sorted(hs)], [vertical[j] for j in sorted(vs)]))
    return groups


def beside(grid: RuledGrid, other: RuledGrid) -> RuledGrid | None:
    """Return two grids side by side as one, if their rulings are at the same heights; else None."""
    apart = grid.rect.x1 < other.rect.x0 + SNAP or other.rect.x1 < grid.rect.x0 + SNAP
    same = sum(any(abs(y - o) <= SNAP for o in other.ys) for y in grid.ys)
    if not apart or same < SAME_HEIGHTS * max(len(grid.ys), len(other.ys)):
        return None
    vertical = sorted([*grid.vertical, *other.vertical], key=lambda ruling: ruling.at)
    horizontal = sorted([*grid.horizontal, *other.horizontal], key=lambda ruling: ruling.at)
    return _grid(horizontal, vertical)


def _meet(h: Ruling, v: Ruling) -> bool:
    return _spans(h, v.at) and _spans(v, h.at)


def _grid(horizontal: list[Ruling], vertical: list[Ruling]) -> RuledGrid | None:
    if len(horizontal) < 2:
        return None
    ys = _distinct([h.at for h in horizontal])
    x0, x1 = min(h.start for h in horizontal), max(h.end for h in horizontal)
    xs = _distinct([x0, *(v.at for v in vertical), x1])
    if len(xs) < 3 or len(ys) < 2:
        return None
    y0, y1 = min(v.start for v in vertical), max(v.end for v in vertical)
    rect = Rect(xs[0], min(ys[0], y0), xs[-1], max(ys[-1], y1))
    return RuledGrid(rect, tuple(horizontal), tuple(vertical), xs, _distinct([rect.y0, *ys, rect.y1]))


def _distinct(places: Iterable[float]) -> tuple[float, ...]:
    out: list[float] = []
    for place in sorted(places):
        if not out or place - out[-1] > SNAP:
            out.append(place)
    return tuple(out)


def grid_rows(grid: RuledGrid, lines: Sequence[Line]) -> list[Block]:
    """Return the rows of cells within the grid; empty where it has cells in one column only."""
    cells = cells_in(grid, lines)
    if len({key[1] for key in cells}) < 2:
        return []
    rows: dict[float, list[TableCell]] = {}
    begins = sorted({key[0] for key in cells})
    for top, left, bottom, right in sorted(cells):
        covered = bisect_left(begins, bottom) - bisect_left(begins, top)
        cell = TableCell(left, cells[top, left, bottom, right], right - left, covered)
        rows.setdefault(top, []).append(cell)
    return parted(blocks_of(list(rows.values()), len(grid.xs) - 1), "grid")


def boxes_of(rows: Sequence[Block]) -> list[Block]:
    """Return the texts of a form, whose boxes begin anywhere; empty where the rows have common columns."""
    starts = Counter(cell.column for row in rows for cell in row.cells)
    shared = sum(count for count in starts.values() if count >= COMMON_COLUMN * len(rows))
    if len(rows) < FORM_ROWS or shared >= COMMON_SHARE * starts.total():
        return []
    boxes = (paragraphs([merged(row) for row in rows_of(cell.lines)]) for row in rows for cell in row.cells)
    return [block for box in boxes for block in box]


def cells_in(grid: RuledGrid, lines: Sequence[Line]) -> dict[CellKey, list[Line]]:
    """Return the lines of each cell, top to bottom; split lines that cross a ruling."""
    cells: dict[CellKey, list[Line]] = {}
    for line in lines:
        for key, piece in _parted(grid, line):
            cells.setdefault(key, []).append(piece)
    cells = {part: held for key in cells for part, held in _by_columns(grid, key, cells[key]).items()}
    for key, pieces in cells.items():
        cells[key] = [line for row in rows_of(pieces) for line in row]
    return cells


def _by_columns(grid: RuledGrid, key: CellKey, lines: list[Line]) -> dict[CellKey, list[Line]]:
    """Split a cell over several columns of the grid where texts side by side each are in another column.

    Many tables have upright rulings in their head only: these are the columns of the rows below too. A text
    across them holds together the columns that it covers.
    """
    top, first, bottom, end = key
    if end - first < 2 or len(lines) < 2:
        return {key: lines}
    parts: list[tuple[int, int, list[Line]]] = []
    for line in sorted(lines, key=lambda line: line.x0):
        left = max(first, bisect_right(grid.xs, line.x0 + SLACK) - 1)
        right = max(left + 1, min(end, bisect_left(grid.xs, line.x1 - SLACK)))
        if parts and left < parts[-1][1]:
            start, reached, held = parts.pop()
            parts.append((start, max(reached, right), [*held, line]))
        else:
            parts.append((left, right, [line]))
    if len(parts) < 2:
        return _head_over_heads(grid, key, lines)
    keyed = [((top, left, bottom, right), held) for left, right, held in parts]
    return {piece: texts for own, held in keyed for piece, texts in _head_over_heads(grid, own, held).items()}


def _head_over_heads(grid: RuledGrid, key: CellKey, lines: list[Line]) -> dict[CellKey, list[Line]]:
    """Split a cell of the first row with a head over several columns and a head below it in each of these."""
    top, first, bottom, end = key
    *above, lowest = rows_of(lines)
    columns = [bisect_right(grid.xs, (line.x0 + line.x1) / 2) - 1 for line in lowest]
    if (
        top > 0
        or end - first < 2
        or not above
        or any(len(row) > 1 for row in above)
        or columns != [*range(first, end)]
    ):
        return {key: lines}
    middle = top + 0.5
    heads = {
        (middle, column, bottom, column + 1): [line] for column, line in zip(columns, lowest, strict=True)
    }
    return {(top, first, middle, end): [row[0] for row in above], **heads}


def _parted(grid: RuledGrid, line: Line) -> list[tuple[CellKey, Line]]:
    y = (line.y0 + line.y1) / 2
    ends = {(word.x0 + word.x1) / 2 for word in (line.words[0], line.words[-1])}
    keys = set(grid.cells_at(ends, y))
    if len(keys) == 1:
        return [(keys.pop(), line)]
    parts: dict[CellKey, list[RawWord]] = {}
    middles = [(word.x0 + word.x1) / 2 for word in line.words]
    for word, key in zip(line.words, grid.cells_at(middles, y), strict=True):
        parts.setdefault(key, []).append(word)
    return [(key, Line(words)) for key, words in parts.items()]


# Maximum share of rows that a grid's edge separates from their values or heads.
CUT_SHARE = 0.5


def whole_grids(rulings: Sequence[Rect], fills: Sequence[Rect], lines: Sequence[Line]) -> list[RuledGrid]:
    """Return the grids with whole rows; join one that cuts rows with the grid beside it, or omit it."""
    whole: list[RuledGrid] = []
    parts: list[RuledGrid] = []
    drawn = [
        *rulings,
        *cell_borders(rulings, fills, lines),
        *filled_borders(rulings, fills, lines),
    ]
    found = grids(drawn)
    loose = [rect for rect in rulings if not any(grid.rect.overlaps(rect) for grid in found)]
    for grid in [*found, *grids([*loose, *edges] if (edges := band_edges(loose, fills)) else ())]:
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
    """Return whether rows continue outside with values: shading and underlines do not enclose a table."""
    band = [line for line in lines if rect.y0 <= (line.y0 + line.y1) / 2 <= rect.y1 and line.chars]
    inside = set(map(id, lines_in(rect, band)))
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
