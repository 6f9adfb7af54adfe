"""Find ruled tables: cells enclosed by drawn lines.

Rulings that touch make a grid. A word belongs to the cell between the nearest rulings on its four sides, so
that cells that span several rows or columns stay whole.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from operator import itemgetter

from pdf.extract.words import RawWord
from pdf.geometry import Rect
from pdf.layout.lines import SAME_BASELINE, Line, merged, rows_of
from pdf.layout.page_layout import Block, TableCell
from pdf.layout.paragraphs import paragraphs
from pdf.tables.cells import is_value
from pdf.tables.rows import blocks_of

# Rulings at most this far apart (points) are one, or touch.
SNAP = 3.0
# Minimum length of a ruling (points): shorter lines are dashes, ticks and underlines.
SHORTEST = 6.0
# Maximum pairs of rulings to compare: pages with more are maps and drawings.
MOST_CROSSINGS = 1_000_000
# A frame around columns of prose is not a table: its largest cell has most words, and more lines than this.
FRAME_LINES = 14
FRAME_SHARE = 0.6
# It is a table if at least this many rows have several cells in the same columns.
FRAMED_ROWS = 3
# A single ruled row is a table with at least this many cells: the rest of it is on another page.
# Maximum distance of lines of one cell (ems).
ROW_CELLS, CELL_LEADING = 3, 3.0
# In a table most cells are in columns of at least this share of the rows, if it has a minimum of rows.
COMMON_COLUMN = 0.35
COMMON_SHARE = 0.6
FORM_ROWS = 6
# Minimum share of common heights of two grids side by side that are one.
SAME_HEIGHTS = 0.8
# Minimum share of values among the cells of a table whose columns are filled with values.
VALUE_SHARE = 0.3
# Values stacked in ruled cells are separate rows if more than this share of them has a row head.
HEADED_SHARE = 0.5

# First row and column of a cell, and the row and column after its last.
CellKey = tuple[int, int, int, int]
# A piece of a ruling: its place on one axis, its start and end on the other.
Piece = tuple[float, float, float]


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
        cells = []
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


def tracks_of(pieces: Iterable[Piece], apart: float) -> list[list[Piece]]:
    """Return pieces on one level, which differ by at most ``apart``, each from first to last."""
    tracks: list[list[Piece]] = []
    for piece in sorted(pieces):
        if tracks and piece[0] - tracks[-1][0][0] <= apart:
            tracks[-1].append(piece)
        else:
            tracks.append([piece])
    return [sorted(track, key=itemgetter(1)) for track in tracks]


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


def grid_table(grid: RuledGrid, lines: Sequence[Line]) -> list[Block]:
    """Return the rows of the table or the boxes of the form within the grid.

    Empty if it is neither: a frame, a chart, one row.
    """
    cells = cells_in(grid, lines)
    if not _is_table(cells):
        return []
    if not _is_regular(cells):
        boxes = (paragraphs([merged(row) for row in rows_of(cells[key])]) for key in sorted(cells))
        return [block for box in boxes for block in box]
    rows: dict[int, list[TableCell]] = {}
    for key in sorted(cells):
        rows.setdefault(key[0], []).append(TableCell(key[1], cells[key]))
    if _stacks_values(cells) or (not grid.closed and _holds_values(cells)):
        return []
    return blocks_of(list(rows.values()), len(grid.xs) - 1)


def _is_regular(cells: dict[CellKey, list[Line]]) -> bool:
    """Return whether the rows have common columns: the boxes of a form begin anywhere."""
    starts = Counter(key[1] for key in cells)
    rows = len({key[0] for key in cells})
    shared = sum(count for count in starts.values() if count >= COMMON_COLUMN * rows)
    return rows < FORM_ROWS or shared >= COMMON_SHARE * len(cells)


def cells_in(grid: RuledGrid, lines: Sequence[Line]) -> dict[CellKey, list[Line]]:
    """Return the lines of each cell, top to bottom; split lines that cross a ruling."""
    cells: dict[CellKey, list[Line]] = {}
    for line in lines:
        for key, piece in _parted(grid, line):
            cells.setdefault(key, []).append(piece)
    for key, pieces in cells.items():
        cells[key] = [line for row in rows_of(pieces) for line in row]
    return cells


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


def _is_table(cells: dict[CellKey, list[Line]]) -> bool:
    rows, columns = {key[0] for key in cells}, {key[1] for key in cells}
    if len(columns) < 2:
        return False
    if len(rows) < 2 and (len(columns) < ROW_CELLS or not all(map(_runs_on, cells.values()))):
        return False
    counts = [sum(len(line.words) for line in lines) for lines in cells.values()]
    largest = max(cells.values(), key=len)
    if len(largest) <= FRAME_LINES or max(counts) <= FRAME_SHARE * sum(counts):
        return True
    return len(rows_of(largest)) <= FRAME_LINES or _has_rows(cells)


def _runs_on(lines: list[Line]) -> bool:
    """Return whether the lines of a cell are as close as those of a text, unlike labels of a drawing."""
    return all(b.baseline - a.baseline <= CELL_LEADING * b.size for a, b in pairwise(lines))


def _has_rows(cells: dict[CellKey, list[Line]]) -> bool:
    """Return whether several ruled rows have cells in the same columns."""
    beside: dict[int, list[int]] = {}
    for row, column, *_ in sorted(cells):
        beside.setdefault(row, []).append(column)
    alike = Counter(tuple(columns) for columns in beside.values() if len(columns) > 1)
    return max(alike.values(), default=0) >= FRAMED_ROWS


def _holds_values(cells: dict[CellKey, list[Line]]) -> bool:
    """Return whether values fill the columns: then baselines and heads show a table without rulings too."""
    firsts: dict[int, int] = {}
    for row, column, *_ in sorted(cells):
        firsts.setdefault(row, column)
    behind = [lines for (row, column, *_), lines in cells.items() if column > firsts[row]]
    return sum(all(is_value(line.text) for line in lines) for lines in behind) >= VALUE_SHARE * len(behind)


def _stacks_values(cells: dict[CellKey, list[Line]]) -> bool:
    """Return whether most values are stacked within their cells: then each baseline is a row.

    Their row heads, in the same ruled row, are on the same baselines.
    """
    values = [[line for line in lines if is_value(line.text)] for lines in cells.values()]
    stacked = {
        key: lines
        for key, lines in zip(cells, values, strict=True)
        if len(lines) > 1 and len(rows_of(lines)) > 1
    }
    in_columns = any(sum(len(row) > 1 for row in rows_of(lines)) >= FRAMED_ROWS for lines in stacked.values())
    if (len(stacked) < 2 and not in_columns) or 2 * sum(map(len, stacked.values())) <= sum(map(len, values)):
        return False
    headed = [_has_head(line, key, cells) for key, lines in stacked.items() for line in lines]
    return sum(headed) > HEADED_SHARE * len(headed)


def _has_head(value: Line, key: CellKey, cells: dict[CellKey, list[Line]]) -> bool:
    """Return whether the first cell of the value's ruled row has a line on the value's baseline."""
    beside = [other for other in cells if other[0] <= key[0] and key[2] <= other[2]]
    first = max(beside) if any(line.rtl for line in cells[max(beside)]) else min(beside)
    return first == key or any(
        abs(line.baseline - value.baseline) <= SAME_BASELINE * value.size for line in cells[first]
    )


# --- Borders drawn cell by cell, above and below only ---
#
# Word processors draw the border of each cell on its own: its joints show where the columns begin.

# Maximum thickness of a border, gap between the borders of neighbours, and width of a joint (points).
BORDER_THICKNESS, ABUT, JOINT = 6.0, 2.0, 6.0
# Maximum difference of height of one row's borders, and of their ends in two rows; minimum width of a table
# (points); maximum number of its columns, and of borders: maps have more.
BORDER_TRACK, BORDER_END, NARROWEST, MOST_COLUMNS, MOST_BORDERS = 1.5, 6.5, 80.0, 40, 400
# Maximum distance of heads above the first border; minimum gap between the texts of two cells (ems).
HEADS_ABOVE, CELL_GAP = 1.2, 0.4


@dataclass(frozen=True, slots=True)
class _Border:
    """The borders of one row's cells; ``joints``: the x where two of them meet, left to right."""

    y: float
    x0: float
    x1: float
    joints: tuple[float, ...]

    def is_like(self, other: _Border) -> bool:
        """Return whether both are of one table: they have the same ends, and most joints in common."""
        few, many = sorted((self.joints, other.joints), key=len)
        return (
            abs(self.x0 - other.x0) <= BORDER_END
            and abs(self.x1 - other.x1) <= BORDER_END
            and 2 * len(few) >= len(many)
            and all(_is_near(x, many) for x in few)
        )


