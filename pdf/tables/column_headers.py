"""Find the heads of each column of a table: in its own rows, else in a line of periods above it.

A head over several columns is centred above them, mostly without a mark of its extent. So where heads are
fewer than columns, a head counts for as many columns as it is centred over, as far as they are nearer to it
than to the next head. The lines of a wrapped head count for the columns of its last line.
"""

from __future__ import annotations

import math
import re
from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise
from statistics import median

from pdf.geometry import Rect
from pdf.layout.lines import Line, rows_of, separate_runs
from pdf.layout.page_layout import Block, ColumnHeads, TableBlock, TableCell, bounds_of
from pdf.tables.cells import (
    ColumnSpans,
    Row,
    cell_text,
    is_amount,
    is_date,
    is_period_line,
    is_value,
    is_value_cell,
)
from pdf.tables.rows import blocks_of, parted, placed
from pdf.tables.rulings import SNAP, joined_pieces, tracks_of
from text.numbers import YEAR

Span = tuple[float, float]
Columns = Sequence[int]

# Maximum distance of a head's middle from that of its columns (share of their mean width); one column too
# many would move it by half a column.
OFF_CENTRE = 0.3
# Maximum distance of the next line of a head (line heights), and of its middle (ems).
NEXT_LINE = 0.6
SAME_MIDDLE = 1.0
_ENDS_WITH_YEAR = re.compile(rf"{YEAR.pattern}$")
# Maximum distance of a head from the values of its column where it is over none (ems).
BESIDE = 1.5
# Maximum distance of a ruling below a head (line heights), gap between the pieces of one (points), number of
# rulings of one extent, and distance of the head's middle from the ruling's (share of its width).
UNDER, ABUT, MOST_ALIKE, OFF_RULING = 0.9, 1.0, 3, 0.15
# Maximum distance of a head's middle from that of the room between two upright rulings (ems).
CENTRED = 0.3
# Blocks one above the other may overlap by this (points).
OVERLAP = 2.0
# An estimate: of 22 such tables in 31 general documents and 29 filings all were right.
CONFIDENCE_ABOVE = 0.95


def column_headers(table: TableBlock, blocks: Sequence[Block], rulings: Sequence[Rect] = ()) -> ColumnHeads:
    """Return the heads of each column, top to bottom; one over several columns counts for each.

    From the table's own rows; where no value column has one there, from the table that it continues, else
    from a line of periods above it.

    Args:
        blocks: those of its page.
        rulings: those of its page.
    """
    rows = [block for block in blocks if block.table is table]
    heads = cells_over_columns(table.head, rows, table.columns, rulings)
    texts = tuple(" ".join(cell_text(cell.lines) for cell in cells) for cells in heads)
    headed: dict[int, list[int]] = {}
    for column, cells in enumerate(heads):
        for cell in cells:
            headed.setdefault(id(cell), []).append(column)
    if any(texts[1:]):
        return ColumnHeads(_stacked(texts, rows, blocks, rulings), headed)
    above = heads_above(rows, blocks, texts, rulings)
    return replace(above, headed=headed) if above else ColumnHeads(texts if headed else (), headed)


def _stacked(
    texts: tuple[str, ...], rows: Sequence[Block], blocks: Sequence[Block], rulings: Sequence[Rect]
) -> tuple[str, ...]:
    """Return the heads; those of the table above where they repeat the lowest of its rows of heads."""
    head = [cell_text(cell.lines) for row in rows if row.header for cell in row.cells if cell.column > 0]
    table, above = rows[0].table, table_above(rows, blocks)
    if above is None or table is None or not above.head or above.columns != table.columns:
        return texts
    if len(head) < CARRIED or head != [cell_text(cell.lines) for cell in above.head[-1].cells if cell.column]:
        return texts
    over = column_headers(above, blocks, rulings).texts
    return (texts[0], *over[1:]) if len(over) == len(texts) else texts


