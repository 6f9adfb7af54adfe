"""Find the ruled tables of a page.

A grid encloses each cell (``grid``). Horizontal rules of one width, without rules between the columns, make
a half-ruled table. Each table found takes the place of its lines until the reading order is known.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from pdf.geometry import Rect, bounding_box
from pdf.layout.lines import Line
from pdf.layout.page_layout import Block, Inset, TableCell
from pdf.tables.aligned import aligned_rows
from pdf.tables.cells import (
    ColumnSpans,
    Row,
    cell_rows,
    cell_text,
    columns_of,
    holds_value,
    is_date,
    is_value,
    is_value_cell,
)
from pdf.tables.column_headers import with_heads_over_grid
from pdf.tables.evidence import LEAST, Drawn, confidence
from pdf.tables.grid import RuledGrid, boxes_of, cuts_rows, grid_rows, whole_grids
from pdf.tables.rows import (
    absorb,
    head_levels,
    logical_rows,
    parted,
    placed,
    read_leftwards,
    table_blocks,
    tables_of,
    wrapped_rows,
)
from pdf.tables.rulings import SHORTEST, SNAP, edges_of, joined_pieces, lines_in, tracks_of

# Pieces of one ruling: maximum difference of height, maximum gap (points).
TRACK = 1.5
PIECE_GAP = 12.0
# Maximum difference of the ends of a table's rulings (points).
SAME_END = 5.0
# From this many rulings on, each space between two is a row.
ROW_RULES = 5
# Maximum height of the rows outside the rulings, relative to the tallest row between two.
OUTER_ROW = 1.3
# Two stripes separate three rows.
STRIPE_EDGES = 4
# Maximum distance of rulings of one table (points).
RULE_DISTANCE = 260.0
# Except after the heads: maximum height of heads, of the table; minimum columns of heads.
HEAD_HEIGHT, TALLEST = 90.0, 750.0
HEADED_COLUMNS = 3
# Minimum rules of a half-ruled table (top, below the head, bottom) and their minimum width (points).
FEWEST_RULES = 3
WIDTH = 80.0
# Pages with more long rulings are maps and drawings.
MOST_RULES = 1000
# A lone line this many times larger than usual is a heading.
HEADING_SIZE = 1.15
# This many consecutive lines across the columns between two rules are prose between tables.
ACROSS = 2
# Rules around a whole table have no row of it outside within this distance (ems).
OUTSIDE = 2.5
# Where a grid is likelier than this, no other reading of its lines is tried.
SURE = 0.999
# Values are right below heads in one of so many rows; maximum share of values in heads, as column numbers.
FIRST_ROWS = 2
HEAD_VALUES = 0.4


@dataclass(frozen=True, slots=True)
class HorizontalRules:
    """Rulings of common width, top to bottom; ``rect`` is from the first to the last."""

    rect: Rect
    ys: tuple[float, ...]


def horizontal_rules(rulings: Iterable[Rect], piece_gap: float = PIECE_GAP) -> list[HorizontalRules]:
    """Return groups of at least three rulings with common ends."""
    groups: list[list[tuple[float, float, float]]] = []
    rules = _rules(rulings, piece_gap)
    if len(rules) > MOST_RULES:
        return []
    for y, x0, x1 in rules:
        for group in groups:
            last = group[-1]
            if (
                abs(last[1] - x0) <= SAME_END
                and abs(last[2] - x1) <= SAME_END
                and y - last[0] < (TALLEST if _may_hold_heads(group) else RULE_DISTANCE)
            ):
                group.append((y, x0, x1))
                break
        else:
            groups.append([(y, x0, x1)])
    return [_rule_group(group) for group in groups if len(group) >= FEWEST_RULES]


def _may_hold_heads(group: Sequence[tuple[float, float, float]]) -> bool:
    return len(group) > 1 and group[-1][0] - group[-2][0] < HEAD_HEIGHT


def _rule_group(group: list[tuple[float, float, float]]) -> HorizontalRules:
    ys = tuple(rule[0] for rule in group)
    return HorizontalRules(Rect(min(r[1] for r in group), ys[0], max(r[2] for r in group), ys[-1]), ys)


def _rules(rulings: Iterable[Rect], piece_gap: float) -> list[tuple[float, float, float]]:
    """Join the pieces of rulings: (y, x0, x1), top to bottom."""
    flat = [((y0 + y1) / 2, x0, x1) for x0, y0, x1, y1 in rulings if x1 - x0 > y1 - y0]
    tracks = tracks_of(flat, TRACK)
    rules = [(track[0][0], x0, x1) for track in tracks for _, x0, x1 in joined_pieces(track, piece_gap)]
    return [rule for rule in rules if rule[2] - rule[1] >= WIDTH]


def _parted(rule_group: HorizontalRules, lines: Sequence[Line]) -> list[HorizontalRules]:
    """Split the group where prose is between two rules: tables of one width are ruled alike.

    Empty where a heading is there: each table below it begins with heads of its own.
    """
    rows = cell_rows(lines)
    lone = [row for row in rows if len(row.cells) == 1 or row.is_item]
    sizes = sorted([row.size for row in rows])
    if any(row.size > HEADING_SIZE * sizes[len(sizes) // 2] for row in lone):
        return []
    if len(lone) < ACROSS:
        return [rule_group]
    columns = columns_of([row for row in rows if row.multi])
    over = [not row.multi and len(columns.hit(row.cells[-1])) > 1 for row in rows]
    across = [
        (row.y0 + row.y1) / 2
        for row, this, before, after in zip(rows, over, [False, *over], [*over[1:], False], strict=False)
        if this and (before or after)
    ]
    if len(across) < ACROSS:
        return [rule_group]
    parts: list[list[float]] = [[]]
    for above, y in zip((rule_group.ys[0], *rule_group.ys), rule_group.ys, strict=False):
        if sum([above < middle < y for middle in across]) >= ACROSS:
            parts.append([])
        parts[-1].append(y)
    return [_between(rule_group, tuple(ys)) for ys in parts if len(ys) > 1]


def with_outer_rows(
    rule_group: HorizontalRules, lines: Sequence[Line], shaded: bool = False
) -> HorizontalRules:
    """Add the rows above the first and below the last rule, where rules only separate rows."""
    if len(rule_group.ys) < (STRIPE_EDGES if shaded else ROW_RULES):
        return rule_group
    x0, top, x1, bottom = rule_group.rect
    tallest = OUTER_ROW * max(b - a for a, b in pairwise(rule_group.ys))
    beside = [line for line in lines if x0 - SAME_END <= line.x0 and line.x1 <= x1 + SAME_END and line.chars]
    columns = columns_of(cell_rows([line for line in beside if top < line.y0 < bottom]))
    if len(columns.spans) < 2:
        return rule_group
    above = [line for line in beside if top - tallest < line.y0 and line.y1 < top + TRACK]
    below = [line for line in beside if bottom - TRACK < line.y0 and line.y1 < bottom + tallest]
    ys = rule_group.ys
    if y := _row_end(above, columns, lambda line: line.y0, min):
        ys = (y - TRACK, *ys)
    if y := _row_end(below, columns, lambda line: line.y1, max):
        ys = (*ys, y + TRACK)
    return HorizontalRules(Rect(x0, ys[0], x1, ys[-1]), ys)


def _row_end(
    lines: Sequence[Line],
    columns: ColumnSpans,
    edge: Callable[[Line], float],
    outermost: Callable[[Iterable[float]], float],
) -> float:
    """Return the end of the row of these lines; 0 where one crosses columns or is alone."""
    hits = [columns.hit([line]) for line in lines]
    if any(len(hit) != 1 for hit in hits) or len({hit[0] for hit in hits}) < 2:
        return 0.0
    return outermost(map(edge, lines))


def rule_readings(
    rule_group: HorizontalRules, lines: Sequence[Line], shaded: bool = False
) -> Iterator[list[Block]]:
    """Yield the rows between rulings: of one row between each two, and of the rows there by their baselines.

    ``shaded``: the rulings are edges of stripes.
    """
    rows = cell_rows(lines)
    columns = columns_of(rows)
    segments = _segments(rows, rule_group.ys)
    if len(columns.spans) < 2 or len(segments) < 2:
        return
    for read in (_one_row, _logical):
        tables = [read(segment, columns) for segment in segments]
        heads = len(tables[0]) if len(rule_group.ys) == FEWEST_RULES and not shaded else None
        tables[0] = head_levels([placed(row, columns) for row in segments[0]]) or tables[0]
        found = [cells for table in tables for cells in table]
        if len(found) > 1:
            yield tables_of(found, len(columns.spans), heads)


def _one_row(rows: Sequence[Row], columns: ColumnSpans) -> list[list[TableCell]]:
    """Return one row between two of many rulings, or several if each of its lines begins all cells.

    A head in other type, separated from the first row by shading only, is a row of its own.
    """
    cells = [placed(row, columns) for row in rows]
    if len(cells) > 1 and _is_in_other_type(cells[0], cells[1:], len(columns.spans)):
        return [cells[0], *_one_row(rows[1:], columns)]
    goes_on = any(cell.lines[0].text[0].islower() for row in cells[1:] for cell in row)
    if len(cells) > 1 and not goes_on and all(len(row) == len(columns.spans) for row in cells):
        return logical_rows(cells)
    for row in cells[1:]:
        absorb(cells[0], row)
    return cells[:1]


def _is_in_other_type(head: Sequence[TableCell], rest: Sequence[Sequence[TableCell]], columns: int) -> bool:
    """Return whether every column has a text in the first line in a type that the others do not have."""
    styles = {line.style for cell in head for line in cell.lines}
    return len(head) == columns and not any(
        line.style in styles for row in rest for cell in row for line in cell.lines
    )


def _segments(rows: Sequence[Row], ys: Sequence[float]) -> list[list[Row]]:
    """Return the rows between each two rulings."""
    segments: dict[int, list[Row]] = {}
    for row in rows:
        middle = (row.y0 + row.y1) / 2
        segments.setdefault(sum(y < middle for y in ys), []).append(row)
    return [segments[key] for key in sorted(segments)]


def _logical(rows: Sequence[Row], columns: ColumnSpans) -> list[list[TableCell]]:
    """Return one table row if it has one head and the rest is text, else the rows of its baselines."""
    cells = [placed(row, columns) for row in rows]
    headed = sum(1 for row in cells if row[0].column == 0)
    values = sum(is_value_cell(cell.lines) for row in cells[1:] for cell in row)
    if len(cells) > 1 and headed <= 1 and values == 0:
        for row in cells[1:]:
            absorb(cells[0], row)
        return cells[:1]
    return wrapped_rows(logical_rows(cells))


@dataclass(frozen=True, slots=True)
class Candidate:
    """A reading of a region's lines as a table. ``chance``: that it is right. ``grid``: that encloses it."""

    rect: Rect
    lines: Sequence[Line]
    blocks: list[Block]
    chance: float
    grid: RuledGrid | None = None


