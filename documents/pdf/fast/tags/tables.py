"""Tables as the tags say: rows of cells, where geometry found none or parted them otherwise."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import pairwise
from statistics import mean

from documents.pdf.fast.blocks import Block, around
from documents.pdf.fast.lines import Line, rows_of
from documents.pdf.fast.tags.owners import Owners
from documents.pdf.fast.tags.rows import Cells, rows_of_cells
from documents.pdf.fast.words import RawWord
from documents.pdf.geometry import Rect

# A cell of more lines is no cell of a table but a part of a page laid out by one.
LONGEST_CELL = 14
# Share of the rows that have several cells; a page laid out by a table has mostly one in a row.
ROWS_OF_CELLS = 0.5
# Share of the rows that stand below the one before, of the cells that stand beside theirs.
IN_PLACE = 0.9
# Geometry's rows stay where this share of the words is in the same row as the tags say.
AGREED = 0.95
# Geometry's table is none when this share of it runs over cells and rows as one paragraph.
RUNS_OVER = 0.5


def tagged_tables(blocks: Sequence[Block], owners: Owners) -> list[Block]:
    """The blocks, with the rows of sound tagged tables in place of what geometry made of their words."""
    blocks = _without_false_tables(blocks, owners)
    if not any(table >= 0 for table in owners.table):
        return list(blocks)
    tables = _tables(blocks, owners)
    chosen = {
        table: made
        for table, rows in tables.items()
        if _is_sound(rows)
        and not _agrees(blocks, owners, table)
        and not _tears(blocks, owners, table)
        and (made := rows_of_cells(rows, owners))
    }
    return _put(blocks, owners, chosen) if chosen else list(blocks)


def _without_false_tables(blocks: Sequence[Block], owners: Owners) -> list[Block]:
    """The blocks, the rows of what the tags call running text made lines again.

    A table of the geometry is none where paragraphs run over its cells and from row to row.
    """
    rows: dict[int, list[Block]] = {}
    for block in blocks:
        if block.table is not None:
            rows.setdefault(id(block.table), []).append(block)
    false = {table for table, group in rows.items() if _runs_over(group, owners)}
    return [
        Block("prose", block.lines, opens_column=block.opens_column) if id(block.table) in false else block
        for block in blocks
    ]


def _runs_over(rows: Sequence[Block], owners: Owners) -> bool:
    words: Counter[int] = Counter()
    in_rows: Counter[int] = Counter()
    over_cells: set[int] = set()
    for row in rows:
        cells = [
            [_unit(word.tag, owners) for line in cell.lines for word in line.words] for cell in row.cells
        ]
        in_cells = Counter(unit for cell in cells for unit in set(cell) if unit >= 0)
        in_rows.update(in_cells.keys())
        over_cells |= {unit for unit, count in in_cells.items() if count > 1}
        words.update(unit for cell in cells for unit in cell)
    over = sum(count for unit, count in words.items() if in_rows[unit] > 1 and unit in over_cells)
    return over > RUNS_OVER * words.total()


def _unit(tag: int, owners: Owners) -> int:
    return owners.unit[tag] if 0 <= tag < len(owners.unit) and owners.cell[tag] < 0 else -1


def _tables(blocks: Sequence[Block], owners: Owners) -> dict[int, dict[int, Cells]]:
    """Lines by table, row and cell, in the author's order."""
    tables: dict[int, dict[int, Cells]] = {}
    for block in blocks:
        for line in block.lines:
            for place, piece in _by_place(line, owners):
                table, row, cell = place
                if min(place) >= 0:
                    tables.setdefault(table, {}).setdefault(row, {}).setdefault(cell, []).append(piece)
    return {table: {row: rows[row] for row in sorted(rows)} for table, rows in tables.items()}


def _place(tag: int, owners: Owners) -> tuple[int, int, int]:
    if not 0 <= tag < len(owners.table):
        return -1, -1, -1
    return owners.table[tag], owners.row[tag], owners.cell[tag]


