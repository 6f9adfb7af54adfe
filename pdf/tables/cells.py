"""Split rows into cells; tell cells with values from prose."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from functools import lru_cache
from itertools import pairwise, product
from operator import gt, lt

from pdf.extract.right_to_left import MARKER_WORDS
from pdf.extract.words import RawWord, is_contents_line, marker_of
from pdf.layout.lines import COLUMN_GAP, Line, is_numbered_equation, rows_of
from pdf.layout.page_layout import Block
from text.numbers import YEAR, YEAR_DIGITS
from text.units import CURRENCY_CODES

# Minimum gap between separately drawn values (ems).
VALUE_GAP = 0.6
# Minimum gap between final numbers with decimals, in narrow columns (ems).
DECIMAL_GAP = 0.4
# A currency sign this far after a value (ems) belongs to the next one.
SIGN_GAP = 0.2
# Maximum gap between a number and its closing sign (ems).
TAIL_GAP = 2.0
# The same for a percent sign aligned at a column's edge (ems).
PERCENT_GAP = 4.0
# Texts of this size ratio are not cells of one row; shorter ones are marks.
LARGER, MARK_CHARS = 1.8, 3
# From this many cells on, a row's cells are assigned by their order.
STEP_CELLS = 3
# Maximum gap between a list marker and its text (ems), and within one line.
MARKER_GAP = 4.5
MARKER_SPACE = 0.4

# Maximum distance of the next line of a cell (line heights); minimum distance of lines of one cell, and of
# rows (ems).
WRAP_DISTANCE, BETWEEN = 0.85, 0.75

# A value may begin with a currency's code. Any three letters would make "ACE05" a value.
_CODES = "|".join(CURRENCY_CODES) + "|TWD|THB|ILS|IDR|TRY|CLP|PHP|MYR|COP|RON|PEN|EGP|VND|NGN|KES|PKR|BDT|UAH"
_VALUE = re.compile(
    r"^[\s$€£¥₹₽%‰().,+\-–—−*/:<>≤≥~x×✓✔√●○✗✘☐☑☒X]*$|"
    rf"^[$€£¥₹₽(\[\-–—−+<>~*†≈]*\s*(?:[A-Z]{{0,3}}\$|(?:{_CODES}))?\s*"
    r"\(?[\d٠-٩۰-۹][\d٠-٩۰-۹,.\s/:'’\-–]*\s*"
    rf"[%‰)\]x×*†‡+°]*(?:\s?(?:%|pts?|bps|bn|mn|m|k|million|billion|x|[$€£¥₹₽]|zł|Kč|kr|(?-i:{_CODES})))?[)*†‡\d]*$|"
    r"^\(?(?:n/?[am]\.?|nil|none|yes|no|tbd|nm)\)?$",
    re.IGNORECASE,
)
# Joints of the parts of one value: a range, a mean and its spread, a number and its share in brackets.
_JOINED = re.compile(r"\sto\s|\s?±\s?|(?<=[\d%])\s?(?=[(\[][+\-–−]?\d+(?:%|[.,]\d))")
_DECIMAL = re.compile(r"^[(+\-–−]?\d+[.,]\d+(?:[(\[][^()\[\]]+[)\]]|±[\d.,]+)?[%*†‡)]*$")
_MONTHS = "jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec"
_DATE = re.compile(
    rf"^(?:(?:{_MONTHS})[a-z]*\.?\s(?:\d{{1,2}},?\s?)?(?:\d{{4}})?[*,]?|\d{{1,2}}\s(?:{_MONTHS})[a-z]*\.?(?:\s\d{{4}})?|"
    rf"(?:FY\s?)?{YEAR_DIGITS}(?:\s?[-–/]\s?(?:19|20)?\d\d)?[AE*]?|Q[1-4](?:\s\d{{4}})?)$",
    re.IGNORECASE,
)
_CURRENCY = frozenset(map("".join, product(("", "(", "["), ("", "US", "C", "A", "HK"), "$€£¥₹₽")))
_NUMBER = re.compile(r"[\d(—–-]")
# A mark in a column of its own may be close after a long text.
TICKS = frozenset("✓✔√✗✘☐☑☒●○")
# Signs for yes and no, beside check marks.
YES_OR_NO = TICKS | {"x", "X"}
# Maximum characters of a period: "For the year ended December 31, 2019".
PERIOD_CHARS = 40
# A footnote mark, a sign as column head, two compared years, the day of a wrapped date: "(1)", "%", "21/20",
# "28,".
_MARK = re.compile(r"^(?:\(\d{1,2}\)|[%‰$€£¥]+|\d\d/\d\d|\d{1,2},)$")
_PERCENT = ("%", "‰", "%)", ")%")
# Leaders: four dots or more, spaced or not; other signs are leaders before a value.
_LEADERS = re.compile(r"(?:\.\s?){4}|…{3}|_{4}|(?:- ){6}")
_LEADERS_END = re.compile(r"(?:(?:\.\s?){4}|…{3}|_{4}|(?:- ){5}-)$")
# A value that is no number of a page.
_PRECISE = re.compile(r"\d[.,]\d|[%$€£¥₹₽]")
# Joints of a range whose ends are set apart, their maximum gaps and difference of gaps (ems); numbers.
_JOINTS, RANGE_GAP = frozenset(("-", "–", "—", "to", "bis", "à")), (1.5, 0.5)
_NUMBERS = re.compile(r"\d+(?:,\d{3})*(?:\.\d+)?")
_TAIL = re.compile(r"^[%)\]*x†‡]+$")


@lru_cache(maxsize=65536)
def is_value(text: str) -> bool:
    """Return whether a text is a value of a table: number, amount, percentage, date, dash or check mark."""
    if len(text) > 40:
        return False
    return bool(_DATE.match(text)) or all(map(_VALUE.match, _JOINED.split(text)))


def is_currency(text: str) -> bool:
    """Return whether a text is only a currency sign such as ``$`` or ``US$``."""
    return text in _CURRENCY


@lru_cache(maxsize=4096)
def is_date(text: str) -> bool:
    """Return whether a text is a date, a quarter, a year or several: a value, or a column head."""
    return len(text) <= 40 and bool(_DATE.match(text))


class Row:
    """One visual row: cells left to right, each with its lines.

    ``is_text``: it belongs to a text across all columns, below the row that it describes.
    """

    __slots__ = ("cells", "is_item", "is_mixed", "is_text", "lines", "size", "x0", "x1", "y0", "y1")

    def __init__(self, lines: Sequence[Line]) -> None:
        self.lines, self.is_text = lines, False
        decimals = _decimals_at_end(lines)
        if len(lines) == 1 and not decimals and not _ends_precisely(lines[0].text):
            (line,) = lines
            self.cells, self.is_item, self.is_mixed = [[line]], False, False
            self.x0, self.y0, self.x1, self.y1, self.size = line.x0, line.y0, line.x1, line.y1, line.size
            return
        text = cell_text(lines)
        if _is_contents_row(lines, text):
            self.cells = [list(lines)]
        else:
            cells = _cells_of(_without(lines, decimals), text) + [[Line([word])] for word in decimals]
            self.cells = _with_ranges(cells)
        self.y0 = min([line.y0 for line in lines])
        self.y1 = max([line.y1 for line in lines])
        self.x0 = lines[0].x0
        self.x1 = max([line.x1 for line in lines])
        sizes = [line.size for line in lines]
        self.size = max(sizes)
        self.is_item = _is_item(self.cells) or is_numbered_equation(lines)
        self.is_mixed = self.size > LARGER * min(sizes) and any(
            line.chars >= MARK_CHARS and self.size > LARGER * line.size for line in lines
        )

    @property
    def multi(self) -> bool:
        """Whether it has several cells and is not a list item, an equation or a title with small print."""
        return len(self.cells) > 1 and not self.is_item and not self.is_mixed


def cell_rows(lines: Sequence[Line]) -> list[Row]:
    """Return the rows of the lines, top to bottom. A row that was split into cells before is reused."""
    return [row_of(row) for row in rows_of(lines)]


def row_of(lines: Sequence[Line]) -> Row:
    """Return the row of these lines, left to right; cached, as every finder of tables needs it."""
    first = lines[0]
    known: Row | None = first.row
    if known is None or known.lines != lines:
        first.row = known = Row(lines)
    return known


_DOTS = {".", "·", "…"}


def _is_contents_row(lines: Sequence[Line], text: str) -> bool:
    """Return whether leaders join the row's lines: a title and its page in a table of contents."""
    dots = sum(line.text in _DOTS for line in lines)  # leaders set apart are lines of their own
    return is_contents_line(text) and (
        (dots > 3 and any(map(str.isalpha, text)))
        or any("...." in line.text or ". . ." in line.text for line in lines)
    )


