"""Doubts whether a claim means this row or this column: then the row neither verifies nor contradicts it."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from functools import cached_property
from itertools import pairwise

from citing.claims import SourceUnit
from citing.comparison.cells.cell_words import CellComparison
from citing.comparison.cells.grid import Grid, has_other_sign, words_of
from citing.comparison.values.support import FOOTNOTE_DIGITS, OTHER_PLACE, ValueSupport
from citing.comparison.words.phrases import change_role
from citing.comparison.words.token import COORDINATORS, LIST_WORDS, Token, same
from citing.comparison.words.tokens import tokens_of
from text.numbers import YEAR
from text.quantities import quantities_in
from text.semantics import lexicon

_WORD = re.compile(r"[^\W\d_]{4}")  # longer than a unit or a scale beside a number: "$97.9B", "13 km"
_LISTS = LIST_WORDS | {"も"}
OTHER_ROW = "The claim is about another row."
OTHER_COLUMN = "The claim names another column beside this value."


@dataclass(frozen=True)
class Row:
    """A claim and the row of a table that it may be about.

    Attributes:
        grid: the table; None if it has no columns of values.
        language: the claim's.
        found: the places of the claim's values in the row.
        by_values: the row was found by its values, and not by its label.
    """

    sentence: str
    unit: SourceUnit
    around: Sequence[SourceUnit]
    grid: Grid | None
    language: str
    found: ValueSupport | None
    by_values: bool = False

    @cached_property
    def own(self) -> int | None:
        """Return the index of the row in its table; None for a row without a label."""
        begins = ((r, cells[0]) for r, cells in enumerate(self.grid.rows if self.grid else ()) if cells)
        return next((r for r, label in begins if label.start == 0 and label.text), None)

    @cached_property
    def tokens(self) -> Sequence[Token]:
        return tokens_of(self.sentence, self.language)

    @cached_property
    def heads(self) -> Mapping[int, frozenset[str]]:
        """Return the words that name each column of values or dashes, in its head and in header rows."""
        table = self.unit.table
        texts = dict(enumerate(table.head_rows if table else ()))
        for other in self.around:
            above = other.table if other.char_start < self.unit.char_start else None
            if above and above.header and table and len(above.cells) == len(table.cells):
                for cell in above.cells:
                    texts[cell.column] = f"{texts.get(cell.column, '')} {cell.text}"
        valued = {c.column for c in (table.cells if table else ()) if _may_hold_value(c.text)}
        return {
            c: self._names(FOOTNOTE_DIGITS.sub("", text)) for c, text in texts.items() if c and c in valued
        }

    @cached_property
    def amounts(self) -> list[tuple[Token, frozenset[int]]]:
        """Return the claim's amounts, none of a name, with the columns in which the row has them."""
        if self.grid is None or self.own is None:
            return []
        grid, own, compared = self.grid, self.own, CellComparison(self.sentence, self.grid, self.language, ())
        names = [*grid.label(own), *(token for column in grid.columns for token in grid.head(column))]
        return [
            (token, frozenset(c for c in grid.columns if compared.has_amount(token, own, c)))
            for token in compared.tokens
            if token.quantity and not _is_time(token) and not any(same(token, name) for name in names)
        ]

    def is_ratio(self, column: int) -> bool:
        """Return whether the row's cell in a column is a share or a change in percent."""
        held = self.grid.quantity(self.own, column) if self.grid and self.own is not None else None
        return held is not None and held.dimension == "ratio"

    @property
    def columns(self) -> frozenset[int]:
        return frozenset[int]().union(*(columns for _, columns in self.amounts))

    def _names(self, text: str) -> frozenset[str]:
        return frozenset(map(_name, words_of(text, self.language)))

    @cached_property
    def named(self) -> list[tuple[Token, Token, frozenset[int]]]:
        """Return the first and last words that name some of the columns, and not the row, with these columns.

        Words beside each other that name one column together are one name: "2019 Men".
        """
        label = self.unit.table.cells[0].text if self.unit.table else ""
        of_row = {_name(token) for token in words_of(label, self.language)}
        found: list[tuple[Token, Token, frozenset[int]]] = []
        beside = False
        for token in self.tokens:
            name = _name(token)
            columns = frozenset(c for c, head in self.heads.items() if name in head)
            names = token.content or token.word.split()[-1] in lexicon(self.language).total
            if names and name not in of_row and 0 < len(columns) < len(self.heads):
                first, both = (found[-1][0], found[-1][2] & columns) if beside else (token, columns)
                found[-1:] = (
                    [(first, token, both)] if both and beside else [*found[-1:], (token, token, columns)]
                )
                beside = True
            elif token.kind != "function" or token.word in COORDINATORS:
                beside = False
        return found


