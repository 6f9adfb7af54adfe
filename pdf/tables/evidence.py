"""Judge each reading of lines as a table by one score: the chance that it is a table, and read right.

Rulings, gaps, alignment, heads and texts are evidence for rows and cells, measured alike on every reading.
What separates the rows decides how much each counts.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from statistics import median

from pdf.extract.words import comes_next, marker_of
from pdf.geometry import Rect
from pdf.layout.lines import SAME_BASELINE, Line, ends_sentence, looks_like_code, rows_of
from pdf.layout.page_layout import Block, TableCell
from pdf.tables.cells import holds_value, is_typed_apart, is_value, is_value_cell

# A line of this share of the widest of its column fills it.
FULL = 0.7
# Pitches within this share of the usual one are regular; cells begin level within this and end level within
# that (ems).
REGULAR, LEVEL, LEVEL_END = 0.25, 0.4, 1.4
# Wider gaps (ems) and longer labels and markers (characters) count as these.
WIDEST, LONGEST, MARKER = 4.0, 30, 8
# A lone row of a label of so many characters and so many values is a table, as the end of one.
LABEL, LONE_VALUES = 12, 3
# Cells are set to one place within this (points).
EDGE = 2.0
# Pairs of words: minimum share of cells set to one place, maximum share of first ones that fill their column.
SET, LABELS = 0.85, 0.5
# Texts: largest share of lines in one row, least share of level rows and of full lines; columns of prose have
# widths of this ratio and so many lines in a cell.
LARGEST, LEVEL_ROWS, LIKE_WIDTH, PROSE_CELL = 0.45, 0.95, 0.8, 4
# Most lines behind the first column that are values.
VALUE_LINES = 0.35
# Maximum distance of lines of one cell (ems). Headings are so many times larger than the text.
CELL_LEADING, HEADING_SIZE = 3.0, 1.15
_FIGURE = re.compile(r"\d|--")
# Share of typed lines in code, and of lines with signs of programs among those of more characters.
TYPED, CODE, SIGN_CHARS = 0.8, 0.5, 2
# Less likely readings are no tables.
LEAST = 0.5


@dataclass(frozen=True, slots=True)
class Drawn:
    """What is drawn in a region: heights of rulings across it, the place and ends of each upright one.

    ``closed``: rulings enclose it at the left and right. ``shaded``: its rulings are edges of stripes.
    """

    ys: Sequence[float] = ()
    upright: Sequence[tuple[float, float, float]] = ()
    closed: bool = False
    shaded: bool = False


NOTHING = Drawn()


class Reading:
    """Lines read as the rows of one table, and what the evidence needs of them."""

    def __init__(self, rows: Sequence[Block], drawn: Drawn = NOTHING) -> None:
        rows = [row for row in rows if row.cells]  # not a title between two tables
        self.rows, self.drawn = rows, drawn
        self.body = [row for row in rows if not row.header] or list(rows)
        self.several = [row for row in rows if len(row.cells) > 1]
        self.cells = [cell for row in rows for cell in row.cells]
        self.width = rows[0].table.columns if rows[0].table else 0
        columns: dict[int, list[TableCell]] = {}
        for cell in (cell for row in self.body for cell in row.cells if cell.span == 1):
            columns.setdefault(cell.column, []).append(cell)
        self.first = columns.pop(0, [])
        self.columns = [*columns.values()]
        self.others = [cell for cells in self.columns for cell in cells]

    @cached_property
    def box(self) -> dict[int, Rect]:
        """The boxes of the cells, by their ids."""
        return {id(cell): cell.rect for cell in self.cells}

    @cached_property
    def largest(self) -> float:
        """The share of lines in the row with most."""
        counts = [len(row.lines) for row in self.rows]
        return max(counts) / sum(counts)

    @cached_property
    def level(self) -> float:
        level = _share(list(map(_begins_level, self.several)))
        return level if level == 1 else max(level, _share(list(map(_is_centred, self.several))))

    @cached_property
    def amounts(self) -> int:
        """The number of lines that are values."""
        return sum([holds_value(line) for cell in self.cells for line in cell.lines])

    @cached_property
    def stacks(self) -> list[tuple[list[Line], TableCell, Block]]:
        """The values on several baselines of one cell, with the cell and its row."""
        found = [
            ([line for line in cell.lines if holds_value(line)], cell, row)
            for row in self.rows
            for cell in row.cells
            if len(cell.lines) > 1
        ]
        return [stack for stack in found if len(stack[0]) > 1 and len(rows_of(stack[0])) > 1]

    @cached_property
    def inner_rulings(self) -> list[float]:
        """The heights of rulings between the first and the last line."""
        middles = [(line.y0 + line.y1) / 2 for row in self.rows for line in row.lines]
        return [y for y in self.drawn.ys if min(middles) < y < max(middles)]

    @cached_property
    def inner_uprights(self) -> list[tuple[float, float, float]]:
        """The upright rulings between the first and the last cell."""
        boxes = [*self.box.values()] if self.drawn.upright else []
        left, right = min([box.x0 for box in boxes], default=0.0), max([box.x1 for box in boxes], default=0.0)
        return [upright for upright in self.drawn.upright if left + EDGE < upright[0] < right - EDGE]

    @cached_property
    def extents(self) -> list[tuple[float, float]]:
        """The heights of the middles of each row's first and last line."""
        middles = [[(line.y0 + line.y1) / 2 for line in row.lines] for row in self.rows]
        return [(min(row), max(row)) for row in middles]

    @cached_property
    def all_columns(self) -> list[list[TableCell]]:
        columns: dict[int, list[TableCell]] = {}
        for cell in (cell for cell in self.cells if cell.span == 1):
            columns.setdefault(cell.column, []).append(cell)
        return [columns[n] for n in sorted(columns)]