def _decimals_at_end(lines: Sequence[Line]) -> list[RawWord]:
    """Return two or more final numbers with decimals, separated from the text before them."""
    if lines[-1].text[-1:].isalpha() or not _DECIMAL.match(lines[-1].words[-1].text):
        return []
    words = [word for line in lines for word in line.words]
    start = len(words) - 1
    while start and _DECIMAL.match(words[start - 1].text) and _are_apart(words[start - 1], words[start]):
        start -= 1
    if start == len(words) - 1 or (start and not _is_detached(words[start - 1], words[start])):
        return []
    return words[start:]


def _is_detached(word: RawWord, number: RawWord) -> bool:
    gap = DECIMAL_GAP if word.style.mono and number.style.mono else VALUE_GAP  # a space of the same width
    return _are_apart(word, number, gap) and not is_currency(word.text)


def _are_apart(word: RawWord, following: RawWord, gap: float = DECIMAL_GAP) -> bool:
    return following.x0 - word.x1 >= gap * following.style.size


def _without(lines: Sequence[Line], words: Sequence[RawWord]) -> Sequence[Line]:
    taken = set(map(id, words))
    out: list[Line] = []
    for line in lines if taken else ():
        kept = [word for word in line.words if id(word) not in taken]
        if kept:
            out.append(line if len(kept) == len(line.words) else Line(kept))
    return out if taken else lines