def _is_near(x: float, places: Sequence[float]) -> bool:
    return any(abs(x - place) <= BORDER_END for place in places)


def cell_borders(rulings: Sequence[Rect], fills: Sequence[Rect], lines: Sequence[Line]) -> list[Rect]:
    """Return the rulings that complete the grids of tables with borders only above and below their cells."""
    thin = [rect for rect in [*rulings, *fills] if rect.y1 - rect.y0 <= BORDER_THICKNESS]
    pieces = [((y0 + y1) / 2, x0, x1) for x0, y0, x1, y1 in thin]
    borders = [border for track in tracks_of(pieces, BORDER_TRACK) for border in _borders_on(track)]
    tables: list[list[_Border]] = []
    for border in borders if len(borders) <= MOST_BORDERS else ():
        table = next((table for table in reversed(tables) if table[-1].is_like(border)), None)
        if table is None or not _is_row(table[-1], border, lines):
            tables.append([border])
        else:
            table.append(border)
    upright = [rect for rect in rulings if rect.y1 - rect.y0 > max(SHORTEST, rect.x1 - rect.x0)]
    return [rect for table in tables if len(table) > 1 for rect in _other_edges(table, upright, lines)]


def _other_edges(table: Sequence[_Border], upright: Sequence[Rect], lines: Sequence[Line]) -> Iterable[Rect]:
    first, last = table[0], table[-1]
    beside = [rect for rect in upright if first.x0 - SNAP <= rect.x0 and rect.x1 <= first.x1 + SNAP]
    if any(rect.y0 < last.y and first.y < rect.y1 for rect in beside):
        return
    top = _top_of_heads(first, lines)
    for y in {top, *(border.y for border in table)}:
        yield Rect(first.x0, y, first.x1, y)
    for x in max([border.joints for border in table], key=len):
        if 2 * sum(_is_near(x, border.joints) for border in table) > len(table):
            yield Rect(x, top, x, last.y)


