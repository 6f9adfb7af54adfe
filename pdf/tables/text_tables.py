"""Find unruled tables whose cells are paragraphs and whose rows are separated by white space.

Lines of one cell follow one another at the leading of the type; between two rows the gap is larger in all
columns. So lines are joined that are close in one column, or side by side in two; each connected component
is a row. Columns of prose are connected from top to bottom.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise, takewhile
from operator import attrgetter

from pdf.extract.words import RawWord
from pdf.geometry import Rect
from pdf.layout.lines import Line, rows_of
from pdf.layout.page_layout import Block, Inset, TableCell, bounds_of
from pdf.tables.cells import Row, row_of
from pdf.tables.evidence import LEAST, Reading, confidence, has_larger_head
from pdf.tables.rows import blocks_of, parted

# Minimum gap between columns (ems).
GUTTER = 0.6
# Maximum gap between rows (ems, from bottom to top).
ROW_DISTANCE = 3.2
# Maximum distance of lines of one cell, as a multiple of the closest leading.
OPENED = 1.08
LOOSEST = 1.9
# A rare leading within cells is at most this share of the distance of rows.
CLOSER = 0.9
# Lines without a cell in the first column continue the row above within this multiple of the leading.
CONTINUATION = 1.35
# Lines are side by side from this common share of their height on: cells may be centred.
BESIDE = 0.3
# Maximum gap between paragraphs of one cell (ems), and difference of their left edges (points).
PARAGRAPH_GAP, EDGE = 1.5, 2.0
# A lone line this many times larger than the table above it is a heading.
HEADING_SIZE = 1.15
# Minimum rows of a table; rows with which a rejected one may begin instead: below the lines of its heads.
ROWS, HEAD_LINES = 3, 2
# Lines on one baseline differ by at most this (ems).
LEVEL = 0.4
# A connected component with more than this share of all lines is prose, as is what is below it.
PROSE_ROW = 0.35

_SECTION = re.compile(r"^\d{1,2}(?:\.\d{1,2}){1,4}\.?$")
_BASELINE = attrgetter("baseline", "x0")
_LEFT = attrgetter("x0")
_Pitched = dict[int, list[tuple[Line, "TextColumn"]]]  # lines and their columns by pitch (quarter points)


@dataclass(slots=True)
class TextColumn:
    """An interval of x and the lines in it, top to bottom."""

    x0: float
    x1: float
    lines: list[Line] = field(default_factory=list)


def with_text_tables(lines: Sequence[Line]) -> list[Line]:
    """Return the lines, with one Inset in place of the lines of each table of texts."""
    rest = list(lines)
    upright = [line for line in rest if not isinstance(line, Inset) and line.chars]
    for rect, taken, blocks in text_tables(upright):
        gone = set(map(id, taken))
        rest = [line for line in rest if id(line) not in gone] + [Inset(rect, blocks)]
    return rest


def text_tables(lines: Sequence[Line]) -> list[tuple[Rect, list[Line], list[Block]]]:
    """Return the tables of texts: their rectangles, lines and rows."""
    in_rows = rows_of(lines) if len(lines) > ROWS else []
    if sum(len(row) > 1 for row in in_rows) < ROWS:  # prose; checked before the cells of a row are searched
        return []
    rows = [row_of(row) for row in in_rows]
    if sum(row.multi for row in rows) < ROWS:
        return []
    found = []
    start = begun = reached = 0
    while start < len(rows):
        grown = _grown(rows, start) if rows[start].multi else None
        blocks, end = _table(grown) if grown else ([], start + 1)
        if grown and grown.end > reached:
            begun, reached = start, grown.end
        if grown and start - begun >= HEAD_LINES:
            end = grown.end
        if grown and blocks:
            kept = {id(word) for block in blocks for line in block.lines for word in line.words}
            taken = [
                line
                for row in rows[grown.start : grown.end]
                for line in row.lines
                if any(id(word) in kept for word in line.words)
            ]
            found.append((bounds_of(taken), taken, blocks))
        start = max(end, start + 1)
    return found


@dataclass(slots=True)
class _Grown:
    start: int
    end: int
    columns: list[TextColumn]


def _grown(rows: Sequence[Row], start: int) -> _Grown | None:
    """Return the rows from ``start`` on that share columns, and the columns."""
    columns: list[TextColumn] = []
    end = start
    for i in range(start, len(rows)):
        row = rows[i]
        above = max([other.y1 for other in rows[max(start, i - 3) : i]], default=row.y0)
        if row.y0 - above > ROW_DISTANCE * row.size:
            break
        pieces = _pieces(row, columns)
        if pieces is None or _is_heading(pieces, columns):
            break
        _add(columns, pieces)
        end = i + 1
    if len(columns) < 2 or end - start < ROWS:
        return None
    while start and len(rows[start - 1].lines) == 1 and _leads(rows[start - 1], rows[start], columns):
        start -= 1
        _add(columns, _pieces(rows[start], columns) or [], first=True)
    return _Grown(start, end, columns)


def _is_heading(pieces: Sequence[Line], columns: Sequence[TextColumn]) -> bool:
    """Return whether a row heads a section: larger than the table above it, or numbered and alone in bold."""
    if not columns or len(pieces) > 2:
        return False
    above = (line for column in columns for line in column.lines)
    if len(pieces) == 1 and all(pieces[0].size > HEADING_SIZE * line.size for line in above):
        return True
    if not _SECTION.match(pieces[0].words[0].text) or not all(line.style.bold for line in pieces):
        return False
    return not any(line.style.bold for column in columns for line in column.lines)


def _leads(row: Row, below: Row, columns: Sequence[TextColumn]) -> bool:
    """Return whether a lone line is the first of a cell that starts above the cells beside it."""
    if row.y1 - below.y0 > BESIDE * (row.y1 - row.y0):
        return True
    hit = [column for column in columns if column.x0 < row.x1 and row.x0 < column.x1]
    if len(hit) != 1 or (columns[0] is hit[0] and len(columns) < 2):
        return False
    line, following = row.lines[0], hit[0].lines[0]
    pitch = following.baseline - line.baseline
    return 0 < pitch < LOOSEST * line.size and row.y1 > below.y0 and abs(line.x0 - following.x0) < line.size


def _pieces(row: Row, columns: Sequence[TextColumn]) -> list[Line] | None:
    """Split the row's lines at the columns; None where one crosses a gutter."""
    out: list[Line] = []
    for line in row.lines:
        hit = [column for column in columns if column.x0 < line.x1 and line.x0 < column.x1]
        if len(hit) < 2:
            out.append(line)
            continue
        parts = _split(line, hit)
        if parts is None:
            return None
        out += parts
    return out