def _cells_of(lines: Sequence[Line], text: str) -> list[list[Line]]:
    """Return the cells; currency signs join the number after them, closing signs the one before."""
    cells: list[list[Line]] = []
    signs_lead = _signs_lead(text)
    led: set[int] = set()  # ids of values that leaders touch, with other cells behind them
    if _LEADERS.search(text):
        splits_last = _ends_precisely(text)
        parts = [_behind_leaders(line) if splits_last or line is not lines[-1] else [line] for line in lines]
        led = {id(part[-1]) for part in parts if len(part) > 1}
        lines = [piece for part in parts for piece in part]
    for line in [piece for whole in lines for piece in _before_sign(whole)] if signs_lead else lines:
        opens = (signs_lead and is_currency(line.text)) or id(line) in led
        if cells and not opens and _same_cell(cells[-1], line):
            cells[-1].append(line)
        else:
            cells.append([line])
    return cells


def _with_ranges(cells: list[list[Line]]) -> list[list[Line]]:
    """Join a smaller value, a dash or "to", and a larger value, close together: a range is one value.

    A dash for nothing in a column of its own is far from the value on one side.
    """
    n = 1
    while n < len(cells) - 1:
        left, joint, right = (cell_text(cell) for cell in cells[n - 1 : n + 2])
        if joint in _JOINTS and is_amount(left) and is_amount(right) and _increase(left, right):
            low, middle, high = cells[n - 1 : n + 2]
            before, after = middle[0].x0 - low[-1].x1, high[0].x0 - middle[-1].x1
            widest, uneven = RANGE_GAP[0] * middle[0].size, RANGE_GAP[1] * middle[0].size
            if max(before, after) < widest and abs(before - after) < uneven:
                cells[n - 1 : n + 2] = [[*low, *middle, *high]]
        n += 1
    return cells