def _may_hold_value(cell: str) -> bool:
    """Return whether a cell has digits, or nothing but a sign: "-" is the value of its column."""
    return any(map(str.isdigit, cell)) or not any(map(str.isalpha, cell))


def _is_time(token: Token) -> bool:
    return token.quantity is not None and token.quantity.dimension in ("year", "date")


def _name(token: Token) -> str:
    """Return the key by which a word of a head is found again: its stem, or the year of a date."""
    year = YEAR.search(token.word) if _is_time(token) else None
    if token.kind == "function":
        return token.word.split()[-1]  # "in total"
    return year[0] if year else token.stem or token.word


def _shares_label(row: Row) -> bool:
    """Return whether another row has the row's label: it may be the one that the claim means."""
    grid, own = row.grid, row.own
    if grid is None or own is None:
        return False
    label = _stems(grid.label(own))
    return any(_stems(grid.label(r)) == label for r in range(len(grid.rows)) if r != own)


def _fits_other_row(row: Row) -> bool:
    """Return whether another row with numbers has more of the claim's words, or as many and fewer others."""
    grid, own = row.grid, row.own
    if grid is None or own is None:
        return False
    claimed = {form for token in row.tokens for form in (token.stem, token.word)}
    labels = [_stems(grid.label(r)) for r in range(len(grid.rows))]
    cells = [
        _stems([t for cell in cells[1:] for t in tokens_of(cell.text, row.language) if not t.quantity])
        for cells in grid.rows
    ]
    fits = [len((label | words) & claimed) for label, words in zip(labels, cells, strict=True)]
    extra = [len(_stems(grid.words_of_row(r)) - claimed) for r in range(len(grid.rows))]
    rows = (r for r in range(len(fits)) if r != own and _has_numbers(grid, r))
    return any(
        labels[r]
        and (
            (
                (fits[r] > fits[own] or (0 < fits[own] == fits[r] and extra[r] < extra[own]))
                and (extra[own] or not extra[r])
            )  # a row named in full is left only for another such
            or (row.by_values and not extra[r] and not labels[r] <= labels[own])  # a sum of both
        )
        for r in rows
    )


def _names_no_word(row: Row) -> bool:
    """Return whether the claim has no word of the row it was found in, or not its bounds."""
    grid, own = row.grid, row.own
    if grid is None or own is None or not row.by_values:
        return False
    label = grid.words_of_row(own)
    named = any(same(token, wanted) for token in row.tokens for wanted in label)
    kept = all(any(same(token, wanted) for token in row.tokens) for wanted in label if wanted.quantity)
    rivals = (r for r in range(len(grid.rows)) if r != own and _has_numbers(grid, r))
    return bool(label) and not (named and kept) and any(True for _ in rivals)


def _has_numbers(grid: Grid, row: int) -> bool:
    """Return whether a cell holds a quantity, or nothing but several: "$10.40 – $10.60 / $10.50"."""
    return any(grid.quantity(row, column) for column in grid.columns) or any(
        any(map(str.isdigit, cell.text)) and not _WORD.search(cell.text) for cell in grid.rows[row][1:]
    )


