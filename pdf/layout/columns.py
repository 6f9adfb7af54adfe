"""Split a page into regions in reading order: a recursive XY-cut that cuts only between columns of prose.

A cut at every vertical gap would split tables. So a gap is a gutter only if both sides are independent
texts: their lines fill their column, or share few baselines.
(Nagy and Seth, "Hierarchical representation of optically scanned documents", 1984.)
"""

from __future__ import annotations

import math
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import pairwise
from typing import NamedTuple

from pdf.geometry import Rect
from pdf.layout.gutters import COLUMN_ROWS, are_texts_apart, fills_one_column, text_rows, with_margin_headings
from pdf.layout.lines import Line, rows_of
from pdf.tables.cells import is_value
from pdf.tables.rulings import SNAP, joined_pieces, tracks_of
from pdf.tables.text_tables import with_text_tables

# Minimum width of a gutter (ems of the text beside it).
GUTTER = 0.7
# Maximum width of hanging punctuation in a gutter (points).
OVERHANG = 1.5
# Maximum starts of lines, and ends of lines, tried as sides of a gutter.
CANDIDATES = 8
# Minimum gap between column heads, and maximum gap between heads and columns (ems).
HEADS_APART = 2.0
HEAD_DISTANCE = 1.5
# The last line of a paragraph: maximum difference of its start from the line above (ems), maximum leading
# (ems), maximum difference of size (share); minimum distance of the text below it (pitches).
SAME_START, TAIL_LEADING, SAME_SIZE, TAIL_DISTANCE = 0.5, 1.6, 0.08, 1.25
# Minimum average characters of the lines of a column: shorter ones are cells.
COLUMN_CHARS = 6
# Maximum distance of column heads from the values below them (ems).
VALUES_BELOW = 3.0
# Minimum distance of the lines above and below the heading of a band, on the other side (ems).
BAND_HOLE = 3.0
# Minimum space above the heading of a band, on both sides (ems); maximum lines of one at the end of a side.
BAND_GAP, HEAD_ROWS = 1.0, 3
# Rulings across a gap show rows of a table: minimum number, maximum rows to each.
RULED, ROWS_RULED = 3, 4


class Cut(NamedTuple):
    """A gutter between two heights, and the lines on each side."""

    top: float
    bottom: float
    left: list[Line]
    right: list[Line]


def regions(lines: Sequence[Line], rtl: bool = False, rulings: Sequence[Rect] = ()) -> list[list[Line]]:
    """Return the lines grouped by column, in reading order; a table of texts is one group."""
    lines = with_text_tables(lines)
    cut = best_cut(lines, rulings) if len(lines) >= 2 * COLUMN_ROWS else None
    if cut is None:
        return [list(lines)] if lines else []
    beside = {*map(id, cut.left), *map(id, cut.right)}
    rest = [line for line in lines if id(line) not in beside]
    above = [line for line in rest if _middle(line) <= cut.top]
    below = [line for line in rest if _middle(line) > cut.top]
    columns = (cut.right, cut.left) if rtl else (cut.left, cut.right)
    parts = with_margin_headings(*columns) or columns
    return [region for part in (above, *parts, below) for region in regions(part, rtl, rulings)]


def best_cut(lines: Sequence[Line], rulings: Sequence[Rect] = ()) -> Cut | None:
    """Return the cut along the gutter with most lines beside it, or None."""
    downwards = sorted(lines, key=_middle)
    starts, ends = sorted([line.x0 for line in lines]), sorted([line.x1 for line in lines])
    cuts: dict[tuple[float, int, int], Cut] = {}
    width = GUTTER * _median([line.size for line in lines])
    for gutter in gutter_candidates(starts, ends, width):
        ended, begun = bisect_right(ends, gutter[0] + OVERHANG), bisect_left(starts, gutter[1] - OVERHANG)
        if min(ended, len(lines) - begun) < COLUMN_ROWS:
            continue
        for cut in cuts_at(gutter, downwards):
            cuts.setdefault((cut.top, len(cut.left), len(cut.right)), cut)
    at = {_middle(line): line for line in downwards}
    whole = [_without_last_line_above(cut, at) for cut in cuts.values()]
    whole.sort(key=lambda cut: -len(cut.left) - len(cut.right))
    hung = [_is_overhung(cut, at) for cut in whole]
    for last_resort in (False, True):
        ranked = [cut for cut, is_hung in zip(whole, hung, strict=True) if is_hung is last_resort]
        apart = (cut for cut in _sound(ranked, rulings) if not _is_ruled_across(cut, rulings))
        if best := next((cut for cut in apart if not _heads_values(cut, downwards)), None):
            return _with_heads(best, downwards)
        headed = (band for cut in ranked for band in _bands(cut, rulings, headed=True)[:1] if band is not cut)
        if best := next((band for band in headed if _is_gutter(band) and all(map(_is_full, band[2:]))), None):
            return best
    return None