def cells_over_columns(
    head: Sequence[Block], rows: Sequence[Block], columns: int, rulings: Sequence[Rect] = ()
) -> list[list[TableCell]]:
    """Return the head cells of each column, top to bottom. ``rows``: the table's on this page, with heads."""
    heads: list[list[TableCell]] = [[] for _ in range(columns)]
    spread = any(len(row.cells) < columns for row in head)
    spans = _spans(head, rows) if spread else {}
    drawn = (
        {**_between_uprights(head, spans, rulings), **_underlined(head, rows, spans, rulings)}
        if spans
        else {}
    )
    below: list[tuple[TableCell, Columns]] = []
    parts: list[Columns] = []
    for row in head:  # the widest groups bound the heads below them
        over = [cell for cell in row.cells if cell.column > 0]
        parts = parts or [*_groups(over, spans).values()]
    for n, row in reversed([*enumerate(head)]):
        above = head[n - 1].cells if n else []
        over = [cell for cell in row.cells if cell.column > 0]
        near = _nearest(over, spans) if over and len(over) < len(spans) else {}
        for cell in over if len(over) >= len(parts) else ():
            inside = [part for part in parts if _overlap(_span(cell), _extent(part, spans))]
            if len(inside) == 1 and id(cell) in near:
                near[id(cell)] = [column for column in near[id(cell)] if column in inside[0]]
        groups = _groups(over, spans) if sum(cell.column > 0 for cell, _ in below) >= len(spans) else {}
        below = [
            (
                cell,
                drawn.get(id(cell))
                or groups.get(id(cell))
                or _headed(cell, over, near.get(id(cell), []), above, below, spans),
            )
            for cell in row.cells
        ]
        for cell, headed in below:
            for column in headed:
                heads[column].insert(0, cell)
    return heads


def _groups(over: Sequence[TableCell], spans: dict[int, Span]) -> dict[int, Columns]:
    """Return the columns of each head, by its id, where all have as many and are centred over them.

    Heads with one text are not heads of groups, but repeated first lines of wrapped heads.
    """
    size = len(spans) // len(over) if len(over) > 1 else 0
    texts = {cell_text(cell.lines) for cell in over}
    if size < 2 or size * len(over) != len(spans) or len(texts) < len(over):
        return {}
    columns = [*spans]
    groups: dict[int, Columns] = {id(cell): columns[n * size : (n + 1) * size] for n, cell in enumerate(over)}
    return groups if all(_in_the_middle(cell, groups[id(cell)], spans) for cell in over) else {}


def _underlined(
    head: Sequence[Block], rows: Sequence[Block], spans: dict[int, Span], rulings: Sequence[Rect]
) -> dict[int, Columns]:
    """Return the columns of each head, by its id, that is alone over a ruling of its own and set to it.

    A ruling below row labels, or with others of its extent, is one of the table's.
    """
    cells = [cell for row in head for cell in row.cells]
    top, bottom = min(row.rect.y0 for row in head), max(row.rect.y1 for row in head)
    flat = [((r.y0 + r.y1) / 2, r.x0, r.x1) for r in rulings if r.width > r.height]
    near = [piece for piece in flat if top < piece[0] < bottom + UNDER * head[-1].lines[0].size]
    labels = [_middle(_span(row.cells[0])) for row in rows if not row.header and not row.cells[0].column]
    found: dict[int, Columns] = {}
    for y, x0, x1 in (piece for track in tracks_of(near, SNAP) for piece in joined_pieces(track, ABUT)):
        over = [cell for cell in cells if cell.lines[0].y0 < y and _overlap(_span(cell), (x0, x1))]
        lowest = [cell for cell in over if -SNAP < y - cell.lines[-1].y1 < UNDER * cell.lines[-1].size]
        alike = sum(abs(start - x0) <= SNAP and abs(end - x1) <= SNAP for _, start, end in flat)
        if len(lowest) != 1 or alike > MOST_ALIKE or any(x0 <= label for label in labels):
            continue
        cell, span = lowest[0], _span(lowest[0])
        columns = [column for column, other in spans.items() if x0 <= _middle(other) <= x1]
        if (
            cell.column > 0
            and columns
            and x0 - SNAP <= span[0]
            and span[1] <= x1 + SNAP
            and (span[0] - x0 < SNAP or abs(_middle(span) - (x0 + x1) / 2) <= OFF_RULING * (x1 - x0))
            and all(_overlap(_span(other), span) for other in over)
        ):
            found[id(cell)] = columns
    return found


