"""Tables one right under another, which a run of aligned rows has taken for one.

A table whose columns are its neighbour's too would show every value under the
neighbour's heads; what parts the two is a second set of heads.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise

from documents.pdf.fast.cells import ColumnSpans, Row, cell_text, columns_of, is_date, is_value

# Both tables have at least so many rows with values.
VALUE_ROWS = 2
# Heads over at least so many columns begin a table even where its columns are those of the table above.
NEW_HEADS = 2


def first_table(rows: Sequence[Row]) -> int:
    """How many of the rows, from the first on, are one table: nearly always all."""
    if len(rows) < 2 * VALUE_ROWS + 1:
        return len(rows)
    for (first, last), (following, _) in pairwise([*_headings(rows), (len(rows), len(rows))]):
        above, heads, below = rows[:first], rows[first:last], rows[first:following]
        if min(_valued(above), _valued(below)) < VALUE_ROWS:
            continue
        columns = columns_of(above)
        if _heads_anew(heads, columns) or _disagree(columns, columns_of(below)):
            return first
    return len(rows)


def _headings(rows: Sequence[Row]) -> Iterator[tuple[int, int]]:
    """Runs of rows without a value below one with a value, from and to (exclusive).

    Some row of each begins behind the row heads.
    """
    valued = [i for i, row in enumerate(rows) if _has_value(row)]
    runs = [(above + 1, below) for above, below in pairwise([*valued, len(rows)]) if below > above + 1]
    leftmost = min([row.cells[0][-1].x1 for row in rows])  # no column ends before that
    if any(_begins_behind(leftmost, rows[start:end]) for start, end in runs):
        values_from = columns_of(rows).spans[0][1]
        yield from (run for run in runs if _begins_behind(values_from, rows[slice(*run)]))


def _begins_behind(x: float, rows: Sequence[Row]) -> bool:
    """Whether the last cell of a row does."""
    return any(row.cells[-1][0].x0 >= x for row in rows)


def _has_value(row: Row) -> bool:
    """Whether a value stands beside the row's head; dates are heads too."""
    cells = row.cells[1:] or row.cells
    return any(is_value(text) and not is_date(text) for text in map(cell_text, cells))


def _valued(rows: Sequence[Row]) -> int:
    return sum(map(_has_value, rows))


def _heads_anew(heads: Sequence[Row], columns: ColumnSpans) -> bool:
    """Whether several dates, or words over every column of values, stand here as they do over a table."""
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
    """Whether a column of values of the one reaches over two of the other."""
    return any(
        sum(a < y and x < b for x, y in these.spans[1:]) > 1
        for those, these in ((above, below), (below, above))
        for a, b in those.spans[1:]
    )