def _sound(cuts: Iterable[Cut], rulings: Sequence[Rect]) -> Iterator[Cut]:
    """Yield the first band of each cut, where all its bands have a gutter, and the whole cut with one."""
    for cut in cuts:
        bands = _bands(cut, rulings)
        if all(map(_is_gutter, bands)):
            yield bands[0]
        if bands[0] is not cut and _is_gutter(cut):
            yield cut


def _is_overhung(cut: Cut, at: Mapping[float, Line]) -> bool:
    """Return whether a line that ends the gutter is of one side only, or the first line is centred on both.

    Then the gutter is elsewhere.
    """
    first, second = sorted([cut.left[0], cut.right[0]], key=_middle)
    ends = [at[y] for y in cut[:2] if y in at]
    alone = [first] if first.y1 <= second.y0 else []
    if not (ends or alone):
        return False
    x0, x1 = max([line.x1 for line in cut.left]), min([line.x0 for line in cut.right])
    axis = min([line.x0 for line in cut.left]) + max([line.x1 for line in cut.right])
    return any(_is_centred(line, axis) for line in alone) or any(
        (line.x0 < x0) is not (line.x1 > x1) and not _is_centred(line, axis) for line in ends
    )


def _is_centred(line: Line, axis: float) -> bool:
    return abs(line.x0 + line.x1 - axis) < 2 * line.size


def _heads_values(cut: Cut, downwards: Sequence[Line]) -> bool:
    """Return whether the sides are not prose but column heads, with columns of values right below."""
    floor = max(line.y1 for line in (*cut.left, *cut.right))
    reach = floor + VALUES_BELOW * cut.left[0].size
    below = [line for line in downwards if _middle(line) >= cut.bottom and line.y0 < reach]
    if sum(is_value(line.text) for line in below) < COLUMN_ROWS:
        return False
    return not any(map(_is_full, (cut.left, cut.right)))


def _without_last_line_above(cut: Cut, at: Mapping[float, Line]) -> Cut:
    """Return the cut without the short last line of a paragraph above that extends over both columns."""
    if cut.top not in at:
        return cut
    over, first = at[cut.top], min(cut.left[0], cut.right[0], key=_middle)
    rest = [line for line in (*cut.left[:2], *cut.right[:2]) if line is not first]
    pitch = first.baseline - over.baseline
    if (
        abs(first.size - over.size) > SAME_SIZE * over.size
        or not 0 < pitch <= TAIL_LEADING * over.size
        or not _begins_with(first, over)
    ):
        return cut
    if min(line.baseline for line in rest) - first.baseline < TAIL_DISTANCE * pitch:
        return cut
    left, right = ([line for line in side if line is not first] for side in (cut.left, cut.right))
    return Cut(_middle(first), cut.bottom, left, right) if left and right else cut


def _begins_with(line: Line, other: Line) -> bool:
    """Return whether both lines begin at the same margin."""
    return abs(line.x1 - other.x1 if line.rtl else line.x0 - other.x0) <= SAME_START * other.size


