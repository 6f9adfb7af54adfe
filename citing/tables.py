"""Read the cells of a table: the one reader for verdicts, passages, answers and reviews.

``read_tables`` takes the units of a page and returns, for each row, its cells: what a cell is called (label,
groups of rows, column head), of which period and scope it is, what kind of number it holds, and its amount in
base units. ``TableText`` decides which measure a cell has; the verifier's ``Grid`` asks it too.

A table's scale ("in millions") is for its amounts. Shares in per cent, rates ("per share") and counts
("Employees") have only the measure that their own label, head or cell names.
"""

from __future__ import annotations

import re
import tomllib
from collections import Counter
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from functools import cache, cached_property, lru_cache
from itertools import pairwise, takewhile
from typing import Literal

from citing.claims import SourceUnit, page_mark
from pdf.structure import Cell, TableRow
from text.languages import UNSPACED_LANGUAGES, language_data
from text.measures import (
    Measure,
    exceptions_of,
    head_words,
    measure_of,
    names_count,
    names_unit,
    without_measure,
)
from text.numbers import YEAR_NOT_AMOUNT, DecimalMark, number_words
from text.quantities import Quantity, currency_names, quantities_in
from text.sentences import sentence_spans
from text.terms import one_line, stop_words
from text.units import CURRENCY_SIGN, CURRENCY_SYMBOLS

CellKind = Literal["amount", "share", "rate", "count", "measure", "date", "number", "text"]
Scope = Literal["", "whole", "part"]
UNSCALED: frozenset[CellKind] = frozenset({"share", "rate", "count"})

MOST_OVER = 3  # texts above a table that may name its unit
SHORT_LINE = 160  # characters of a line on a page that may be a heading or caption
LEAST_SHARED = 2  # words of an exception that a row must share: "per share"
LEAST_DATED = 2  # rows with a date that state the periods of a table's rows
LEAST_BLOCKS = 2  # of rows with the same labels, each under a row of its own
LEAST_CONTENTS = 5  # rows of a table of contents
MOST_COUNTED_WORDS = 4  # of a label that only names what it counts: "Full-time equivalent employees"
SECONDS_OF_MONTH = 2_629_746  # of the Gregorian calendar's mean year
INDENT = 3.0  # points; less is the ragged edge of one column


@dataclass(frozen=True, slots=True)
class Trust:
    """Factors on the confidence in a cell, each for one reason to doubt its name or its measure.

    They are not fitted: a value is said from ``CERTAIN`` on, and one doubt of these falls below it.
    """

    no_label: float = 0.2
    amount_in_label: float = 0.5  # a cell of another column ran into the label
    no_head: float = 0.6  # beside other columns of values
    several_periods: float = 0.6  # of one head: two heads run together
    long_head: float = 0.7
    unsure_scale: float = 0.6  # decimals in a table of whole thousands or millions
    several_numbers: float = 0.5
    page_number: float = 0.1  # of a table of contents


TRUST = Trust()
CERTAIN = 0.8
LONGEST_HEAD = 90  # characters

_LABEL_AMOUNT = re.compile(r"\s[$€£¥₹]? ?\d{1,3}(?:[.,]\d{3})+$|\s\(?[$€£¥₹] ?\d[\d.,]*\)?$")
_FOOTNOTE = re.compile(
    r"(?<=\w)\s*\(\d{1,2}\)|(?<=\w)\s*[*†‡§]+(?=\W|$)|(?<=[\w)])[¹⁰⁴-⁹ᵃᵇᶜᵈᵉᶠ]+|(?<=[^\W\d_]{4})[²³]"
)
_LEADERS = re.compile(r"(?<![.…·_])(?<![.…·_]\s)(?:\s?[.…·_]){3,}+\s*$")
_NUMBER = re.compile(rf"{CURRENCY_SIGN}|[A-Z]{{3}}(?=\s?\d)|[()\s]|[-–−+](?=[\d$€£¥.])|(?<=\d)\s?%")
_DECIMALS = re.compile(r"\d[.,]\d{1,2}\)?$")
_DIGIT = re.compile(r"\d")
_UNIT_OF_CORNER = re.compile(r"[(\[](?:(?:in|en|em)\s)?([^()\[\]]{1,20})[)\]]$")
_PAGE = re.compile(r"[0-9]{1,3}")
_NEGATIVE = re.compile(rf"(?:{CURRENCY_SIGN})?\s?\(.*\)|(?:{CURRENCY_SIGN})?\s?[-–−]\s?[\d$€£¥.].*")
_SENTENCE_ENDS = (".", "!", "。")
_TOTAL_CLOSES = re.compile(r"[:：]\s*$")
_STATED_AMOUNT = re.compile(rf"\(?{CURRENCY_SIGN}\s?\d[\d.,]*[^(),;]*\)?")  # "Dividends ($0.30 per share)"
_OPEN_END = re.compile(r"[,&/–—-]$")
_PERIOD_END = re.compile(r"\b(?:Q|H)([1-4])\b|\b([1-4])(?:Q|H)\b")
_CAPITALISED_NOUNS = frozenset({"de"})


@dataclass(frozen=True, slots=True)
class Period:
    """The period of a column: its years, and the part of a year ("three months"), '' for a whole year."""

    years: frozenset[int] = frozenset()
    part: str = ""


