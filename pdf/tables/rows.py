"""Make units of a table's rows: one per logical row, its cells in columns, its header rows known.

Right-to-left tables are mirrored first, so that their first column is leftmost as in any other table.
Rows of numbers along the axes of charts are none.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from itertools import groupby, pairwise
from operator import attrgetter

from msgspec.structs import replace

from pdf.extract.words import RawWord, is_contents_line
from pdf.geometry import Rect
from pdf.layout.lines import Line, merged, rows_of
from pdf.layout.page_layout import Block, TableBlock, TableCell
from pdf.tables.aligned import BETWEEN, WRAP_DISTANCE, is_same_weight
from pdf.tables.cells import (
    YES_OR_NO,
    ColumnSpans,
    Row,
    cell_text,
    columns_of,
    is_amount,
    is_currency,
    is_date,
    is_period_line,
    is_value,
    is_value_cell,
)

# Lines of a column of broken texts: so many at least, so long on average (characters), with so little room
# at their ends (ems); the next is at most so much further below than the nearest (share).
FILLED_LINES, FILLED_CHARS, FILLED_ROOM, WRAPPED = 6, 25, 2.0, 1.08
# A space between words is narrower than this (ems); what parts cells is wider.
WORD_SPACE = 0.4
# So many words in a row are a head each if every one is set to its column within this (ems).
SEPARATE_HEADS, SET_TO = 3, 0.6
# Of more rows with a text in the first column above the first value only the first is a head; of two where
# no value ends them.
MOST_HEADS = 4
# A line of periods is one of a table's first rows: of so many, as its heads have several lines.
PERIOD_ROWS = 6

_CONTINUES = re.compile(r"^[^\W\d_A-Z]|^(?:and|or|of|in|to|for)\b")


def table_blocks(rows: Sequence[Row]) -> list[Block]:
    """One block per row; every cell knows its column."""
    if any(row.is_text for row in rows):
        return _described_blocks(rows)
    columns = columns_of(rows)
    cells = [placed(row, columns) for row in rows]
    return blocks_of(logical_rows(cells), len(columns.spans))


def _described_blocks(rows: Sequence[Row]) -> list[Block]:
    """The rows, each with the text below it as its last cell; a row with such a text heads none."""
    columns = columns_of([row for row in rows if not row.is_text])
    last = len(columns.spans)
    cells: list[list[TableCell]] = []
    for row in rows:
        if not row.is_text:
            cells.append(placed(row, columns))
        elif cells[-1][-1].column == last:
            cells[-1][-1].lines += row.lines
        else:
            cells[-1].append(TableCell(last, list(row.lines)))
    first = next(n for n, row in enumerate(cells) if row[-1].column == last)
    return blocks_of(cells, last + 1, heads=first)


def blocks_of(rows: Sequence[list[TableCell]], columns: int, heads: int | None = None) -> list[Block]:
    """Blocks of one table from the cells of its rows. ``heads``: at most so many of them are heads."""
    table = TableBlock(columns=columns)
    blocks = [
        Block("table", [line for cell in cells for line in cell.lines], table=table, row=n, cells=cells)
        for n, cells in enumerate(rows)
    ]
    _mark_heads(blocks, table, len(blocks) if heads is None else heads)
    return blocks


def tables_of(rows: Sequence[list[TableCell]], columns: int, heads: int | None = None) -> list[Block]:
    """Blocks of one table or more: a row that repeats the words of the header row begins another table.

    A single text right above such a row is that table's title, and becomes prose.
    """
    said = _words_of(rows[0])
    starts = [n for n in range(2, len(rows)) if said and _words_of(rows[n]) == said]
    blocks: list[Block] = []
    for start, end in pairwise([0, *starts, len(rows)]):
        part, title = list(rows[start:end]), list[Line]()
        if end < len(rows) and len(part) > 2 and len(part[-1]) == 1 and not part[-1][0].column:
            title = part.pop()[0].lines
        blocks += blocks_of(part, columns, None if start else heads)
        blocks += [Block("prose", list(lines)) for _, lines in groupby(title, key=attrgetter("style"))]
    return blocks


def _words_of(cells: Sequence[TableCell]) -> tuple[str, ...]:
    """What the row's cells say; nothing where it is one cell, or one holds a digit."""
    texts = tuple(cell_text(cell.lines) for cell in cells)
    return () if len(texts) < 2 or any(map(str.isdigit, "".join(texts))) else texts


