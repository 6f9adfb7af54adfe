"""Half-ruled tables: rulings of one width above one another, none between the columns."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from operator import itemgetter

from documents.pdf.fast.blocks import Block, TableCell
from documents.pdf.fast.cells import ColumnSpans, Row, columns_of, is_value, is_value_cell
from documents.pdf.fast.lines import Line, rows_of
from documents.pdf.fast.tablerows import absorb, blocks_of, logical_rows, placed
from documents.pdf.geometry import Rect

# Pieces of one ruling lie on one height within this, their gaps at most so wide (points).
TRACK = 1.5
PIECE_GAP = 12.0
# Rulings of one table begin and end together within this (points).
SAME_END = 5.0
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
# So many lines between two rungs that run across the columns, one below the other, are prose between tables.
ACROSS = 2
# Share of the spaces between rungs that hold cells side by side; in forms most hold a line to write on.
CELLED = 0.6


@dataclass(frozen=True, slots=True)
class Ladder:
    """Rulings of common width, top to bottom; ``rect`` is from the first to the last."""

    rect: Rect
    ys: tuple[float, ...]


def ladders(rulings: Iterable[Rect]) -> list[Ladder]:
    """Groups of at least three rulings that begin and end together."""
    groups: list[list[tuple[float, float, float]]] = []
    rungs = _rungs(rulings)
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


def _rungs(rulings: Iterable[Rect]) -> list[tuple[float, float, float]]:
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
            if x0 > end + PIECE_GAP:
                rungs.append((y, start, end))
                start = x0
            end = max(end, x1) if x0 <= end + PIECE_GAP else x1
        rungs.append((y, start, end))
    return [rung for rung in rungs if rung[2] - rung[1] >= WIDTH]


def parted(ladder: Ladder, lines: Sequence[Line]) -> list[Ladder]:
    """The ladder, cut where prose stands between two rungs: tables of one width are ruled alike."""
    rows = [Row(row) for row in rows_of(lines)]
    lone = [row for row in rows if len(row.cells) == 1]
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


def ladder_table(ladder: Ladder, lines: Sequence[Line]) -> list[Block]:
    """The rows of the table between the rulings; empty when what stands there is prose."""
    if sum(is_value(line.text) for line in lines) > 0.4 * len(lines):
        return []
    rows = [Row(row) for row in rows_of(lines)]
    wide = [row for row in rows if row.multi]
    if len(wide) < 2 or _of_values(wide):
        return []
    columns = columns_of(rows)
    if len(columns.spans) < 2 or _runs_across(rows, columns):
        return []
    segments = _segments(rows, ladder.ys)
    if any(b - a > RUNG_DISTANCE for a, b in pairwise(ladder.ys)) and not _is_headed(segments[0], columns):
        return []
    if sum(any(row.multi for row in segment) for segment in segments) < CELLED * len(segments):
        return []
    tables = [_logical(segment, columns) for segment in segments]
    return blocks_of([cells for table in tables for cells in table], len(columns.spans))


def _is_headed(head: Sequence[Row], columns: ColumnSpans) -> bool:
    """Whether the first rows have heads over most of the columns, of which there are several."""
    most = max(len(row.cells) for row in head)
    return most >= max(HEADED_COLUMNS, len(columns.spans) / 2)


def _of_values(rows: Sequence[Row]) -> bool:
    """Whether values fill the columns: their baselines then say more of the rows than the rulings do."""
    cells = [cell for row in rows for cell in row.cells[1:]]
    return sum(map(is_value_cell, cells)) >= 0.3 * len(cells)


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