def _stems(tokens: Sequence[Token]) -> frozenset[str]:
    return frozenset(token.stem or token.word for token in tokens if token.content)


def _is_of_other_place(row: Row) -> bool:
    """Return whether a value of the claim is in the row, but under another year or head."""
    elsewhere = row.found is not None and bool(row.found.missing) and OTHER_PLACE in row.found.reason
    return elsewhere and not _is_year_of_change(row)


def _is_year_of_change(row: Row) -> bool:
    """Return whether the claim's only year is that of one of its values: "rose in 2023 from 398 to 412"."""
    turns = any(pair == "direction" for token in row.tokens for pair, _ in token.poles)
    return turns and len(row.named) == 1 and _is_time(row.named[0][0]) and bool(row.named[0][2] & row.columns)


def _turns_round(row: Row) -> bool:
    """Return whether the claim says "fell from 7 to 9", "rose from 9 to 7", or the later year first."""
    sides = {side for token in row.tokens for pair, side in token.poles if pair == "direction"}
    words = lexicon(row.language)
    amounts = [
        (token, change_role(row.tokens, at, words))
        for at, token in enumerate(row.tokens)
        if token.quantity and not _is_time(token)
    ]
    ends = [[token for token, role in amounts if role == end] for end in ("from", "to")]
    others = [token for token, role in amounts if role not in ("from", "to")]
    starts, lasts = (own or (others if len(amounts) == 2 else []) for own in ends)
    if not any(ends) or len(starts) != 1 or len(lasts) != 1:
        return False
    start, last = ((t.quantity.base if t.quantity else Decimal(0)) for t in (starts[0], lasts[0]))
    if len(sides) == 1 and start >= 0 and last >= 0 and (start < last if sides == {1} else start > last):
        return True
    times = [_time_of(token, row) for token in (starts[0], lasts[0])]
    return bool(all(times) and times[0] > times[1])


def _is_of_older_year(row: Row) -> bool:
    """Return whether a claim without a year says a change beside an amount of an earlier year only."""
    if row.grid is None or any(map(_is_time, row.tokens)):
        return False
    years = {c: max(map(int, YEAR.findall(row.grid.heads[c])), default=0) for c in row.grid.columns}
    changes = {c for c in row.grid.columns if row.grid.says_change(c)}
    said = [columns - changes for _, columns in row.amounts if columns]
    newest = max((year for c, year in years.items() if c not in changes), default=0)
    says_change = any(columns and columns <= changes for _, columns in row.amounts)
    of_newest = any(years[c] == newest for columns in said for c in columns)
    return says_change and not of_newest and any(years[c] for columns in said for c in columns)


def _ends_in_change(row: Row) -> bool:
    """Return whether what a claim says to be reached, "rose to 25 %", is itself a change."""
    words, grid = lexicon(row.language), row.grid
    roles = {token.start: change_role(row.tokens, at, words) for at, token in enumerate(row.tokens)}
    return grid is not None and any(
        columns and roles.get(token.start) == "to" and all(map(grid.says_change, columns))
        for token, columns in row.amounts
    )


def _is_part_of_cell(row: Row) -> bool:
    """Return whether the claim has a number in brackets without the one before: "(20.1)" of "26.3 (20.1)"."""
    amounts = [t.quantity for t in row.tokens if t.quantity and not _is_time(t)]
    values = {amount.value for amount in amounts}
    cells = [
        [one.value for one in quantities_in(cell.text, row.language)]
        for cell in (row.unit.table.cells[1:] if row.unit.table else ())
    ]
    firsts = {numbers[0] for numbers in cells if numbers}
    inner = [numbers for numbers in cells if len(numbers) > 1]
    return row.by_values and any(
        amount.dimension != "ratio"
        and amount.value not in firsts
        and (own := [numbers for numbers in inner if amount.value in numbers[1:]])
        and not any(numbers[0] in values for numbers in own)
        for amount in amounts
    )


