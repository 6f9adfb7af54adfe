"""Find unruled tables: runs of rows whose cells are aligned in columns.

Rows with several cells are the seeds; rows within one column join them, prose across the gutters ends them.
A run may hold two tables, one right below the other: a second set of heads separates them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise, repeat

from pdf.layout.lines import Line
from pdf.tables.cells import (
    BETWEEN,
    WRAP_DISTANCE,
    ColumnSpans,
    Row,
    cell_text,
    columns_of,
    is_date,
    is_same_weight,
    is_value,
)
from pdf.tables.evidence import LEAST, confidence
from pdf.tables.rows import table_blocks

# Minimum rows with values of each of the two tables.
VALUE_ROWS = 2
# Heads over this many columns begin a table even with the same columns as the table above.
NEW_HEADS = 2
# Rows of one table are so evenly spaced (ratio).
SAME_PITCH = 1.1
# Minimum difference between the type of the heads and that of the rows, as a share of it; minimum lone rows
# over a table below another.
HEAD_TYPE, LONE_HEADS = 0.1, 2


def first_table(rows: Sequence[Row]) -> int:
    """Return how many of the rows belong to the first table: nearly always all."""
    if len(rows) < 2 * VALUE_ROWS + 1:
        return len(rows)
    for (first, last), (following, _) in pairwise([*_headings(rows), (len(rows), len(rows))]):
        above, heads, below = rows[:first], rows[first:last], rows[first:following]
        if _is_like_rows(heads, above):
            continue
        if min(_valued(above), _valued(below)) < VALUE_ROWS:
            continue
        columns = columns_of(above)
        if (
            _heads_anew(heads, columns)
            or _in_type_of_heads(rows, first, last)
            or _disagree(columns, columns_of(below))
        ):
            return first
    return len(rows)


def _is_like_rows(heads: Sequence[Row], above: Sequence[Row]) -> bool:
    """Return whether the rows have the type, the number of cells and the distance of those above."""
    last, usual = above[-1], len(above[0].cells)
    pitches = [
        below.lines[0].baseline - row.lines[0].baseline for row, below in pairwise([*above[-2:], *heads])
    ]
    return (
        len(above) > 1
        and max(pitches) <= SAME_PITCH * min(pitches)
        and all(row.lines[0].style == last.lines[0].style and len(row.cells) == usual for row in heads)
    )


def _headings(rows: Sequence[Row]) -> Iterator[tuple[int, int]]:
    """Yield runs of rows without a value below one with a value, as (start, end exclusive).

    A row of each begins after the row heads.
    """
    valued = [i for i, row in enumerate(rows) if _has_value(row)]
    runs = [(above + 1, below) for above, below in pairwise([*valued, len(rows)]) if below > above + 1]
    if valued and valued[0] > 0 and any(_in_type_of_heads(rows, *run) for run in runs):
        yield from (run for run in runs if _in_type_of_heads(rows, *run))
        return
    leftmost = min([row.cells[0][-1].x1 for row in rows])  # no column ends before that
    if any(_begins_behind(leftmost, rows[start:end]) for start, end in runs):
        values_from = columns_of(rows).spans[0][1]
        yield from (run for run in runs if _begins_behind(values_from, rows[slice(*run)]))


def _in_type_of_heads(rows: Sequence[Row], start: int, end: int) -> bool:
    """Return whether rows are lone and one has the size of the first row, a head, unlike those around."""
    size, others = rows[0].size, [row.size for row in rows[1:] if _has_value(row)]
    return (
        end - start >= LONE_HEADS
        and all(len(row.cells) == 1 for row in rows[start:end])
        and min(abs(size - other) for other in others) > HEAD_TYPE * size
        and any(abs(row.size - size) < 0.1 for row in rows[start:end])
    )


def _begins_behind(x: float, rows: Sequence[Row]) -> bool:
    """Return whether the last cell of a row begins after ``x``."""
    return any(row.cells[-1][0].x0 >= x for row in rows)


def _has_value(row: Row) -> bool:
    """Return whether the row has a value beside its head, or a text that begins with one; dates are heads."""
    texts = [cell_text(cell) for cell in row.cells[1:] or row.cells]
    firsts = [text.partition(" ")[0] for text in texts if not is_date(text)]
    precise = [first for first in firsts if not first.isdigit()]  # not "12 weeks ended"
    return any(is_value(text) and not is_date(text) for text in (*texts, *precise))


def _valued(rows: Sequence[Row]) -> int:
    return sum(map(_has_value, rows))


def _heads_anew(heads: Sequence[Row], columns: ColumnSpans) -> bool:
    """Return whether the rows are heads of a table: several dates, or words over every value column."""
    dated, headed = set(), set()
    for row in heads:
        for cell in row.cells:
            hit = columns.hit(cell)
            if len(hit) == 1 and hit[0] > 0:
                headed.add(hit[0])
                if is_date(cell_text(cell)):
                    dated.add(hit[0])
    return len(dated) >= NEW_HEADS or NEW_HEADS <= len(headed) == len(columns.spans) - 1


def _disagree(above: ColumnSpans, below: ColumnSpans) -> bool:
    """Return whether a value column of one table overlaps two of the other."""
    return any(
        sum(a < y and x < b for x, y in these.spans[1:]) > 1
        for those, these in ((above, below), (below, above))
        for a, b in those.spans[1:]
    )


# Maximum distance of rows of one table (line heights).
ROW_DISTANCE = 3.2
# Maximum distance of heads above their rows (line heights).
HEAD_DISTANCE = 1.5
# Maximum indent of a cell's next line (ems): a marker may precede the first.
WRAP_INDENT = 5.0
# A lone row this many times larger than the table's type is a heading between two tables.
HEADING_SIZE = 1.15
# Maximum row heads without values between the column heads and the first values.
HEADLESS_ROWS = 2
# Maximum consecutive rows of one cell: more are prose between two tables.
LONE_ROWS = 8
# Maximum width of the head of a group of rows, as a share of the table's.
ROW_HEAD_SHARE = 0.5
# A lone row of this many characters with a full stop, this far below (ems), is prose.
SENTENCE_CHARS, SENTENCE_GAP = 40, 0.5
# A cell over this many columns, of this many characters, filling this share of them, is a line of prose.
OVER_COLUMNS, OVER_CHARS, OVER_SHARE = 3, 30, 0.8
# Cells of one column are aligned when their edges differ by at most this (points).
EDGE = 2.0


# Rows with a text below, across the columns: minimum cells of a row, and such rows of a table.
DESCRIBED_CELLS, DESCRIBED_ROWS = 3, 3
# Maximum gap between the row and such a text, and between its lines (ems).
BELOW_ROW, BELOW_LINE = 1.5, 0.6


def aligned_rows(rows: Sequence[Row]) -> list[tuple[int, int]]:
    """Return the ranges of rows (end exclusive) that are tables, in order and disjoint."""
    found: list[tuple[int, int]] = []
    i = 0
    while i < len(rows):
        if rows[i].multi:
            if (end := _described(rows, i)) > i:
                found.append((i, end))
                i = end
                continue
            end, columns = _grown(rows, i)
            if confidence(table_blocks(rows[i:end])) >= LEAST:
                end = i + first_table(rows[i:end])
                start = _with_head(rows, i, columns, found[-1][1] if found else 0)
                found.append((start, end))
                i = end
                continue
        i += 1
    return found


def _described(rows: Sequence[Row], start: int) -> int:
    """Return the end of a table whose rows have a text across all columns below; ``start`` without one.

    Sets ``Row.is_text`` of the lines of these texts.
    """
    if len(rows[start].cells) < DESCRIBED_CELLS:
        return start
    columns = columns_of(rows[start : start + 1])
    texts: list[Row] = []
    described, end = 0, start
    while end < len(rows) and (end == start or _begins_columns(rows[end], columns)):
        above = rows[end]
        if end > start and above.y0 - rows[end - 1].y1 > ROW_DISTANCE * above.size:
            break
        end += 1
        below = _text_below(rows, end, columns)
        described += below > end
        texts += rows[end:below]
        end = below
    if described < DESCRIBED_ROWS:
        return start
    for row in texts:
        row.is_text = True
    return end


def _begins_columns(row: Row, columns: ColumnSpans) -> bool:
    """Return whether a cell begins at each column, or at three at least."""
    if not row.multi or columns.in_step(row.cells):
        return row.multi
    edges = [x0 for x0, _ in columns.spans]
    return len(row.cells) >= DESCRIBED_CELLS and all(
        any(abs(cell[0].x0 - edge) <= EDGE for edge in edges) for cell in row.cells
    )


def _text_below(rows: Sequence[Row], start: int, columns: ColumnSpans) -> int:
    """Return the end of the text right below a row, at the left edge or in the last column.

    At the left edge some line crosses columns; in the last column some line is long.
    """
    end, across = start, False
    while end < len(rows) and len(rows[end].cells) == 1 and not rows[end].multi:
        row, above = rows[end], rows[end - 1]
        near = (BELOW_LINE if end > start else BELOW_ROW) * row.size
        first, last = (abs(row.x0 - columns.spans[n][0]) <= EDGE for n in (0, -1))
        if not (first or last) or row.y0 - above.y1 > near:
            break
        if end == start and not first and row.y0 - above.y1 < SENTENCE_GAP * row.size:
            break  # the next line of the last cell
        across |= len(columns.hit(row.cells[0])) > 1 or (last and row.lines[0].chars >= SENTENCE_CHARS)
        end += 1
    return end if across else start


def _grown(rows: Sequence[Row], start: int) -> tuple[int, ColumnSpans]:
    """Return the end of the table that begins at ``start``, and its columns."""
    columns = ColumnSpans()
    for cell in rows[start].cells:
        columns.add(cell)
    end = start + 1
    for i in range(start + 1, len(rows)):
        row, above = rows[i], rows[i - 1]
        if row.y0 - above.y1 > ROW_DISTANCE * max(row.size, above.size):
            break
        if i - end > LONE_ROWS and i - end - _wrapped(rows, start, end, columns) > LONE_ROWS:
            break
        if row.multi and columns.in_step(row.cells):
            columns.widen(row.cells)
            end = i + 1
        elif len(row.cells) > 1 and _aligned(row, columns):
            for cell in row.cells:
                columns.add(cell)
            end = i + 1
        elif row.multi or not _fits(rows, i, columns) or _is_heading(rows, start, i):
            break
    return end + _wrapped(rows, start, end, columns), columns


def _is_sentence(row: Row, above: Row) -> bool:
    """Return whether a lone row, separated from the one above, ends a sentence: a note between two tables."""
    line = row.lines[-1]
    chars = sum(line.chars for line in row.lines)
    return chars >= SENTENCE_CHARS and line.text.endswith(".") and row.y0 - above.y1 > SENTENCE_GAP * row.size


def _wrapped(rows: Sequence[Row], start: int, end: int, columns: ColumnSpans) -> int:
    """Return how many rows from ``end`` on have one cell that continues the text right above it.

    What is nearer than lines of one text can be does so too: other cells are centred beside its lines.
    """
    over: dict[int, list[Line]] = {}
    for row in rows[start:end]:
        over |= {column: cell for cell in row.cells[::-1] for column in columns.hit(cell)}
    for count, row in enumerate(rows[end:]):
        hit = columns.hit(row.cells[0])
        near = row.lines[0].baseline - rows[end + count - 1].lines[-1].baseline < BETWEEN * row.size
        if len(row.cells) > 1 or len(hit) != 1 or not (near or _wraps(row, over.get(hit[0]), columns)):
            return count
        over[hit[0]] = row.cells[0]
    return len(rows) - end


def _is_heading(rows: Sequence[Row], start: int, i: int) -> bool:
    """Return whether a lone row is larger than the rows above and below: a heading between two tables."""
    sizes = [row.size for row in rows[start:i] if row.multi]
    sizes += [row.size for row in rows[i + 1 : i + 1 + LONE_ROWS] if row.multi][:1]
    return rows[i].size > HEADING_SIZE * max(sizes)


def _aligned(row: Row, columns: ColumnSpans) -> bool:
    """Return whether a cell after the first is in a column, and the first is not across nearly all."""
    hits = [columns.hit(cell) for cell in row.cells]
    if row.is_item and (
        len(hits[0]) != 1 or len(hits[1]) != 1 or hits[0] == hits[1] or len(columns.spans) < 3
    ):
        return False
    if not any(hits[1:]) or len(hits[0]) >= max(2, len(columns.spans)):
        return False
    return not any(map(_runs_over, row.cells, hits, repeat(columns)))


def _runs_over(cell: Sequence[Line], hit: range, columns: ColumnSpans) -> bool:
    """Return whether a text fills several columns from the first to the last, as prose does."""
    if len(hit) < OVER_COLUMNS or sum(line.chars for line in cell) < OVER_CHARS:
        return False
    reach = columns.spans[hit[-1]][1] - columns.spans[hit[0]][0]
    return cell[-1].x1 - cell[0].x0 >= OVER_SHARE * reach


def _fits(rows: Sequence[Row], i: int, columns: ColumnSpans) -> bool:
    """Return whether a row of one cell is in one column or heads several.

    One that starts in the first column and crosses others heads the rows below, if it is short and the next
    row belongs to the table; else it is prose.
    """
    row = rows[i]
    if row.is_item or _is_sentence(row, rows[i - 1]):
        return False
    hit = columns.hit(row.cells[0])
    if len(hit) <= 1 or hit[0] > 0:
        return True
    short = row.x1 - row.x0 < ROW_HEAD_SHARE * (columns.spans[-1][1] - columns.spans[0][0])
    following = rows[i + 1] if i + 1 < len(rows) else None
    return short and following is not None and following.multi and _aligned(following, columns)


def _wraps(row: Row, over: list[Line] | None, columns: ColumnSpans) -> bool:
    """Return whether a row of one cell continues the cell above: at its edge or centred on it."""
    if over is None or len(columns.spans) < 2 or row.y0 - over[0].y1 > WRAP_DISTANCE * row.size:
        return False
    first, cell = over[0], row.cells[0]
    deeper = cell[0].x0 - first.x0
    aside = abs(cell[0].x0 + cell[-1].x1 - first.x0 - over[-1].x1)
    return (
        (-row.size < deeper < WRAP_INDENT * row.size or aside < row.size)
        and is_same_weight(over[-1], cell[0])
        and first.style.mono == cell[0].style.mono
        and abs(first.size - cell[0].size) < 0.5
    )


def _with_head(rows: Sequence[Row], start: int, columns: ColumnSpans, floor: int) -> int:
    """Return the start of the table with its heads: rows above that are over the value columns only.

    Row heads without values may be between the column heads and the first values.
    """
    values_from = columns.spans[0][1]
    if start > floor and _reaches_higher(rows[start - 1], rows[start], columns):
        start -= 1
    i = start
    while i > floor:
        row, below = rows[i - 1], rows[i]
        distance = ROW_DISTANCE if row.x0 >= values_from and _is_dated(row) else HEAD_DISTANCE
        if below.y0 - row.y1 > distance * row.size:
            break
        i -= 1
        if len(row.cells) == 1 and _introduces(row, rows[start], columns):
            if i > floor and rows[i - 1].x0 >= values_from and _is_dated(rows[i - 1]):
                continue
            break
        if row.x0 >= values_from or _heads_all(row, columns):
            start = i
        elif start - i > HEADLESS_ROWS or row.x1 > values_from or row.multi:
            break
    return start


def _is_dated(row: Row) -> bool:
    """Return whether each cell is a date: it heads values even across an empty row."""
    return all(is_date(cell_text(cell)) for cell in row.cells)


def _reaches_higher(row: Row, below: Row, columns: ColumnSpans) -> bool:
    """Return whether a lone row is the first line of a cell that is vertically centred in its row."""
    near = below.lines[0].baseline - row.lines[0].baseline <= BETWEEN * row.size
    return near and len(row.cells) == 1 and len(columns.hit(row.cells[0])) == 1


def _introduces(row: Row, first: Row, columns: ColumnSpans) -> bool:
    """Return whether a lone row above the table is its title, centred on it, or the end of a sentence."""
    if row.size > HEADING_SIZE * first.size or row.lines[-1].text.endswith(":"):
        return True
    axis, (left, values_from), right = row.x0 + row.x1, columns.spans[0], columns.spans[-1][1]
    return abs(axis - left - right) < 2 * row.size < abs(axis - values_from - right) - 2 * row.size


def _heads_all(row: Row, columns: ColumnSpans) -> bool:
    """Return whether a row is over the row heads and the values, without values but dates."""
    return (
        row.multi
        and columns.hit(row.cells[0]) == range(1)
        and columns.spans[0][1] <= row.cells[1][0].x0
        and all(is_date(text) or not is_value(text) for text in map(cell_text, row.cells[1:]))
    )