def with_ruled_tables(
    lines: Sequence[Line], rulings: Sequence[Rect], fills: Sequence[Rect] = ()
) -> list[Line]:
    """Return the lines, with one Inset in place of the lines of each ruled table.

    Of readings of the same lines the likeliest is kept.
    """
    rest = list(lines)
    found = horizontal_rules(rulings)
    upright = [rect for rect in rulings if rect.height > max(SHORTEST, rect.width)]
    stripes = horizontal_rules(edges_of(fills), SNAP)
    candidates = [
        _of_grid(grid, rest)
        for grid in whole_grids(rulings, fills, rest)
        if len(grid.ys) > 2 or not _heads_values_below(grid.rect, rest, FIRST_ROWS)
    ]
    sure = [candidate.rect for candidate in candidates if candidate.chance > SURE]
    for groups, shaded in ((found, False), (stripes, True)):
        for group in groups:
            if not any(box.union(group.rect).area <= box.area + SNAP * box.width for box in sure):
                candidates += _of_rules(group, rest, upright, shaded)
    for candidate in sorted(candidates, key=lambda candidate: -candidate.chance):
        if candidate.chance >= LEAST and _is_free(candidate, rest):
            blocks = parted(candidate.blocks, "grid" if candidate.grid else "rules", candidate.chance)
            rest = _with_inset(rest, candidate.rect, candidate.lines, blocks)
            if candidate.grid:
                rest = _with_heads(rest, candidate.grid)
    for rule_group in found:
        if not (_continues_outside(rule_group, rest) or cuts_rows(rule_group.rect, rest)):
            inside = lines_in(rule_group.rect, rest)
            rest = _with_inset(rest, rule_group.rect, inside, _table_of_values(rule_group, inside))
    return rest


