"""Make a block of each logical row of a table, with its cells by column and its header rows.

Right-to-left tables are mirrored first, so that their first column is leftmost as in other tables. Numbers
along the axes of charts are not rows.
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
from pdf.layout.page_layout import Block, PartedBy, TableBlock, TableCell
from pdf.tables.cells import (
    BETWEEN,
    WRAP_DISTANCE,
    YES_OR_NO,
    ColumnSpans,
    Row,
    cell_text,
    columns_of,
    is_amount,
    is_currency,
    is_date,
    is_period_line,
    is_same_weight,
    is_typed_apart,
    is_value,
    is_value_cell,
)
from text.numbers import YEAR

# Lines of a column of wrapped texts: minimum number, average characters, maximum room at their ends (ems),
# maximum distance as a multiple of the leading.
FILLED_LINES, FILLED_CHARS, FILLED_ROOM, WRAPPED = 6, 25, 2.0, 1.08
# Maximum width of a space between words (ems); gaps between cells are wider.
WORD_SPACE = 0.4
# From this many words on, each is a head if all align with their columns within this (ems).
SEPARATE_HEADS, SET_TO = 3, 0.6
# Of more rows with a text in the first column above the first value only the first is a head; of two where
# no value ends them.
MOST_HEADS = 4
# Rows without a label go on with the row above if there are so many with one, and these are farther from it
# by so much (ems).
LABELLED_ROWS, NEARER = 2, 0.2
# A text in several columns is not of one that it overlaps by this share.
SLIGHT = 0.2
# Typed heads end where their values end within this (points); those of several words not over one letter
# (ems).
SAME_END, TYPED_LETTER = 1.0, 0.7
# Lines of one label are at most this share of the usual distance of rows apart, and so many ems. The next
# lines of texts may hang in by so much, other than centred ones (ems; of these the sum of both ends).
CLOSE, LABEL_LEADING, HANG, CENTRED = 0.85, 1.3, (0.4, 2.5), 0.4
# Maximum gap between the lines of a wrapped head (ems).
HEAD_GAP = 0.5
# A line of periods is one of this many first rows of a table, as heads have several lines.
PERIOD_ROWS = 6

# Maximum distance of the middle of a lone text that heads the rows below it from that of the table (ems,
# doubled); minimum columns of such a table.
BAND, BAND_COLUMNS = 2.0, 3

# Signs that belong to the value before them; a word, as heads have and ranges of values have not.
PERCENT = "%", "％", "٪"
_LETTERS = re.compile(r"[^\W\d_]{2}")
# A number with decimals, a power of ten perhaps, and a unit: "47.6 s", "4.6 × 10−5 fs".
_MEASURED = re.compile(r"[-−<>≈~]?\d[\d\s]*[.,]\d[\d\s]*(?:[×·x]\s?10\s?[-−]?\d+\s)?[^\W\d_]{1,3}$")

_CONTINUES = re.compile(r"^[^\W\d_A-Z]|^(?:and|or|of|in|to|for)\b")


def table_blocks(rows: Sequence[Row]) -> list[Block]:
    """Return one block per row, its cells with their columns."""
    if any(row.is_text for row in rows):
        return _described_blocks(rows)
    columns = columns_of(rows)
    cells = [placed(row, columns) for row in rows]
    for row_cells in cells:
        _join_percent_signs(row_cells)
    logical = logical_rows(cells)
    joined = joined_texts(logical)
    if len(joined) < len(logical):  # the lines below those that were joined may go on too
        joined = logical_rows(joined)
    return blocks_of(joined, _merge_empty_columns(joined))


def _merge_empty_columns(rows: Sequence[list[TableCell]]) -> int:
    """Move heads in columns without values to the free columns beside them; return the columns left.

    Such a head is beside its values, or centred over two columns.
    """
    first = next((n for n, row in enumerate(rows) if any(is_amount(cell_text(c.lines)) for c in row[1:])), 0)
    body = sorted({cell.column for row in rows[first:] for cell in row})
    for row in rows[:first]:
        taken = {cell.column for cell in row}
        for cell in row:
            beside = [max((n for n in body if n < cell.column), default=0)]
            beside += [n for n in body if n > cell.column][:1]
            free = [n for n in beside if n and n not in taken]
            if cell.column not in body and free:
                cell.column = free[0]
                taken.add(free[0])
    used = sorted({cell.column for row in rows for cell in row})
    for row in rows:
        for cell in row:
            cell.column = used.index(cell.column)
    return len(used)


def _described_blocks(rows: Sequence[Row]) -> list[Block]:
    """Return the rows, each with the text below it as its last cell; none with such a text is a header."""
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
    """Return the blocks of one table. ``heads``: maximum number of header rows."""
    table = TableBlock(columns=columns)
    _span_bands(rows, columns)
    blocks = [
        Block("table", [line for cell in cells for line in cell.lines], table=table, row=n, cells=cells)
        for n, cells in enumerate(rows)
    ]
    _mark_heads(blocks, table, len(blocks) if heads is None else heads)
    return blocks


def parted(blocks: Sequence[Block], by: PartedBy, confidence: float = 1.0) -> list[Block]:
    """Return the rows of tables, marked with what separates them and how sure that is."""
    for block in blocks:
        if block.table is not None:
            block.table.parted_by, block.table.confidence = by, confidence
    return list(blocks)


def _join_percent_signs(row: list[TableCell]) -> None:
    """Join each percent sign in a cell of its own to the value before it."""
    for value, sign in [*pairwise(row)]:
        if cell_text(sign.lines) in PERCENT and is_amount(cell_text(value.lines)):
            value.lines += sign.lines
            row.remove(sign)


def _span_bands(rows: Sequence[list[TableCell]], columns: int) -> None:
    """Let each lone text that is centred on the table, not on its values, span it: it heads rows below."""
    lone = [row[0] for row in rows if len(row) == 1 and row[0].column > 0 and row[0].span == 1]
    if columns < BAND_COLUMNS or not lone:
        return
    cells = [(cell.column, cell.rect) for row in rows if len(row) > 1 for cell in row]
    values_from = min((rect.x0 for column, rect in cells if column), default=0.0)
    left, right = (
        min((rect.x0 for _, rect in cells), default=0),
        max((rect.x1 for _, rect in cells), default=0),
    )
    for cell in lone:
        box, near = cell.rect, BAND * cell.lines[0].size
        axis = box.x0 + box.x1
        own = min((rect.x0 for column, rect in cells if column == cell.column), default=box.x0)
        if (
            abs(axis - left - right) < near < abs(axis - values_from - right) - near
            and (
                box.x0 < own - near
                or any(column != cell.column and rect.overlap_x(box) > 0 for column, rect in cells)
            )
            and not YEAR.search(cell_text(cell.lines))
        ):
            cell.column, cell.span = 0, columns


def tables_of(rows: Sequence[list[TableCell]], columns: int, heads: int | None = None) -> list[Block]:
    """Return the blocks of one or more tables: a row equal to the header row begins another table.

    A single text right above such a row is that table's title, and becomes prose.
    """
    header = _words_of(rows[0])
    starts = [n for n in range(2, len(rows)) if header and _words_of(rows[n]) == header]
    blocks: list[Block] = []
    for start, end in pairwise([0, *starts, len(rows)]):
        part, title = list(rows[start:end]), list[Line]()
        if end < len(rows) and len(part) > 2 and len(part[-1]) == 1 and not part[-1][0].column:
            title = part.pop()[0].lines
        blocks += blocks_of(part, columns, None if start else heads)
        blocks += [Block("prose", list(lines)) for _, lines in groupby(title, key=attrgetter("style"))]
    return parted(blocks, "rules")


def _words_of(cells: Sequence[TableCell]) -> tuple[str, ...]:
    """Return the texts of the row's cells; () for one cell, or with a digit in one."""
    texts = tuple(cell_text(cell.lines) for cell in cells)
    return () if len(texts) < 2 or any(map(str.isdigit, "".join(texts))) else texts