@dataclass(frozen=True, slots=True)
class CellReading:
    """One cell with all that names it.

    Attributes:
        unit: the row.
        label: the row's label, joined where it is wrapped, without its measure.
        groups: labels of the row groups it belongs to, outermost first.
        head: the column's head, without footnote marks; '' without one.
        kind: what its number is; ``text`` without one.
        quantity: its number, signed, in base units; None for text and for several numbers.
        numbers: its number, or a count and the share in brackets behind it: "24 (11.9)" under "n (%)"; or an
            estimate and its spread, "61.3 (9.8)" under "mean (SD)".
        is_estimate: whether its numbers are an estimate and its spread.
        measure: what its digits count in.
        text: the cell as on the page, in one line.
        printed: the amount with its currency, scale and unit: ``$44,538 million``.
        start, end: the cell's characters in the page's text.
        is_change: the column holds differences, or growth in per cent.
        block: the rows between which it stands, where rows state the period: "Balance at July 31, 2021 – …".
        confidence: 0..1, that name, period and measure are those of the cell; see ``Trust``.
    """

    unit: SourceUnit
    cell: Cell
    label: str
    groups: tuple[str, ...]
    head: str
    period: Period
    scope: Scope
    kind: CellKind
    quantity: Quantity | None
    numbers: tuple[Quantity, ...]
    measure: Measure
    text: str
    printed: str
    is_change: bool
    confidence: float
    block: str = ""
    is_estimate: bool = False

    @property
    def start(self) -> int:
        return self.cell.char_start

    @property
    def end(self) -> int:
        return self.cell.char_end

    @property
    def name(self) -> str:
        """Return what the cell is called: ``Revenue, North America, fiscal 2021``."""
        own = _plain_words(self.label)
        groups = [group for group in reversed(self.groups) if not _plain_words(group) <= own]
        return ", ".join(dict.fromkeys(filter(None, (self.label, *groups, self.head, self.block))))

    @property
    def year(self) -> int:
        """Return the latest year of its period; 0 without one."""
        return max(self.period.years, default=0)

    @property
    def is_certain(self) -> bool:
        return self.confidence >= CERTAIN


# --- What the words beside a number say of it ---


def worded_kind(texts: Iterable[str], language: str) -> CellKind | Literal[""]:
    """Return the kind of number that a label, its groups or a head name; '' if they name none.

    ``texts``: from the nearest to the farthest. The first that names a kind decides.
    """
    return next((kind for text in texts if (kind := _worded_kind(text, language))), "")


@lru_cache(maxsize=8192)
def _worded_kind(text: str, language: str) -> CellKind | Literal[""]:
    if not text:
        return ""
    words = kind_words(language)
    text = _SPREAD.sub("", text)
    plain = one_line(_STATED_AMOUNT.sub(" ", _FOOTNOTE.sub("", text))).casefold().strip(" :.")
    if _COUNTS_WITH_SHARES.search(text):
        return "count"
    found = measure_of(text, language)
    if found and found.measure.symbol == "%":
        return "share"
    if words.rate.search(plain):
        return "rate"
    if "%" in plain or words.share.search(plain):
        return "share"
    name = without_measure(plain, language)
    if names_count(name, language) or words.counted.search(name):
        return "count"
    spoken = re.findall(r"[^\W\d_]+", name)
    if _has_date(name, language):  # "Employees as of December 31, 2018"
        spoken = list(takewhile(lambda word: word not in stop_words(language), spoken))
    alone = 0 < len(spoken) <= MOST_COUNTED_WORDS and spoken[-1] in words.things
    return "count" if alone and stop_words(language).isdisjoint(spoken) else ""


@dataclass(frozen=True, slots=True)
class KindWords:
    """Patterns and words of a language, from the table ``heads`` of its ``units.toml``.

    Attributes:
        rate: "per share", "je Aktie", "1株当たり"; a label that ends in "ratio" or "rate".
        share: "percent of", "in Prozent".
        counted: phrases that count wherever they stand: "shares outstanding".
        things: nouns that, alone or at a label's end, are counted: "employees", "Mitarbeiter".
    """

    rate: re.Pattern[str]
    share: re.Pattern[str]
    counted: re.Pattern[str]
    things: frozenset[str]


@cache
def kind_words(language: str) -> KindWords:
    """Return the words of a language and of English, whose words stand in tables of any language."""
    languages = tuple(dict.fromkeys((language, "en")))
    # "per" alone is English only in English: in German and Italian it is another word
    rates = [_per_thing(language), *(_words(code, key, end) for code in languages for key, end in _RATES)]
    counted = [name for code in languages for name in head_words(code, "counted")]
    spaced = language not in UNSPACED_LANGUAGES
    phrases = [_any_of([name], language) for name in counted if " " in name or not spaced]
    return KindWords(
        _joined(rates),
        _joined([_words(code, "percent") for code in languages]),
        _joined(phrases),
        frozenset(name for name in counted if " " not in name),
    )


_RATES = (("per_phrase", ""), ("rate", r"\W*$"))  # lists of names of rates, and what may follow one


def _per_thing(language: str) -> str:
    """Return a pattern for "je Aktie"; in a language without a list of things for "per" alone."""
    things = _words(language, "per_of")
    return _words(language, "per", rf"\s+(?:\w+\s+){{0,3}}?{things}" if things else "")


def _words(language: str, key: str, behind: str = "") -> str:
    """Return a pattern for the words under ``key`` in ``heads``; '' where the language lists none."""
    words = sorted(head_words(language, key), key=len, reverse=True)
    return f"{_any_of(words, language)}{behind}" if words else ""


def _any_of(words: Sequence[str], language: str) -> str:
    plain = "|".join(map(re.escape, words))
    return f"(?:{plain})" if language in UNSPACED_LANGUAGES else rf"(?<!\w)(?:{plain})(?!\w)"


def _joined(patterns: Iterable[str]) -> re.Pattern[str]:
    """Return a pattern for any of these; it matches nothing without one."""
    return re.compile("|".join(filter(None, patterns)) or "(?!)")


# --- The measure of a cell ---