def placed(row: Row, columns: ColumnSpans) -> list[TableCell]:
    """The row's cells by column; a line that runs on through gutters is parted there."""
    cells: list[TableCell] = []
    for cell in row.cells:
        hit = columns.hit(cell)
        for column, lines in [(hit[0], cell)] if len(hit) == 1 else _by_column(cell, columns):
            if cells and cells[-1].column == column:
                cells[-1].lines += lines
            else:
                cells.append(TableCell(column, list(lines)))
    return cells


def _by_column(cell: list[Line], columns: ColumnSpans) -> list[tuple[int, list[Line]]]:
    """The lines of a cell that stands under no column or several, each at its own; a sign at its number's."""
    pieces: list[tuple[int, list[Line]]] = []
    signs: list[Line] = []
    for line in cell:
        if is_currency(line.text) and line is not cell[-1]:
            signs.append(line)
            continue
        hit = columns.hit([line])
        if len(hit) > 1:
            parts = [(column, [piece]) for column, piece in _parted(line, columns, hit)]
        else:
            parts = [(_nearest(columns, line), [line])]
        parts[0][1][:0], signs = signs, []
        pieces += parts
    return pieces


def _nearest(columns: ColumnSpans, line: Line) -> int:
    middle = (line.x0 + line.x1) / 2
    distances = [max(a - middle, middle - b) for a, b in columns.spans]
    return distances.index(min(distances))


def _parted(line: Line, columns: ColumnSpans, hit: Sequence[int]) -> list[tuple[int, Line]]:
    """The pieces of a line by column, if each word keeps to one; else the line at its first column.

    Words that only a space keeps apart stay together, a head over several columns, unless each of them
    is set to its own.
    """
    parts: dict[int, list[RawWord]] = {}
    for word in line.words:
        under = [i for i in hit if columns.spans[i][0] < word.x1 and word.x0 < columns.spans[i][1]]
        if len(under) > 1:
            return [(hit[0], line)]
        column = under[0] if under else max(parts, default=hit[0])
        parts.setdefault(column, []).append(word)
    pieces = [(column, Line(words)) for column, words in parts.items()]
    if not any(_run_on(left, right) for (_, left), (_, right) in pairwise(pieces)):
        return pieces
    if len(pieces) == len(hit) == len(line.words) >= SEPARATE_HEADS and all(
        _set_to(columns.spans[n], piece) for n, piece in pieces
    ):
        return pieces
    return [(hit[0], line)]


def _set_to(span: tuple[float, float], piece: Line) -> bool:
    """Whether a head stands in the middle above its column, or begins or ends where the column does."""
    left, right = piece.x0 - span[0], piece.x1 - span[1]
    return min(abs(left), abs(right), abs(left + right) / 2) <= SET_TO * piece.size


def _run_on(left: Line, right: Line) -> bool:
    """Whether words, not numbers, go on after no more than a space; the day and the year of a date do."""
    if right.x0 - left.x1 >= WORD_SPACE * left.size:
        return False
    if is_date(f"{left.words[-1].text} {right.text}"):
        return True
    return not any(is_value(text) and not is_date(text) for text in (left.text, right.text))


def logical_rows(rows: Sequence[list[TableCell]]) -> list[list[TableCell]]:
    """Rows that only go on with the cells above joined to them, wrapped heads to the row that ends them."""
    out: list[list[TableCell]] = []
    for cells in rows:
        if out and (_is_between(cells, out[-1]) or _goes_on(cells, out[-1]) or _ends_head(cells, out[-1])):
            absorb(out[-1], cells)
        else:
            out.append(cells)
    return out


def wrapped_rows(rows: Sequence[list[TableCell]]) -> list[list[TableCell]]:
    """Rows joined where a text of a column that is filled line by line goes on below, at its own leading."""
    edges = _filled_columns(rows)
    lines = [cell.lines[0] for row in rows for cell in row if cell.column in edges]
    if not lines:
        return list(rows)
    pitches = [b.baseline - a.baseline for a, b in pairwise(lines) if b.baseline - a.baseline > 0.8 * b.size]
    out: list[list[TableCell]] = []
    for cells in rows:
        if out and _fills_on(out[-1], cells, edges, WRAPPED * min(pitches, default=0.0)):
            absorb(out[-1], cells)
        else:
            out.append(cells)
    return out


