"""Regions of a page in reading order: a recursive XY-cut that cuts at columns of prose only.

Cutting at every white river would cut tables apart. So a gutter counts only
where both of its sides read as text of their own: lines that fill their column,
or lines that do not stand on common baselines.
(Nagy and Seth, "Hierarchical representation of optically scanned documents", 1984.)
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from typing import NamedTuple

from documents.pdf.fast.lines import Line, rows_of

# A gutter is at least this wide (ems of the text beside it).
GUTTER = 0.7
# A column has at least this many rows on each side of the gutter.
COLUMN_ROWS = 3
# A row is full when it covers this share of its column.
FULL_ROW = 0.7
# Share of full rows from which a column is prose.
PROSE_ROWS = 0.5


class Cut(NamedTuple):
    above: list[Line]
    left: list[Line]
    right: list[Line]
    below: list[Line]


def regions(lines: Sequence[Line], rtl: bool = False) -> list[list[Line]]:
    """The lines in groups, one per column, in reading order."""
    cut = best_cut(lines) if len(lines) >= 2 * COLUMN_ROWS else None
    if cut is None:
        return [list(lines)] if lines else []
    columns = (cut.right, cut.left) if rtl else (cut.left, cut.right)
    return [region for part in (cut.above, *columns, cut.below) for region in regions(part, rtl)]


def best_cut(lines: Sequence[Line]) -> Cut | None:
    """The cut along the gutter that parts most lines, or None."""
    cuts = [cut for x in gutter_candidates(lines) for cut in cuts_at(x, lines)]
    cuts.sort(key=lambda cut: -len(cut.left) - len(cut.right))
    return next(filter(_is_gutter, cuts), None)


def gutter_candidates(lines: Sequence[Line]) -> list[float]:
    """x just left of edges where several lines begin, and just right of edges where several end."""
    starts = _common([line.x0 for line in lines])
    ends = _common([line.x1 for line in lines])
    left, right = min(line.x0 for line in lines), max(line.x1 for line in lines)
    candidates = [x - 1.0 for x in starts if x > left + 20] + [x + 1.0 for x in ends if x < right - 20]
    return candidates[:24]


def _common(edges: list[float], tolerance: float = 2.0) -> list[float]:
    """Edges that at least COLUMN_ROWS lines share, the most shared first."""
    edges = sorted(edges)
    found = []
    for i, edge in enumerate(edges):
        if i and edge - edges[i - 1] <= 0.5:
            continue
        count = bisect_left(edges, edge + tolerance) - i
        if count >= COLUMN_ROWS:
            found.append((count, edge))
    return [edge for _, edge in sorted(found, reverse=True)]


def cuts_at(x: float, lines: Sequence[Line]) -> list[Cut]:
    """The bands between the lines that run across x, each cut into its two sides."""
    crossing = sorted((line.y0, line.y1) for line in lines if line.x0 < x - 1.5 and line.x1 > x + 1.5)
    edges = [float("-inf")]
    for y0, y1 in crossing:
        edges += [y0, y1]
    edges.append(float("inf"))
    cuts = []
    for top, bottom in zip(edges[::2], edges[1::2], strict=True):
        cut = Cut([], [], [], [])
        for line in lines:
            middle = (line.y0 + line.y1) / 2
            if middle < top or (
                line.x0 < x - 1.5 and line.x1 > x + 1.5 and middle <= bottom and line.y0 <= top
            ):
                cut.above.append(line)
            elif middle > bottom:
                cut.below.append(line)
            elif line.x0 >= x - 1.5:
                cut.right.append(line)
            else:
                cut.left.append(line)
        if len(cut.left) >= COLUMN_ROWS and len(cut.right) >= COLUMN_ROWS:
            cuts.append(cut)
    return cuts


def _is_gutter(cut: Cut) -> bool:
    left, right = cut.left, cut.right
    width = min(line.x0 for line in right) - max(line.x1 for line in left)
    em = min(_median([line.size for line in left]), _median([line.size for line in right]))
    if width < GUTTER * em:
        return False
    left_rows, right_rows = rows_of(left), rows_of(right)
    if min(len(left_rows), len(right_rows)) < COLUMN_ROWS:
        return False
    return reads_as_column(left_rows) and reads_as_column(right_rows)


def reads_as_column(rows: list[list[Line]]) -> bool:
    """Whether most rows fill the width they share with words."""
    x0 = min(row[0].x0 for row in rows)
    x1 = max(row[-1].x1 for row in rows)
    full = sum(1 for row in rows if sum(line.width for line in row) >= FULL_ROW * (x1 - x0) and _wordy(row))
    return full >= PROSE_ROWS * len(rows)


def _wordy(row: list[Line]) -> bool:
    return sum(line.chars for line in row) >= 12


def _median(values: list[float]) -> float:
    return sorted(values)[len(values) // 2]