@dataclass(frozen=True)
class TableText:
    """The texts that name what a table's numbers count in.

    Attributes:
        over: texts above it that may name its unit, the nearest first.
        has_money: a currency is printed in its cells.
        corner_of_labels: most rows are named by numbers, of which the corner has the unit: "Age (in years)".
    """

    heads: tuple[str, ...]
    caption: str
    language: str
    over: tuple[str, ...] = ()
    has_money: bool = False
    corner_of_labels: bool = False

    @cached_property
    def measure(self) -> Measure:
        """Return the unit of the whole table, by its corner, its caption and the texts above it."""
        corner = self.heads[0] if self.heads and not self.corner_of_labels else ""
        for text in (corner, self.caption, *self.over):
            found = None if _COUNTS_WITH_SHARES.search(text) else measure_of(text, self.language)
            in_prose = found and found.measure.symbol and text.rstrip().endswith(_SENTENCE_ENDS)
            if found and not in_prose:  # "… in the year." names no unit
                return found.measure
        return Measure()

    @cached_property
    def unit_of_labels(self) -> str:
        """Return the unit in which numbers name the rows: "mL/min" of a corner "Clearance (mL/min)"."""
        named = _UNIT_OF_CORNER.search(self.heads[0]) if self.heads and self.corner_of_labels else None
        held = quantities_in(f"1 {named[1]}", self.language) if named else ()
        return named[1] if named and len(held) == 1 and held[0].unit else ""

    @cached_property
    def named_measures(self) -> tuple[tuple[str, Measure], ...]:
        """Return the units of columns by the caption: "(sales in millions, customers in thousands)"."""
        parts = re.split(r"[,;()（），；]", self.caption)
        found = [(part, measure_of(f"({part.strip()})", self.language)) for part in parts if part.strip()]
        named = [(without_measure(part.strip(), self.language), span.measure) for part, span in found if span]
        return tuple(named) if len(named) > 1 else ()

    @cached_property
    def excepted(self) -> tuple[frozenset[str], ...]:
        """Return the words of exceptions from the scale: "except per share data"."""
        texts = (*self.heads[:1], self.caption, *self.over)
        return tuple(words for text in texts for words in exceptions_of(text, self.language))

    def is_excepted(self, label: str) -> bool:
        """Return whether a row is excepted from the scale: "in millions, except per share data"."""
        words = frozenset(label.lower().split())
        return any(len(words & excepted) >= LEAST_SHARED for excepted in self.excepted)

    @cached_property
    def unit_column(self) -> int | None:
        """Return the column with the unit of each row."""
        return next((at for at, head in enumerate(self.heads) if names_unit(head, self.language)), None)

    @cached_property
    def corner_kind(self) -> CellKind | Literal[""]:
        """Return "rate" where the corner of the table names nothing else: "Earnings per share"."""
        corner = self.heads[0] if self.heads and not self.excepted else ""
        return "rate" if worded_kind((corner,), self.language) == "rate" else ""

    def measure_for(
        self,
        label: str,
        column: int,
        groups: Sequence[str] = (),
        unit: str = "",
        named: Measure | None = None,
    ) -> Measure:
        """Return the measure of a cell by its label, groups, column and unit column.

        ``named``: of its column by the caption, see ``named_measures``.
        """
        head = _SPREAD.sub("", self.heads[column]) if 0 < column < len(self.heads) else ""
        of_row, of_head = (worded_kind(texts, self.language) for texts in ((unit, label, *groups), (head,)))
        kind = of_row or of_head or self.corner_kind
        of_texts = (measure_of(head, self.language), None, measure_of(label, self.language))
        own = [found.measure if found else None for found in of_texts]
        own[1] = self._of_unit(unit)
        table = named or self.measure
        if self.is_excepted(label) or kind == "rate":
            symbol = table.symbol if self.corner_kind else ""  # "Earnings per share (pence)"
            table = Measure(currency=table.currency, symbol=symbol)
        elif kind == "count" and not named and (of_row or table.symbol != "%"):  # "Women" under "(%)"
            in_unit = table.symbol not in ("", "%")  # "Households" under "Energy use (PJ)"
            table = table if in_unit or not self._is_other(table) else Measure()
        elif kind == "share" and table.symbol != "%":
            table = Measure(symbol="%")
        if own[0] and of_row in UNSCALED:  # a row of rates under "2023 ($ million)"
            own[0] = replace(own[0], scale=Decimal(1)) if of_row == "rate" else None
        for measure in own:
            if measure is not None:
                table = measure.over(table)
        return table

    def _of_unit(self, unit: str) -> Measure | None:
        """Return the measure that a cell of the unit column names as a whole: "dB(A)" is no ampere."""
        found = measure_of(unit, self.language) if unit else None
        if found is None or (found.start, found.end) == (0, len(unit)):
            return found.measure if found else None
        one = quantities_in(f"1 {unit}", self.language)
        return Measure(symbol=one[0].unit) if len(one) == 1 and one[0].unit else found.measure

    def _is_other(self, measure: Measure) -> bool:
        """Return whether a table's measure is for other things than counts: money or per cent."""
        return bool(measure.currency or measure.symbol or self.has_money)

    def kind_of(
        self, label: str, column: int, groups: Sequence[str], quantity: Quantity, unit: str = ""
    ) -> CellKind:
        """Return what a cell's number is, by its own unit, then by the words beside it."""
        if quantity.dimension in ("date", "year"):
            return "date"
        head = self.heads[column] if 0 < column < len(self.heads) else ""
        worded = worded_kind((unit, label, *groups, head), self.language) or self.corner_kind
        if quantity.dimension == "ratio":
            return "share"
        if worded and not (worded == "count" and quantity.dimension):
            return worded
        if quantity.dimension == "money":
            return "amount"
        return "measure" if quantity.dimension else "number"


