"""Half-ruled tables: rulings of one width above one another, none between the columns."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from operator import itemgetter

from documents.pdf.fast.blocks import Block, TableCell
from documents.pdf.fast.cells import YES_OR_NO, ColumnSpans, Row, columns_of, is_value, is_value_cell
from documents.pdf.fast.lines import Line, rows_of
from documents.pdf.fast.tablerows import absorb, blocks_of, logical_rows, placed
from documents.pdf.geometry import Rect

# Pieces of one ruling lie on one height within this, their gaps at most so wide (points).
TRACK = 1.5
PIECE_GAP = 12.0
# Rulings of one table begin and end together within this (points).
SAME_END = 5.0
# From so many rulings on, what stands between two of them is a row.
ROW_RUNGS = 5
# The rows outside the first and last ruling are at most so much taller than the tallest between two.
OUTER_ROW = 1.3
# Two stripes part three rows.
STRIPE_EDGES = 4
# Rulings further apart than this belong to two tables (points).
RUNG_DISTANCE = 260.0
# Unless the first two stand so near that they hold the heads, and these stand over so many columns.
HEAD_HEIGHT, TALLEST = 90.0, 750.0
HEADED_COLUMNS = 3
# A ladder has at least so many rungs (a rule above, one under the head, one below), this wide (points).
RUNGS = 3
WIDTH = 80.0
# Pages with more long rulings are maps and drawings.
MOST_RUNGS = 1000
# A lone line set so much larger than the usual is a heading.
HEADING_SIZE = 1.15
# So many lines between two rungs that run across the columns, one below the other, are prose between tables.
ACROSS = 2
# Share of the spaces between rungs that hold cells side by side; in forms most hold a line to write on.
CELLED = 0.6


@dataclass(frozen=True, slots=True)
class Ladder:
    """Rulings of common width, top to bottom; ``rect`` is from the first to the last."""

    rect: Rect
    ys: tuple[float, ...]


def ladders(rulings: Iterable[Rect], piece_gap: float = PIECE_GAP) -> list[Ladder]:
    """Groups of at least three rulings that begin and end together."""
    groups: list[list[tuple[float, float, float]]] = []
    rungs = _rungs(rulings, piece_gap)
    if len(rungs) > MOST_RUNGS:
        return []
    for y, x0, x1 in rungs:
        for group in groups:
            last = group[-1]
            if (
                abs(last[1] - x0) <= SAME_END
                and abs(last[2] - x1) <= SAME_END
                and y - last[0] < (TALLEST if _may_hold_heads(group) else RUNG_DISTANCE)
            ):
                group.append((y, x0, x1))
                break
        else:
            groups.append([(y, x0, x1)])
    return [_ladder(group) for group in groups if len(group) >= RUNGS]


def _may_hold_heads(group: Sequence[tuple[float, float, float]]) -> bool:
    return len(group) == 2 and group[1][0] - group[0][0] < HEAD_HEIGHT


def _ladder(group: list[tuple[float, float, float]]) -> Ladder:
    ys = tuple(rung[0] for rung in group)
    return Ladder(Rect(min(r[1] for r in group), ys[0], max(r[2] for r in group), ys[-1]), ys)


def _rungs(rulings: Iterable[Rect], piece_gap: float) -> list[tuple[float, float, float]]:
    """Whole rulings from their pieces: (y, x0, x1), top to bottom."""
    flat = sorted([((y0 + y1) / 2, x0, x1) for x0, y0, x1, y1 in rulings if x1 - x0 > y1 - y0])
    tracks: list[list[tuple[float, float, float]]] = []
    for piece in flat:
        if tracks and piece[0] - tracks[-1][0][0] <= TRACK:
            tracks[-1].append(piece)
        else:
            tracks.append([piece])
    rungs = []
    for track in tracks:
        track.sort(key=itemgetter(1))
        y, start, end = track[0]
        for _, x0, x1 in track[1:]:
            if x0 > end + piece_gap:
                rungs.append((y, start, end))
                start = x0
            end = max(end, x1) if x0 <= end + piece_gap else x1
        rungs.append((y, start, end))
    return [rung for rung in rungs if rung[2] - rung[1] >= WIDTH]


def parted(ladder: Ladder, lines: Sequence[Line]) -> list[Ladder]:
    """The ladder, cut where prose stands between two rungs: tables of one width are ruled alike.

    Empty where a heading stands there: each table below it begins with heads of its own.
    """
    rows = [Row(row) for row in rows_of(lines)]
    lone = [row for row in rows if len(row.cells) == 1]
    sizes = sorted([row.size for row in rows])
    if any(row.size > HEADING_SIZE * sizes[len(sizes) // 2] for row in lone):
        return []
    if len(lone) < ACROSS:
        return [ladder]
    columns = columns_of([row for row in rows if row.multi])
    over = [len(row.cells) == 1 and len(columns.hit(row.cells[0])) > 1 for row in rows]
    across = [
        (row.y0 + row.y1) / 2
        for row, this, before, after in zip(rows, over, [False, *over], [*over[1:], False], strict=False)
        if this and (before or after)
    ]
    if len(across) < ACROSS:
        return [ladder]
    parts: list[list[float]] = [[]]
    for above, y in zip((ladder.ys[0], *ladder.ys), ladder.ys, strict=False):
        if sum([above < middle < y for middle in across]) >= ACROSS:
            parts.append([])
        parts[-1].append(y)
    return [
        Ladder(Rect(ladder.rect.x0, ys[0], ladder.rect.x1, ys[-1]), tuple(ys)) for ys in parts if len(ys) > 1
    ]


def with_outer_rows(ladder: Ladder, lines: Sequence[Line], shaded: bool = False) -> Ladder:
    """The ladder with the rows above its first and below its last ruling, where rulings part rows only."""
    if len(ladder.ys) < (STRIPE_EDGES if shaded else ROW_RUNGS):
        return ladder
    x0, top, x1, bottom = ladder.rect
    tallest = OUTER_ROW * max(b - a for a, b in pairwise(ladder.ys))
    beside = [line for line in lines if x0 - SAME_END <= line.x0 and line.x1 <= x1 + SAME_END and line.chars]
    columns = columns_of([Row(row) for row in rows_of([line for line in beside if top < line.y0 < bottom])])
    if len(columns.spans) < 2:
        return ladder
    above = [line for line in beside if top - tallest < line.y0 and line.y1 < top + TRACK]
    below = [line for line in beside if bottom - TRACK < line.y0 and line.y1 < bottom + tallest]
    ys = ladder.ys
    if y := _row_end(above, columns, lambda line: line.y0, min):
        ys = (y - TRACK, *ys)
    if y := _row_end(below, columns, lambda line: line.y1, max):
        ys = (*ys, y + TRACK)
    return Ladder(Rect(x0, ys[0], x1, ys[-1]), ys)


def _row_end(
    lines: Sequence[Line],
    columns: ColumnSpans,
    edge: Callable[[Line], float],
    outermost: Callable[[Iterable[float]], float],
) -> float:
    """Where the row of these lines ends; 0 where they make none, for one runs over columns or is alone."""
    hits = [columns.hit([line]) for line in lines]
    if any(len(hit) != 1 for hit in hits) or len({hit[0] for hit in hits}) < 2:
        return 0.0
    return outermost(map(edge, lines))


def ladder_table(ladder: Ladder, lines: Sequence[Line], shaded: bool = False) -> list[Block]:
    """The rows of the table between the rulings; empty when what stands there is prose.

    ``shaded``: the rulings are edges of stripes, which reach under several rows of values.
    """
    rows = [Row(row) for row in rows_of(lines)]
    wide = [row for row in rows if row.multi]
    if len(wide) < 2:
        return []
    columns = columns_of(rows)
    if len(columns.spans) < 2 or _runs_across(rows, columns):
        return []
    segments = _segments(rows, ladder.ys)
    valued = _of_values(wide) or sum(map(_is_amount, lines)) > 0.4 * len(lines)
    if valued and (shaded or _stacks_values(segments, columns)):
        return []
    if any(b - a > RUNG_DISTANCE for a, b in pairwise(ladder.ys)) and not _is_headed(segments[0], columns):
        return []
    if sum(any(row.multi for row in segment) for segment in segments) < CELLED * len(segments):
        return []
    single = len(ladder.ys) >= (STRIPE_EDGES if shaded else ROW_RUNGS) and not _stacks_values(
        segments, columns
    )
    tables = [_one_row(segment, columns) if single else _logical(segment, columns) for segment in segments]
    return blocks_of([cells for table in tables for cells in table], len(columns.spans))


def _is_headed(head: Sequence[Row], columns: ColumnSpans) -> bool:
    """Whether the first rows have heads over most of the columns, of which there are several."""
    most = max(len(row.cells) for row in head)
    return most >= max(HEADED_COLUMNS, len(columns.spans) / 2)


def _of_values(rows: Sequence[Row]) -> bool:
    """Whether values fill the columns: their baselines then say more of the rows than the rulings do."""
    cells = [cell for row in rows for cell in row.cells[1:]]
    return sum(all(map(_is_amount, cell)) for cell in cells) >= 0.3 * len(cells)


def _is_amount(line: Line) -> bool:
    """Whether it is a value, and no mark that stands for yes or no."""
    return is_value(line.text) and line.text not in YES_OR_NO


def _stacks_values(segments: Sequence[Sequence[Row]], columns: ColumnSpans) -> bool:
    """Whether values stand one below the other between two rulings: baselines make the rows there."""
    for segment in segments:
        filled: dict[int, float] = {}
        for row in segment:
            for cell in placed(row, columns):
                if all(map(_is_amount, cell.lines)):
                    line = cell.lines[0]
                    if line.baseline - filled.get(cell.column, line.baseline) > line.size:
                        return True
                    filled.setdefault(cell.column, line.baseline)
    return False


def _one_row(rows: Sequence[Row], columns: ColumnSpans) -> list[list[TableCell]]:
    """What stands between two rulings of many: one row, unless each of its lines begins all cells."""
    cells = [placed(row, columns) for row in rows]
    goes_on = any(cell.lines[0].text[0].islower() for row in cells[1:] for cell in row)
    if len(cells) > 1 and not goes_on and all(len(row) == len(columns.spans) for row in cells):
        return logical_rows(cells)
    for row in cells[1:]:
        absorb(cells[0], row)
    return cells[:1]


def _runs_across(rows: Sequence[Row], columns: ColumnSpans) -> bool:
    """Whether a third of the rows are lone lines over several columns: prose between rules."""
    lone = [row for row in rows if len(row.cells) == 1 and len(columns.hit(row.cells[0])) > 1]
    return len(lone) * 3 > len(rows)


def _segments(rows: Sequence[Row], ys: Sequence[float]) -> list[list[Row]]:
    """Rows between one ruling and the next."""
    segments: dict[int, list[Row]] = {}
    for row in rows:
        middle = (row.y0 + row.y1) / 2
        segments.setdefault(sum(y < middle for y in ys), []).append(row)
    return [segments[key] for key in sorted(segments)]


def _logical(rows: Sequence[Row], columns: ColumnSpans) -> list[list[TableCell]]:
    """One row of the table if its head stands once and the rest is text, else the rows its baselines make."""
    cells = [placed(row, columns) for row in rows]
    headed = sum(1 for row in cells if row[0].column == 0)
    values = sum(is_value_cell(cell.lines) for row in cells[1:] for cell in row)
    if len(cells) > 1 and headed <= 1 and values == 0:
        for row in cells[1:]:
            absorb(cells[0], row)
        return cells[:1]
    return logical_rows(cells)