def _time_of(token: Token, row: Row) -> Decimal:
    """Return the year or date of the column that holds a number of the claim; 0 where it is not known."""
    columns = next((columns for own, columns in row.amounts if own.start == token.start), frozenset())
    return row.grid.time(min(columns)) if row.grid and len(columns) == 1 else Decimal(0)


def _beside_other_head(row: Row) -> bool:
    """Return whether values stand beside the names of other columns.

    A name of all values' columns is left out: "2019" of "in 2019, 3 women and 5 men". Of the others there are
    as many as values, in their order. A year is that of a change ("grew 18.9 % in 2023" under a head without
    one, "rose in 2023 from 398 to 412").
    """
    values = [columns for _, columns in row.amounts]
    if not values or not all(values) or _is_year_of_change(row):
        return False
    dated = any(YEAR.fullmatch(word) for column in row.columns for word in row.heads.get(column, ()))
    named = [one for one in row.named if dated or not any(map(_is_time, one[:2]))]
    left = [names for *_, names in named if not all(names & columns for columns in values)]
    if len(values) == 1 and not any(_is_time(word) for *words, _ in named for word in words):
        return 2 * len(left) > len(named) or any(  # "In North and South, cash was 12" is of both
            bool(values[0] & names) != bool(values[0] & others)
            and _lists([token for token in row.tokens if last.end <= token.start < first.start])
            for (_, last, names), (first, _, others) in pairwise(named)
        )
    values = [columns for columns, before in zip(values, [None, *values], strict=False) if columns != before]
    fits = all(columns & names for columns, names in zip(values, left, strict=False))
    return bool(left) and not (fits and len(left) == len(values))


def _is_of_other_sign(row: Row) -> bool:
    """Return whether a positive amount of "income (loss)" is called a loss, or a negative one an income."""
    grid, own = row.grid, row.own
    if grid is None or own is None:
        return False
    amounts = [amount for column in row.columns if (amount := grid.quantity(own, column))]
    return any(has_other_sign(row.tokens, grid.label(own), amount) for amount in amounts)


def _has_other_bound(row: Row) -> bool:
    """Return whether the claim has a bound for a value that neither the row nor the head prints."""
    table = row.unit.table
    heads = table.head_rows if table else ()
    over = [heads[column] for column in row.columns if column < len(heads)]
    texts = [row.unit.text, table.caption if table else "", *over]
    printed = {side for text in texts for t in tokens_of(text, row.language) for side in _sides(t)}
    bound = (side for token in row.tokens if token.quantity for side in _sides(token))
    return any(side not in printed for side in bound)


def _sides(token: Token) -> Iterator[str]:
    """Yield whether a token is an upper or a lower bound: "at most 6", "max."."""
    limits = {"le": "top", "lt": "top", "ge": "bottom", "gt": "bottom"}
    if token.bound in limits:
        yield limits[token.bound]
    if token.marker and token.marker.category == "ordinal":
        yield token.marker.value


def _compares_one_value(row: Row) -> bool:
    """Return whether the claim sets its only amount against another: "£1 cheaper than at the gate"."""
    words, said = lexicon(row.language), row.sentence.casefold()
    amounts = [token for token in row.tokens if token.quantity and not _is_time(token)]
    if len(amounts) != 1 or not row.columns or row.grid is None:
        return False
    than = any(token.word in words.than | words.than_behind for token in row.tokens)
    compares = than or any(f" {phrase} " in said for phrase in words.compared)
    return compares and not any(row.grid.says_change(column) for column in row.columns)


def _lists(between: Sequence[Token]) -> bool:
    """Return whether the words between two names list both: "and", も."""
    joins = any(token.word in _LISTS or token.kind == "break" for token in between)
    return joins and not any(token.content for token in between)