def _filled_columns(rows: Sequence[list[TableCell]]) -> dict[int, float]:
    """The right edges of columns of long lines, half of which reach it: broken texts."""
    columns: dict[int, list[Line]] = {}
    for cell in (cell for row in rows if len(row) > 1 for cell in row):
        columns.setdefault(cell.column, []).extend(cell.lines)
    edges = {column: max(line.x1 for line in lines) for column, lines in columns.items()}
    return {
        column: edges[column]
        for column, lines in columns.items()
        if len(lines) >= FILLED_LINES
        and not any(is_contents_line(line.text) for line in lines)
        and sum(line.chars for line in lines) >= FILLED_CHARS * len(lines)
        and 2 * sum(_fills(line, edges[column]) for line in lines) >= len(lines)
    }


def _fills(line: Line, edge: float) -> bool:
    return edge - line.x1 < FILLED_ROOM * line.size


def _fills_on(above: list[TableCell], cells: list[TableCell], edges: dict[int, float], pitch: float) -> bool:
    """Whether a text of the row above fills its last line, and the next stands right below; the first one
    where there is a cell in its column, for this may begin a row."""
    if any(is_value_cell(cell.lines) and cell_text(cell.lines) not in YES_OR_NO for cell in cells):
        return False
    going_on = [
        a.column
        for a in above
        for b in cells
        if a.column == b.column in edges
        and _fills(a.lines[-1], edges[a.column])
        and b.lines[0].baseline - a.lines[-1].baseline <= pitch
        and is_same_weight(a.lines[-1], b.lines[0])
    ]
    return bool(going_on) and (cells[0].column > 0 or 0 in going_on)


def _is_between(cells: list[TableCell], above: list[TableCell]) -> bool:
    """Whether the cells stand about the height of others that are broken: nearer than lines can follow.

    A text goes on beside values or another text; values below values are rows, or the scale of a chart.
    """
    line = cells[0].lines[0]
    near = [
        (cell.column, other)
        for cell in above
        for other in cell.lines
        if 0 < line.baseline - other.baseline <= BETWEEN * line.size
    ]
    columns = {cell.column for cell in cells}
    if not near or not columns.isdisjoint(column for column, _ in near):
        return False
    valued = any(is_value_cell(cell.lines) for cell in cells)
    if valued and any(is_value(other.text) for _, other in near):
        return False
    shared = [cell for cell in (*above, *cells) if cell.column in columns & {other.column for other in above}]
    if len(shared) > 2:
        shared = [*above, *cells]
    return not any(is_value(other.text) for cell in shared for other in cell.lines)


def _goes_on(cells: list[TableCell], above: list[TableCell]) -> bool:
    """A lone cell right below the text of the same column, plainly its next line."""
    if len(cells) > 1:
        return False
    over = next((cell for cell in above if cell.column == cells[0].column), None)
    if over is None:
        return False
    last, line = over.lines[-1], cells[0].lines[0]
    close = line.y0 - last.y1 < WRAP_DISTANCE * line.size and is_same_weight(last, line)
    if cells[0].column > 0:
        return close and len(above) > 1 and above[0].column == 0 and not is_value_cell(cells[0].lines)
    return close and len(above) > 1 and bool(_CONTINUES.match(line.text)) and line.x0 > over.lines[0].x0 - 1


def _ends_head(cells: list[TableCell], above: list[TableCell]) -> bool:
    """The row above holds the beginning of this row's head, broken for want of room."""
    if len(above) > 1 or above[0].column != 0 or cells[0].column != 0 or len(cells) < 2:
        return False
    last, line = above[0].lines[-1], cells[0].lines[0]
    return (
        line.y0 - last.y1 < 0.5 * line.size
        and not last.text.endswith(":")
        and bool(_CONTINUES.match(line.text))
        and last.style.bold == line.style.bold
    )


def absorb(above: list[TableCell], cells: list[TableCell]) -> None:
    """Adds the cells to those of the row above."""
    for cell in cells:
        same = next((c for c in above if c.column == cell.column), None)
        if same:
            same.lines.extend(cell.lines)
        else:
            above.append(cell)
    above.sort(key=lambda cell: cell.column)