def _borders_on(track: list[Piece]) -> Iterable[_Border]:
    y, start, end = track[0]
    joints: list[float] = []
    for _, x0, x1 in [*track[1:], (y, float("inf"), float("inf"))]:
        if x0 - end > ABUT:
            inner = tuple(x for x in joints if start + JOINT < x < end - JOINT)
            if end - start >= NARROWEST and 0 < len(inner) < MOST_COLUMNS:
                yield _Border(y, start, end, inner)
            start, joints = x0, []
        elif x0 > end - ABUT and (not joints or x0 - joints[-1] > JOINT):
            joints.append(x0)
        end = max(end, x1) if x0 - end <= ABUT else x1


def _is_row(border: _Border, below: _Border, lines: Sequence[Line]) -> bool:
    """Return whether one row is between two borders: no text crosses a joint, no second row begins."""
    end = below.y
    for row in rows_of(lines_in(Rect(border.x0, border.y, border.x1, below.y), lines)):
        parted = min(line.y0 for line in row) - end > CELL_GAP * row[0].size
        if _is_crossed(border, row) or (parted and len(_columns(border, row)) > 1):
            return False
        end = max(line.y1 for line in row)
    return True


def _columns(border: _Border, row: Sequence[Line]) -> set[int]:
    return {bisect_left(border.joints, (word.x0 + word.x1) / 2) for line in row for word in line.words}


def _is_crossed(border: _Border, row: Sequence[Line]) -> bool:
    """Return whether a text runs across a joint: no cells are there."""
    return any(
        line.x0 < x - 1 and x + 1 < line.x1 and _gap_at(x, line) < CELL_GAP * line.size
        for line in row
        for x in border.joints
    )


def _gap_at(x: float, line: Line) -> float:
    """Return the width of the space around ``x``; 0 in a word."""
    if any(word.x0 < x - 1 and x + 1 < word.x1 for word in line.words):
        return 0.0
    before = max([word.x1 for word in line.words if word.x1 <= x + 1], default=line.x0)
    return min([word.x0 for word in line.words if word.x0 >= x - 1], default=line.x1) - before


def _top_of_heads(border: _Border, lines: Sequence[Line]) -> float:
    """Return the y above the column heads over the first border; the border's own y without heads."""
    top = reached = border.y
    for row in reversed(rows_of(lines_in(Rect(border.x0, 0, border.x1, border.y), lines))):
        if reached - max(line.y1 for line in row) > HEADS_ABOVE * row[0].size or _is_crossed(border, row):
            break
        reached = min(line.y0 for line in row)
        if len(_columns(border, row)) > 1:
            top = reached - 1
    return top


# Maximum share of rows that a grid's edge separates from their values or heads.
CUT_SHARE = 0.5


def whole_grids(rulings: Sequence[Rect], fills: Sequence[Rect], lines: Sequence[Line]) -> list[RuledGrid]:
    """Return the grids with whole rows; join one that cuts rows with the grid beside it, or omit it."""
    whole: list[RuledGrid] = []
    parts: list[RuledGrid] = []
    for grid in grids([*rulings, *cell_borders(rulings, fills, lines)]):
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


def lines_in(rect: Rect, lines: Sequence[Line]) -> list[Line]:
    """Return the lines whose middle is in the rectangle."""
    x0, x1, y0, y1 = 2 * rect.x0, 2 * rect.x1, 2 * rect.y0, 2 * rect.y1
    return [
        line
        for line in lines
        if x0 <= line.x0 + line.x1 <= x1 and y0 <= line.y0 + line.y1 <= y1 and line.chars
    ]


def edges_of(fills: Sequence[Rect]) -> list[Rect]:
    """Return the upper and lower edges of shaded stripes: they separate rows as rulings do."""
    return [Rect(x0, y, x1, y) for x0, y0, x1, y1 in fills for y in (y0, y1)]