def placed(row: Row, columns: ColumnSpans) -> list[TableCell]:
    """Return the row's cells by column; split a line that crosses gutters."""
    if columns.in_step(row.cells):
        return [TableCell(column, list(lines)) for column, lines in enumerate(row.cells)]
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
    """Return the lines of a cell in no column or in several, each with its own; signs with their number's."""
    over = columns.hit(cell)
    if len(over) == len(cell) > 1 and not any(is_currency(line.text) for line in cell):
        return [(column, [line]) for column, line in zip(over, cell, strict=True)]
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
    """Return the pieces of a line by column, if each word is in one; else the line in its first column.

    Words separated only by a space stay together, as a head over several columns, unless each is aligned
    with a column of its own.
    """
    if line.style.mono and (typed := _typed_below(line, columns, hit)):
        return typed
    parts: dict[int, list[RawWord]] = {}
    for word in line.words:
        under = [i for i in hit if columns.spans[i][0] < word.x1 and word.x0 < columns.spans[i][1]]
        if len(under) > 1:
            return [(_first_of(hit, line, columns), line)]
        column = under[0] if under else max(parts, default=hit[0])
        parts.setdefault(column, []).append(word)
    pieces = [(column, Line(words)) for column, words in parts.items()]
    if not any(_run_on(left, right) for (_, left), (_, right) in pairwise(pieces)):
        return pieces
    if len(pieces) == len(hit) == len(line.words) >= SEPARATE_HEADS and all(
        _set_to(columns.spans[n], piece) for n, piece in pieces
    ):
        return pieces
    return [(_first_of(hit, line, columns), line)]


