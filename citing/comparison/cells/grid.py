"""Tables as the verifier reads them: heads, rows of cells, and the units of their numbers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal
from functools import cached_property, lru_cache

from citing.claims import SourceUnit, page_mark
from citing.comparison.words.token import Token, is_date, opposite, same
from citing.comparison.words.tokens import tokens_of
from citing.tables import COUNTED, CellReading, TableText, read_tables, table_text
from pdf.gc_control import cleared_with_memory
from text.measures import Measure, measure_of, without_measure
from text.numbers import DecimalMark
from text.quantities import IS_RANGE, Quantity, quantities_in
from text.semantics import Lexicon, lexicon


@dataclass(frozen=True, slots=True)
class CellText:
    """A cell: its text and its characters in the passage."""

    text: str
    start: int
    end: int


@dataclass(frozen=True)
class Grid:
    """A table: heads by column, rows of cells by column, and the texts above it.

    Attributes:
        groups: the groups of rows that are open at each row, outermost first.
        caption: its caption, whose words a claim may repeat.
        over: texts above it that may name its unit, the nearest first.
        mark: its page's decimal mark; a cell alone ("4.366") does not show it.
        has_money, corner_of_labels: see ``TableText``.
        pairs: the count and the share of cells like "24 (11.9)", by row and column.
    """

    heads: tuple[str, ...]
    rows: tuple[tuple[CellText, ...], ...]
    groups: tuple[tuple[str, ...], ...]
    caption: str
    language: str
    over: tuple[str, ...] = ()
    mark: DecimalMark | None = None
    has_money: bool = False
    corner_of_labels: bool = False
    pairs: Mapping[tuple[int, int], tuple[Quantity, ...]] = field(default_factory=dict)

    @cached_property
    def text(self) -> TableText:
        """Return the texts that name what the table's numbers count in."""
        return TableText(
            self.heads, self.caption, self.language, self.over, self.has_money, self.corner_of_labels
        )

    @cached_property
    def _measures_by_name(self) -> list[tuple[tuple[Token, ...], Measure]]:
        """Return the units of columns by the caption: "(sales in millions, customers in thousands)"."""
        return [(words_of(name, self.language), measure) for name, measure in self.text.named_measures]

    def label(self, row: int) -> tuple[Token, ...]:
        """Return the words of a row's label, with those of its group where the label is repeated."""
        own, label_words = self.rows[row][0].text if self.rows[row] else "", self.words_of_row(row)
        namesakes = sum(bool(cells) and cells[0].text == own for cells in self.rows) > 1
        if not namesakes or not self.groups[row]:
            return label_words
        return (*label_words, *words_of(self.groups[row][-1], self.language))

    def words_of_row(self, row: int) -> tuple[Token, ...]:
        """Return the words of a row's label, without those of its section."""
        own = self.rows[row][0].text if self.rows[row] else ""
        label_words = words_of(without_measure(COUNTED.sub("", own), self.language), self.language)
        corner = measure_of(self.heads[0], self.language) if self.heads else None
        if corner is None or not corner.measure.symbol:
            return label_words
        return tuple(  # "10" under "Depth (m)"
            replace(t, quantity=corner.measure.applied(t.quantity)) if t.quantity else t for t in label_words
        )

    def head(self, column: int) -> tuple[Token, ...]:
        text = self.heads[column] if column < len(self.heads) else ""
        return words_of(without_measure(text, self.language), self.language)

    @cached_property
    def columns(self) -> tuple[int, ...]:
        """Return the columns of values."""
        return tuple(at for at in range(1, len(self.heads)) if at != self.text.unit_column)

    def _unit(self, row: int) -> str:
        at, cells = self.text.unit_column, self.rows[row]
        return cells[at].text if at is not None and at < len(cells) else ""

    def printed(self, row: int, column: int) -> Quantity | None:
        """Return the cell's number as printed."""
        if column >= len(self.rows[row]):
            return None
        found = quantities_in(self.rows[row][column].text, self.language, self.mark)
        return found[0] if len(found) == 1 else None

    def quantity(self, row: int, column: int) -> Quantity | None:
        """Return the cell's number in the unit that its row, its head, the corner or the caption names."""
        found = self.printed(row, column)
        return None if found is None else self._measure(row, column).applied(found)

    def numbers(self, row: int, column: int) -> tuple[Quantity, ...]:
        """Return the cell's numbers: one, or a count and the share in brackets after it, "24 (11.9)"."""
        if one := self.quantity(row, column):
            return (one,)
        return self.pairs.get((row, column), ())

    def ends_of_range(self, row: int, column: int) -> tuple[Quantity, ...]:
        """Return both ends of a cell like "−10 to 45", in its unit; () for other cells."""
        text = self.rows[row][column].text if column < len(self.rows[row]) else ""
        found = quantities_in(text, self.language, self.mark)
        if len(found) != 2 or not IS_RANGE.fullmatch(text, found[0].end, found[1].start):
            return ()
        measure = self._measure(row, column)
        return tuple(measure.applied(end) for end in found)

    def summands(self, row: int) -> list[int]:
        """Return the rows above a total, up to the total before it; none for another row."""
        if not self.is_total(row):
            return []
        first = max((other + 1 for other in range(row) if self.is_total(other)), default=0)
        return list(range(first, row))

    def shared_by_summands(self, row: int) -> list[str]:
        """Return the common words of the rows that a total adds up: "revenue"."""
        labels = [self.label(other) for other in self.summands(row)]
        return [
            token.word
            for token in (labels[0] if len(labels) > 1 else ())
            if all(any(same(token, other) for other in label) for label in labels)
        ]

    def order(self, columns: Sequence[int]) -> int:
        """Return 1 when the columns are in order of time, -1 in reverse order, else 0."""
        first, last = self.time(columns[0]), self.time(columns[1])
        if not (first and last) or first == last:
            return 0
        return -1 if first > last else 1

    def time(self, column: int) -> Decimal:
        """Return the year or date of a column's head; 0 without one."""
        times = [q.value for t in self.head(column) if (q := t.quantity) and q.dimension]
        return times[-1] if times else Decimal(0)

    def says_change(self, column: int) -> bool:
        """Return whether the column has changes in percent: "Change", "Veränderung"."""
        return any(word in lexicon(self.language).change for word in self.heads[column].lower().split())

    def periods(self) -> frozenset[str]:
        """Return words of a period, where the columns are years or days: "fiscal", "at the end of"."""
        words = lexicon(self.language)
        heads = [token.quantity for column in self.columns for token in self.head(column)]
        measures = {quantity.dimension for quantity in heads if quantity}
        ends = words.period_end if "date" in measures else frozenset()
        return (words.period | ends) if measures & {"year", "date"} else frozenset()

    def is_total(self, row: int) -> bool:
        return any(token.word in lexicon(self.language).total for token in self.label(row))

    def is_change(self, row: int) -> bool:
        """Return whether a row's label says that its cells are changes: "Net change in cash"."""
        return any(token.word in lexicon(self.language).change for token in self.label(row))

    def currency(self, row: int, column: int) -> str:
        """Return the currency that the cell's head, row or table names; '' without one."""
        return self._measure(row, column).currency

    def _measure(self, row: int, column: int) -> Measure:
        own = self.head(column)
        by_name = [
            m for names, m in self._measures_by_name for n in names if any(same(n, token) for token in own)
        ]
        label, unit = self.rows[row][0].text, self._unit(row)
        return self.text.measure_for(label, column, (), unit, by_name[-1] if by_name else None)