def head_levels(rows: Sequence[list[TableCell]]) -> list[list[TableCell]]:
    """Two rows of heads, where several above stand over several of the lowest each; empty where none do."""
    over = [cell for row in rows[:-1] for cell in row if cell.column > 0]
    lowest = [cell for cell in rows[-1] if cell.column > 0]
    size = len(lowest) // len(over) if len(over) > 1 else 0
    if size < 2 or size * len(over) != len(lowest):
        return []
    groups = [lowest[n * size : (n + 1) * size] for n in range(len(over))]
    if not all(_reach_over(cell, group) for cell, group in zip(over, groups, strict=True)):
        return []
    for row in rows[1:-1]:
        absorb(rows[0], row)
    return [rows[0], rows[-1]]


def _reach_over(cell: TableCell, group: Sequence[TableCell]) -> bool:
    """Whether the cell's middle is within the group and its ends do not reach out of it by a column."""
    (x0, _, x1, _), left, right = cell.rect, group[0].rect, group[-1].rect
    return left.x1 < (x0 + x1) / 2 < right.x0 and left.x0 - left.width < x0 and x1 < right.x1 + right.width


def _mark_heads(blocks: list[Block], table: TableBlock, most: int) -> None:
    """The rows above the first that holds a value (a date is none) are heads.

    Below heads of the columns, the head of a group of rows is none; ``(In millions)`` is.
    """
    known = most < len(blocks)
    periods = _rows_of_periods(blocks[: min(most, PERIOD_ROWS)])
    for n, block in enumerate(blocks[:most]):
        body = [cell_text(cell.lines) for cell in block.cells if cell.column > 0]
        if n >= periods and any(is_value(text) and not is_date(text) for text in body):
            known = True
            break
        if not body and n and _heads_rows(block.lines[0].text, table):
            break
        block.header = True
        table.head.append(block)
    begins = [n for n, block in enumerate(table.head) if begins_row(block)]
    if len(table.head) == len(blocks) or len(begins) > (MOST_HEADS if known else 1):
        titled = not known and begins and all(map(_is_title, table.head[: begins[0]]))
        kept = begins[0] + 1 if titled else 1
        for block in blocks[kept:]:
            block.header = False
        del table.head[kept:]


def _rows_of_periods(blocks: Sequence[Block]) -> int:
    """How many rows lead to a line of periods and hold no amount: marks of notes, shares of years only."""
    for n, block in enumerate(blocks):
        cells = [cell.lines for cell in block.cells if cell.column > 0]
        if is_period_line(cells) and not begins_row(block):
            return n + 1
        if any(map(is_amount, map(cell_text, cells))):
            break
    return 0


def _is_title(block: Block) -> bool:
    """Whether a lone text stands in the first column, as a title over all columns does."""
    return len(block.cells) == 1 and block.cells[0].column == 0


def begins_row(block: Block) -> bool:
    """Whether a text in the first column has others beside it and does not go on with the one above."""
    first = block.lines[0].text
    return len(block.cells) > 1 and block.cells[0].column == 0 and not (first[0] == "(" or first[0].islower())


def _heads_rows(text: str, table: TableBlock) -> bool:
    """Whether a lone text in the first column heads the rows below it: the columns have their heads."""
    headed = any(cell.column > 0 for head in table.head for cell in head.cells)
    return text.endswith(":") or (headed and not text.startswith("("))


def mirrored_row(row: Sequence[Line]) -> list[Line]:
    """The lines of a row as they stand in a mirror, left to right there."""
    return sorted((mirrored(line) for line in row), key=attrgetter("x0"))


def mirrored(line: Line) -> Line:
    """The line with x turned over at 0; its words stay in the order they are read."""
    return Line([replace(word, x0=-word.x1, x1=-word.x0) for word in line.words])


def turned_back(blocks: Sequence[Block]) -> list[Block]:
    """Rows found in the mirror as they stand on the page."""
    for block in blocks:
        assert block.table is not None
        last = block.table.columns - 1
        block.cells = [
            TableCell(last - cell.column, [mirrored(line) for line in cell.lines])
            for cell in block.cells[::-1]
        ]
    return read_leftwards(blocks)