def _first_of(hit: Sequence[int], line: Line, columns: ColumnSpans) -> int:
    """Return the first of the columns that a line is in; a text that only touches the labels is no label."""
    left, right = columns.spans[hit[0]]
    touches = right - max(left, line.x0) <= SLIGHT * min(right - left, line.width)
    return hit[touches and hit[0] == 0 and not is_value(line.text)]


def _typed_below(line: Line, columns: ColumnSpans, hit: Sequence[int]) -> list[tuple[int, Line]]:
    """Return the heads of typed columns that end where their values end; empty where one does not."""
    ends = [columns.spans[n][1] for n in hit]
    at = [next((k for k, word in enumerate(line.words, 1) if abs(word.x1 - x) <= SAME_END), 0) for x in ends]
    if 0 in at or at[-1] != len(line.words):
        return []
    pieces = [(n, Line(line.words[a:b])) for n, a, b in zip(hit, [0, *at], at, strict=False)]
    narrow = line.size * TYPED_LETTER
    if any(
        len(piece.words) > 1 and columns.spans[n][1] - columns.spans[n][0] <= narrow for n, piece in pieces
    ):
        return []
    return pieces


def _set_to(span: tuple[float, float], piece: Line) -> bool:
    """Return whether a head is centred over its column, or aligned with its left or right edge."""
    left, right = piece.x0 - span[0], piece.x1 - span[1]
    return min(abs(left), abs(right), abs(left + right) / 2) <= SET_TO * piece.size


def _run_on(left: Line, right: Line) -> bool:
    """Return whether words, or day and year of a date, are separated only by a space."""
    if right.x0 - left.x1 >= WORD_SPACE * left.size:
        return False
    if is_date(f"{left.words[-1].text} {right.text}"):
        return True
    return not any(is_value(text) and not is_date(text) for text in (left.text, right.text))


def logical_rows(rows: Sequence[list[TableCell]]) -> list[list[TableCell]]:
    """Join rows that only continue the cells above, and wrapped heads with their last line."""
    tops = [cells[0].lines[0].baseline for cells in rows]
    pitches = [below - top for top, below in pairwise(tops)]
    closest = min(
        [d for d, (above, cells) in zip(pitches, pairwise(rows), strict=True) if len(above) > 1 < len(cells)],
        default=0.0,
    )
    out: list[list[TableCell]] = []
    for cells, below in zip(rows, [*pitches, closest], strict=True):
        if out and (
            _is_between(cells, out[-1])
            or _continues(cells, out[-1])
            or _ends_head(cells, out[-1])
            or _hang(cells, out[-1])
            or _is_close(cells, out[-1], min(closest, below) if len(cells) == 1 else closest)
        ):
            absorb(out[-1], cells)
        else:
            out.append(cells)
    return out