# --- Rows ---


def read_tables(
    units: Sequence[SourceUnit], rows: Container[str] | None = None
) -> dict[str, tuple[CellReading, ...]]:
    """Return the cells with values of each row of a page's tables, by the row's unit id.

    ``units``: all units of one page, or of one document's page and its neighbours.
    ``rows``: ids of the rows to read; None reads all.
    """
    return {key: cells for reader in _readers(units) for key, cells in reader.read(rows).items()}


def _readers(units: Sequence[SourceUnit]) -> Iterator[_TableReader]:
    tables: dict[tuple[str, int, int, tuple[str, ...]], list[SourceUnit]] = {}
    for unit in units:
        if unit.table is not None and not unit.table.header:
            key = (unit.document, unit.page, unit.table.index, unit.table.head_rows)
            tables.setdefault(key, []).append(unit)
    for (document, page, *_), rows in tables.items():
        around = [unit for unit in units if (unit.document, unit.page) == (document, page)]
        yield _TableReader(sorted(rows, key=lambda row: row.char_start), around)


def table_text(table: TableRow, unit: SourceUnit, around: Sequence[SourceUnit], language: str) -> TableText:
    """Return the texts that name the measure of the unit's table."""
    over = _texts_over(unit, around)
    short = over[0] if over and len(over[0]) < SHORT_LINE else ""
    sentences = tuple(_last_sentence(text, language) for text in over)
    own = [other.table for other in (unit, *around) if other.table and other.table.index == table.index]
    money = any(_CURRENCY.search(cell.text) for row in own for cell in row.cells[1:])
    labels = [row.cells[0].text for row in own if row.cells and not row.header]
    numbered = 2 * sum(map(bool, map(_DIGIT.search, labels))) > len(labels)
    above = (_corner_above(table, unit, around), *sentences, *reversed(unit.section_path))
    return TableText(table.head_rows, table.caption or short, language, above, money, numbered)


def _corner_above(table: TableRow, unit: SourceUnit, around: Sequence[SourceUnit]) -> str:
    """Return the corner of the table right above one without a corner, as that table goes on in this one."""
    if not table.head_rows or table.head_rows[0]:
        return ""
    own = [u for u in (unit, *around) if u.table is not None and u.table.index == table.index]
    start = min(u.char_start for u in own)
    before = max((u for u in around if u.char_start < start), key=lambda u: u.char_start, default=None)
    return before.table.head_rows[0] if before and before.table and before.table.head_rows else ""


_CURRENCY = re.compile(CURRENCY_SIGN)
_CODE = re.compile(r"[^\W\d_][-–]?$")  # before the number of a name: "B-01", "RS-485"


def _texts_over(unit: SourceUnit, around: Sequence[SourceUnit]) -> list[str]:
    """Return the texts right above the unit's table, nearest first, up to a long one."""
    before = [u for u in around if u.char_start < unit.char_start and u.type != "table"]
    before.sort(key=lambda other: -other.char_start)
    short = list(takewhile(lambda other: len(other.text) < SHORT_LINE, before[:MOST_OVER]))
    return [other.text for other in before[: len(short) + 1][:MOST_OVER]]


def _last_sentence(text: str, language: str) -> str:
    """Return the sentence that introduces a table: "… as follows (in thousands):"."""
    if len(text) < SHORT_LINE:
        return text
    spans = sentence_spans(text, language or "en")
    return text[spans[-1].start :] if spans else ""


@dataclass(frozen=True, slots=True)
class _Row:
    """A row with its label, and the left edge of the label in points; None where it has no box.

    ``common``: the label of the cells that span this row and others, where it is another one.
    """

    unit: SourceUnit
    label: str
    indent: float | None
    values: tuple[Cell, ...]
    common: str = ""


@dataclass(frozen=True, slots=True)
class _RowName:
    """A row with values, its label joined where it is wrapped, and its groups, outermost first."""

    row: _Row
    label: str
    groups: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class _Block:
    """Rows of one period: their years, none where they are unknown, and how the period is written."""

    years: frozenset[int] = frozenset()
    name: str = ""


def _blocks(names: Sequence[_RowName], language: str) -> dict[int, _Block]:
    """Return the block of each row of a table whose rows state the period; {} for other tables.

    Rows between two balances are of the period that the second one ends; a date over the table is not theirs.
    True:  "Balance at July 31, 2021", "Dividends", "Balance at October 30, 2021", "Balance at …, 2022".
    False: "Revenue", "Costs" under "2022".
    """
    dates = [(at, name) for at, name in enumerate(names) if _has_date(name.label, language)]
    years = {year for _, name in dates for year in YEAR_NOT_AMOUNT.findall(name.label)}
    if len(dates) < LEAST_DATED or len(years) < 2:
        return {}
    found = {at: _Block() for at in range(len(names))}
    for (start, opening), (end, closing) in pairwise(dates):
        ended = frozenset(map(int, YEAR_NOT_AMOUNT.findall(closing.label)))
        written = f"{opening.label} – {closing.label}"
        found |= {at: _Block(ended, written) for at in range(start + 1, end)}
    return found | {
        at: _Block(frozenset(map(int, YEAR_NOT_AMOUNT.findall(name.label)))) for at, name in dates
    }


def _has_date(label: str, language: str) -> bool:
    """Return whether a label has a day of a year: "Balance at July 31, 2021", but not "Notes due 2025"."""
    if not YEAR_NOT_AMOUNT.search(label):
        return False
    return any(quantity.dimension == "date" for quantity in quantities_in(label, language))