def read_leftwards(blocks: Sequence[Block]) -> list[Block]:
    """Rows, the pieces that make one line of a right-to-left cell joined in the order they are read."""
    for block in blocks:
        for cell in block.cells:
            if len(cell.lines) > 1 and any(line.rtl for line in cell.lines):
                cell.lines = [merged(row, rtl=True) for row in rows_of(cell.lines)]
        block.lines = [line for cell in block.cells for line in cell.lines]
    return list(blocks)


# The labels of a drawing stand at most this far outside it (points).
LABEL = 24.0
# Share of a table's lines that stand in drawings, and of its rows that name their values below which it is
# no table, but the scales of charts.
DRAWN, NAMED_ROWS = 0.6, 0.35
# Share of the words of a row that are values, from which on it may be the scale of an axis.
SCALE_VALUES = 0.8
# In a table this share of the rows, at least so many, have the same number of cells; in so many columns this
# share of the steps from number to number or fewer are alike: no axis has them.
REGULAR, DATA_ROWS, DATA_COLUMNS, EVEN_STEPS = 0.7, 6, 2, 0.4
_AMOUNT = re.compile(r"\d+(?:[.,]\d+)*")
_THOUSANDS = re.compile(r"[.,](?=\d{3}(?:\D|$))")
_WORD = re.compile(r"[^\W\d_]{3}")


def without_scales(blocks: Sequence[Block], drawings: Sequence[Rect]) -> list[Block]:
    """The blocks, the numbers along the axes of charts and the names beside their curves no longer tables.

    What bars show is a table, and stays one: each of its rows begins with a name.
    """
    if not drawings:
        return list(blocks)
    near = [Rect(box.x0 - LABEL, box.y0 - LABEL, box.x1 + LABEL, box.y1 + LABEL) for box in drawings]
    rows: dict[int, list[Block]] = {}
    for block in blocks:
        if block.table:
            rows.setdefault(id(block.table), []).append(block)
    scales = {table for table, found in rows.items() if _are_scales(found, near)}
    return [
        Block("prose", [merged(row, block.rtl) for row in rows_of(block.lines)])
        if id(block.table) in scales
        else block
        for block in blocks
    ]


def _are_scales(rows: Sequence[Block], drawings: Sequence[Rect]) -> bool:
    lines = [line for row in rows for line in row.lines]
    centers = [line.rect.center for line in lines]
    drawn = sum(any(drawing.contains(x, y) for drawing in drawings) for x, y in centers)
    if drawn < DRAWN * len(lines):
        return False
    if _holds_data(rows):
        return False
    has_scale = any(map(_is_scale, rows))
    named = sum(_has_name(row, of_values=has_scale) for row in rows)
    return named < NAMED_ROWS * len(rows)


def _holds_data(rows: Sequence[Block]) -> bool:
    """Whether rows alike hold numbers that follow one another at uneven steps: a table within a frame."""
    cells, count = Counter(len(row.cells) for row in rows).most_common(1)[0]
    if count < max(DATA_ROWS, REGULAR * len(rows)):
        return False
    columns = zip(*(row.cells for row in rows if len(row.cells) == cells), strict=True)
    numbers = [
        [_number(amount[0]) for cell in column if (amount := _AMOUNT.search(cell.lines[0].text))]
        for column in columns
    ]
    steps = [Counter(b - a for a, b in pairwise(found)) for found in numbers if len(found) >= DATA_ROWS]
    return sum(max(alike.values()) <= EVEN_STEPS * alike.total() for alike in steps) >= DATA_COLUMNS


def _number(amount: str) -> float:
    whole, _, decimals = _THOUSANDS.sub("", amount).replace(",", ".").partition(".")
    return float(f"{whole}.{decimals.partition('.')[0] or 0}")


def _is_scale(row: Block) -> bool:
    """Whether nearly all words of the row are values, as along the axes of charts side by side."""
    words = [word.text for line in row.lines for word in line.words]
    return len(row.cells) > 1 and sum(map(is_value, words)) >= SCALE_VALUES * len(words)


def _has_name(row: Block, *, of_values: bool) -> bool:
    """Whether the row begins with a name: ``of_values``, not with the title of an axis beside another."""
    if len(row.cells) < 2 or not any(map(_is_name, row.cells[0].lines)):
        return False
    return not of_values or any(is_value(line.text) for cell in row.cells[1:] for line in cell.lines)


def _is_name(line: Line) -> bool:
    return bool(_WORD.search(line.text)) and not is_value(line.text)