def _between_uprights(
    head: Sequence[Block], spans: dict[int, Span], rulings: Sequence[Rect]
) -> dict[int, Columns]:
    """Return the columns of each head, by its id, that is alone in its row between uprights, and centred."""
    found: dict[int, Columns] = {}
    for row in head:
        y = row.lines[0].baseline
        uprights = [(r.x0 + r.x1) / 2 for r in rulings if r.height > r.width and r.y0 <= y <= r.y1]
        for x0, x1 in pairwise(sorted([*uprights, max(span[1] for span in spans.values()) + BESIDE])):
            inside = [cell for cell in row.cells if x0 < _middle(_span(cell)) < x1]
            columns = [column for column, span in spans.items() if x0 < _middle(span) < x1]
            if len(inside) != 1 or len(columns) < 2 or not inside[0].column:
                continue
            if abs(2 * _middle(_span(inside[0])) - x0 - x1) <= 2 * CENTRED * row.lines[0].size:
                found[id(inside[0])] = columns
    return found


def _spans(head: Sequence[Block], rows: Sequence[Block]) -> dict[int, Span]:
    """Return the x interval of each value column, the lowest heads included."""
    body = [cell for row in rows if not row.header for cell in row.cells]
    spans: dict[int, Span] = {}
    for cell in body:
        _widen(spans, cell)
    for cell in head[-1].cells if head else ():
        over = [column for column, span in spans.items() if _overlap(_span(cell), span)]
        if cell.column in spans and len(over) < 2:
            _widen(spans, cell)
    spans.pop(0, None)
    return dict(sorted(spans.items()))


def _widen(spans: dict[int, Span], cell: TableCell) -> None:
    x0, x1 = _span(cell)
    known = spans.get(cell.column)
    if known is None:
        spans[cell.column] = x0, x1
    elif x0 < known[0] or x1 > known[1]:
        spans[cell.column] = min(known[0], x0), max(known[1], x1)


def _headed(
    cell: TableCell,
    over: Sequence[TableCell],
    near: Columns,
    above: Sequence[TableCell],
    below: Sequence[tuple[TableCell, Columns]],
    spans: dict[int, Span],
) -> Columns:
    """Return the columns that a head cell is over.

    ``over``: the heads of that row that are over values; ``near``: the columns nearest to this one;
    ``above``, ``below``: the cells of the rows before and after.
    """
    if cell.span > 1 and cell.column > 0:  # rulings show its extent; from the first column on it is a title
        return range(cell.column, cell.column + cell.span)
    if cell.column == 0 or not spans or len(over) > len(spans):
        return (cell.column,)
    if len(over) == len(spans):  # though heads need not be right above their values
        return ([*spans][over.index(cell)],)
    next_line = next((headed for other, headed in below if _continues(cell, other)), None)
    if next_line is not None:
        return next_line
    own = [column for column, span in spans.items() if _overlap(_span(cell), span)]
    if own and len(above) > len(over) and any(_continues(other, cell) for other in above):
        return own
    for size in range(len(near), max(1, len(own)), -1):
        for start in range(len(near) - size + 1):
            columns = near[start : start + size]
            if _in_the_middle(cell, columns, spans):
                return columns
    return own or [_beside(cell, over, spans)]


def _beside(cell: TableCell, over: Sequence[TableCell], spans: dict[int, Span]) -> int:
    """Return the nearest column without another head in the row; else the cell's own, without values."""
    x0, x1 = _span(cell)
    taken = [_span(other) for other in over if other is not cell]
    free = [column for column, span in spans.items() if not any(_overlap(other, span) for other in taken)]
    apart = {column: max(spans[column][0] - x1, x0 - spans[column][1]) for column in free}
    nearest = min(apart, key=apart.__getitem__, default=cell.column)
    return nearest if apart.get(nearest, 0) < BESIDE * cell.lines[-1].size else cell.column


def _nearest(over: Sequence[TableCell], spans: dict[int, Span]) -> dict[int, list[int]]:
    """Return the columns nearest to each of the cells, by the cell's id."""
    middles = [(_middle(_span(cell)), id(cell)) for cell in over]
    near: dict[int, list[int]] = {}
    for column, span in spans.items():
        middle = _middle(span)
        _, nearest = min(middles, key=lambda other: abs(other[0] - middle))
        near.setdefault(nearest, []).append(column)
    return near


def _in_the_middle(cell: TableCell, columns: Columns, spans: dict[int, Span]) -> bool:
    """Return whether the cell is centred over the columns; an even number has no middle column."""
    left, right = _extent(columns, spans)
    middle, tolerance = _middle(_span(cell)), OFF_CENTRE / len(columns)
    if abs(middle - (left + right) / 2) > tolerance * (right - left):
        return False
    return len(columns) % 2 == 1 or not any(
        abs(middle - _middle(spans[column])) < tolerance * (spans[column][1] - spans[column][0])
        for column in columns
    )


