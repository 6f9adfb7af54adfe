"""The rulings of a page: pieces on one level, the lines of text between, and borders drawn cell by cell.

Word processors draw the border of each cell on its own, some only above and below the cells: the joints
show where the columns begin. LaTeX draws upright rulings row by row: their joints show where the rows end.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from operator import itemgetter

from pdf.geometry import Rect, rect_of
from pdf.layout.lines import Line, rows_of

# A piece of a ruling: its place on one axis, its start and end on the other.
Piece = tuple[float, float, float]

# Rulings at most this far apart (points) are one, or touch.
SNAP = 3.0
# Minimum length of a ruling (points): shorter lines are dashes, ticks and underlines.
SHORTEST = 6.0


def tracks_of(pieces: Iterable[Piece], apart: float) -> list[list[Piece]]:
    """Return pieces on one level, which differ by at most ``apart``, each from first to last."""
    tracks: list[list[Piece]] = []
    for piece in sorted(pieces):
        if tracks and piece[0] - tracks[-1][0][0] <= apart:
            tracks[-1].append(piece)
        else:
            tracks.append([piece])
    return [sorted(track, key=itemgetter(1)) for track in tracks]


def joined_pieces(track: Sequence[Piece], gap: float) -> list[Piece]:
    """Join the pieces of one track that are at most ``gap`` apart."""
    joined = [track[0]]
    for y, start, end in track[1:]:
        place, first, last = joined[-1]
        if start > last + gap:
            joined.append((y, start, end))
        else:
            joined[-1] = (place, first, max(last, end))
    return joined


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
    return [rect_of((x0, y, x1, y)) for x0, y0, x1, y1 in fills for y in (y0, y1)]


# Minimum height of a shaded band and of the uprights that end at it (points), and number of these; maximum
# number of either on a page: maps have more.
BAND_HEIGHT, BAND_UPRIGHTS, MOST_SHAPES = 8.0, 3, 400


def band_edges(rulings: Sequence[Rect], fills: Sequence[Rect]) -> list[Rect]:
    """Return the edges of each shaded band at which uprights begin or end, as the band of the heads does.

    Stripes within a table have uprights on both sides.
    """
    upright = [rect for rect in rulings if rect.height > max(BAND_HEIGHT, rect.width)]
    if max(len(fills), len(upright)) > MOST_SHAPES:
        return []
    rows: dict[tuple[int, int], list[Piece]] = {}
    for x0, y0, x1, y1 in fills:
        if y1 - y0 >= BAND_HEIGHT:
            rows.setdefault((round(y0), round(y1)), []).append((y0, x0, x1))
    found = []
    for (_, bottom), pieces in rows.items():
        for top, x0, x1 in joined_pieces(sorted(pieces), ABUT):
            near = [rect for rect in upright if x0 - SNAP <= rect.x0 and rect.x1 <= x1 + SNAP]
            below = [rect.x0 for rect in near if abs(rect.y0 - bottom) <= SNAP]
            above = [rect.x0 for rect in near if abs(rect.y1 - top) <= SNAP]
            ends = below or above
            if len(ends) >= BAND_UPRIGHTS and not (above and below):
                found += [Rect(x0, y, x1, y) for y in (top, float(bottom))]
    return found


# --- Borders drawn cell by cell, above and below only ---

# Maximum thickness of a border, gap between the borders of neighbours, and width of a joint (points).
BORDER_THICKNESS, ABUT, JOINT = 6.0, 2.0, 6.0
# Maximum difference of height of one row's borders, and of their ends in two rows; minimum width of a table
# (points); maximum number of its columns, and of borders: maps have more.
BORDER_TRACK, BORDER_END, NARROWEST, MOST_COLUMNS, MOST_BORDERS = 1.5, 6.5, 80.0, 40, 400
# Maximum distance of heads above the first border; minimum gap between the texts of two cells (ems).
HEADS_ABOVE, CELL_GAP = 1.2, 0.4


@dataclass(frozen=True, slots=True)
class _Border:
    """The borders of one row's cells; ``joints``: the x where two of them meet, left to right.

    ``y``: of the border above; ``bottom``: of the row, where its cells are filled.
    """

    y: float
    x0: float
    x1: float
    joints: tuple[float, ...]
    bottom: float = 0.0

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
    tracks = [track for track in tracks_of(pieces, BORDER_TRACK) if len(track) > 1]
    borders = [border for track in tracks for border in _borders_on(track)]
    tables: list[list[_Border]] = []
    for border in borders if len(borders) <= MOST_BORDERS else ():
        table = next((table for table in reversed(tables) if table[-1].is_like(border)), None)
        if table is None or not _is_row(table[-1], border, lines):
            tables.append([border])
        else:
            table.append(border)
    tables = [table for table in tables if len(table) > 1]
    if not tables:  # as on most pages
        return []
    upright = [rect for rect in rulings if rect.y1 - rect.y0 > max(SHORTEST, rect.x1 - rect.x0)]
    return [rect for table in tables for rect in _other_edges(table, upright, lines)]


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


# --- Cells filled one by one ---

# Minimum width and height of a filled cell (points): padding is filled too.
CELL_WIDTH, CELL_HEIGHT = 16.0, 8.0
# Minimum space left of a cell's text (points): words are shaded too.
PADDING = 1.0
# Minimum rows of a table with the same cells; minimum columns with a text in each of these rows.
FILLED_ROWS, FILLED_COLUMNS = 2, 2
# Maximum height of a row that is not filled, relative to the tallest filled one.
UNFILLED = 1.5


def filled_borders(rulings: Sequence[Rect], fills: Sequence[Rect], lines: Sequence[Line]) -> list[Rect]:
    """Return the edges of cells that are filled one by one, in rows of the same columns, as rulings.

    Presentation programs fill each cell of every other row, and do not rule the columns.
    """
    cells: dict[tuple[float, float], list[Rect]] = {}
    for rect in fills:
        if rect.x1 - rect.x0 >= CELL_WIDTH and rect.y1 - rect.y0 >= CELL_HEIGHT:
            cells.setdefault((round(rect.y0), round(rect.y1)), []).append(rect)
    tables: list[list[_Border]] = []
    for row in (sorted(cells[key]) for key in sorted(cells)):
        if any(abs(a.x1 - b.x0) > ABUT for a, b in pairwise(row)):
            continue
        filled = _Border(row[0].y0, row[0].x0, row[-1].x1, tuple(rect.x0 for rect in row[1:]), row[0].y1)
        table = next((table for table in reversed(tables) if _is_next_row(table, filled)), None)
        if table is None:
            tables.append([filled])
        else:
            table.append(filled)
    upright = [rect for rect in rulings if rect.y1 - rect.y0 > max(SHORTEST, rect.x1 - rect.x0)]
    edges = [
        _edges_of_cells(table, joints, lines)
        for table in tables
        if (joints := _joints_of_cells(table, upright, lines))
    ]
    return [rect for found in edges for rect in found]


def _is_next_row(table: Sequence[_Border], row: _Border) -> bool:
    """Return whether the row is below the table: at most one row is between, none if its columns differ."""
    last = table[-1]
    apart = row.y - last.bottom
    if abs(last.x0 - row.x0) > BORDER_TRACK or abs(last.x1 - row.x1) > BORDER_TRACK or apart < -ABUT:
        return False
    alike = _has_joints(row, last.joints)
    return apart <= (UNFILLED * max(other.bottom - other.y for other in table) if alike else ABUT)


def _has_joints(row: _Border, joints: Sequence[float]) -> bool:
    """Return whether the cells of the row meet at these x."""
    return len(joints) == len(row.joints) and all(
        abs(x - other) <= BORDER_TRACK for x, other in zip(row.joints, joints, strict=True)
    )


def _joints_of_cells(
    table: Sequence[_Border], upright: Sequence[Rect], lines: Sequence[Line]
) -> tuple[float, ...]:
    """Return the x where neighbouring cells of the table meet; empty if the fills are not cells.

    In a table several rows have the same cells, with texts in them. Where rulings separate all columns, the
    fills shade lines, not cells.
    """
    beside = [rect.x0 for rect in upright if rect.y0 < table[-1].bottom and table[0].y < rect.y1]
    split = [row for row in table if row.joints]
    joints = Counter(row.joints for row in split).most_common(1)[0][0] if split else ()
    alike = [row for row in split if _has_joints(row, joints)]
    if (
        len(alike) < FILLED_ROWS
        or all(_is_near(x, beside) for x in joints)
        or not all(_has_cells(row, lines) for row in alike)
    ):
        return ()
    return joints


def _has_cells(row: _Border, lines: Sequence[Line]) -> bool:
    """Return whether the row has texts in several columns, each inside its cell."""
    inside = _lines_of(row, lines)
    padded = all(not -PADDING < line.x0 - x < PADDING for line in inside for x in (row.x0, *row.joints))
    return padded and not _is_crossed(row, inside) and len(_columns(row, inside)) >= FILLED_COLUMNS


def _lines_of(row: _Border, lines: Sequence[Line]) -> list[Line]:
    return lines_in(Rect(row.x0, row.y, row.x1, row.bottom), lines)


def _edges_of_cells(
    table: Sequence[_Border], joints: tuple[float, ...], lines: Sequence[Line]
) -> Iterable[Rect]:
    """Yield the edges of all cells, with a last row that is not filled."""
    last, tallest = table[-1], max(row.bottom - row.y for row in table)
    below = replace(last, y=last.bottom, bottom=last.bottom + UNFILLED * tallest, joints=joints)
    reached = max((line.y1 for line in _lines_of(below, lines)), default=last.bottom)
    rows = [*table, replace(below, bottom=reached)] if _is_aligned(below, table, lines) else [*table]
    for row, end in zip(rows, [*(row.y for row in rows[1:]), rows[-1].bottom], strict=True):
        yield Rect(row.x0, row.y, row.x1, row.y)
        yield Rect(row.x0, row.bottom, row.x1, row.bottom)
        whole = replace(row, joints=row.joints or joints)
        for x in () if _is_crossed(whole, _lines_of(whole, lines)) else whole.joints:
            yield Rect(x, row.y, x, end)


def _is_aligned(row: _Border, table: Sequence[_Border], lines: Sequence[Line]) -> bool:
    """Return whether the row has texts that begin, end or are centred as those of its columns above."""
    if not _has_cells(row, lines):
        return False
    above = [_extents(replace(other, joints=row.joints), lines) for other in table]
    return all(
        any(
            min(abs(x0 - a), abs(x1 - b), abs(x0 + x1 - a - b) / 2) <= BORDER_TRACK
            for a, b in (extents[column] for extents in above if column in extents)
        )
        for column, (x0, x1) in _extents(row, lines).items()
    )


def _extents(row: _Border, lines: Sequence[Line]) -> dict[int, tuple[float, float]]:
    """Return the first and the last x of the words in each column."""
    found: dict[int, tuple[float, float]] = {}
    for word in (word for line in _lines_of(row, lines) for word in line.words):
        column = bisect_left(row.joints, (word.x0 + word.x1) / 2)
        x0, x1 = found.get(column, (word.x0, word.x1))
        found[column] = (min(x0, word.x0), max(x1, word.x1))
    return found