def _with_heads(cut: Cut, downwards: Sequence[Line]) -> Cut:
    """Return the cut with the column heads right above it, which may extend into the gutter."""
    beside = {*map(id, cut.left), *map(id, cut.right)}
    above = [line for line in downwards if _middle(line) <= cut.top and id(line) not in beside]
    if not above:
        return cut
    row = rows_of(above)[-1]
    x0, x1 = max(line.x1 for line in cut.left), min(line.x0 for line in cut.right)
    left = [line for line in row if line.x0 + line.x1 < x0 + x1]
    right = [line for line in row if line.x0 + line.x1 >= x0 + x1]
    if not (left and right):
        return cut
    ends, begins = max(line.x1 for line in left), min(line.x0 for line in right)
    distance = min(line.y0 for line in (*cut.left, *cut.right)) - max(line.y1 for line in row)
    if (
        min(x1, begins) - max(x0, ends) < GUTTER * row[0].size
        or begins - ends < HEADS_APART * row[0].size
        or distance > HEAD_DISTANCE * row[0].size
    ):
        return cut
    rest = [_middle(line) for line in above if line not in row]
    return Cut(max(rest, default=-math.inf), cut.bottom, left + cut.left, right + cut.right)


def _middle(line: Line) -> float:
    return (line.y0 + line.y1) / 2


def gutter_candidates(
    starts: Sequence[float], ends: Sequence[float], width: float
) -> list[tuple[float, float]]:
    """Return intervals of x left of common starts of lines, and right of common ends.

    ``starts`` and ``ends`` of the lines are sorted.
    """
    left, right = starts[0], ends[-1]
    begin = [x for x in _common(starts) if x > left + 20]
    end = [x for x in _common(ends) if x < right - 20]
    return [(x - width, x) for x in begin[:CANDIDATES]] + [(x, x + width) for x in end[:CANDIDATES]]


def _common(edges: Sequence[float], tolerance: float = 2.0) -> list[float]:
    """Return the edges shared by at least COLUMN_ROWS lines, the most shared first. ``edges`` are sorted."""
    last_needed = edges[COLUMN_ROWS - 1 :]
    found = [
        (bisect_left(edges, edge + tolerance) - i, edge)
        for i, (edge, last, before) in enumerate(zip(edges, last_needed, (-math.inf, *edges), strict=False))
        if last < edge + tolerance and edge - before > 0.5
    ]
    return [edge for _, edge in sorted(found, reverse=True)]


def cuts_at(gutter: tuple[float, float], downwards: Sequence[Line]) -> list[Cut]:
    """Return one cut for each vertical stretch of the gutter without a line across it."""
    x0, x1 = gutter[0] + OVERHANG, gutter[1] - OVERHANG
    cuts = []
    left: list[Line] = []
    right: list[Line] = []
    top = -math.inf
    for line in downwards:
        if line.x1 <= x0:
            left.append(line)
        elif line.x0 >= x1:
            right.append(line)
        else:
            middle = _middle(line)
            if len(left) >= COLUMN_ROWS and len(right) >= COLUMN_ROWS:
                cuts.append(Cut(top, middle, left, right))
            left, right, top = [], [], middle
    if len(left) >= COLUMN_ROWS and len(right) >= COLUMN_ROWS:
        cuts.append(Cut(top, math.inf, left, right))
    return cuts


def _is_full(side: list[Line]) -> bool:
    return fills_one_column(text_rows(side))