def _continues(cell: TableCell, below: TableCell) -> bool:
    """Return whether ``below`` is the next line of the same head; none after a year, nor a date."""
    text = cell_text(cell.lines)
    if is_date(text) or _ENDS_WITH_YEAR.search(text) or is_date(cell_text(below.lines)):
        return False
    last, line = cell.lines[-1], below.lines[0]
    apart = abs(_middle(_span(cell)) - _middle(_span(below)))
    return line.y0 - last.y1 < NEXT_LINE * last.size and apart < SAME_MIDDLE * last.size


def _span(cell: TableCell) -> Span:
    lines = cell.lines
    if len(lines) == 1:
        return lines[0].x0, lines[0].x1
    return min([line.x0 for line in lines]), max([line.x1 for line in lines])


def _extent(columns: Columns, spans: dict[int, Span]) -> Span:
    return spans[columns[0]][0], spans[columns[-1]][1]


def _middle(span: Span) -> float:
    return (span[0] + span[1]) / 2


def _overlap(a: Span, b: Span) -> bool:
    return a[0] < b[1] and b[0] < a[1]


# --- Separate heads: a line of periods above a table, or above others over it ---

# Minimum value columns of a table that has the heads of the one above; maximum distance of their right edges
# (points).
CARRIED, IN_STEP = 2, 6.0
# A text of this many characters, or a sentence end, separates the table from the lines above.
SENTENCE_CHARS = 80
_SENTENCE_ENDS = (".", ":", ";", "。", "：")


def heads_above(
    rows: Sequence[Block], blocks: Sequence[Block], own: Sequence[str], rulings: Sequence[Rect]
) -> ColumnHeads | None:
    """Return the heads of the value columns by the table above with the same, or the nearest line of periods.

    None with a text between, or where the line is over less than half of these columns.

    Args:
        rows: the table's on this page.
        blocks, rulings: those of the page.
        own: the texts that its own rows set over its columns, all but the first of them empty.
    """
    body = [row for row in rows if not row.header]
    spans = _value_spans(body)
    if not spans:
        return None
    if carried := _carried(body, spans, blocks, own, rulings):
        return carried
    for line in _rows_above(bounds_of([line for row in body for line in row.lines]), rows[0].table, blocks):
        cells = Row(line).cells
        if is_period_line(cells):
            return _heads_of_line(cells, body, spans, own)
    return None


def table_above(rows: Sequence[Block], blocks: Sequence[Block]) -> TableBlock | None:
    """Return the table above the one of these rows; None with a text between or without one."""
    box = bounds_of([line for row in rows for line in row.lines])
    over = [
        block
        for block in blocks
        if block.table is not rows[0].table
        and block.rect.y1 <= box.y0 + OVERLAP
        and block.rect.overlap_x(box) > 0
    ]
    nearest = max((block for block in over if block.table), key=lambda block: block.rect.y1, default=None)
    if nearest is None or any(
        _is_text(block) and block.rect.y0 >= nearest.rect.y1 - OVERLAP for block in over
    ):
        return None
    return nearest.table


def _carried(
    body: Sequence[Block],
    spans: dict[int, Span],
    blocks: Sequence[Block],
    own: Sequence[str],
    rulings: Sequence[Rect],
) -> ColumnHeads | None:
    """Return the heads of the table above, if its value columns are the same."""
    above = table_above(body, blocks)
    if above is None:
        return None
    theirs = _value_spans([block for block in blocks if block.table is above and not block.header])
    if len(spans) < CARRIED or len(theirs) != len(spans):
        return None
    columns = dict(zip(spans, theirs, strict=True))
    if any(abs(spans[column][1] - theirs[other][1]) > IN_STEP for column, other in columns.items()):
        return None
    heads = column_headers(above, blocks, rulings)
    if not heads.texts or not all(heads.texts[other] for other in columns.values()):
        return None
    lowest = {
        column: cell.rect
        for row in above.head
        for cell in row.cells
        for column in heads.headed.get(id(cell), ())
    }
    texts: list[str] = list(own)
    rects: list[Rect | None] = [None] * len(own)
    for column, other in columns.items():
        texts[column] = heads.texts[other]
        rects[column] = lowest.get(other) or (heads.rects[other] if heads.rects else None)
    return ColumnHeads(tuple(texts), rects=tuple(rects), confidence=CONFIDENCE_ABOVE)