def _has_same_head(row: Row) -> bool:
    """Return whether the claim names a time by which its value's column cannot be told from another."""
    said = {_name(token) for token in row.tokens}
    times = {_name(token) for token in row.tokens if _is_time(token)}
    columns = row.columns & row.heads.keys()
    return bool(times) and any(
        (heads and heads == row.heads[other] and not times & heads)
        or (times & heads and not heads <= said and heads & said <= row.heads[other])
        for column in columns
        for heads in [row.heads[column]]
        for other in row.heads.keys() - columns
        if row.is_ratio(column) == row.is_ratio(other)
    )


@dataclass(frozen=True, slots=True)
class Doubt:
    """A reason not to judge a claim by a row whose cells fit or differ.

    Attributes:
        outcomes: the judgements that it opens.
        judged: a claim and a table that verifies it.
        open: a claim that looks alike, which the table does not judge.
        of_computed: whether it opens what is computed from two cells, too.
    """

    name: str
    sentence: str
    outcomes: frozenset[str]
    applies: Callable[[Row], bool]
    reason: str
    judged: tuple[str, str]
    open: tuple[str, str]
    of_computed: bool = False


_BOTH, _HOLDS, _CONFLICT = frozenset({"holds", "conflict"}), frozenset({"holds"}), frozenset({"conflict"})
_ADJUSTED = (
    "Sales\n| Item | 2023 |\n| --- | --- |\n| Operational sales | 7.5 |\n| Adjusted operational sales | 6.2 |"
)
_DIVIDENDS = "Dividends per share\n| Month | Dividend |\n| --- | --- |\n| June | $0.55 |\n| March | $0.50 |"
_SALES = (
    "Growth in %\n| Item | Reported | Organic |\n| --- | --- | --- |\n| Snacks | 2.2 | 4.7 |"
    "\n| Drinks | 3.1 | 5.0 |"
)
_TWICE = (
    "Staff\n| Site | Heads |\n| --- | --- |\n| Leeds | 40 |\n| Other | 12 |\n| Hull | 31 |\n| Other | 15 |"
)
_FALL = "Sales\n| Item | 2023 | 2022 |\n| --- | --- | --- |\n| Sales | 310 | 345 |\n| Costs | 20 | 30 |"
_CHANGE = "Sales\n| Item | 2023 | 2022 | Change |\n| --- | --- | --- | --- |\n| Sales | 310 | 345 | (10) % |"
_RATIOS = (
    "Outcomes\n| Outcome | Ratio (95 % CI) |\n| --- | --- |\n| Death | 0.42 (0.29–0.59) |"
    "\n| Stroke | 1.50 (1.05–2.10) |"
)
_WEEKS = "Sales\n| Item | Weeks ended {} | Weeks ended {} |\n| --- | --- | --- |\n| Net sales | 310 | 345 |"
_RESULT = "Result\n| Item | 2023 | 2022 |\n| --- | --- | --- |\n| Net income (loss) | 120 | 90 |"
_LIMITS = (
    "Limits\n| Item | Min. | Max. |\n| --- | --- | --- |\n| Current | 2 mA | 6 mA |\n| Voltage | 3 V | 5 V |"
)
_TICKETS = "Prices\n| Ticket | Online | Gate |\n| --- | --- | --- |\n| Adult tickets | £8 | £10 |"
DOUBTS = (
    Doubt(
        "shared_label",
        "A row whose label another row has too contradicts nothing.",
        _CONFLICT,
        _shares_label,
        OTHER_ROW,
        ("Leeds has 40 heads.", _TWICE),
        ("Other has 17 heads.", _TWICE),
    ),
    Doubt(
        "other_row",
        "“Operational growth” is the row “Operational sales”, and not “Adjusted operational sales”.",
        _BOTH,
        _fits_other_row,
        OTHER_ROW,
        (
            "Operational sales were 7.5.",
            _ADJUSTED,
        ),
        (
            "Operational sales were 6.2.",
            _ADJUSTED,
        ),
    ),
    Doubt(
        "unnamed_row",
        "A value alone does not tell which of several rows is meant.",
        _HOLDS,
        _names_no_word,
        OTHER_ROW,
        ("The dividend of March was $0.50 per share.", _DIVIDENDS),
        ("The dividend paid was $0.55 per share.", _DIVIDENDS),
    ),
    Doubt(
        "other_place",
        "A value of another year or column does not verify.",
        _HOLDS,
        _is_of_other_place,
        OTHER_COLUMN,
        (
            "Debt fell from 345 in 2022 to 310 in 2023.",
            "Debt\n| Item | 2023 | 2022 |\n| --- | --- | --- |\n| Debt | 310 | 345 |\n| Cash | 20 | 30 |",
        ),
        (
            "Debt fell from 310 in 2022 to 345 in 2023.",
            "Debt\n| Item | 2023 | 2022 |\n| --- | --- | --- |\n| Debt | 310 | 345 |\n| Cash | 20 | 30 |",
        ),
    ),
    Doubt(
        "turned_change",
        "What is said to fall from the smaller to the larger number is not verified.",
        _HOLDS,
        _turns_round,
        OTHER_COLUMN,
        ("Sales fell from 345 to 310.", _FALL),
        ("Sales fell from 310 to 345.", _FALL),
        of_computed=True,
    ),
    Doubt(
        "older_year",
        "“Sales were 310, down 10 %” means the last year; 345 is of the year before.",
        _HOLDS,
        _is_of_older_year,
        OTHER_COLUMN,
        ("Sales were 310, down 10 %.", _CHANGE),
        ("Sales were 345, down 10 %.", _CHANGE),
    ),
    Doubt(
        "end_in_change",
        "“Fell to 10 %” is not said where 10 % is the change.",
        _HOLDS,
        _ends_in_change,
        OTHER_COLUMN,
        ("Sales fell 10 % in 2023.", _CHANGE),
        ("Sales fell to 10 % in 2023.", _CHANGE),
    ),
    Doubt(
        "part_of_cell",
        "In “0.42 (0.29–0.59)” 0.29 is not the ratio.",
        _HOLDS,
        _is_part_of_cell,
        OTHER_COLUMN,
        ("The ratio for death was 0.42.", _RATIOS),
        ("The ratio for death was 0.29.", _RATIOS),
    ),
    Doubt(
        "other_sign",
        "A positive amount of “net income (loss)” is no loss.",
        _HOLDS,
        _is_of_other_sign,
        OTHER_ROW,
        ("Net income was 120 in 2023.", _RESULT),
        ("The net loss was 120 in 2023.", _RESULT),
    ),
    Doubt(
        "other_bound",
        "Under “Max.” 6 mA verifies “at most”, and no “at least”.",
        _HOLDS,
        _has_other_bound,
        OTHER_COLUMN,
        ("The current is at most 6 mA.", _LIMITS),
        ("The current is at least 6 mA.", _LIMITS),
    ),
    Doubt(
        "other_side",
        "One value says nothing about the difference from another.",
        _HOLDS,
        _compares_one_value,
        OTHER_COLUMN,
        ("Adult tickets online are £8.", _TICKETS),
        ("Adult tickets online are £8 cheaper than at the gate.", _TICKETS),
    ),
    Doubt(
        "same_head",
        "Under two heads “Weeks ended January” no value verifies what is said of one of the years.",
        _HOLDS,
        _has_same_head,
        OTHER_COLUMN,
        ("Net sales were 310 in the weeks ended 2023.", _WEEKS.format(2023, 2022)),
        ("Net sales were 310 in the weeks ended 2023.", _WEEKS.format("January", "January")),
    ),
    Doubt(
        "other_column",
        "“2.2 % reported, 4.7 % organic” has the columns “Reported” and “Organic” in this order.",
        _HOLDS,
        _beside_other_head,
        OTHER_COLUMN,
        ("Snacks: 2.2 % reported, 4.7 % organic.", _SALES),
        ("Snacks: 4.7 % reported, 2.2 % organic.", _SALES),
    ),
)