def _split(line: Line, columns: Sequence[TextColumn]) -> list[Line] | None:
    """Split a line into one piece per column; None where its words leave no gap there."""
    parts: list[list[RawWord]] = [[] for _ in columns]
    for word in line.words:
        under = [n for n, column in enumerate(columns) if column.x0 < word.x1 and word.x0 < column.x1]
        if len(under) != 1:
            return None
        parts[under[0]].append(word)
    pieces = sorted([Line(words) for words in parts if words], key=_LEFT)
    gaps = [b.x0 - a.x1 for a, b in pairwise(pieces)]
    return None if gaps and min(gaps) < max(GUTTER * line.size, _widest_space(pieces)) else pieces


def _widest_space(pieces: Sequence[Line]) -> float:
    """Return the widest space within the pieces of a line: in justified prose all are wide."""
    return max([b.x0 - a.x1 for piece in pieces for a, b in pairwise(piece.words)], default=0.0)


def _add(columns: list[TextColumn], pieces: Sequence[Line], first: bool = False) -> None:
    for line in pieces:
        x0, x1 = line.x0, line.x1
        for column in columns:
            if column.x0 < x1 and x0 < column.x1:
                if x0 < column.x0 or x1 > column.x1:
                    column.x0, column.x1 = min(column.x0, x0), max(column.x1, x1)
                break
        else:
            column = TextColumn(x0, x1)
            columns.append(column)
            columns.sort(key=_LEFT)
        column.lines.insert(0 if first else len(column.lines), line)


def _table(grown: _Grown) -> tuple[list[Block], int]:
    """Return the rows of the table in these columns, and the row where another may begin.

    No rows where it is not a table of texts.
    """
    columns = grown.columns
    if any(b.x0 - a.x1 < GUTTER * b.lines[0].size for a, b in pairwise(columns)):
        return [], 0
    rows = _hanging_together(columns)
    largest = max(sum(map(len, row.values())) for row in rows)
    rows = _trimmed(rows)
    blocks: list[Block] = []
    if len(rows) >= ROWS:
        rows = _with_head_apart(rows)
        used = sorted({column for row in rows for column in row})
        cells = [[TableCell(used.index(column), row[column]) for column in sorted(row)] for row in rows]
        blocks = parted(blocks_of(cells, len(used)), "spaces")
        if confidence(blocks) >= LEAST:
            return blocks, grown.end
    prose = largest > PROSE_ROW * sum(len(column.lines) for column in columns)
    headed = blocks and has_larger_head(Reading(blocks))
    return [], grown.end if prose or headed else 0


def _with_head_apart(rows: list[dict[int, list[Line]]]) -> list[dict[int, list[Line]]]:
    """Return the rows, with heads in a type of their own apart from the lines of the first row below."""
    styles = {lines[0].style for lines in rows[0].values()}
    heads = {n: list(takewhile(lambda line: line.style in styles, lines)) for n, lines in rows[0].items()}
    rest = {n: lines[len(heads[n]) :] for n, lines in rows[0].items() if len(lines) > len(heads[n])}
    others = {line.style for row in (rest, *rows[1:]) for lines in row.values() for line in lines}
    return [heads, rest, *rows[1:]] if len(rest) > 1 and styles.isdisjoint(others) else rows


