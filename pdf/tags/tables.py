"""Tables as the tags say: rows of cells, where geometry found none or parted them otherwise."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import pairwise
from statistics import mean

from pdf.extract.words import RawWord
from pdf.geometry import Rect
from pdf.layout.lines import Line, merged, rows_of
from pdf.layout.page_layout import Block, TableCell, bounds_of
from pdf.tables.cells import cell_text, is_currency
from pdf.tables.rows import blocks_of
from pdf.tags.elements import Owners

# In a table at most this share of the cells stand under the same column as another one of their row.
SHARED = 0.05
_TAILS = {")", "%", ")%", "]"}

# Lines by the number of their cell's element.
TaggedRow = dict[int, list[Line]]
TaggedCell = tuple[Rect, list[Line]]


def rows_of_cells(rows: Mapping[int, TaggedRow], owners: Owners) -> list[Block]:
    """One block per row of a tagged table; none where its cells do not stand in columns."""
    boxed = [
        (
            [
                (bounds_of(lines), [merged(row, any(line.rtl for line in row)) for row in rows_of(lines)])
                for _, lines in sorted(cells.items())
            ],
            all(owners.role[cell] == "TH" for cell in cells),
        )
        for cells in rows.values()
    ]
    columns = _columns([[rect for rect, _ in row] for row, _ in boxed])
    made = [_cells(row, columns) for row, _ in boxed]
    shared = sum(len(_whole(row)) for row, _ in boxed) - sum(map(len, made))
    if shared > SHARED * sum(map(len, made)):
        return []
    blocks = blocks_of(made, len(columns))
    heads = [heads for _, heads in boxed]
    count = heads.index(False) if False in heads else 0
    if count > sum(block.header for block in blocks):
        _head(blocks, count)
    return blocks


def _head(blocks: Sequence[Block], count: int) -> None:
    """Makes the first rows, and only these, the table's heads."""
    table = blocks[0].table
    assert table is not None
    for n, block in enumerate(blocks):
        block.header = n < count
    table.head = list(blocks[:count])


def _columns(rows: Sequence[Sequence[Rect]]) -> list[tuple[float, float]]:
    """From where to where each column reaches, by the rows with most cells and those that stand apart."""
    columns: list[tuple[float, float]] = []
    most = max(map(len, rows))
    for row in sorted(rows, key=len, reverse=True):
        for rect in row:
            hit = [n for n, (x0, x1) in enumerate(columns) if rect.x0 < x1 and x0 < rect.x1]
            if not hit:
                columns = sorted([*columns, (rect.x0, rect.x1)])
            elif len(hit) == 1 and len(row) == most:
                x0, x1 = columns[hit[0]]
                wider = min(x0, rect.x0), max(x1, rect.x1)
                if not any(wider[0] < b and a < wider[1] for n, (a, b) in enumerate(columns) if n != hit[0]):
                    columns[hit[0]] = wider
    return columns


def _cells(row: Sequence[TaggedCell], columns: Sequence[tuple[float, float]]) -> list[TableCell]:
    cells: list[TableCell] = []
    for rect, lines in _whole(sorted(row, key=lambda cell: cell[0].x0)):
        distances = [max(x0 - rect.x1, rect.x0 - x1, 0.0) for x0, x1 in columns]
        column = distances.index(min(distances))
        last = cells[-1] if cells else None
        if last and column <= last.column:
            last.lines += lines
        else:
            cells.append(TableCell(column, lines))
    return cells


def _whole(row: Sequence[TaggedCell]) -> list[TaggedCell]:
    """The cells, a currency sign of its own with the number behind it, a closing sign with the one before."""
    out: list[TaggedCell] = []
    for rect, lines in row:
        text = cell_text(lines)
        if out and (is_currency(cell_text(out[-1][1])) or text in _TAILS):
            last, before = out.pop()
            out.append((last.union(rect), [*before, *lines]))
        else:
            out.append((rect, lines))
    return out


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


def tables_by_tags(blocks: Sequence[Block], owners: Owners) -> list[Block]:
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


def _tables(blocks: Sequence[Block], owners: Owners) -> dict[int, dict[int, TaggedRow]]:
    """Lines by table, row and cell, in the author's order."""
    tables: dict[int, dict[int, TaggedRow]] = {}
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


def _is_sound(rows: dict[int, TaggedRow]) -> bool:
    """Whether rows stand one below the other, their cells beside one another, and no cell is a whole page."""
    if len(rows) < 2 or sum(len(cells) > 1 for cells in rows.values()) < ROWS_OF_CELLS * len(rows):
        return False
    boxes = [[bounds_of(lines) for _, lines in sorted(cells.items())] for cells in rows.values()]
    if any(len(rows_of(lines)) > LONGEST_CELL for cells in rows.values() for lines in cells.values()):
        return False
    below = [
        mean(box.y0 for box in a) < mean(box.y0 for box in b) and max(_tops(a)) < min(_bottoms(b))
        for a, b in pairwise(boxes)
    ]
    beside = [_are_beside(a, b) for row in boxes for a, b in pairwise(row)]
    return sum(below) >= IN_PLACE * len(below) and sum(beside) >= IN_PLACE * len(beside)


def _tops(boxes: Sequence[Rect]) -> list[float]:
    return [box.y0 for box in boxes]


def _bottoms(boxes: Sequence[Rect]) -> list[float]:
    return [box.y1 for box in boxes]


def _are_beside(a: Rect, b: Rect) -> bool:
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