def _hang(cells: list[TableCell], above: list[TableCell]) -> bool:
    """Return whether the label and another text begin below others and hang in: the next lines of these.

    Texts centred below others do not hang.
    """
    over = {cell.column: cell.lines[0] for cell in above}
    if cells[0].column or len(cells) < 2 or not over.keys() >= {cell.column for cell in cells}:
        return False
    pairs = [(cell.lines[0], over[cell.column]) for cell in cells]
    least, most = (share * cells[0].lines[0].size for share in HANG)
    hanging = [least <= line.x0 - last.x0 <= most for line, last in pairs]
    aside = [abs(line.x0 + line.x1 - last.x0 - last.x1) > CENTRED * line.size for line, last in pairs]
    return (
        hanging[0]
        and any(hangs and apart for hangs, apart in zip(hanging[1:], aside[1:], strict=True))
        and not any(is_value_cell(cell.lines) for cell in cells)
        and cells[0].lines[0].y0 - above[0].lines[-1].y1 < WRAP_DISTANCE * cells[0].lines[0].size
    )


def _is_close(cells: list[TableCell], above: list[TableCell], distance: float) -> bool:
    """Return whether a label has a line above or below the row's, nearer than others are (``distance``)."""
    last, line = above[0].lines[-1], cells[0].lines[0]
    lone = line if len(cells) == 1 else last
    return (
        cells[0].column == above[0].column == 0
        and 1 in (len(cells), len(above))
        and len(cells) != len(above)
        and 0 < line.baseline - last.baseline <= min(CLOSE * distance, LABEL_LEADING * line.size)
        and not lone.text.endswith(":")
        and line.size == last.size
    )


def joined_texts(rows: Sequence[list[TableCell]]) -> list[list[TableCell]]:
    """Join rows of texts without a label to the row above: where each is nearer to it than any row with a
    label, or each text goes on with a word that had no room above.
    """
    start = next((n for n, row in enumerate(rows) if len(row) > 1 and row[0].column == 0), len(rows))
    labelled = [_gap(above, row) for above, row in pairwise(rows[start:]) if row[0].column == 0]
    others = [_gap(above, row) for above, row in pairwise(rows[start:]) if row[0].column > 0]
    if not others:
        return list(rows)
    texts = not any(is_value_cell(cell.lines) for row in rows[start + 1 :] if row[0].column for cell in row)
    near = texts and len(labelled) >= LABELLED_ROWS and min(labelled) - max(others) >= NEARER
    edges: dict[int, float] = {}
    for cell in (cell for row in rows for cell in row):
        edges[cell.column] = max([edges.get(cell.column, 0.0), *(line.x1 for line in cell.lines)])
    out = [list(row) for row in rows[: start + 1]]
    for row in rows[start + 1 :]:
        over = {cell.column for cell in out[-1] if not is_value_cell(cell.lines)}
        goes_on = near and over.issuperset(cell.column for cell in row)
        if row[0].column and (goes_on or _had_no_room(row, out[-1], edges)):
            absorb(out[-1], row)
        else:
            out.append(row)
    return out


def _gap(above: Sequence[TableCell], row: Sequence[TableCell]) -> float:
    """Return the space between two rows (ems)."""
    line = row[0].lines[0]
    return (min(cell.lines[0].y0 for cell in row) - max(cell.lines[-1].y1 for cell in above)) / line.size


def _had_no_room(row: Sequence[TableCell], above: Sequence[TableCell], edges: dict[int, float]) -> bool:
    """Return whether each text goes on from the line right above, which had no room for its first word."""
    over = {cell.column: cell.lines[-1] for cell in above}
    return any(cell.lines[0].text[0].islower() for cell in row) and all(
        cell.column in over
        and not is_value_cell(cell.lines)
        and cell.lines[0].text != over[cell.column].text
        and cell.lines[0].y0 - over[cell.column].y1 < WRAP_DISTANCE * cell.lines[0].size
        and over[cell.column].x1 + WORD_SPACE * cell.lines[0].size + cell.lines[0].words[0].rect.width
        > edges[cell.column]
        for cell in row
    )