def confidence(rows: Sequence[Block], drawn: Drawn = NOTHING) -> float:
    """Return the chance (0..1) that the rows of one table are one; 1 for a table of the author's tags."""
    assert rows[0].table is not None
    return chance(Reading(rows, drawn), rows[0].table.parted_by)


def chance(reading: Reading, parted_by: str) -> float:
    if parted_by == "tags":
        return 1.0
    weights = WEIGHTS[parted_by]
    score = weights["any"] + sum(
        [weight * EVIDENCE[name](reading) for name, weight in weights.items() if name != "any"]
    )
    return 1 / (1 + math.exp(-max(-50.0, score)))


def _share(found: Sequence[bool], none: float = 0.0) -> float:
    return sum(found) / len(found) if found else none


def _gap(reading: Reading) -> float:
    box = reading.box
    gaps = [box[id(b)].x0 - box[id(a)].x1 for row in reading.several for a, b in pairwise(row.cells)]
    return min(WIDEST, median(gaps) / reading.body[0].lines[0].size) if gaps else 0.0


def _pitch(reading: Reading) -> float:
    pitches = [b.lines[0].baseline - a.lines[0].baseline for a, b in pairwise(reading.body)]
    usual = median(pitches) if pitches else 0.0
    return _share([abs(pitch - usual) <= REGULAR * usual for pitch in pitches], 0.5)


def _pairs_of_words(reading: Reading) -> float:
    columns = (reading.first, *reading.columns)
    are_pairs = reading.width == 2 and all(_alignment(cells) >= SET for cells in columns if cells)
    return (are_pairs and _fullness(reading.first) < LABELS) * math.log(max(1, len(reading.several)))


def _alignment(cells: Sequence[TableCell]) -> float:
    """Return the share of the cells that are set to one place: left, right or centred."""
    boxes = [cell.rect for cell in cells]
    places = [box.x0 for box in boxes], [box.x1 for box in boxes], [(box.x0 + box.x1) / 2 for box in boxes]
    return max(_share([abs(x - median(xs)) <= EDGE for x in xs]) for xs in places)


def _fullness(cells: Sequence[TableCell]) -> float:
    """Return the share of the cells that fill their column, as lines of prose do and labels do not."""
    left, right = min([c.rect.x0 for c in cells], default=0.0), max([c.rect.x1 for c in cells], default=0.0)
    return _share([cell.rect.x1 - left > FULL * (right - left) for cell in cells])


def _is_row_of_values(reading: Reading) -> bool:
    """Return whether it may be the end of a table on the page before: a long label and several values."""
    if len(reading.several) != 1:
        return False
    (row,) = reading.several
    values = [is_value_cell(cell.lines) for cell in row.cells]
    labels = [cell for cell, value in zip(row.cells[:2], values, strict=False) if not value]
    return sum(values[1:]) >= LONE_VALUES and any(
        sum([line.chars for line in cell.lines]) >= LABEL for cell in labels
    )