def _is_free(candidate: Candidate, lines: Sequence[Line]) -> bool:
    """Return whether no other table or box has its lines."""
    left = set(map(id, lines))
    return all(id(line) in left for line in candidate.lines)


def _of_grid(grid: RuledGrid, lines: Sequence[Line]) -> Candidate:
    inside = lines_in(grid.rect, lines)
    rows = grid_rows(grid, inside)
    upright = [(ruling.at, ruling.start, ruling.end) for ruling in grid.vertical]
    drawn = Drawn([ruling.at for ruling in grid.horizontal], upright, grid.closed)
    return Candidate(
        grid.rect, inside, boxes_of(rows) or rows, confidence(rows, drawn) if rows else 0.0, grid
    )


def _of_rules(
    rule_group: HorizontalRules, lines: Sequence[Line], upright: Sequence[Rect], shaded: bool = False
) -> Iterator[Candidate]:
    for part in _parted(rule_group, lines_in(rule_group.rect, lines)):
        whole = with_outer_rows(part, lines, shaded)
        if _heads_values_below(whole.rect, lines):
            continue
        inside = lines_in(whole.rect, lines)
        inner = [(rect.x0, rect.y0, rect.y1) for rect in upright if rect.overlaps(whole.rect)]
        drawn = Drawn(whole.ys, inner, shaded=shaded)
        for blocks in rule_readings(whole, inside, shaded):
            yield Candidate(whole.rect, inside, blocks, confidence(blocks, drawn))