def _bands(cut: Cut, rulings: Sequence[Rect], headed: bool = False) -> list[Cut]:
    """Return the pairs of columns one below the other that the cut consists of; itself where it is one pair.

    A pair begins below a ruling over both columns, or below a heading: it is bold and on one side, with
    space over both columns above it, and a hole on the other side beside it and its next lines. ``headed``:
    the first line may be such a heading. The last lines may be one: its columns are below the cut.
    """
    lines = (*cut.left, *cut.right)
    top, bottom = min([line.y0 for line in lines]), max([line.y1 for line in lines])
    rulings = [rule for rule in rulings if top < rule.y0 and rule.y1 < bottom]
    if not rulings and not any(line.style.bold for line in lines):  # as in most pairs of columns
        return [cut]
    rights = set(map(id, cut.right))
    rows = rows_of(lines)
    sides = [{id(line) in rights for line in row} for row in rows]
    starts = [(0, 0)]  # the rows where heading and columns begin
    for n, head in enumerate(rows):
        if n and n < starts[-1][1]:
            continue
        end = next((i for i in range(n, len(rows)) if sides[i] != sides[n]), len(rows))
        above = next((rows[i][-1] for i in range(n - 1, -1, -1) if sides[i] != sides[n]), None)
        if n and _is_ruled_between(rows[n - 1], head, rulings):
            starts.append((n, n))
        elif (
            len(sides[n]) == 1
            and head[0].style.bold
            and (len(sides[end]) == 2 if end < len(rows) else end <= n + HEAD_ROWS)
        ):
            space = head[0].y0 - max(line.y1 for line in rows[n - 1]) if n else 0.0
            hole = rows[min(end, len(rows) - 1)][0].baseline - above.baseline if above else math.inf
            if n == 0:
                starts = [(0, end if headed else 0)]
            elif space >= BAND_GAP * head[0].size and hole >= BAND_HOLE * head[0].size:
                starts.append((n, end))
    bands = []
    for (_, start), (end, _) in pairwise([*starts, (len(rows), 0)]):
        held = sorted((line for row in rows[start:end] for line in row), key=_middle)
        left, right = ([line for line in held if (id(line) in rights) is side] for side in (False, True))
        top = _middle(rows[start - 1][-1]) if start else cut.top
        bottom = (_middle(rows[end - 1][-1]) + rows[end][0].y0) / 2 if end < len(rows) else cut.bottom
        bands.append(Cut(top, bottom, left, right))
    sound = [min(len(band.left), len(band.right)) >= COLUMN_ROWS for band in bands]
    if not all(sound):  # the first and the last may be of pairs with another gutter
        bands = bands[not sound[0] : len(bands) - (not sound[-1])]
        sound = [min(map(len, band[2:])) >= COLUMN_ROWS and all(map(_is_full, band[2:])) for band in bands]
    return bands if bands and all(sound) else [cut]


def _is_ruled_between(above: Sequence[Line], row: Sequence[Line], rulings: Sequence[Rect]) -> bool:
    """Return whether a ruling as wide as both rows is between them."""
    top, bottom = max([_middle(line) for line in above]), min([_middle(line) for line in row])
    between = [rule for rule in rulings if top < rule.y0 and rule.y1 < bottom]
    if not between:
        return False
    x0, x1 = min(line.x0 for line in (*above, *row)), max(line.x1 for line in (*above, *row))
    reach = OVERHANG * GUTTER * row[0].size
    return any(rule.x0 <= x0 + reach and rule.x1 >= x1 - reach for rule in between)


def _is_ruled_across(cut: Cut, rulings: Sequence[Rect]) -> bool:
    """Return whether rulings run across the gap at every few rows of both sides: it is within a table."""
    x0, x1 = max(line.x1 for line in cut.left), min(line.x0 for line in cut.right)
    top, bottom = max(cut.left[0].y0, cut.right[0].y0), min(cut.left[-1].y1, cut.right[-1].y1)
    flat = [
        ((r.y0 + r.y1) / 2, r.x0, r.x1) for r in rulings if r.x0 < x1 and x0 < r.x1 and top < r.y0 < bottom
    ]
    pieces = [piece for track in tracks_of(flat, SNAP) for piece in joined_pieces(track, SNAP)]
    across = sum(start <= x0 + SNAP and end >= x1 - SNAP for _, start, end in pieces)
    return across >= RULED and ROWS_RULED * across >= min(len(cut.left), len(cut.right))


def _is_gutter(cut: Cut) -> bool:
    left, right = cut.left, cut.right
    if any(sum([line.chars for line in side]) < COLUMN_CHARS * len(side) for side in (left, right)):
        return False
    x0, x1 = max(line.x1 for line in left), min(line.x0 for line in right)
    em = min(_median([line.size for line in left]), _median([line.size for line in right]))
    if x1 - x0 < GUTTER * em:
        return False
    return are_texts_apart(text_rows(left), text_rows(right))


def _median(values: list[float]) -> float:
    return sorted(values)[len(values) // 2]