def _value_spans(body: Sequence[Block]) -> dict[int, Span]:
    """Return the x interval of most cells of each column that mostly has values."""
    cells: dict[int, list[TableCell]] = {}
    for row in body:
        for cell in row.cells:
            cells.setdefault(cell.column, []).append(cell)
    return {
        column: (median(_span(cell)[0] for cell in found), median(_span(cell)[1] for cell in found))
        for column, found in sorted(cells.items())
        if 2 * sum(is_value_cell(cell.lines) for cell in found) > len(found)
    }


def _rows_above(body: Rect, table: TableBlock | None, blocks: Sequence[Block]) -> list[list[Line]]:
    """Return the lines above the table, within its width, by row, nearest first, up to the next text."""
    over = [
        block
        for block in blocks
        if block.table is not table and block.rect.y1 <= body.y0 + OVERLAP and block.rect.overlap_x(body) > 0
    ]
    floor = max((block.rect.y1 for block in over if _is_text(block)), default=-math.inf)
    lines = [line for block in over for line in block.lines]
    near = [run for line in lines if line.y0 >= floor - OVERLAP for run in separate_runs(line)]
    return rows_of(near)[::-1] if near else []


def _is_text(block: Block) -> bool:
    if block.table is not None or block.kind == "heading":
        return False
    text = block.text
    return block.kind != "prose" or len(text) >= SENTENCE_CHARS or text.endswith(_SENTENCE_ENDS)


def _heads_of_line(
    cells: Sequence[Sequence[Line]], body: Sequence[Block], spans: dict[int, Span], own: Sequence[str]
) -> ColumnHeads | None:
    columns: Sequence[int | None] = _columns_in_step(cells, spans) or [
        _column_under(cell, spans) for cell in cells
    ]
    placed = [
        TableCell(column, list(cell))
        for cell, column in zip(cells, columns, strict=True)
        if column is not None
    ]
    if not placed or any(left.column >= right.column for left, right in pairwise(placed)):
        return None
    head = Block("table", [line for cell in placed for line in cell.lines], cells=placed, header=True)
    heads = [cells[-1] if cells else None for cells in cells_over_columns([head], [head, *body], len(own))]
    if 2 * sum(heads[column] is not None for column in spans) < len(spans):
        return None
    texts = [cell_text(cell.lines) if cell else text for cell, text in zip(heads, own, strict=True)]
    rects = tuple(cell.rect if cell else None for cell in heads)
    return ColumnHeads(tuple(texts), rects=rects, confidence=CONFIDENCE_ABOVE)


def _columns_in_step(cells: Sequence[Sequence[Line]], spans: dict[int, Span]) -> list[int | None] | None:
    """Return the columns in order where there are as many heads, each nearest to its own."""
    middles = {column: _middle(span) for column, span in spans.items()}
    places = [_middle((cell[0].x0, cell[-1].x1)) for cell in cells]
    nearest: list[int | None] = [
        min(middles, key=lambda column: abs(middles[column] - place)) for place in places
    ]
    return nearest if nearest == [*spans] else None


def _column_under(cell: Sequence[Line], spans: dict[int, Span]) -> int | None:
    """Return the first column that a head is over, else the nearest beside it; None where none is near."""
    span, size = (cell[0].x0, cell[-1].x1), cell[0].size
    over = next((column for column, other in spans.items() if _overlap(span, other)), None)
    if over is not None:
        return over
    apart = {column: max(other[0] - span[1], span[0] - other[1]) for column, other in spans.items()}
    nearest = min(apart, key=apart.__getitem__)
    return nearest if apart[nearest] < BESIDE * size else None


# Maximum distance of the heads above the table's first row (line heights).
DISTANCE = 2.0


def with_header_above_rule(blocks: list[Block], lines: Sequence[Line]) -> tuple[list[Block], list[Line]]:
    """Return the table with the heads right above it as its first row, and the remaining lines."""
    table = blocks[0].table
    if table is None or not lines:
        return blocks, list(lines)
    row = Row(rows_of(lines)[-1])
    head = _heads_of_columns(row, blocks, table)
    if not head:
        return blocks, list(lines)
    rows = blocks_of([head, *(block.cells for block in blocks)], table.columns)
    rest = [line for line in lines if line not in row.lines]
    return parted(rows, table.parted_by, table.confidence), rest