def _by_place(line: Line, owners: Owners) -> list[tuple[tuple[int, int, int], Line]]:
    runs: list[tuple[tuple[int, int, int], list[RawWord]]] = []
    for word in line.words:
        place = _place(word.tag, owners)
        if runs and runs[-1][0] == place:
            runs[-1][1].append(word)
        else:
            runs.append((place, [word]))
    return [(place, line if len(runs) == 1 else Line(words)) for place, words in runs]


def _is_sound(rows: dict[int, Cells]) -> bool:
    """Whether rows stand one below the other, their cells beside one another, and no cell is a whole page."""
    if len(rows) < 2 or sum(len(cells) > 1 for cells in rows.values()) < ROWS_OF_CELLS * len(rows):
        return False
    boxes = [[around(lines) for _, lines in sorted(cells.items())] for cells in rows.values()]
    if any(len(rows_of(lines)) > LONGEST_CELL for cells in rows.values() for lines in cells.values()):
        return False
    below = [
        mean(box.y0 for box in a) < mean(box.y0 for box in b) and max(_tops(a)) < min(_bottoms(b))
        for a, b in pairwise(boxes)
    ]
    beside = [_stand_beside(a, b) for row in boxes for a, b in pairwise(row)]
    return sum(below) >= IN_PLACE * len(below) and sum(beside) >= IN_PLACE * len(beside)


def _tops(boxes: Sequence[Rect]) -> list[float]:
    return [box.y0 for box in boxes]


def _bottoms(boxes: Sequence[Rect]) -> list[float]:
    return [box.y1 for box in boxes]


def _stand_beside(a: Rect, b: Rect) -> bool:
    return a.overlap_x(b) < 1.0 and a.overlap_y(b) > -0.5 * min(a.height, b.height)


def _agrees(blocks: Sequence[Block], owners: Owners, table: int) -> bool:
    """Whether geometry has a table of these words, and parts them into the same rows."""
    same = count = 0
    of_row: dict[int, set[int]] = {}
    for number, block in enumerate(blocks):
        tags = [_place(word.tag, owners) for line in block.lines for word in line.words]
        inside = [place[1] for place in tags if place[0] == table]
        if not inside:
            continue
        count += len(inside)
        if block.table is not None and len(set(inside)) == 1 and len(inside) == len(tags):
            same += len(inside)
            of_row.setdefault(inside[0], set()).add(number)
    torn = sum(len(numbers) > 1 for numbers in of_row.values())
    return same >= AGREED * count and torn <= (1 - AGREED) * len(of_row)


def _tears(blocks: Sequence[Block], owners: Owners, table: int) -> bool:
    """Whether it holds a part only of a table of the geometry, or parts one of its rows."""
    inside: dict[int, list[bool]] = {}
    parted = rows = 0
    for block in blocks:
        if block.table is None:
            continue
        places = [_place(word.tag, owners) for line in block.lines for word in line.words]
        inside.setdefault(id(block.table), []).extend(place[0] == table for place in places)
        here = {place[1] for place in places if place[0] == table}
        rows += bool(here)
        parted += len(here) > 1
    return parted > (1 - IN_PLACE) * rows or any(
        any(shares) and sum(shares) < IN_PLACE * len(shares) for shares in inside.values()
    )


def _put(blocks: Sequence[Block], owners: Owners, chosen: dict[int, list[Block]]) -> list[Block]:
    """The blocks without the chosen tables' words, and each table where the first of them stood."""
    out: list[Block] = []
    placed: set[int] = set()
    for block in blocks:
        rest: list[Line] = []
        for line in block.lines:
            for (table, row, cell), piece in _by_place(line, owners):
                if table not in chosen or min(row, cell) < 0:
                    rest.append(piece)
                elif table not in placed:
                    placed.add(table)
                    out += chosen[table]
        if len(rest) == len(block.lines) and all(a is b for a, b in zip(rest, block.lines, strict=True)):
            out.append(block)
        elif rest:
            out.append(Block("prose", rest))
    return out