@lru_cache(maxsize=1024)
def words_of(text: str, language: str) -> tuple[Token, ...]:
    """Return the naming words of a claim, a label or a head, including "total" and "maximum"."""
    words = lexicon(language)
    names = words.total | words.limits
    found: list[Token] = []
    apart = 0  # of "replies per country" the country is as after a comma
    for token in tokens_of(text, language, limits=False):
        apart += token.word in words.distributive
        if token.kind == "function" and token.word.split()[-1] in words.total:  # "in total"
            last = token.word.split()[-1]
            token = replace(token, word=last, stem=last)
        if token.kind not in ("break", "function") or token.word in names:
            kind = "word" if token.kind == "function" else token.kind
            found.append(replace(token, kind=kind, clause=token.clause + apart))
    return tuple(found)


# Which rows and columns a claim names, by their labels.


def named(claim: Sequence[Token], labels: Sequence[Sequence[Token]], words: Lexicon) -> dict[int, set[int]]:
    """Return labels whose words are all in the claim, with the words' places, in the order of the claim.

    Not those that are part of longer ones. Without a whole label, the words of a label after a comma or in
    brackets may be missing if the rest names only one label: "Senior notes, due 2028".
    """
    places = {index: places_of(claim, _required(label, words), words) for index, label in enumerate(labels)}
    found = {index: own for index, own in places.items() if own}
    if not found:
        heads = [tuple(token for token in label if token.clause == label[0].clause) for label in labels]
        cut = [
            index
            for index, label in enumerate(labels)
            if heads[index] and not any(token.marker for token in label) and heads.count(heads[index]) == 1
        ]
        found = {index: at for index in cut if (at := places_of(claim, heads[index], words))}
        totals = [at for at, label in enumerate(labels) if any(token.word in words.total for token in label)]
        place = next((at for at, token in enumerate(claim) if token.word in words.total), None)
        if not found and len(totals) == 1 and place is not None:  # "Total company", "Total"
            found = {totals[0]: {place}}
    kept = {i: found[i] for i in found if not any(found[i] < found[k] for k in found)}
    own = {i: at.difference(*(kept[k] for k in kept if k != i)) for i, at in kept.items()}
    return {i: kept[i] for i in sorted(kept, key=lambda i: max(own[i], default=0))}