def _period_in(block: _Block | None, period: Period, head: str) -> Period:
    """Return the period of a cell in a block; a year of its own column outweighs the block's."""
    return period if block is None or YEAR_NOT_AMOUNT.search(head) else replace(period, years=block.years)


class _TableReader:
    """Read one table of one page: rows in order, with the groups that are open above each."""

    def __init__(self, rows: Sequence[SourceUnit], around: Sequence[SourceUnit]) -> None:
        first = rows[0]
        assert first.table is not None
        self.language = first.language or "en"
        self.around = around
        self.rows = _with_spanning_labels([_row(unit) for unit in rows])
        self.first, self.table = first, first.table

    @cached_property
    def text(self) -> TableText:
        return table_text(self.table, self.first, self.around, self.language)

    @cached_property
    def mark(self) -> DecimalMark | None:
        return page_mark(self.first, self.around, self.language)

    def read(self, rows: Container[str] | None = None) -> dict[str, tuple[CellReading, ...]]:
        names = self.names()
        blocks = _blocks(names, self.language)
        return {
            name.row.unit.id: tuple(self._cells(name, blocks.get(at)))
            for at, name in enumerate(names)
            if rows is None or name.row.unit.id in rows
        }

    def names(self) -> list[_RowName]:
        """Return the rows with values, each with its whole label and the groups that are open above it."""
        found: list[_RowName] = []
        open_groups: list[_Row] = []
        wrapped = ""  # the first lines of a label, of which the last has the values
        for at, row in enumerate(self.rows):
            after = self.rows[at + 1] if at + 1 < len(self.rows) else None
            if row.label and not row.values:
                if after and _continues(row, after, self.language):
                    wrapped = f"{wrapped} {row.label}".strip()
                    continue
                above = self.rows[at - 1] if at else None
                if above and above.values and _continues(above, row, self.language):
                    found[-1] = replace(found[-1], label=f"{found[-1].label} {row.label}")
                    continue
                open_groups = [g for g in open_groups if _is_outside(g, row)]
                open_groups.append(replace(row, label=f"{wrapped} {row.label}".strip()))
            else:
                open_groups = [g for g in open_groups if not _is_closed(g, row)]
                label = f"{wrapped} {row.label}".strip()
                if self._is_total(label):  # of the group that it names, else of the whole table
                    open_groups = _up_to_named(open_groups, label)
                groups = tuple(group.label for group in open_groups)
                found.append(_RowName(row, label, groups))
                if self._is_total(label) and open_groups:
                    open_groups.pop()
            wrapped = ""
        return self._in_blocks(found)

    def _in_blocks(self, found: list[_RowName]) -> list[_RowName]:
        """Return rows whose labels recur with the row over each block as their group: "Men", then ages.

        True: "Men  4.0", "16 to 24  9.4", "Women  3.6", "16 to 24  8.3".
        False: "Net income", "Balance at May 1", "Net income", "Dividends", "Balance at May 2".
        """
        count = Counter(name.label for name in found)
        blocks: dict[int, list[int]] = {}  # by the row over them
        head = -1
        for at, name in enumerate(found):
            if count[name.label] > 1:
                blocks.setdefault(head, []).append(at)
            else:
                head = at
        alike = {tuple(found[at].label for at in rows) for rows in blocks.values()}
        if (
            len(alike) != 1
            or len(blocks) < LEAST_BLOCKS
            or any(name.groups for name in found)
            or -1 in blocks
        ):
            return found
        for over, rows in blocks.items():
            for at in rows:
                found[at] = replace(found[at], groups=(found[over].label,))
        return found

    def _cells(self, name: _RowName, block: _Block | None) -> Iterator[CellReading]:
        row = name.row
        table = row.unit.table
        assert table is not None
        unit_at = self.text.unit_column
        unit = next((one_line(cell.text) for cell in table.cells if cell.column == unit_at), "")
        for cell in row.values:
            if cell.column != unit_at:
                own = row.common if row.common and cell.rows > 1 else name.label
                yield self._cell(row, cell, own, name.groups, unit, block)

    def _cell(
        self, row: _Row, cell: Cell, label: str, groups: tuple[str, ...], unit: str, block: _Block | None
    ) -> CellReading:
        language, text = self.language, one_line(cell.text)
        heads = self.text.heads
        head = heads[cell.column] if cell.column < len(heads) else ""
        named = self._named_measure(head)
        measure = self.text.measure_for(label, cell.column, groups, unit, named)
        if (
            not measure.currency
            and not measure.symbol
            and not worded_kind((unit, label, *groups, head), language)
        ):
            measure = replace(measure, currency=self.currencies.get(cell.column, ""))
        per = unit if kind_words(language).rate.match(unit.casefold()) else ""
        if per:  # the unit of "per 100 ml", or of a label "Count at 22 °C", is not that of the value
            measure = replace(measure, symbol="")
        quantities = quantities_in(text, language, self.mark)
        one = (
            quantities[0] if len(quantities) == 1 and not _CODE.search(text[: quantities[0].start]) else None
        )
        quantity = measure.applied(one) if one else None
        kind: CellKind = self.text.kind_of(label, cell.column, groups, quantity, unit) if quantity else "text"
        unsure = one is not None and self._is_unsure(one, kind, measure, text)
        own = replace(measure, currency=self.text.measure.currency)
        if quantity and one and (unsure and own == self.text.measure):
            measure = replace(measure, scale=Decimal(1))
            quantity, kind = measure.applied(one), "number"
        if quantity and _NEGATIVE.fullmatch(text) and quantity.value > 0 and "%" not in heads[:1]:
            quantity = replace(quantity, value=-quantity.value, base=-quantity.base)
        if quantity and one and kind == "count" and self._is_share(one, measure):
            of_head = measure_of(head, language)
            measure = of_head.measure if of_head else self.text.measure
            quantity, kind = measure.applied(one), "share"
        over = (head, label, *groups, self.text.caption, *self.text.heads[:1])
        of_number = self.text.unit_of_labels if not _letters(label) else ""
        estimate = estimate_and_spread(text, over, measure, language, self.mark)
        numbers = (quantity,) if quantity else estimate or count_and_share(text, over, language, self.mark)
        reading = CellReading(
            unit=row.unit,
            cell=cell,
            label=_clean(f"{label} {of_number}", language),
            groups=tuple(_clean(group, language) for group in groups),
            head=_clean(head, language),
            period=_period_in(block, period_of(head, self.text.caption, language), head),
            scope=scope_of(" ".join((head, *groups, label)), self.text.caption, language),
            kind=kind,
            quantity=quantity,
            numbers=numbers,
            is_estimate=bool(estimate),
            measure=measure,
            text=text,
            printed=f"{printed(text, measure, one, language)} {per}".rstrip() if one else text,
            block=block.name if block else "",
            is_change=has_word("change", head, language),
            confidence=1.0,
        )
        return replace(reading, confidence=self._confidence(reading, row, unsure, len(quantities)))

    def _is_share(self, one: Quantity, measure: Measure) -> bool:
        """Return whether a number has decimals, as no count has, in a table of per cent: "Men  3.7"."""
        in_share = self.text.measure.symbol == "%" and measure == Measure()
        return in_share and one.bare and one.step < 1

    def _named_measure(self, head: str) -> Measure | None:
        words = set(re.findall(r"[^\W\d_]{3,}", head.casefold()))
        for name, measure in self.text.named_measures:
            if words & set(re.findall(r"[^\W\d_]{3,}", name.casefold())):
                return measure
        return None

    @cached_property
    def currencies(self) -> dict[int, str]:
        """Return the only currency printed in each column: its first and last amounts often have a sign."""
        found: dict[int, set[str]] = {}
        for row in self.rows:
            for cell in row.values:
                if sign := _CURRENCY.search(cell.text):
                    found.setdefault(cell.column, set()).add(CURRENCY_SYMBOLS.get(sign[0], ""))
        return {column: next(iter(own)) for column, own in found.items() if len(own) == 1}

    @cached_property
    def whole_numbers(self) -> bool:
        """Return whether most numbers of a table in thousands or more have no decimals."""
        if self.text.measure.scale < 1000:
            return False
        texts = [one_line(cell.text) for row in self.rows for cell in row.values if _DIGIT.search(cell.text)]
        with_decimals = sum(bool(_DECIMALS.search(_NUMBER.sub("", text))) for text in texts)
        return 2 * with_decimals < len(texts)

    def _is_unsure(self, one: Quantity, kind: CellKind, measure: Measure, text: str) -> bool:
        """Return whether decimals among whole millions make the scale doubtful: they are a rate's."""
        if kind in UNSCALED or measure.scale == 1 or one.scale != 1 or not self.whole_numbers:
            return False
        return one.value != one.value.to_integral_value() and measure.scale == self.text.measure.scale

    @cached_property
    def is_contents(self) -> bool:
        """Return whether each row has one number, never less than the row before: titles and pages."""
        rows = [row for row in self.rows if row.values]
        pages = [one_line(row.values[-1].text) for row in rows if len(row.values) == 1 and row.label]
        return (
            len(pages) >= max(LEAST_CONTENTS, len(rows) - 1)
            and all(map(_PAGE.fullmatch, pages))
            and sorted(set(map(int, pages))) == list(dict.fromkeys(map(int, pages)))
        )

    def _is_total(self, label: str) -> bool:
        return has_word("whole", label, self.language)

    def _confidence(self, reading: CellReading, row: _Row, unsure: bool, numbers: int) -> float:
        doubts = [self.table.head_confidence]
        siblings = len(row.values) > 1
        if not _letters(reading.label):
            doubts.append(TRUST.no_label)
        if _LABEL_AMOUNT.search(reading.label):
            doubts.append(TRUST.amount_in_label)
        if not reading.head and siblings:
            doubts.append(TRUST.no_head)
        if len(reading.period.years) > 1:
            doubts.append(TRUST.several_periods)
        if len(reading.head) > LONGEST_HEAD:
            doubts.append(TRUST.long_head)
        if unsure:
            doubts.append(TRUST.unsure_scale)
        if numbers > 1 and not reading.numbers:
            doubts.append(TRUST.several_numbers)
        if self.is_contents:
            doubts.append(TRUST.page_number)
        confidence = 1.0
        for doubt in doubts:
            confidence *= doubt
        return confidence