def wrapped_rows(rows: Sequence[list[TableCell]]) -> list[list[TableCell]]:
    """Join rows where the wrapped text of a full column continues below, at its own leading."""
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
    """Return the right edges of columns of wrapped text: long lines, half of which reach the edge."""
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
    """Return whether a text of the row above fills its last line and the next is right below.

    Where the first column has a cell, which may begin a row, only that text counts."""
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
    """Return whether the cells are beside wrapped ones: nearer to the row above than lines can be.

    A text wraps beside values or another text; values below values are rows, or the scale of a chart.
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


def _continues(cells: list[TableCell], above: list[TableCell]) -> bool:
    """Return whether the row is one cell that continues the text right above it in the same column."""
    if len(cells) > 1:
        return _all_continue(cells, above)
    over = next((cell for cell in above if cell.column == cells[0].column), None)
    if over is None or _is_whole_date(over):
        return False
    last, line = over.lines[-1], cells[0].lines[0]
    if sum(cell.rect.overlap_x(line.rect) > 0 for cell in above) > 1:
        return False  # a text across cells
    close = line.y0 - last.y1 < WRAP_DISTANCE * line.size and is_same_weight(last, line)
    if cells[0].column > 0:
        is_text = not is_value_cell(cells[0].lines) or _keeps_leading(over.lines, line)
        return close and len(above) > 1 and above[0].column == 0 and is_text
    return close and len(above) > 1 and bool(_CONTINUES.match(line.text)) and line.x0 > over.lines[0].x0 - 1


def _is_whole_date(cell: TableCell) -> bool:
    """Return whether the cell is a date with its year: the text below it is a head of its own.

    True: "December 31, 2017". False: "2017", "December 31,".
    """
    text = cell_text(cell.lines)
    return is_date(text) and bool(YEAR.search(text)) and not text.isdecimal()


def _all_continue(cells: list[TableCell], above: list[TableCell]) -> bool:
    """Return whether each text right above goes on, in small letters, in the same column."""
    return (
        [cell.column for cell in cells] == [cell.column for cell in above]
        and cells[0].lines[0].y0 - above[0].lines[-1].y1 < WRAP_DISTANCE * cells[0].lines[0].size
        and all(
            cell.lines[0].text[0].islower()
            and over.lines[0].text[0].isupper()
            and len(over.lines[0].words) > 1
            and not over.lines[-1].text.endswith((".", ":", ";", "?", "!"))
            for cell, over in zip(cells, above, strict=True)
        )
    )


def _keeps_leading(lines: Sequence[Line], line: Line) -> bool:
    """Return whether a value is the next line of a text of several lines: at its edge, at its leading."""
    if len(lines) < 2 or abs(line.x0 - lines[-1].x0) > 1 or any(is_value(other.text) for other in lines):
        return False
    pitch = lines[-1].baseline - lines[-2].baseline
    return abs(line.baseline - lines[-1].baseline - pitch) <= 0.05 * line.size


def _ends_head(cells: list[TableCell], above: list[TableCell]) -> bool:
    """Return whether the row above has the first line of this row's wrapped head."""
    if len(above) > 1 or above[0].column != 0 or cells[0].column != 0 or len(cells) < 2:
        return False
    last, line = above[0].lines[-1], cells[0].lines[0]
    return (
        line.y0 - last.y1 < HEAD_GAP * line.size
        and not last.text.endswith(":")
        and bool(_CONTINUES.match(line.text))
        and last.style.bold == line.style.bold
    )


def absorb(above: list[TableCell], cells: list[TableCell]) -> None:
    """Add the cells to those of the row above."""
    for cell in cells:
        same = next((c for c in above if c.column == cell.column), None)
        if same:
            same.lines.extend(cell.lines)
        else:
            above.append(cell)
    above.sort(key=lambda cell: cell.column)