def _is_row_of_texts(reading: Reading) -> bool:
    """Return whether texts of several lines are side by side, and level, in three columns or more."""
    if len(reading.several) != 1 or len(reading.first) != 1:
        return False
    (row,) = reading.several
    return len(row.cells) > 2 and min([len(cell.lines) for cell in row.cells]) > 1 and _ends_level(row)


def _tallest(row: Block) -> int:
    return max([len(cell.lines) for cell in row.cells])


def _is_marker(cell: TableCell) -> bool:
    line = cell.lines[0]
    return line.chars < MARKER and bool(marker_of(line.words[0].text))


def _are_near(places: Sequence[float], distance: float) -> bool:
    return max(places) - min(places) <= distance


def _begins_level(row: Block) -> bool:
    return _are_near([cell.lines[0].baseline for cell in row.cells], LEVEL * row.lines[0].size)


def _is_centred(row: Block) -> bool:
    ends = [[y for line in cell.lines for y in (line.y0, line.y1)] for cell in row.cells]
    return _are_near([(min(ys) + max(ys)) / 2 for ys in ends], LEVEL * row.lines[0].size)


def _ends_level(row: Block) -> bool:
    return _are_near([cell.lines[-1].baseline for cell in row.cells], LEVEL_END * row.lines[0].size)


def _stacked(reading: Reading) -> float:
    """Return the share of values that are stacked in one cell."""
    return sum([len(values) for values, _, _ in reading.stacks]) / max(1, reading.amounts)


def _labelled_stacks(reading: Reading) -> float:
    """Return the share of stacked values where most have a label on their baseline: each is a row."""
    stacks = reading.stacks
    labelled = sum([_is_labelled(value, cell, row) for values, cell, row in stacks for value in values])
    stacked = sum([len(values) for values, _, _ in stacks])
    return stacked / max(1, reading.amounts) if 2 * labelled > stacked else 0.0


def _is_labelled(value: Line, cell: TableCell, row: Block) -> bool:
    """Return whether the first cell of the row has a line on the value's baseline."""
    last = row.cells[-1]
    first = last if any(line.rtl for line in last.lines) else row.cells[0]
    near = SAME_BASELINE * value.size
    return first is cell or any(abs(line.baseline - value.baseline) <= near for line in first.lines)


def _ruled_rows(reading: Reading) -> float:
    """Return the share of neighbouring rows with a ruling between them."""
    return _share(
        [
            any(above < y < below for y in reading.drawn.ys)
            for (_, above), (below, _) in pairwise(reading.extents)
        ]
    )


def _crossed(reading: Reading) -> float:
    """Return the share of cells with an upright ruling through them."""
    boxes = [*reading.box.values()] if reading.inner_uprights else []
    return _share(
        [
            any(
                box.x0 + EDGE < x < box.x1 - EDGE and top <= (box.y0 + box.y1) / 2 <= bottom
                for x, top, bottom in reading.inner_uprights
            )
            for box in boxes
        ]
    )


def _wrapped(reading: Reading) -> float:
    """Return the share of wrapped lines that fill their columns, as in texts but not in addresses."""
    found = []
    for cells in reading.all_columns:
        boxes = [reading.box[id(cell)] for cell in cells]
        left, right = min([box.x0 for box in boxes]), max([box.x1 for box in boxes])
        found += [line.x1 - line.x0 >= FULL * (right - left) for cell in cells for line in cell.lines[:-1]]
    return _share(found, FULL)


def _prose(reading: Reading) -> float:
    """Return how far the rows are pieces of columns of prose whose paragraphs begin at one height.

    Such columns are of like width, and the pieces of a row end at one height, or all have a heading in bold;
    of two cells of a table, one is nearly always shorter.
    """
    columns = reading.all_columns
    widths = sorted(max(c.rect.x1 for c in cells) - min(c.rect.x0 for c in cells) for cells in columns)
    lines = sum(len(cell.lines) for cells in columns for cell in cells)
    alike = len(widths) > 1 and widths[0] >= LIKE_WIDTH * widths[-1]
    if not alike or lines < PROSE_CELL * sum(map(len, columns)):
        return 0.0
    return _share([_ends_level(row) or all(map(_is_headed, row.cells)) for row in reading.several[:-1]])