def _row(unit: SourceUnit) -> _Row:
    table = unit.table
    assert table is not None
    first = next((cell for cell in table.cells if cell.column == 0), None)
    label = _LEADERS.sub("", one_line(first.text)) if first else ""
    values = tuple(cell for cell in table.cells if cell.column > 0 and cell.text.strip())
    return _Row(unit, label, first.rect.x0 if first and first.rect else None, values)


def _with_spanning_labels(rows: Sequence[_Row]) -> list[_Row]:
    """Give rows without a label of their own that of the cell that spans them.

    Where labels span rows, the texts of the next columns tell the rows apart and join the label: "Women"
    below "Men", both beside "Blood pressure".
    """
    out: list[_Row] = []
    spanning, left = None, 0
    texts = _text_columns(rows)
    for row in rows:
        table = row.unit.table
        first = next((cell for cell in table.cells if cell.column == 0), None) if table else None
        if first is not None:
            spanning, left = (row, first.rows) if first.rows > 1 else (None, 1)
        if spanning is not None and left > 0:
            own = [one_line(cell.text) for cell in row.values if cell.column in texts]
            label = ", ".join([spanning.label, *own])
            row = replace(row, label=label, indent=spanning.indent, common=spanning.label)
        elif not row.label and len(row.values) > 1 and not _DIGIT.search(row.values[0].text):
            row = replace(row, label=one_line(row.values[0].text), values=row.values[1:])  # below numbers
        left -= 1
        out.append(row)
    return out