def head_levels(rows: Sequence[list[TableCell]]) -> list[list[TableCell]]:
    """Return two header rows, where several heads are over several lower ones each; else empty."""
    over = [cell for row in rows[:-1] for cell in row if cell.column > 0]
    lowest = [cell for cell in rows[-1] if cell.column > 0]
    size = len(lowest) // len(over) if len(over) > 1 else 0
    if size < 2 or size * len(over) != len(lowest):
        return []
    for row in rows[1:-1]:
        absorb(rows[0], row)
    return [rows[0], rows[-1]]


def _mark_heads(blocks: list[Block], table: TableBlock, most: int) -> None:
    """Mark the rows above the first value (not a date) as headers.

    Below column heads, the head of a group of rows is not one; ``(In millions)`` is.
    """
    known = most < len(blocks)
    periods = _rows_of_periods(blocks[: min(most, PERIOD_ROWS)])
    for n, block in enumerate(blocks[:most]):
        body = [cell_text(cell.lines) for cell in block.cells if cell.column > 0]
        if n >= periods and (
            any(is_amount(text) or _holds_figures(text) or _MEASURED.match(text) for text in body)
            or _has_only_values(block)
        ):
            known = True
            break
        if not body and n and _heads_rows(block.lines[0].text, table):
            break
        if begins_row(block) and table.head and _is_lighter(block, table.head[-1]):
            break
        block.header = True
        table.head.append(block)
    begins = [n for n, block in enumerate(table.head) if begins_row(block)]
    if len(table.head) == len(blocks) or len(begins) > (MOST_HEADS if known else 1):
        above = table.head[: begins[0]] if begins else []
        titled = begins and all(_is_title(row) or _wraps_into(row, table.head[begins[0]]) for row in above)
        titled = titled and not known
        kept = 0 if not known and _opens_with_text(blocks) else begins[0] + 1 if titled else 1
        for block in blocks[kept:]:
            block.header = False
        del table.head[kept:]
    if len(table.head) == 1 and is_typed_apart(blocks):
        table.head.pop().header = False


def _is_lighter(block: Block, head: Block) -> bool:
    """Return whether no text of the row is bold, while all of the head above are, in as many cells."""
    return (
        len(block.cells) == len(head.cells)
        and all(line.style.bold for line in head.lines)
        and not any(line.style.bold for line in block.lines)
    )


def _has_only_values(block: Block) -> bool:
    """Return whether only values are beside a label: "(6)" may be a footnote mark, but heads have words."""
    texts = [cell_text(cell.lines) for cell in block.cells[1:]]
    return begins_row(block) and all(is_value(text) and not is_date(text) for text in texts)


def _holds_figures(text: str) -> bool:
    """Return whether the text is several values, and signs between them: "$10.60 – $10.70 / $10.65"."""
    values = sum(map(is_value, text.split()))
    return values > 1 and not (_LETTERS.search(text) or is_date(text) or YEAR.search(text))


def _is_title(row: Block) -> bool:
    return len(row.cells) == 1 and row.cells[0].column == 0


def _wraps_into(row: Block, below: Block) -> bool:
    """Return whether each text is the first line of a head that goes on in the row right below."""
    heads = {cell.column: cell.lines[0] for cell in below.cells}
    return all(
        cell.column > 0
        and cell.column in heads
        and heads[cell.column].y0 - cell.lines[-1].y1 < HEAD_GAP * cell.lines[-1].size
        and heads[cell.column].style == cell.lines[-1].style
        for cell in row.cells
    )


def _opens_with_text(blocks: Sequence[Block]) -> bool:
    """Return whether the first row has a sentence, and the type of the second: it heads no texts."""
    first, *second = ({cell.column: cell.lines for cell in block.cells} for block in blocks[:2])
    same = all(lines[0].style == row[n][0].style for row in second for n, lines in first.items() if n in row)
    return same and any(_SENTENCE.search(cell_text(lines)) for n, lines in first.items() if n)


def _rows_of_periods(blocks: Sequence[Block]) -> int:
    """Return the number of rows up to a line of periods without amounts other than footnote marks."""
    for n, block in enumerate(blocks):
        cells = [cell.lines for cell in block.cells if cell.column > 0]
        if is_period_line(cells) and not begins_row(block):
            return n + 1
        if any(map(is_amount, map(cell_text, cells))):
            break
    return 0


