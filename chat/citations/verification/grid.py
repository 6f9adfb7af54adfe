"""Tables as the verifier reads them: heads, rows of cells, and what their numbers count in."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from functools import cached_property

from chat.citations.verification.computation import as_money
from chat.citations.verification.labels import loss_in_brackets
from chat.citations.verification.phrases import change_role
from chat.citations.verification.token import Token, is_marker, rounded, same, same_quantity
from chat.citations.verification.tokens import tokens_of
from text.measures import Measure, exceptions_of, measure_of, names_count, names_unit, without_measure
from text.quantities import Quantity, quantities_in
from text.semantics import lexicon

_COUNT_AND_SHARE = re.compile(r"(?P<count>[\d.,\s]*\d)\s*[(（]\s*(?P<share>\d[\d.,]*\s?%?)\s*[)）]")
_COUNTED = re.compile(r"(?i)[\s,;—–-]*(?<!\w)(?:no|n|nr|núm|nº|Anzahl|例数|人数)\.?\s?[(（]\s*%\s*[)）]$")
_COUNTS_AND_SHARES = re.compile(r"[(（]\s*%\s*[)）]")
LEVELS = ("direction", "level", "amount", "height", "size", "excess", "money")  # pairs of opposites
_PER_ROW = 2  # words of an exception that a row must share: "per share"


@dataclass(frozen=True, slots=True)
class CellText:
    """A cell: its text and its characters in the passage."""

    text: str
    start: int
    end: int


@dataclass(frozen=True)
class Grid:
    """A table: heads by column, rows of cells by column, and what is written over it.

    Attributes:
        caption: its caption, whose words a claim may repeat.
        over: texts above it that may say what it counts in, the nearest first.
    """

    heads: tuple[str, ...]
    rows: tuple[tuple[CellText, ...], ...]
    caption: str
    language: str
    over: tuple[str, ...] = ()

    @cached_property
    def counted(self) -> Measure:
        """What the whole table counts in, by its corner, its caption and the texts over it."""
        corner = self.heads[0] if self.heads else ""
        for text in (corner, self.caption, *self.over):
            if found := measure_of(text, self.language):
                return found.measure
        return Measure()

    @cached_property
    def _measures_by_name(self) -> list[tuple[tuple[Token, ...], Measure]]:
        """What the caption says that columns count in: "(sales in millions, customers in thousands)"."""
        parts = re.split(r"[,;()（），；]", self.caption)
        found = [(part, measure_of(f"({part.strip()})", self.language)) for part in parts if part.strip()]
        named = [(part, measure.measure) for part, measure in found if measure]
        said = [
            (words_of(without_measure(part.strip(), self.language), self.language), m) for part, m in named
        ]
        return said if len(said) > 1 else []

    @cached_property
    def _excepted(self) -> tuple[frozenset[str], ...]:
        """What the scale is not for: the words of "except per share data"."""
        texts = (*self.heads[:1], self.caption, *self.over)
        return tuple(words for text in texts for words in exceptions_of(text, self.language))

    def label(self, row: int) -> tuple[Token, ...]:
        """The words of a row's label; of one that stands in several sections, with those of its own."""
        own, said = self.rows[row][0].text if self.rows[row] else "", self.words_of_row(row)
        namesakes = sum(bool(cells) and cells[0].text == own for cells in self.rows) > 1
        section = next((r for r in range(row, -1, -1) if self._is_section(r)), None)
        if not namesakes or section is None or section == row:
            return said
        return (*said, *words_of(self.rows[section][0].text, self.language))

    def words_of_row(self, row: int) -> tuple[Token, ...]:
        """The words of a row's label, without those of its section."""
        own = self.rows[row][0].text if self.rows[row] else ""
        return words_of(without_measure(_COUNTED.sub("", own), self.language), self.language)

    def _is_section(self, row: int) -> bool:
        """Whether a row has a label and nothing else."""
        return bool(self.rows[row]) and not any(cell.text for cell in self.rows[row][1:])

    def head(self, column: int) -> tuple[Token, ...]:
        text = self.heads[column] if column < len(self.heads) else ""
        return words_of(without_measure(text, self.language), self.language)

    @cached_property
    def columns(self) -> tuple[int, ...]:
        """The columns of values."""
        return tuple(at for at in range(1, len(self.heads)) if at != self._unit_column)

    @cached_property
    def _unit_column(self) -> int | None:
        """The column that holds the unit of each row."""
        return next((at for at, head in enumerate(self.heads) if names_unit(head, self.language)), None)

    def _unit(self, row: int) -> str:
        at, cells = self._unit_column, self.rows[row]
        return cells[at].text if at is not None and at < len(cells) else ""

    def printed(self, row: int, column: int) -> Quantity | None:
        """The cell's number as it stands there."""
        if column >= len(self.rows[row]):
            return None
        found = quantities_in(self.rows[row][column].text, self.language)
        return found[0] if len(found) == 1 else None

    def quantity(self, row: int, column: int) -> Quantity | None:
        """The cell's number in the unit that its row, its head, the corner or the caption names."""
        found = self.printed(row, column)
        return None if found is None else self._measure(row, column).applied(found)

    def numbers(self, row: int, column: int) -> tuple[Quantity, ...]:
        """The cell's numbers: one, or a count and the share in brackets behind it, "24 (11.9)"."""
        if one := self.quantity(row, column):
            return (one,)
        cell = self.rows[row][column] if column < len(self.rows[row]) else None
        pair = _COUNT_AND_SHARE.fullmatch(cell.text) if cell else None
        over = (self.heads[column], self.caption, self.rows[row][0].text)
        if cell is None or pair is None or not any(_COUNTS_AND_SHARES.search(text) for text in over):
            return ()
        count = quantities_in(pair["count"], self.language)
        share = quantities_in(pair["share"].rstrip(" %") + " %", self.language)
        return (*count, *share) if len(count) == len(share) == 1 else ()

    def summands(self, row: int) -> list[int]:
        """The rows above a total, up to the total before it; none for another row."""
        if not self.is_total(row):
            return []
        first = max((other + 1 for other in range(row) if self.is_total(other)), default=0)
        return list(range(first, row))

    def shared_by_summands(self, row: int) -> list[str]:
        """What all rows have in common that a total adds up: "revenue"."""
        labels = [self.label(other) for other in self.summands(row)]
        return [
            token.word
            for token in (labels[0] if len(labels) > 1 else ())
            if all(any(same(token, other) for other in label) for label in labels)
        ]

    def order(self, columns: Sequence[int]) -> int:
        """1 when the columns run from the earlier to the later time, -1 the other way round; else 0."""
        first, last = self.time(columns[0]), self.time(columns[1])
        if not (first and last) or first == last:
            return 0
        return -1 if first > last else 1

    def time(self, column: int) -> Decimal:
        """The year or date of a column's head; 0 where it has none."""
        times = [q.value for t in self.head(column) if (q := t.quantity) and q.dimension]
        return times[-1] if times else Decimal(0)

    def date_of_all(self) -> list[Token]:
        """The dates of the caption, which are those of every cell where no column has one."""
        if any(self.time(column) for column in self.columns):
            return []
        said = (token for text in (self.caption, *self.over) for token in words_of(text, self.language))
        return [t for t in said if t.quantity and t.quantity.dimension in ("year", "date")]

    def limits(self, side: str) -> list[int]:
        """Columns of the highest ("top") or lowest ("bottom") values: "Max."."""
        return [
            column
            for column in self.columns
            if any(
                t.marker and (t.marker.category, t.marker.value) == ("ordinal", side)
                for t in self.head(column)
            )
        ]

    def says_change(self, column: int) -> bool:
        """Whether the column holds changes in percent: "Change", "Veränderung"."""
        return any(word in lexicon(self.language).change for word in self.heads[column].lower().split())

    def periods(self) -> frozenset[str]:
        """Words of a period, where the columns are years or days: "fiscal", "at the end of"."""
        words = lexicon(self.language)
        heads = [token.quantity for column in self.columns for token in self.head(column)]
        measures = {quantity.dimension for quantity in heads if quantity}
        ends = words.period_end if "date" in measures else frozenset()
        return (words.period | ends) if measures & {"year", "date"} else frozenset()

    def is_total(self, row: int) -> bool:
        return any(token.word in lexicon(self.language).total for token in self.label(row))

    def is_excepted(self, row: int) -> bool:
        """Whether the table's scale is not for this row: "in millions, except per share data"."""
        words = frozenset(self.rows[row][0].text.lower().split())
        return any(len(words & excepted) >= _PER_ROW for excepted in self._excepted)

    def currency(self, row: int, column: int) -> str:
        """The currency that the cell's head, row or table names; '' where none does."""
        return self._measure(row, column).currency

    def _measure(self, row: int, column: int) -> Measure:
        label = self.rows[row][0].text
        table = Measure(currency=self.counted.currency) if self.is_excepted(row) else self.counted
        head = self.heads[column] if column < len(self.heads) else ""
        if table.symbol == "%" and names_count(head, self.language):
            table = Measure()
        own = self.head(column)
        for names, measure in self._measures_by_name:
            if any(same(name, token) for name in names for token in own):
                table = measure
        for text in (head, self._unit(row), label):
            if (found := measure_of(text, self.language)) is not None:
                table = found.measure.over(table)
        return table