def _text_columns(rows: Sequence[_Row]) -> set[int]:
    """Return the columns behind the labels of which no cell has a digit, up to the first with one."""
    valued = {cell.column for row in rows for cell in row.values if _DIGIT.search(cell.text)}
    return {cell.column for row in rows for cell in row.values} - valued


def _leaves_bracket_open(label: str) -> bool:
    """Return whether a bracket is opened behind the last one that is closed: "Dividends ($0.30 per"."""
    return max(map(label.rfind, "([")) > max(map(label.rfind, ")]"))


def _continues(row: _Row, after: _Row, language: str) -> bool:
    """Return whether a label is continued by the next row's label.

    True:  "Purchases of property, plant" above "and equipment  1,577"; "Net income attributable to" above
           "Shareholders  96".
    False: "Assets:" above "Cash  8,853".
    """
    if _TOTAL_CLOSES.search(row.label) or not row.label or not after.label:
        return False
    last = row.label.casefold().split()[-1]
    if _OPEN_END.search(last) or _leaves_bracket_open(row.label) or last in stop_words(language):
        return True
    first = after.label.lstrip("([“\"'")[:1]
    return first.islower() and (language not in _CAPITALISED_NOUNS or not after.label[:1].isupper())


def _is_outside(group: _Row, row: _Row) -> bool:
    """Return whether a new group stands inside an open one: it is indented further."""
    return None not in (group.indent, row.indent) and group.indent + INDENT < row.indent  # type: ignore[operator]


def _is_closed(group: _Row, row: _Row) -> bool:
    """Return whether a row that stands further left than a group's title ends the group."""
    return None not in (group.indent, row.indent) and row.indent + INDENT < group.indent  # type: ignore[operator]


def _up_to_named(groups: list[_Row], label: str) -> list[_Row]:
    """Return the open groups up to the one whose words a total has; a bare "Total" is of the innermost.

    True:  "Total current assets" is of "Current assets", in "Assets".
    False: "Total assets" is not of "Other assets".
    """
    own = _plain_words(label)
    if len(own) == 1:
        return groups
    named = [at for at, group in enumerate(groups) if _plain_words(group.label) <= own]
    return groups[: named[-1] + 1] if named else []


def _plain_words(text: str) -> frozenset[str]:
    return frozenset(re.findall(r"[^\W\d_]+", text.casefold()))


def _letters(text: str) -> int:
    return sum(map(str.isalpha, text))


def _clean(text: str, language: str) -> str:
    """Return a label or head in one line, without its measure, footnote marks and leaders."""
    plain = COUNTED.sub("", _LEADERS.sub("", _FOOTNOTE.sub("", one_line(text))))
    return without_measure(plain, language).strip(" :.,;…")


_COUNT_AND_SHARE = re.compile(r"(?P<count>[\d.,\s]*\d)\s*[(（]\s*(?P<share>\d[\d.,]*\s?%?)\s*[)）]")
_COUNT_WITH_SHARE = r"(?<!\w)(?:no|n|nr|núm|nº|Anzahl|例数|人数)\.?\s?[(（]\s*%\s*[)）]"
_COUNTS_WITH_SHARES = re.compile(rf"(?i){_COUNT_WITH_SHARE}")
COUNTED = re.compile(rf"(?i)[\s,;—–-]*{_COUNT_WITH_SHARE}$")
_COUNTS_AND_SHARES = re.compile(r"[(（]\s*%\s*[)）]")


def count_and_share(
    text: str, over: Iterable[str], language: str, mark: DecimalMark | None
) -> tuple[Quantity, ...]:
    """Return the count and the share of "24 (11.9)", where a text over it says "(%)"; () otherwise."""
    pair = _COUNT_AND_SHARE.fullmatch(text)
    if pair is None or not any(_COUNTS_AND_SHARES.search(above) for above in over):
        return ()
    count = quantities_in(pair["count"], language, mark)
    share = quantities_in(pair["share"].rstrip(" %") + " %", language, mark)
    return (*count, *share) if len(count) == len(share) == 1 else ()


_SIGNED = r"[-–−]?\s?\d[\d.,]*"
_ESTIMATE = re.compile(
    rf"(?P<one>{_SIGNED})\s*(?:[(\[]\s*(?P<low>{_SIGNED})"
    rf"(?:\s*(?:to|bis|[àa]|[-–—,;])\s*(?P<high>{_SIGNED}))?\s*[)\]]|±\s*(?P<spread>\d[\d.,]*))"
)
_KIND_OF_SPREAD = r"(?:SDs?|SE|SEM|IQR|CI|KI|IC|BI|ET|DE|DS|DP|range|Spanne|[ée]tendue|rango)"
_SPREAD = re.compile(
    rf"[(\[]\s*±?\s*(?:\d{{2}}\s?%[\s-]?)?{_KIND_OF_SPREAD}\b[^()\[\]]*[)\]]|±\s*{_KIND_OF_SPREAD}\b"
)