def begins_row(block: Block) -> bool:
    """Return whether a text in the first column has others beside it and does not continue the one above."""
    first = block.lines[0].text
    return len(block.cells) > 1 and block.cells[0].column == 0 and not (first[0] == "(" or first[0].islower())


def _heads_rows(text: str, table: TableBlock) -> bool:
    """Return whether a lone text in the first column heads the rows below: the columns have heads already."""
    headed = any(cell.column > 0 for head in table.head for cell in head.cells)
    return text.endswith(":") or (headed and not text.startswith("("))


def mirrored_row(row: Sequence[Line]) -> list[Line]:
    """Return the mirrored lines of a row, left to right."""
    return sorted((mirrored(line) for line in row), key=attrgetter("x0"))


def mirrored(line: Line) -> Line:
    """Return the line mirrored at x = 0; its words stay in reading order."""
    return Line([replace(word, x0=-word.x1, x1=-word.x0) for word in line.words])


def turned_back(blocks: Sequence[Block]) -> list[Block]:
    """Return mirrored rows in the coordinates of the page."""
    for block in blocks:
        assert block.table is not None
        last = block.table.columns - 1
        block.cells = [
            TableCell(last - cell.column, [mirrored(line) for line in cell.lines])
            for cell in block.cells[::-1]
        ]
    return read_leftwards(blocks)


def read_leftwards(blocks: Sequence[Block]) -> list[Block]:
    """Join the pieces of each line of a right-to-left cell in reading order."""
    for block in blocks:
        for cell in block.cells:
            if len(cell.lines) > 1 and any(line.rtl for line in cell.lines):
                cell.lines = [merged(row, rtl=True) for row in rows_of(cell.lines)]
        block.lines = [line for cell in block.cells for line in cell.lines]
    return list(blocks)


# Maximum distance of the labels of a drawing (points).
LABEL = 24.0
# Scales of charts instead of a table: minimum share of lines in drawings, maximum share of rows with a name.
DRAWN, NAMED_ROWS = 0.6, 0.35
# Minimum rows of a table with a scale within a drawing.
DRAWN_ROWS = 3
# Minimum share of values among the words of the scale of an axis.
SCALE_VALUES = 0.8
# Data instead of an axis: share and number of rows with the same number of cells; columns with at most this
# share of equal steps from number to number.
REGULAR, DATA_ROWS, DATA_COLUMNS, EVEN_STEPS = 0.7, 6, 2, 0.4
_AMOUNT = re.compile(r"\d+(?:[.,]\d+)*")
_THOUSANDS = re.compile(r"[.,](?=\d{3}(?:\D|$))")
_WORD = re.compile(r"[^\W\d_]{3}")
_SENTENCE = re.compile(r"(?:\S+\s){4}\S*\w[.!?][”\")]?$|[。！？]$")


def without_scales(blocks: Sequence[Block], drawings: Sequence[Rect]) -> list[Block]:
    """Return the blocks, with axis numbers and curve names of charts as prose instead of tables.

    The values of bars stay a table: each of its rows begins with a name.
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
    if drawn < DRAWN * len(lines) or _holds_data(rows):
        return False
    has_scale = any(map(_is_scale, rows))
    if has_scale and len(rows) < DRAWN_ROWS:
        return True
    named = sum(_has_name(row, of_values=has_scale) for row in rows)
    return named < NAMED_ROWS * len(rows)


def _holds_data(rows: Sequence[Block]) -> bool:
    """Return whether similar rows have numbers at uneven steps: a table within a frame."""
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
    """Return whether nearly all words of the row are values, as along the axes of charts."""
    words = [word.text for line in row.lines for word in line.words]
    return len(row.cells) > 1 and sum(map(is_value, words)) >= SCALE_VALUES * len(words)


def _has_name(row: Block, *, of_values: bool) -> bool:
    """Return whether the row begins with a name; ``of_values``: not with the title of an axis."""
    names = row.cells[0].lines if len(row.cells) > 1 else ()
    if not any(_WORD.search(line.text) and not is_value(line.text) for line in names):
        return False
    return not of_values or any(is_value(line.text) for cell in row.cells[1:] for line in cell.lines)