def words_of(text: str, language: str) -> tuple[Token, ...]:
    """The words of a claim, a label or a head that name something; "total" and "maximum" among them."""
    words = lexicon(language)
    names = words.total | words.limits
    found: list[Token] = []
    apart = 0  # of "replies per country" the country stands as behind a comma
    for token in tokens_of(text, language, limits=False):
        apart += token.word in words.distributive
        if token.kind not in ("break", "function") or token.word in names:
            kind = "word" if token.kind == "function" else token.kind
            found.append(replace(token, kind=kind, clause=token.clause + apart))
    return tuple(found)


# The words and numbers of a claim, compared with cells.


class CellComparison:
    """A claim, a table, and which words of the claim are accounted for (``used``: their indexes)."""

    def __init__(self, claim: str, grid: Grid, language: str, topics: Sequence[str]) -> None:
        self.claim, self.grid, self.language = claim, grid, language
        self.words = lexicon(language)
        self.tokens = words_of(claim, language)
        self.topics = [*topics, grid.caption, *(grid.heads[:1])]
        self.used: set[int] = set()
        self.outflow = False  # the row's label says that its money goes out: "Dividends paid"

    def direction(self, column: int) -> set[int]:
        """Words of rising and falling, where the table counts changes: their sign has been compared."""
        words = self.words.change
        over = " ".join([*self.topics, self.grid.heads[column]]).lower()
        if not any(word in over for word in words):
            return set()
        return {at for at, token in enumerate(self.tokens) if self.side(token) is not None}

    def side(self, token: Token) -> int | None:
        """0 for a word of rise or profit, 1 for one of fall or loss; None in brackets: "income (loss)"."""
        if self.claim[max(0, token.start - 1) : token.start] == "(":
            return None
        sides = {side for pair, side in token.poles if pair in ("direction", "money")}
        return sides.pop() if len(sides) == 1 and not token.marker else None

    def is_extent(self, at: int) -> bool:
        """Whether a number says by how much something changed."""
        words = tokens_of(self.claim, self.language, limits=False)
        place = next((k for k, token in enumerate(words) if token.start == self.tokens[at].start), None)
        return place is not None and change_role(words, place, self.words) == "by"

    def agrees(self, token: Token, printed: Quantity) -> bool:
        claimed = token.quantity
        assert claimed is not None
        if token.bound not in ("", "approx"):
            return False
        printed = as_money(claimed, printed)
        return any(
            same_quantity(value, printed, hedged=token.bound == "approx")
            or (
                value.scale > 1
                and value.dimension == printed.dimension
                and value.unit == printed.unit
                and rounded(value, printed)
            )
            for value in (claimed, self._turned(claimed, printed))
        )

    def repeats(self, token: Token, row: int, column: int) -> bool:
        """Whether the claim repeats the cell's digits, without the scale the table counts in."""
        claimed, printed = token.quantity, self.grid.printed(row, column)
        if claimed is None or printed is None or token.bound not in ("", "approx"):
            return False
        plain = claimed.bare or (claimed.dimension == "money" and claimed.scale == 1)
        other_currency = claimed.unit and printed.unit not in ("", claimed.unit)
        other_counted = claimed.unit and self.grid.currency(row, column) not in ("", claimed.unit)
        turned = self._turned(claimed, printed)
        return plain and not other_currency and not other_counted and turned.value == printed.value

    def drops_scale(self, at: int, row: int, column: int) -> bool:
        """Whether the claim counts things with the cell's digits alone: "8,699 passengers", in thousands."""
        claimed, held = self.tokens[at].quantity, self.grid.quantity(row, column)
        printed = self.grid.printed(row, column)
        behind = self.tokens[at + 1] if at + 1 < len(self.tokens) else None
        counted = behind is not None and behind.kind == "word" and not behind.capital
        return bool(
            counted and claimed and held and printed and claimed.bare and claimed.value == printed.value
            and not printed.dimension and abs(held.base) >= 1000 * abs(printed.base) > 0
        )  # fmt: skip

    def _turned(self, claimed: Quantity, printed: Quantity) -> Quantity:
        """The claimed amount as a loss or fall, where the claim says one."""
        bracketed = (
            self.claim[max(0, claimed.start - 1) : claimed.start] == "("
            and self.claim[claimed.end :].lstrip()[:1] == ")"
        )
        falls = (
            bracketed
            or self.outflow
            or any(self.side(token) == 1 for at, token in enumerate(self.tokens) if at not in self.used)
        )
        negative = falls and printed.value < 0 < claimed.value
        return replace(claimed, value=-claimed.value, base=-claimed.base) if negative else claimed

    def names_outflow(self, row: int) -> bool:
        """Whether the row's label, without what stands in brackets, or the claim calls the amount a cost."""
        label = re.sub(r"\([^)]*\)", "", self.grid.rows[row][0].text).lower()
        loss = bool(loss_in_brackets(self.grid.label(row))) and self._says_loss()
        return loss or any(word in label for word in self.words.outflow) or self.says_expense()

    def _says_loss(self) -> bool:
        return any(("money", 1) in token.poles and self.side(token) == 1 for token in self.tokens)

    def names_loss(self, cells: Sequence[tuple[int, int]]) -> bool:
        """Whether the claim speaks of the loss of a row "net income (loss)"."""
        return self._says_loss() and any(loss_in_brackets(self.grid.label(row)) for row, _ in cells)

    def is_outflow(self, cells: Sequence[tuple[int, int]]) -> bool | None:
        """Whether two negative amounts are money that goes out, so that a larger one is more of it.

        None where the label names neither a cost nor a profit.
        """
        if self._says_loss() or any(self.names_outflow(row) for row, _ in cells):
            return True
        names = " ".join(token.word for row, _ in cells for token in self.grid.label(row))
        profit = any(
            ("money", 0) in token.poles for word in names.split() for token in words_of(word, self.language)
        )
        return False if profit else None

    def says_expense(self) -> bool:
        """Return whether the claim calls the amount a cost right behind its name: "research expense"."""
        said = [at for at in self.used if self.tokens[at].kind == "word"]
        behind = range(max(said), min(max(said) + 2, len(self.tokens))) if said else ()
        named = {at for at in behind if self.tokens[at].word.rstrip("s") in self.words.outflow}
        self.used |= named
        return bool(named)

    def wrong_sign(self, printed: Quantity, row: int) -> int | None:
        """A word of the claim's own, not of the row's label, that turns the number's sign."""
        label = self.grid.label(row)
        for at, token in enumerate(self.tokens):
            side = self.side(token)
            if ("money", 1) in token.poles and printed.value > 0 and loss_in_brackets(label):
                return at
            if side is None or at in self.used or any(token.word == other.word for other in label):
                continue
            loss = side == 1 and any(pair == "money" for pair, _ in token.poles) and not self.outflow
            counts = self.direction_counts() or loss
            if (side == 0 and printed.value < 0) or (side == 1 and printed.value > 0 and counts):
                return at
        return None

    def direction_counts(self) -> bool:
        return any(self.direction(column) for column in self.grid.columns)

    def agreeing(self, at: int, cells: Sequence[tuple[int, int]]) -> set[int]:
        """Which of the cells a number of the claim repeats."""
        return {
            number
            for number, (row, column) in enumerate(cells)
            if (printed := self.grid.quantity(row, column))
            and (self.agrees(self.tokens[at], printed) or self.repeats(self.tokens[at], row, column))
        }

    def plain_words(self) -> Iterator[str]:
        return (token.word for token in tokens_of(self.claim, self.language, limits=False))

    def turn(self, cells: Sequence[tuple[int, int]]) -> tuple[int, int] | None:
        """The word that says which cell is the larger, and its side: 0 for more, 1 for less."""
        times = self.grid.order([column for _, column in cells]) != 0
        wanted = ("direction", "level") if times else ("level", *LEVELS[1:])
        turns = [
            (at, side)
            for at, token in enumerate(self.tokens)
            for pair, side in token.poles
            if pair in wanted
            and at not in self.used
            and not any(other == "money" for other, _ in token.poles)
        ]
        return turns[0] if len({side for _, side in turns}) == 1 else None

    def _exceeds(self) -> bool:
        """Whether a verb like "exceeded" stands between the names of two cells."""
        named = range(min(self.used, default=0), max(self.used, default=0))
        return any(pair == "excess" for at in named for pair, _ in self.tokens[at].poles)

    def names_reference_last(self) -> bool:
        """Whether the claim says "A … than B", "A exceeded B": first the subject, then the reference."""
        words = list(self.plain_words())
        return self._exceeds() or any(word in self.words.than for word in words[2:])

    def subtracts(self) -> bool:
        """Return whether the claim names a difference: "A less B", "the difference between A and B".

        The "less" between two labels is then accounted for.
        """
        words = list(self.plain_words())
        named = range(min(self.used, default=0), max(self.used, default=0))
        less = {at for at in named if at not in self.used and self.tokens[at].word in self.words.less}
        if set(words) & self.words.than or not (less or any(word in self.words.minus for word in words)):
            return False
        self.used |= less
        return True

    def is_ratio(self, at: int) -> bool:
        quantity = self.tokens[at].quantity
        return quantity is not None and quantity.dimension == "ratio"

    def extreme(self) -> int | None:
        free = (at for at in range(len(self.tokens)) if at not in self.used)
        ranks = (("ordinal", "top"), ("ordinal", "bottom"))
        return next((at for at in free if any(is_marker(self.tokens[at], *rank) for rank in ranks)), None)

    def first(self, row: int, column: int) -> Quantity | None:
        return next(iter(self.grid.numbers(row, column)), None)

    def spans(self, cells: Sequence[tuple[int, int]]) -> tuple[tuple[int, int], ...]:
        return tuple((cell.start, cell.end) for cell in (self.grid.rows[row][at] for row, at in cells))

    def only_total(self, token: Token) -> bool:
        """ "all", "total" of a share."""
        return (is_marker(token, "quantifier") or not token.marker) and token.word in self.words.total
