"""Build tables from tagged rows and cells, where the layout found no table or split it differently."""

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
from pdf.tables.rows import blocks_of, parted
from pdf.tags.elements import Owners

# Largest share of a table's cells that may share their column with another cell of their row.
SHARED = 0.05
_CLOSING_SIGNS = {")", "%", ")%", "]"}

# The lines of each cell, by the number of its element.
TaggedRow = dict[int, list[Line]]
TaggedCell = tuple[Rect, list[Line]]


def rows_of_cells(rows: Mapping[int, TaggedRow], owners: Owners) -> list[Block]:
    """Return one block per row of a tagged table; an empty list where its cells are not in columns."""
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
    shared = sum(len(_with_signs_merged(row)) for row, _ in boxed) - sum(map(len, made))
    if shared > SHARED * sum(map(len, made)):
        return []
    blocks = parted(blocks_of(made, len(columns)), "tags")
    heads = [heads for _, heads in boxed]
    count = heads.index(False) if False in heads else 0
    if count > sum(block.header for block in blocks):
        _head(blocks, count)
    return blocks


def _head(blocks: Sequence[Block], count: int) -> None:
    """Mark the first ``count`` rows, and only these, as the table's header rows."""
    table = blocks[0].table
    assert table is not None
    for n, block in enumerate(blocks):
        block.header = n < count
    table.head = list(blocks[:count])


def _columns(rows: Sequence[Sequence[Rect]]) -> list[tuple[float, float]]:
    """Return left and right edges of the columns, left to right.

    Rows with most cells define and widen columns; other rows only add columns that overlap none.
    """
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
    """Return the cells of a row, each in its nearest column; those of one column are merged."""
    cells: list[TableCell] = []
    for rect, lines in _with_signs_merged(sorted(row, key=lambda cell: cell[0].x0)):
        distances = [max(x0 - rect.x1, rect.x0 - x1, 0.0) for x0, x1 in columns]
        column = distances.index(min(distances))
        last = cells[-1] if cells else None
        if last and column <= last.column:
            last.lines += lines
        else:
            cells.append(TableCell(column, lines))
    return cells


def _with_signs_merged(row: Sequence[TaggedCell]) -> list[TaggedCell]:
    """Merge a cell with only a currency sign into the next one, and a closing sign into the one before."""
    out: list[TaggedCell] = []
    for rect, lines in row:
        text = cell_text(lines)
        if out and (is_currency(cell_text(out[-1][1])) or text in _CLOSING_SIGNS):
            last, before = out.pop()
            out.append((last.union(rect), [*before, *lines]))
        else:
            out.append((rect, lines))
    return out


# A cell with more lines is part of a page that uses a table for its layout.
LONGEST_CELL = 14
# Least share of rows with several cells; a table used for layout mostly has one cell in a row.
ROWS_OF_CELLS = 0.5
# Least share of rows that are below the row before, and of cells that are beside the cell before.
IN_PLACE = 0.9
# The layout's rows are kept where this share of the words is in the same row as in the tags.
AGREED = 0.95
# A table of the layout is rejected when this share of it is paragraphs that span its cells and rows.
RUNS_OVER = 0.5


def tables_by_tags(blocks: Sequence[Block], owners: Owners) -> list[Block]:
    """Return the blocks, with the rows of sound tagged tables in place of the layout's blocks."""
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
    return _with_tables(blocks, owners, chosen) if chosen else list(blocks)


def _without_false_tables(blocks: Sequence[Block], owners: Owners) -> list[Block]:
    """Turn the rows of a table that the tags call running text back into prose.

    The layout's table is false where tagged paragraphs span its cells and its rows.
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
    """Return whether most words of a table are in units that span several cells and several rows."""
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
    """Return the lines by table, row and cell, in the order of the tree."""
    tables: dict[int, dict[int, TaggedRow]] = {}
    for block in blocks:
        for line in block.lines:
            for place, piece in _by_place(line, owners):
                table, row, cell = place
                if min(place) >= 0:
                    tables.setdefault(table, {}).setdefault(row, {}).setdefault(cell, []).append(piece)
    return {table: {row: rows[row] for row in sorted(rows)} for table, rows in tables.items()}


def _place(tag: int, owners: Owners) -> tuple[int, int, int]:
    """Return the elements of the table, row and cell of a word; -1 for each that does not exist."""
    if not 0 <= tag < len(owners.table):
        return -1, -1, -1
    return owners.table[tag], owners.row[tag], owners.cell[tag]


def _by_place(line: Line, owners: Owners) -> list[tuple[tuple[int, int, int], Line]]:
    """Split a line where the table, row or cell of its words changes."""
    runs: list[tuple[tuple[int, int, int], list[RawWord]]] = []
    for word in line.words:
        place = _place(word.tag, owners)
        if runs and runs[-1][0] == place:
            runs[-1][1].append(word)
        else:
            runs.append((place, [word]))
    return [(place, line if len(runs) == 1 else Line(words)) for place, words in runs]


def _is_sound(rows: dict[int, TaggedRow]) -> bool:
    """Return whether rows are below one another, cells beside one another, and no cell is too long."""
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
    """Return whether the layout has a table of these words, with the same rows."""
    same = count = 0
    blocks_by_row: dict[int, set[int]] = {}
    for number, block in enumerate(blocks):
        tags = [_place(word.tag, owners) for line in block.lines for word in line.words]
        inside = [place[1] for place in tags if place[0] == table]
        if not inside:
            continue
        count += len(inside)
        if block.table is not None and len(set(inside)) == 1 and len(inside) == len(tags):
            same += len(inside)
            blocks_by_row.setdefault(inside[0], set()).add(number)
    torn = sum(len(numbers) > 1 for numbers in blocks_by_row.values())
    return same >= AGREED * count and torn <= (1 - AGREED) * len(blocks_by_row)


def _tears(blocks: Sequence[Block], owners: Owners, table: int) -> bool:
    """Return whether a tagged table has only part of a table of the layout, or splits several of its rows."""
    inside: dict[int, list[bool]] = {}
    split = rows = 0
    for block in blocks:
        if block.table is None:
            continue
        places = [_place(word.tag, owners) for line in block.lines for word in line.words]
        inside.setdefault(id(block.table), []).extend(place[0] == table for place in places)
        here = {place[1] for place in places if place[0] == table}
        rows += bool(here)
        split += len(here) > 1
    return split > (1 - IN_PLACE) * rows or any(
        any(shares) and sum(shares) < IN_PLACE * len(shares) for shares in inside.values()
    )


def _with_tables(blocks: Sequence[Block], owners: Owners, chosen: dict[int, list[Block]]) -> list[Block]:
    """Return the blocks without the words of the chosen tables, and each table at its first word."""
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