def _is_headed(cell: TableCell) -> bool:
    return cell.lines[0].style.bold and len(cell.lines) > 1 and not cell.lines[1].style.bold


def _sentences(reading: Reading) -> float:
    """Return the share of first cells of one line that end a sentence, as in notes beside texts."""
    texts = 1 - _share([is_value_cell(cell.lines) for cell in reading.others])
    return texts * _share([ends_sentence(cell.lines[0]) for cell in reading.first if len(cell.lines) == 1])


def _is_code(reading: Reading) -> bool:
    """Return whether all but numbers is typed, and half of the longer lines have signs of programs."""
    lines = [line for cell in reading.cells for line in cell.lines]
    long = [line for line in lines if line.chars > SIGN_CHARS]
    signs = [
        looks_like_code([line]) and not (is_value(line.text) and _FIGURE.search(line.text)) for line in long
    ]
    return (
        _share([line.style.mono for line in lines if not line.text.isdecimal()]) > TYPED
        and _share(signs) >= CODE
    )


def _has_bold_head(reading: Reading) -> bool:
    """Return whether the first row names three columns or more in bold, and no line below is bold."""
    head, *rows = reading.rows
    named = all(line.style.bold and line.chars > SIGN_CHARS for line in head.lines)
    below = [line.style.bold for row in rows for line in row.lines]
    return named and len(head.cells) > 2 and len(rows) > 1 and not any(below)


def _counted(reading: Reading) -> bool:
    """Return whether the first of two columns counts, as the markers of a list do."""
    first = [cells[0].lines[0].text for row in reading.rows if (cells := row.cells) and not cells[0].column]
    counts = len(first) > 1 and all(comes_next(text, above) for above, text in pairwise(first))
    return len(reading.all_columns) == 2 and counts


def _loose(reading: Reading) -> float:
    """Return the share of cells whose lines are farther apart than those of a text: labels of a drawing."""
    pitches = [
        [(below.baseline - line.baseline) / below.size for line, below in pairwise(cell.lines)]
        for cell in reading.cells
    ]
    return _share([max(found, default=0.0) > CELL_LEADING for found in pitches])


def has_larger_head(reading: Reading) -> bool:
    """Return whether the first row is larger than all below: headings of columns of prose."""
    head, *rows = reading.rows
    below = max([line.size for row in rows for line in row.lines], default=math.inf)
    return len(head.cells) > 1 and all(cell.lines[0].size > HEADING_SIZE * below for cell in head.cells)