def _increase(left: str, right: str) -> bool:
    """Return whether both values have one number each, and one unit, and the second is larger."""
    low, high = _NUMBERS.findall(left), _NUMBERS.findall(right)
    return (
        len(low) == len(high) == 1
        and ("%" in right or "%" not in left)
        and float(low[0].replace(",", "")) < float(high[0].replace(",", ""))
    )


def _ends_precisely(text: str) -> bool:
    """Return whether leaders precede a value that is no number of a page."""
    return bool(_LEADERS.search(text)) and bool(_PRECISE.search(text.rpartition(" ")[2]))


def _behind_leaders(line: Line) -> list[Line]:
    """Split the line before a value that its leaders touch."""
    *label, value = line.words
    touch = label and any(map(str.isdigit, value.text)) and is_value(value.text)
    if touch and _LEADERS_END.search(" ".join([word.text for word in label])):
        led = Line(label)  # to the end of its words: leaders reach into the column of longer values
        led.x1 = max([word.x1 for word in label if word.text.strip(". ·…_-")], default=led.x1)
        return [led, Line([value])]
    return [line]


def _signs_lead(text: str) -> bool:
    """Return whether each currency sign of the row precedes a number, however near the previous number."""
    words = text.split(" ")
    if _CURRENCY.isdisjoint(words):
        return False
    signs = [n for n, word in enumerate(words) if is_currency(word)]
    return signs[-1] + 1 < len(words) and all(_NUMBER.match(words[n + 1]) for n in signs)


def _before_sign(line: Line) -> list[Line]:
    """Split the line before its final currency sign."""
    if len(line.words) > 1 and is_currency(line.words[-1].text):
        return [Line(line.words[:-1]), Line(line.words[-1:])]
    return [line]


def _same_cell(cell: Sequence[Line], line: Line) -> bool:
    last = cell[-1]
    gap = line.x0 - last.x1
    em = max(line.size, last.size)
    if line.text in _PERCENT:
        return gap < PERCENT_GAP * em and is_value(last.text) and not is_currency(last.text)
    if gap >= TAIL_GAP * em and not is_currency(last.text):  # as between most cells
        return False
    if len(cell) == 1 and marker_of(last.text):
        return gap < MARKER_SPACE * em
    if is_currency(line.text) and not is_currency(last.text):
        return gap < (SIGN_GAP if is_value(last.text) else VALUE_GAP) * em
    if gap < VALUE_GAP * em:
        return not (line.opens_cell and last.text.isdecimal() and not is_value(line.text))
    if line.text in TICKS:
        return False
    if is_currency(last.text):
        return bool(_NUMBER.match(line.text))
    if _TAIL.match(line.text):
        return gap < TAIL_GAP * em
    if line.opens_cell:
        return False
    return gap < COLUMN_GAP * em and not (is_value(line.text) and is_value(last.text))


def cell_text(cell: Sequence[Line]) -> str:
    return " ".join([line.text for line in cell])


def is_same_weight(last: Line, line: Line) -> bool:
    """Return whether a text may continue from one line to the other; bold words may open it."""
    return last.style.bold == line.style.bold or last.words[-1].style.bold == line.words[0].style.bold


def is_typed_apart(rows: Sequence[Block]) -> bool:
    """Return whether one column is typed in all rows and no other is: keys beside their meaning."""
    typed: dict[int, set[bool]] = {}
    for cell in (cell for row in rows for cell in row.cells):
        typed.setdefault(cell.column, set()).add(cell.lines[0].style.mono)
    return len(typed) > 1 and sorted(typed.values(), key=str) == [{False}] * (len(typed) - 1) + [{True}]


def is_value_cell(cell: Sequence[Line]) -> bool:
    return is_value(cell_text(cell))


def holds_value(line: Line) -> bool:
    """Return whether the line is a value other than a sign for yes or no."""
    return is_value(line.text) and line.text not in YES_OR_NO