def _hanging_together(columns: Sequence[TextColumn]) -> list[dict[int, list[Line]]]:
    """Return the lines by row and column, from top to bottom."""
    placed = [(line, n) for n, column in enumerate(columns) for line in column.lines]
    placed.sort(key=lambda item: _BASELINE(item[0]))
    leading = _leading_by_size(columns)
    rows: list[dict[int, list[Line]]] = []
    for line, column in placed:
        joined = [row for row in rows[-4:] if _joins(line, column, row, leading)]
        if not joined:
            rows.append({column: [line]})
            continue
        row = joined[0]
        for other in joined[1:]:  # a line beside two rows joins them
            for n, held in other.items():
                row[n] = sorted([*row.get(n, ()), *held], key=_BASELINE)
            rows.remove(other)
        row.setdefault(column, []).append(line)
    return _with_loose_lines(rows, leading)


def _with_loose_lines(
    rows: Sequence[dict[int, list[Line]]], leading: dict[int, float]
) -> list[dict[int, list[Line]]]:
    """Join rows that only continue the cells above at a slightly larger distance."""
    first = min((min(row) for row in rows), default=0)
    out: list[dict[int, list[Line]]] = []
    for row in rows:
        above = out[-1] if out else {}
        if (
            first not in row
            and first in above
            and all(
                n in above
                and lines[0].baseline - above[n][-1].baseline
                <= CONTINUATION * leading.get(round(2 * lines[0].size), lines[0].size)
                for n, lines in row.items()
            )
        ):
            for n, lines in row.items():
                above[n].extend(lines)
        else:
            out.append(row)
    return out


def _leading_by_size(columns: Sequence[TextColumn]) -> dict[int, float]:
    """Return the leading of each type size (half points) within a column: the closest that is not rare.

    A rare distance counts too where its lines are alone: there a cell continues, while rows begin with a
    line in all columns.
    """
    pitched: dict[int, _Pitched] = {}
    for column in columns:
        for a, b in pairwise(column.lines):
            pitch = b.baseline - a.baseline
            if abs(a.size - b.size) < 0.5 and 0.8 * a.size < pitch < LOOSEST * a.size:
                pitches = pitched.setdefault(round(2 * a.size), {})
                pitches.setdefault(round(4 * pitch), []).append((b, column))
    return {
        size: min(pitch for pitch in pitches if _is_leading(pitch, pitches, columns)) / 4
        for size, pitches in pitched.items()
    }


def _is_leading(pitch: int, pitches: _Pitched, columns: Sequence[TextColumn]) -> bool:
    """Return whether a pitch is common, or much closer than usual and of lone lines."""
    usual = max(pitches, key=lambda other: len(pitches[other]))
    count, most = len(pitches[pitch]), len(pitches[usual])
    if count >= 0.2 * most:
        return True
    if pitch >= CLOSER * usual or count == 1:  # checked before the lines beside are searched
        return False
    alone = [sum(not _has_line_beside(*at, columns) for at in pitches[place]) for place in (pitch, usual)]
    return alone[0] == count and alone[1] < 0.2 * most


def _has_line_beside(line: Line, column: TextColumn, columns: Sequence[TextColumn]) -> bool:
    near = LEVEL * line.size
    others = (other for beside in columns if beside is not column for other in beside.lines)
    return any(abs(other.baseline - line.baseline) < near for other in others)


def _joins(line: Line, column: int, row: dict[int, list[Line]], leading: dict[int, float]) -> bool:
    """Return whether the line continues a cell of the row, or is beside one of its last lines."""
    for n, held in row.items():
        if n == column:
            usual = leading.get(round(2 * line.size), 1.2 * line.size)
            if line.baseline - held[-1].baseline <= OPENED * usual + 0.25:
                return True
        elif _beside(line, held[-1]) or (len(held) > 1 and _beside(line, held[-2])):
            return True
    return False


def _beside(line: Line, other: Line) -> bool:
    common = (line.y1 if line.y1 < other.y1 else other.y1) - (line.y0 if line.y0 > other.y0 else other.y0)
    return common > BESIDE * (line.height if line.height < other.height else other.height)


def _trimmed(rows: list[dict[int, list[Line]]]) -> list[dict[int, list[Line]]]:
    """Remove rows of one cell above the first and below the last row with several.

    Further paragraphs of the last row's cells are kept with it.
    """
    full = [n for n, row in enumerate(rows) if len(row) > 1]
    if not full:
        return []
    last = rows[full[-1]]
    for row in rows[full[-1] + 1 :]:
        (column, lines), *_ = row.items()
        above = last.get(column)
        if (
            column == min(last)
            or above is None
            or lines[0].y0 - above[-1].y1 > PARAGRAPH_GAP * lines[0].size
            or abs(lines[0].x0 - above[0].x0) > EDGE
        ):
            break
        above.extend(lines)
    return rows[full[0] : full[-1] + 1]
