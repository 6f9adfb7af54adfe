"""The rows of a tagged table as blocks: its cells by column, its heads."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from documents.pdf.fast.blocks import Block, TableCell, around
from documents.pdf.fast.cells import cell_text, is_currency
from documents.pdf.fast.lines import Line, merged, rows_of
from documents.pdf.fast.tablerows import blocks_of
from documents.pdf.fast.tags.owners import Owners
from documents.pdf.geometry import Rect

# In a table at most this share of the cells stand under the same column as another one of their row.
SHARED = 0.05
_TAILS = {")", "%", ")%", "]"}

# Lines by the number of their cell's element.
Cells = dict[int, list[Line]]
Cell = tuple[Rect, list[Line]]


def rows_of_cells(rows: Mapping[int, Cells], owners: Owners) -> list[Block]:
    """One block per row of a tagged table; none where its cells do not stand in columns."""
    boxed = [
        (
            [
                (around(lines), [merged(row, any(line.rtl for line in row)) for row in rows_of(lines)])
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


def _cells(row: Sequence[Cell], columns: Sequence[tuple[float, float]]) -> list[TableCell]:
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


def _whole(row: Sequence[Cell]) -> list[Cell]:
    """The cells, a currency sign of its own with the number behind it, a closing sign with the one before."""
    out: list[Cell] = []
    for rect, lines in row:
        text = cell_text(lines)
        if out and (is_currency(cell_text(out[-1][1])) or text in _TAILS):
            last, before = out.pop()
            out.append((last.union(rect), [*before, *lines]))
        else:
            out.append((rect, lines))
    return out