def is_period_line(cells: Sequence[Sequence[Line]]) -> bool:
    """Return whether two or more cells name a period, and none has an amount."""
    texts = [cell_text(cell) for cell in cells]
    return sum(map(_is_period, texts)) > 1 and not any(map(is_amount, texts))


def _is_period(text: str) -> bool:
    return is_date(text) or (len(text) <= PERIOD_CHARS and bool(YEAR.search(text)))


def is_amount(text: str) -> bool:
    """Return whether a text is a value but not a date, footnote mark, sign or pair of compared years."""
    return is_value(text) and not is_date(text) and not _MARK.match(text)


def _is_item(cells: list[list[Line]]) -> bool:
    """Return whether the row is a marker and its text, which may continue after a picture of a key."""
    if len(cells) < 2 or len(cells[0]) > MARKER_WORDS:
        return False
    mark, text = cells[0][-1], cells[1]
    return (
        all(cell[0].text[0].islower() for cell in cells[2:])
        and bool(marker_of("".join([line.text for line in cells[0]])))
        and text[0].x0 - mark.x1 < MARKER_GAP * mark.size
        and not is_value_cell(text)
    )


class ColumnSpans:
    """Intervals of x covered by the cells of a table so far, left to right."""

    def __init__(self) -> None:
        self.spans: list[tuple[float, float]] = []
        self._lefts: list[float] = []
        self._rights: list[float] = []
        self._borders: list[float] | None = None  # between the middles of neighbours

    def _set(self, spans: list[tuple[float, float]]) -> None:
        self.spans = spans
        self._lefts, self._rights = [a for a, _ in spans], [b for _, b in spans]
        self._borders = None

    def hit(self, cell: Sequence[Line]) -> range:
        """Return the indexes of the columns that the cell overlaps."""
        return range(bisect_right(self._rights, cell[0].x0), bisect_left(self._lefts, cell[-1].x1))

    def add(self, cell: Sequence[Line]) -> None:
        """Widen the column of the cell, or add one; ignore a cell across several."""
        x0, x1 = cell[0].x0, cell[-1].x1
        start, stop = bisect_right(self._rights, x0), bisect_left(self._lefts, x1)
        if stop == start + 1:
            left, right = self.spans[start]
            if left <= x0 and x1 <= right:
                return
            x0, x1 = min(x0, left), max(x1, right)
        if stop <= start + 1:
            self._set([*self.spans[:start], (x0, x1), *self.spans[max(start, stop) :]])

    def in_step(self, cells: Sequence[Sequence[Line]]) -> bool:
        """Return whether there are as many cells as columns, each nearest to its own.

        Heads centred over a sign and a number need not overlap the number itself.
        """
        if len(cells) != len(self.spans) or len(cells) < STEP_CELLS:
            return False
        if self._borders is None:
            middles = [(a + b) / 2 for a, b in self.spans]
            self._borders = [(a + b) / 2 for a, b in pairwise(middles)]
        places = [(cell[0].x0 + cell[-1].x1) / 2 for cell in cells]
        return all(map(lt, places, self._borders)) and all(map(gt, places[1:], self._borders))

    def widen(self, cells: Sequence[Sequence[Line]]) -> None:
        """Widen each column to its cell (see ``in_step``), as far as the neighbours allow."""
        spans = self.spans
        if all(a <= cell[0].x0 and cell[-1].x1 <= b for (a, b), cell in zip(spans, cells, strict=True)):
            return
        stretched = [
            (min(a, cell[0].x0), max(b, cell[-1].x1)) for (a, b), cell in zip(spans, cells, strict=True)
        ]
        if all(left[1] < right[0] for left, right in pairwise(stretched)):
            self._set(stretched)


def columns_of(rows: Sequence[Row]) -> ColumnSpans:
    """Return the columns of the rows with most cells; cells across several columns add none."""
    columns = ColumnSpans()
    for row in sorted(rows, key=lambda row: -len(row.cells)):
        if columns.in_step(row.cells):
            columns.widen(row.cells)
        elif len(row.cells) > 1 or not columns.spans:
            for cell in row.cells:
                columns.add(cell)
    return columns