def _required(label: Sequence[Token], words: Lexicon) -> Sequence[Token]:
    """Return the required words of a label: of "Year ended 31 March 2023" the date."""
    if not any(is_date(token) for token in label):
        return label
    return [token for token in label if token.word not in words.period]


def places_of(claim: Sequence[Token], label: Sequence[Token], words: Lexicon) -> set[int]:
    """Return the places in the claim of all words of a label; empty where one is missing."""
    if loss := loss_in_brackets(label) or _spent_in_brackets(label, words):  # the one or the other
        without = (_places_without(claim, label, at, words) for at in (loss, loss - 1))
        return next((places for places in without if places), set())
    sides = {side for token in label for pair, side in token.poles if pair == "money"}
    found = [_place(claim, wanted, words) for wanted in label]
    if None in found and len(sides) == 1:  # a loss is a negative income; not in "income (loss)"
        found = [_loss(claim, wanted) if at is None else at for at, wanted in zip(found, label, strict=True)]
    if None in found:  # "a net loss" of "net result"
        found = [
            _profit_or_loss(claim) if at is None and wanted.word in words.results else at
            for at, wanted in zip(found, label, strict=True)
        ]
    if None in found:
        return set()
    places = [at for at in found if at is not None]
    if len(places) > 1 and [claim[at].word for at in range(places[0], places[-1] + 1)] == [
        wanted.word for wanted in label
    ]:
        return set(places)  # the label as it is written: "revenues from contracts with customers"
    compound = {at for at in places if at + 1 in places and claim[at + 1].start - claim[at].end == 1}
    turns = {at for at, token in enumerate(claim) if any(pair == "direction" for pair, _ in token.poles)}
    turns -= compound  # "contract liabilities", where nothing contracts
    turns -= {
        at for at, wanted in zip(places, label, strict=True)
        if claim[at].word == wanted.word and ("money", 1) in wanted.poles
    }  # fmt: skip
    turns |= {at for at, wanted in zip(places, label, strict=True) if opposite(claim[at], wanted)}
    return set(places) - turns  # their side is yet to be compared


def loss_in_brackets(label: Sequence[Token]) -> int:
    """Return the place of the loss in "net income (loss)"; 0 for other labels."""
    apart = (at for at, token in enumerate(label) if token.clause != label[0].clause)
    return next((at for at in apart if ("money", 1) in label[at].poles), 0)


def has_other_sign(claim: Sequence[Token], label: Sequence[Token], amount: Quantity) -> bool:
    """Return whether a positive amount of "income (loss)" is called a loss, or a negative one an income."""
    sides = {side for token in claim for pair, side in token.poles if pair == "money"}
    return bool(loss_in_brackets(label)) and sides == {1 if amount.base > 0 else 0}


def _spent_in_brackets(label: Sequence[Token], words: Lexicon) -> int:
    """Return the place of the second word in "provided by (used in)"; 0 for other labels."""
    apart = (at for at, token in enumerate(label) if token.clause != label[0].clause)
    return next((at for at in apart if label[at].word in words.spent), 0)