# Each piece of evidence for or against a reading, most as shares.
EVIDENCE: dict[str, Callable[[Reading], float]] = {
    "columns": lambda r: math.log(max(1, r.width)),
    "rows": lambda r: math.log(len(r.rows)),
    "two columns": lambda r: r.width == 2,
    "one row": lambda r: len(r.several) < 2,
    "row of values": _is_row_of_values,
    "row of texts": _is_row_of_texts,
    "filled": lambda r: (len(r.first) + len(r.others)) / (max(1, r.width) * len(r.body)),
    "values": lambda r: _share([is_value_cell(cell.lines) for cell in r.others]),
    "too many values": lambda r: max(
        0.0, _share([holds_value(line) for cell in r.others for line in cell.lines]) - VALUE_LINES
    ),
    "first label": lambda r: (
        min(LONGEST, sum([line.chars for line in r.first[0].lines])) / LONGEST if r.first else 0.0
    ),
    "markers": lambda r: _share(list(map(_is_marker, r.first))),
    "named pairs": lambda r: (
        (r.width == 2) * _share([cell.lines[-1].text.endswith((":", "：")) for cell in r.first])
    ),
    "pairs of words": _pairs_of_words,
    "gap": _gap,
    "pitch": _pitch,
    "tall": lambda r: _share([_tallest(row) > 1 for row in r.rows]),
    "largest row": lambda r: r.largest,
    "level": lambda r: r.level,
    "ends level": lambda r: _share([_ends_level(row) for row in r.several if _tallest(row) > 2]),
    "words": lambda r: sum([len(line.words) for row in r.rows for line in row.lines]) / len(r.cells),
    "heads": lambda r: r.rows[0].header,
    "lone": lambda r: _share([len(row.cells) == 1 for row in r.rows]),
    "stacked": _stacked,
    "labelled stacks": _labelled_stacks,
    "closed": lambda r: r.drawn.closed,
    "shaded": lambda r: r.drawn.shaded,
    "ruled rows": _ruled_rows,
    "rulings": lambda r: math.log1p(len(r.inner_rulings)),
    "uprights": lambda r: math.log1p(len(r.inner_uprights)),
    "crossed": _crossed,
    "sentences": lambda r: _share(
        [len(c.lines) > 1 and c.lines[-1].text.endswith((".", ";")) for c in r.cells]
    ),
    "first sentences": _sentences,
    "tall rows": lambda r: min(2, sum([_tallest(row) > 1 for row in r.rows])),
    "too large": lambda r: max(0.0, r.largest - LARGEST),
    "not level": lambda r: max(0.0, LEVEL_ROWS - r.level),
    "not full": lambda r: max(0.0, FULL - _wrapped(r)),
    "prose": _prose,
    "counted": _counted,
    "loose": _loose,
    "larger head": has_larger_head,
    "code": _is_code,
    "typed pairs": lambda r: r.width == 2 and is_typed_apart(r.body) and not _counted(r),
    "bold head": _has_bold_head,
}
# How much each counts by what separates the rows: weights of logistic regressions on readings that finders
# proposed on 959 pages of the corpora, in the documents of ICDAR 2013 and on the drawn pages of the tests
# (2,617 by baselines, 634 by spaces, 669 between rules, 282 of grids). Right is what rules for each kind had
# accepted; maps, axes of charts and labels of drawings among these, seen by eye, are wrong, and whole tables
# that the rules read in pieces are right. "Not level", "not full", "larger head" were raised by hand until
# infoboxes, contents and columns below headings were left alone; the last three were set by hand on
# manuals and reference cards.
_TABLE = """
                    baselines     spaces      rules       grid
any                    -10.91     -12.13       0.62       4.51
columns                  1.46          .          .          .
rows                        .          .       0.61          .
two columns             -2.27          .      -1.90          .
one row                 -4.17          .          .       2.92
row of values            5.17          .          .          .
row of texts             8.96          .          .          .
filled                   4.74          .          .          .
values                   4.83          .      -4.34      -0.79
too many values             .     -26.82          .     -15.70
first label              1.52          .          .      -5.11
markers                  0.93          .          .          .
named pairs              2.21          .          .          .
pairs of words           1.55          .          .          .
gap                      0.81          .          .          .
pitch                    1.89          .          .          .
tall                    -0.94          .      -1.25       6.91
largest row             -4.01      -4.76          .          .
level                    1.80       9.23      -0.79          .
ends level              -1.45          .          .          .
words                   -0.05          .          .      -0.07
heads                       .          .          .       2.89
lone                        .     -15.20      -8.12      13.07
stacked                     .      -3.67      -8.66          .
labelled stacks             .          .          .     -10.67
closed                      .          .          .      10.84
shaded                      .          .      -6.24          .
ruled rows                  .          .       6.20          .
rulings                     .          .      -0.91          .
uprights                    .          .      -2.39          .
crossed                     .          .      -9.00     -15.74
sentences                   .          .      12.53          .
first sentences         -8.00          .          .          .
tall rows                   .       3.77          .          .
too large                   .     -35.59     -20.19     -19.19
not level                   .     -18.00          .          .
not full                    .     -20.00          .          .
prose                       .      -5.51          .          .
counted                     .      -5.62          .          .
loose                       .          .          .     -19.91
larger head                 .     -11.00          .          .
code                   -12.00     -12.00     -12.00     -12.00
typed pairs              3.00          .          .          .
bold head                3.00          .          .          .
"""


def _weights() -> dict[str, dict[str, float]]:
    kinds, *lines = _TABLE.strip().splitlines()
    rows = [re.split(r"\s{2,}", line) for line in lines]
    return {
        kind: {name: float(numbers[n]) for name, *numbers in rows if numbers[n] != "."}
        for n, kind in enumerate(kinds.split())
    }


WEIGHTS = _weights()