# Heads over a grid: maximum rows of their lines; maximum distance from the grid or one another (ems); minimum
# share of the columns with a head.
HEAD_ROWS, OVER_GRID, HEADED_SHARE = 4, 1.3, 0.5
# Maximum reach of a text beyond its column (points).
REACH = 1.0


def with_heads_over_grid(
    blocks: list[Block], top: float, xs: Sequence[float], lines: Sequence[Line]
) -> tuple[list[Block], list[Line]]:
    """Return a ruled table without heads with those right above it, and the lines that it took.

    Each text is over one column or, in a row of group heads, over several. Lines one above the other over the
    same columns are one head. One text between heads and grid may head the first group of rows.

    Args:
        top: y of the grid's upper edge.
        xs: x of its upright rulings, left to right.
        lines: those of the page that are not in a table.
    """
    table = blocks[0].table
    if table is None or any(cell.column > 0 for row in table.head for cell in row.cells):
        return blocks, []
    over = [line for line in lines if xs[0] - REACH <= line.x0 and line.x1 <= xs[-1] + REACH and line.chars]
    near = [line for line in over if line.y1 <= top + REACH and line.y1 > top - 3 * HEAD_ROWS * line.size]
    heads: dict[tuple[int, int], list[Line]] = {}
    group: list[Line] = []
    floor = top
    for row in rows_of(near)[: -HEAD_ROWS - 2 : -1] if near else ():
        gap = floor - max(line.y1 for line in row)
        places = [(line, _grid_columns(line, xs)) for line in row]
        if gap > OVER_GRID * row[0].size or any(is_amount(line.text) for line in row):
            break
        if len(row) == 1 and not heads and not group and places[0][1][0] == 0:
            group = list(row)
        elif len(row) == 1 and places[0][1][0] == 0:
            break
        else:
            for line, place in places:
                heads.setdefault(place, []).insert(0, line)
        floor = min(line.y0 for line in row)
    covered = {column for first, end in heads for column in range(first, end)}
    if len(heads) < 2 or len(covered) < HEADED_SHARE * table.columns:
        return blocks, []
    cells = [TableCell(first, held, end - first) for (first, end), held in sorted(heads.items())]
    levels = [[cell for cell in cells if (cell.span > 1) is spanning] for spanning in (True, False)]
    head = [level for level in levels if level]
    rows = [*head, *([[TableCell(0, group, table.columns)]] if group else []), *(row.cells for row in blocks)]
    taken = [line for row in heads.values() for line in row] + group
    return parted(blocks_of(rows, table.columns, len(head)), table.parted_by, table.confidence), taken


def _grid_columns(line: Line, xs: Sequence[float]) -> tuple[int, int]:
    """Return the first column that a text is over, and the one after its last."""
    first = max(0, bisect_right(xs, line.x0 + REACH) - 1)
    return first, max(first + 1, min(len(xs) - 1, bisect_left(xs, line.x1 - REACH)))


def _heads_of_columns(row: Row, blocks: Sequence[Block], table: TableBlock) -> list[TableCell]:
    """Return the cells of a row right above the table by column; empty when it is not a row of heads.

    A head between two columns is that of a column without values, which the table gets.
    """
    distance = min([line.y0 for line in blocks[0].lines]) - row.y1
    if len(row.cells) < 2 or distance > DISTANCE * row.size:
        return []
    if any(is_value(text) and not is_date(text) for text in map(cell_text, row.cells)):
        return []
    columns, most = ColumnSpans(), max(len(block.cells) for block in blocks)
    for cell in (cell for block in blocks if len(block.cells) == most for cell in block.cells):
        for line in cell.lines:
            columns.add([line])
    spans = columns.spans
    without = [
        cell for cell in row.cells if not columns.hit(cell) and spans[0][0] < cell[0].x0 < spans[-1][0]
    ]
    for lines in without if len(spans) == table.columns and 2 * len(without) < len(row.cells) else ():
        columns.add(lines)
    head = placed(row, columns)
    if len({cell.column for cell in head}) < len(row.cells) or any(
        len(columns.hit(cell.lines)) != 1 for cell in head
    ):
        return []
    if len(columns.spans) > len(spans):
        places = [columns.spans.index(span) for span in spans]
        table.columns = len(columns.spans)
        for cell in (cell for block in blocks for cell in block.cells):
            cell.column = places[cell.column]
    return head