def _places_without(claim: Sequence[Token], label: Sequence[Token], at: int, words: Lexicon) -> set[int]:
    """Return the places of a label without one word, but with its phrase: "net" of "net income"."""
    found = places_of(claim, [*label[:at], *(replace(t, clause=0) for t in label[at + 1 :])], words)
    shared = label[at].word.split()[:-1]
    return found | {k for k, token in enumerate(claim) if found and token.word in shared}


def _profit_or_loss(claim: Sequence[Token]) -> int | None:
    return next(
        (at for at, token in enumerate(claim) if any(pair == "money" for pair, _ in token.poles)), None
    )


def _loss(claim: Sequence[Token], wanted: Token) -> int | None:
    return next((at for at, token in enumerate(claim) if "money" in opposite(token, wanted)), None)


def _place(claim: Sequence[Token], wanted: Token, words: Lexicon) -> int | None:
    """Return the place of the same word, else of a similar one: "higher in the highest class"."""
    own = (at for at, token in enumerate(claim) if token.word == wanted.word)
    return next(own, next((at for at, token in enumerate(claim) if _alike(token, wanted, words)), None))


def _alike(token: Token, wanted: Token, words: Lexicon) -> bool:
    if wanted.word in words.change and any(pair == "direction" for pair, _ in token.poles):
        return True
    if (
        wanted.marker
        and wanted.marker.value in ("top", "bottom")
        and not {token.word, wanted.word} & words.limits
    ):
        return token.word == wanted.word  # "the most" is not "Highest"
    return same(token, wanted) or (token.word in words.total and wanted.word in words.total)


def names_part(claim: Sequence[Token], head: Sequence[Token], words: Lexicon) -> bool:
    """Return whether a claim has a word of a head whose other words its unit implies: "draws 1.8 kW"."""
    return len(head) == 1 or any(_place(claim, wanted, words) is not None for wanted in head)


_LEAST_COMPOUND_END = 4  # letters of a root


def ends_compound(token: Token, other: Token) -> bool:
    """Return whether a word is the end of a compound: "Pumpe" of "Umwälzpumpen"."""
    long = min(len(token.root), len(token.word) - 1, len(other.root) - 2) >= _LEAST_COMPOUND_END
    return token.kind == other.kind == "word" and long and other.root.endswith(token.root)


# The table of a citation unit.


@lru_cache(maxsize=4)
def readings_of(page: tuple[SourceUnit, ...]) -> dict[str, tuple[CellReading, ...]]:
    """Return the cells of each row of a page's tables; ``page``: its units in order."""
    return read_tables(page)


cleared_with_memory(readings_of.cache_clear)


def grid_of(unit: SourceUnit, around: Sequence[SourceUnit], language: str) -> Grid | None:
    """Return the table of a row, with characters counted in the unit's own text; None without heads."""
    table = unit.table
    if table is None or table.header or len(table.head_rows) < 2:
        return None
    rows = [
        other
        for other in (unit, *around)
        if other.table and other.table.index == table.index and not other.table.header
        and (other.document, other.table.head_rows) == (unit.document, table.head_rows)
    ]  # fmt: skip
    rows.sort(key=lambda other: other.char_start)
    cells = tuple(tuple(_cells(other, len(table.head_rows), unit.char_start)) for other in rows)
    mark = page_mark(unit, around, language)
    text = table_text(table, unit, around, language)
    read = readings_of(tuple(sorted((unit, *around), key=lambda other: other.char_start)))
    readings = [read.get(other.id, ()) for other in rows]
    groups = tuple(next((cell.groups for cell in own), ()) for own in readings)
    return Grid(
        text.heads,
        cells,
        groups,
        text.caption,
        language,
        text.over,
        mark,
        text.has_money,
        text.corner_of_labels,
        {
            (r, c.cell.column): c.numbers
            for r, own in enumerate(readings)
            for c in own
            if len(c.numbers) > 1 and not c.is_estimate
        },
    )


def _cells(row: SourceUnit, columns: int, origin: int) -> Iterator[CellText]:
    """Yield the row's cells by column; empty ones where it has none."""
    table = row.table
    assert table is not None
    by_column = {cell.column: cell for cell in table.cells}
    for column in range(columns):
        cell = by_column.get(column)
        if cell is None:
            yield CellText("", 0, 0)
        else:
            yield CellText(cell.text, cell.char_start - origin, cell.char_end - origin)