def _table_of_values(rule_group: HorizontalRules, lines: Sequence[Line]) -> list[Block]:
    """Return the rows of a table between rules: heads above the second rule, values below, by baselines."""
    rows = cell_rows(lines)
    head = [row for row in rows if row.y1 < rule_group.ys[1] + TRACK]
    body = rows[len(head) :]
    if not head or not body or not _is_head(head, body, head) or aligned_rows(rows) != [(0, len(rows))]:
        return []
    return table_blocks(rows)


def _continues_outside(rule_group: HorizontalRules, lines: Sequence[Line]) -> bool:
    """Return whether rows with values are right above or below the rules, which separate only some rows."""
    (x0, top, x1, bottom) = rule_group.rect
    near = [
        line
        for line in lines
        if line.chars
        and line.x0 < x1
        and x0 < line.x1
        and (0 < top - line.y0 < OUTSIDE * line.size or 0 < line.y1 - bottom < OUTSIDE * line.size)
    ]
    return any(row.multi and any(map(is_value_cell, row.cells)) for row in cell_rows(near))


def _heads_values_below(rect: Rect, lines: Sequence[Line], first: int = 1) -> bool:
    """Return whether only heads are within rulings, and one of the ``first`` rows below is of values.

    Where more than one may be, dates are heads.
    """
    below = [
        line
        for line in lines
        if line.chars
        and rect.x0 <= line.x0
        and line.x1 <= rect.x1
        and 0 <= line.y0 - rect.y1 < OUTSIDE * line.size
    ]
    values = [sum(map(is_value_cell, row.cells[1:])) for row in cell_rows(below)[:first]]
    if max(values, default=0) < HEADED_COLUMNS:
        return False
    inside = lines_in(rect, lines)
    values = [holds_value(line) and not (first > 1 and is_date(line.text)) for line in inside]
    return sum(values) < HEAD_VALUES * len(inside)


def _is_head(head: Sequence[Row], body: Sequence[Row], first: Sequence[Row]) -> bool:
    """Return whether rows are heads: without values, above values, in other type or repeated."""
    texts = [cell_text(cell) for row in head for cell in row.cells]
    if any(is_value(text) and not is_date(text) for text in texts):
        return False
    return (
        any(holds_value(line) for row in body for line in row.lines)
        or head[0].lines[0].style != body[0].lines[0].style
        or texts == [cell_text(cell) for row in first for cell in row.cells]
    )


def _between(rule_group: HorizontalRules, ys: tuple[float, ...]) -> HorizontalRules:
    return HorizontalRules(Rect(rule_group.rect.x0, ys[0], rule_group.rect.x1, ys[-1]), ys)


def _with_inset(lines: list[Line], rect: Rect, inside: Sequence[Line], blocks: list[Block]) -> list[Line]:
    if not blocks:
        return lines
    if any(line.rtl for line in inside) and all(block.cells for block in blocks):
        blocks = read_leftwards(blocks)
    taken = set(map(id, inside))
    return [line for line in lines if id(line) not in taken] + [Inset(rect, blocks)]


def _with_heads(lines: list[Line], grid: RuledGrid) -> list[Line]:
    """Return the lines with the heads right above the grid's table in it."""
    inset = lines[-1] if lines else None
    if not isinstance(inset, Inset) or inset.rect != grid.rect or not inset.blocks[0].cells:
        return lines
    others = [line for line in lines[:-1] if not (isinstance(line, Inset) or line.sideways)]
    blocks, taken = with_heads_over_grid(inset.blocks, grid.rect.y0, grid.xs, others)
    if not taken:
        return lines
    gone = {id(inset), *map(id, taken)}
    rect = bounding_box([grid.rect, *(line.rect for line in taken)])
    return [line for line in lines if id(line) not in gone] + [Inset(rect, blocks)]
