"""Find unruled tables whose cells are paragraphs and whose rows are separated by white space.

Lines of one cell follow one another at the leading of the type; between two rows the gap is larger in all
columns. So lines are joined that are close in one column, or side by side in two; each connected component
is a row. Columns of prose are connected from top to bottom.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from operator import attrgetter

from pdf.extract.words import RawWord, comes_next, is_contents_line, marker_of
from pdf.geometry import Rect
from pdf.layout.lines import Line, goes_on, rows_of
from pdf.layout.page_layout import Block, Inset, TableCell, bounds_of
from pdf.tables.cells import YES_OR_NO, Row, is_value, row_of
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
# Minimum rows of a table, and of rows with a cell of several lines.
ROWS, TALL_ROWS = 3, 2
# Minimum shares of rows with several cells, and of those whose cells align at top or centre (ems).
FULL_ROWS, LEVEL_ROWS, LEVEL = 0.7, 0.9, 0.4
# A wrapped line fills at least this share of its column; shares of such lines in tables of few rows and
# of more.
FULL, SURE_ROWS, FILLED, RAGGED = 0.7, 5, 0.7, 0.4
# From this many columns on: shares of columns that align where a row begins, and that begin a new cell.
LEVEL_COLUMNS, LEVEL_SHARE, ANEW_SHARE = 4, 0.8, 0.5
# Maximum share of lines in the largest row of a table.
LARGEST_ROW, LARGEST_OF_FEW = 0.6, 0.5
# A connected component with more than this share of all lines is prose, as is what is below it.
PROSE_ROW = 0.35
# Columns of prose: minimum mean of lines of a cell, minimum ratio of their widths, maximum difference of the
# ends of cells (ems).
PROSE_CELL, LIKE_WIDTH, LEVEL_END = 4, 0.8, 1.4
# Share of markers among the first cells that makes it a list; shares of values left to other finders.
MARKERS, VALUES, MOST_VALUES = 0.5, 0.4, 0.5

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
    start = 0
    while start < len(rows):
        grown = _grown(rows, start) if rows[start].multi else None
        blocks, end = _table(grown) if grown else ([], start + 1)
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
    if _holds_values(columns):
        return [], grown.end
    rows = _hanging_together(columns)
    if len(rows) < ROWS:  # columns of prose
        return [], grown.end
    largest = max(sum(map(len, row.values())) for row in rows)
    rows = _trimmed(rows)
    if ROWS <= len(rows) < SURE_ROWS and _has_headings(rows):
        return [], grown.end
    if len(rows) < ROWS or not _is_table(rows):
        prose = largest > PROSE_ROW * sum(len(column.lines) for column in columns)
        return [], grown.end if prose else 0
    used = sorted({column for row in rows for column in row})
    cells = [[TableCell(used.index(column), row[column]) for column in sorted(row)] for row in rows]
    return parted(blocks_of(cells, len(used)), "spaces"), grown.end


def _holds_values(columns: Sequence[TextColumn]) -> bool:
    """Return whether most lines after the first column are values: then baselines separate the rows."""
    behind = [line for column in columns[1:] for line in column.lines]
    values = sum([is_value(line.text) and line.text not in YES_OR_NO for line in behind])
    return values > MOST_VALUES * len(behind)


def _hanging_together(columns: Sequence[TextColumn]) -> list[dict[int, list[Line]]]:
    """Return the lines by row and column, from top to bottom."""
    placed = [(line, n) for n, column in enumerate(columns) for line in column.lines]
    placed.sort(key=lambda item: _BASELINE(item[0]))
    leading = _leading_by_size(columns)
    tops = _tops(columns, leading)
    rows: list[dict[int, list[Line]]] = []
    first = 0
    for line, column in placed:
        while tops and line.baseline > tops[0]:
            first = len(rows)
            del tops[0]
        joined = [row for row in rows[max(first, len(rows) - 4) :] if _joins(line, column, row, leading)]
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


def _tops(columns: Sequence[TextColumn], leading: dict[int, float]) -> list[float]:
    """Return starts of rows without a gap above: most of many columns begin a new cell there."""
    if len(columns) < LEVEL_COLUMNS:
        return []
    begun = [
        line
        for column in columns
        for above, line in pairwise(column.lines)
        if line.baseline - above.baseline > OPENED * leading.get(round(2 * line.size), 1.2 * line.size) + 0.25
    ]
    baselines = [sorted([line.baseline for line in column.lines]) for column in columns]
    openings = sorted([line.baseline for line in begun])
    tops: list[float] = []
    for line in sorted(begun, key=_BASELINE):
        near = LEVEL * line.size
        if tops and line.baseline - tops[-1] <= 2 * near:
            continue
        reach = line.baseline - near, line.baseline + near
        level = sum([_count_between(places, *reach) > 0 for places in baselines])
        anew = _count_between(openings, *reach)
        going_on = any(
            reach[0] <= line.baseline <= reach[1] and goes_on(above, line)
            for column in columns
            for above, line in pairwise(column.lines)
        )
        if level >= LEVEL_SHARE * len(columns) and anew >= ANEW_SHARE * len(columns) and not going_on:
            tops.append(line.baseline - near)
    return tops


def _count_between(places: Sequence[float], first: float, last: float) -> int:
    return bisect_right(places, last) - bisect_left(places, first)


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


def _is_table(rows: Sequence[dict[int, list[Line]]]) -> bool:
    count = sum(len(lines) for row in rows for lines in row.values())
    full = [row for row in rows if len(row) > 1]
    tall = sum(max(len(lines) for lines in row.values()) > 1 for row in rows)
    if tall < TALL_ROWS or len(full) < max(ROWS, FULL_ROWS * len(rows)):
        return False
    largest = LARGEST_ROW if len(rows) >= SURE_ROWS else LARGEST_OF_FEW
    if max(sum(map(len, row.values())) for row in rows) > largest * count:
        return False
    below = full[1:] if len(full) > SURE_ROWS else full  # heads may be set otherwise
    if max(sum(map(_begin_level, below)), sum(map(_are_centred, below))) < LEVEL_ROWS * len(below):
        return False
    if _filled(rows) < (FILLED if len(rows) < SURE_ROWS else RAGGED):
        return False
    if _are_columns_of_prose(full):
        return False
    return not _is_something_else(rows)


def _has_headings(rows: Sequence[dict[int, list[Line]]]) -> bool:
    """Return whether the first row is larger than all below: headings of columns of prose."""
    below = max(line.size for row in rows[1:] for lines in row.values() for line in lines)
    return len(rows[0]) > 1 and all(lines[0].size > HEADING_SIZE * below for lines in rows[0].values())


def _are_columns_of_prose(rows: Sequence[dict[int, list[Line]]]) -> bool:
    """Return whether the rows are pieces of columns of prose whose paragraphs happen to begin at one height.

    Such columns are of like width, and the pieces of a row end at one height; of two cells of a table, one is
    nearly always shorter.
    """
    columns = _by_column(rows)
    most = max(map(len, columns.values()))
    long = [
        lines for lines in columns.values() if 2 * len(lines) >= most
    ]  # without a box beside the first rows
    widths = sorted(max(line.x1 for line in lines) - min(line.x0 for line in lines) for lines in long)
    cells = [[lines for n, lines in row.items() if columns[n] in long] for row in rows]
    count = sum(map(len, cells))
    if len(long) < 2 or widths[0] < LIKE_WIDTH * widths[-1] or sum(map(len, long)) < PROSE_CELL * count:
        return False
    bottoms = [[lines[-1].baseline for lines in row] for row in cells[:-1] if row]
    level = sum(max(bottom) - min(bottom) <= LEVEL_END * long[0][0].size for bottom in bottoms)
    return level >= LEVEL_SHARE * len(bottoms)


def _by_column(rows: Sequence[dict[int, list[Line]]]) -> dict[int, list[Line]]:
    columns: dict[int, list[Line]] = {}
    for n, lines in (item for row in rows for item in row.items()):
        columns.setdefault(n, []).extend(lines)
    return columns


def _filled(rows: Sequence[dict[int, list[Line]]]) -> float:
    """Return the share of wrapped lines that fill their columns, as in texts but not in addresses."""
    spans = {
        n: (min([line.x0 for line in held]), max([line.x1 for line in held]))
        for n in {n for row in rows for n in row}
        if (held := [line for row in rows for line in row.get(n, ())])
    }
    broken = [(line, *spans[n]) for row in rows for n, lines in row.items() for line in lines[:-1]]
    return sum(line.x1 - line.x0 >= FULL * (x1 - x0) for line, x0, x1 in broken) / max(1, len(broken))


def _begin_level(row: dict[int, list[Line]]) -> bool:
    """Return whether the cells begin on one baseline."""
    tops = [lines[0].baseline for lines in row.values()]
    return max(tops) - min(tops) <= LEVEL * next(iter(row.values()))[0].size


def _are_centred(row: dict[int, list[Line]]) -> bool:
    """Return whether the cells are centred on one height."""
    middles = [(lines[0].y0 + lines[-1].y1) / 2 for lines in row.values()]
    return max(middles) - min(middles) <= LEVEL * next(iter(row.values()))[0].size


def _is_item(row: dict[int, list[Line]]) -> bool:
    """Return whether a row has a lone marker and one text: an item of a list beside other columns."""
    opening = row[min(row)]
    return len(row) == 2 and len(opening) == 1 and _is_marker(opening[0])


def _is_marker(line: Line) -> bool:
    return bool(marker_of(line.words[0].text)) and line.chars < 8


def _is_something_else(rows: Sequence[dict[int, list[Line]]]) -> bool:
    """Return whether it is a list with separate markers, a table of contents, or a table of values."""
    first = min(min(row) for row in rows)
    opening = [row[first][0] for row in rows if first in row]
    markers = sum(map(_is_marker, opening))
    cells = [lines for row in rows for n, lines in row.items() if n != first]
    columns = {n for row in rows for n in row}
    counted = all(comes_next(line.text, above.text) for above, line in pairwise(opening))
    if len(columns) == 2 and (counted or markers > MARKERS * len(opening)):
        return True
    if sum(map(_is_item, rows)) > MARKERS * len(rows):
        return True
    if any(is_contents_line(line.text) for row in rows for lines in row.values() for line in lines):
        return True
    values = [all(is_value(line.text) and line.text not in YES_OR_NO for line in lines) for lines in cells]
    return sum(values) > VALUES * len(cells)