def estimate_and_spread(
    text: str, over: Iterable[str], measure: Measure, language: str, mark: DecimalMark | None
) -> tuple[Quantity, ...]:
    """Return an estimate and the number or two behind it, where the nearest text over it names their kind.

    True: "61.3 (9.8)" under "mean (SD)"; "0.71 (0.54–0.94)" under "Hazard ratio (95% CI)".
    False: "61.3 (9.8)" under "2024" or "n (%)".
    """
    parts = _ESTIMATE.fullmatch(text)
    kinds = (above for above in over if _SPREAD.search(above) or _COUNTS_AND_SHARES.search(above))
    if parts is None or not _SPREAD.search(next(kinds, "")):
        return ()
    each = [part for part in parts.group("one", "low", "high", "spread") if part]
    found = [quantities_in(part, language, mark) for part in each]
    return tuple(measure.applied(one[0]) for one in found) if all(len(one) == 1 for one in found) else ()


# --- Periods, scopes, printing ---


@cache
def column_words(language: str) -> Mapping[str, tuple[str, ...]]:
    """Return the table ``columns`` of the language's ``answers.toml``, else of English."""
    data = language_data(language, "answers.toml") or language_data("en", "answers.toml")
    return {key: tuple(words) for key, words in tomllib.loads(data).get("columns", {}).items()}


@lru_cache(maxsize=65536)
def has_word(name: str, text: str, language: str) -> bool:
    """Return whether a word of the text begins with a word of the language's list of that name."""
    return bool(word_of(name, text, language))


@lru_cache(maxsize=65536)
def word_of(name: str, text: str, language: str) -> str:
    """Return the first word of the language's list of that name that begins a word of the text, or ''."""
    lowered = text.casefold()
    return next((word for word in column_words(language).get(name, ()) if _begins(word, lowered)), "")


def _begins(word: str, text: str) -> bool:
    if word not in text:
        return False
    return not word.isascii() or bool(re.search(rf"(?<![^\W_]){re.escape(word)}", text))


@lru_cache(maxsize=8192)
def period_of(head: str, caption: str, language: str) -> Period:
    """Return the period of a column by its head; the caption's where the head has no year."""
    own = frozenset(map(int, YEAR_NOT_AMOUNT.findall(head)))
    part = word_of("part_of_year", head, language) or _part_by_letter(head)
    if own:
        return Period(own, part)
    years = frozenset(map(int, YEAR_NOT_AMOUNT.findall(caption)))
    part = part or word_of("part_of_year", caption, language)
    return Period(years if len(years) == 1 else frozenset(), part)


@cache
def months_of(part: str, language: str) -> int | None:
    """Return the length of a part of a year: 3 for "quarter", 6 for "half year"; None without a part.

    The first word of the language's list is that for a quarter; the others without a length are halves.
    """
    if not part:
        return None
    if part == column_words(language).get("part_of_year", ("",))[0]:
        return 3
    if _PERIOD_END.fullmatch(part.upper()):
        return 3 if "Q" in part.upper() else 6
    for length in quantities_in(part, language):
        if length.dimension == "calendar":
            return round(length.base)
        if length.dimension == "time":
            return round(length.base / SECONDS_OF_MONTH)
    return 6


def _part_by_letter(head: str) -> str:
    match = _PERIOD_END.search(head)
    return match[0].casefold() if match else ""


@lru_cache(maxsize=8192)
def scope_of(name: str, caption: str, language: str) -> Scope:
    """Return whether a cell's name or its caption says a part ("segment") or the whole ("consolidated").

    A part outweighs in a name; in a caption the whole does: "… and Subsidiaries Consolidated Statements".
    """
    if has_word("part", name, language):
        return "part"
    if has_word("whole", name, language) or has_word("whole", caption, language):
        return "whole"
    return "part" if has_word("part", caption, language) else ""


def printed(text: str, measure: Measure, quantity: Quantity, language: str) -> str:
    """Return a printed number in its measure: ``$44,538 million``, ``€15,21 Milliarden``, ``(36 h)``."""
    if quantity.scale != 1 or (not quantity.bare and quantity.dimension not in ("", "money")):
        return text
    number = text.strip()
    currency = _CURRENCY.search(number)
    number = " ".join(_CURRENCY.sub(" ", number).split())
    if number.startswith("("):
        inner = replace(quantity, bare=True)
        sign = f"{currency[0]}" if currency else ""
        return f"({printed(sign + number.strip('() '), measure, inner, language)})"
    if currency and measure.scale == 1 and text.rstrip().endswith(currency[0]):
        return one_line(text)
    if currency:
        measure = replace(measure, currency=CURRENCY_SYMBOLS.get(currency[0], measure.currency), symbol="")
    if measure.symbol:
        number = f"{number} {scale_name(measure.scale, language)}".rstrip()
        return number if number.endswith(measure.symbol) else f"{number} {measure.symbol}"
    sign = currency[0] if currency else sign_of(measure.currency, language)
    if number[:1] in "-–−":
        return f"−{sign}{number[1:].lstrip()} {scale_name(measure.scale, language)}".rstrip()
    return f"{sign}{number} {scale_name(measure.scale, language)}".rstrip()


@cache
def scale_name(scale: Decimal, language: str) -> str:
    """Return the name of a scale in the language: ``million``, ``Millionen``; '' for 1."""
    names = [word for word, own in number_words(language).scales.items() if own == scale]
    name = max(names, key=len, default="") if scale != 1 else ""
    if language == "en":
        name = name.removesuffix("s")
    return name.capitalize() if language in _CAPITALISED_NOUNS else name


@cache
def sign_of(currency: str, language: str) -> str:
    """Return the sign of a currency, else its code and a space; '' without a currency."""
    if not currency:
        return ""
    signs = [sign for sign, code in currency_names(language).items() if code == currency]
    return next((sign for sign in signs if len(sign) == 1), f"{currency} ")
