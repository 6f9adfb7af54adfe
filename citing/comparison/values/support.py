"""Check the values of a claim against a unit: which it prints, where, and which are missing.

A value is supported when the unit prints it with the same sign and magnitude, and for the same year where
both name one. In a table, the parser's column heads name the year.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from decimal import ROUND_HALF_UP, Decimal
from functools import cache, cached_property, lru_cache
from typing import Literal

from citing.anchoring.page_text import tokens
from citing.budget import check_budget
from citing.claims import SourceUnit, page_mark
from domains import words_of_packs
from pdf.gc_control import cleared_with_memory
from pdf.geometry import Rect
from pdf.structure import Cell
from text.measures import page_scale
from text.numbers import YEAR, decimal_mark, month_numbers
from text.terms import stop_words
from text.values import ANY_YEAR, Value, ValueYear, values_in, year_of_value

# Whether a passage is on the subject of a claim: the share of the claim's content words it has.

_STEM = 5  # letters; enough to distinguish words, few enough to drop their endings
_OTHER_STOP_WORDS = {
    "although", "among", "either", "however", "much", "may", "must", "per", "said", "shall", "within",
    "without", "year", "years", "percent", *month_numbers("en"),
}  # fmt: skip


@cache
def common_words() -> frozenset[str]:
    """Return words that do not distinguish lines: stop words, months, and the packs' common words."""
    return stop_words("en") | _OTHER_STOP_WORDS | words_of_packs("common_words.txt")


@lru_cache(maxsize=512)
def content_words(text: str) -> frozenset[str]:
    """Return the stems of the content words of a text: no function words, no numbers."""
    words = (token for token in tokens(text) if len(token) > 1 and token[0].isalpha())
    return frozenset(word[:_STEM] for word in words if word not in common_words())


cleared_with_memory(content_words.cache_clear)


def shared_terms(claim: str, passages: Iterable[str]) -> float:
    """Return 0..1, the share of the claim's content words in the passages; 1 when it has none."""
    wanted = content_words(claim)
    if not wanted:
        return 1.0
    return len(wanted & content_words("\n".join(passages))) / len(wanted)


# The heads of a value's row and column, as the parser stored them.


def column_of(unit: SourceUnit, at: int) -> int | None:
    """Return the column of the table cell with ``unit.text[at]``; None outside tables."""
    cells = unit.table.cells if unit.table else ()
    place = unit.char_start + at
    return next((cell.column for cell in cells if cell.char_start <= place < cell.char_end), None)


def head_text(unit: SourceUnit, at: int) -> str:
    """Return the head of the column of ``unit.text[at]``; '' without one."""
    column, heads = column_of(unit, at), unit.table.head_rows if unit.table else ()
    return heads[column] if column is not None and column < len(heads) else ""


def head_years(unit: SourceUnit, at: int) -> frozenset[int]:
    """Return the years in the head of the column of ``unit.text[at]``."""
    return frozenset(map(int, YEAR.findall(head_text(unit, at))))


def column_heads(unit: SourceUnit, at: int, units: Sequence[SourceUnit]) -> tuple[Rect, ...]:
    """Return boxes of the heads of the column of ``unit.text[at]``: in the table's header rows, or above it.

    ``units``: the others of its page.
    """
    column = column_of(unit, at)
    above = unit.table.head_rects if unit.table else ()
    if column is not None and column < len(above) and (rect := above[column]):
        return (rect,)
    rows = (other.table for other in units if other.table and other.document == unit.document)
    heads = [row for row in rows if unit.table and row.header and row.index == unit.table.index]
    return tuple(cell.rect for row in heads for cell in row.cells if column in _headed(cell) and cell.rect)


def _headed(cell: Cell) -> tuple[int, ...]:
    """Return the columns of a header cell: its own where an older parser or importer stored no others."""
    return cell.headed_columns or (cell.column,)


def names_another_column(claim: str, unit: SourceUnit, at: int) -> bool:
    """Return whether the claim has words of another column's head, and none of this one's."""
    column = column_of(unit, at)
    heads = unit.table.head_rows if unit.table else ()
    if column is None or not 0 < column < len(heads):
        return False
    words = [content_words(head) for head in heads]
    others = set().union(*words[1:column], *words[column + 1 :])
    claimed = content_words(claim) - content_words(unit.text)
    return bool(words[column] - others and claimed & (others - words[column])) and not claimed & words[column]


# Numbers that name a column and are not values: ``52 weeks``, ``Level 2``, ``FY23``.

_LAST_WORD = re.compile(r"[^\W\d_]+\W?\s$")
_NEXT_WORD = re.compile(r"\s[^\W\d_]+")
_LETTER = re.compile(r"[^\W\d_]")


def heads_of_columns(unit: SourceUnit, columns: Collection[int | None] = ()) -> Sequence[str]:
    """Return the column heads of the unit's table for these columns; of all when none is known."""
    heads = unit.table.head_rows if unit.table else ()
    known = [heads[column] for column in columns if column is not None and column < len(heads)]
    return known or heads


def repeats_head(sentence: str, value: Value, heads: Sequence[str]) -> bool:
    """Return whether a head contains the value in or beside the same word as the sentence."""
    phrases = [re.compile(rf"(?<!\w){re.escape(phrase)}(?!\w)", re.I) for phrase in _phrases(sentence, value)]
    return any(phrase.search(head) for head in heads for phrase in phrases)


def _phrases(sentence: str, value: Value) -> Iterator[str]:
    """Yield the value with the letters joined to it; else with the word before it, and the word after."""
    start, end = value.start, value.end
    while start and sentence[start - 1].isalnum():
        start -= 1
    while end < len(sentence) and sentence[end].isalnum():
        end += 1
    if _LETTER.search(sentence[start:end]):
        yield sentence[start:end]
        return
    if before := _LAST_WORD.search(sentence, 0, start):
        yield sentence[before.start() : end]
    if after := _NEXT_WORD.match(sentence, end):
        yield sentence[start : after.end()]


# Comparison of two values.
#
# ``3,577`` = ``3577`` = ``$3,577``; ``(305)`` = ``−305``; ``1.577 billion`` =
# ``1,577`` where the page says "in millions".

Agreement = Literal["exact", "normalized"]
FARTHEST_ROUNDING = Decimal("0.05")  # largest share of a value by which rounding may change it


def agreement(claimed: Value, printed: Value, scale: Decimal | None = None) -> Agreement | None:
    """Return how a printed value agrees with the claimed one; None if it differs.

    ``scale`` is the scale that the page states ("in millions"). ``exact``: the same
    digits and sign, even where the two languages read the digits differently;
    ``normalized``: the same value in another notation, or rounded to the digits of
    a claim with a scale or a hedge.
    """
    if "date" in (claimed.kind, printed.kind):
        return _date_agreement(claimed, printed)
    if (claimed.kind == "percent") != (printed.kind == "percent"):
        without_sign = claimed.kind == "percent" and printed.kind == "number"
        return _percent_agreement(claimed, printed) if without_sign else None
    if claimed.kind == "year" or printed.kind == "year":
        same = claimed.number == printed.number and printed.scale == claimed.scale
        return ("exact" if claimed.digits == printed.digits else "normalized") if same else None
    if _is_copied(claimed, printed):
        return "exact"
    if claimed.scale == printed.scale and claimed.number == printed.number:
        return "exact" if claimed.digits == printed.digits else "normalized"
    return "normalized" if _same_amount(claimed, printed, scale) else None


def _is_copied(claimed: Value, printed: Value) -> bool:
    """Return whether the claim copies the digits, as an English claim may ``1.577`` of a German page."""
    same_sign = (claimed.number < 0) == (printed.number < 0)
    return claimed.digits == printed.digits and claimed.scale == printed.scale and same_sign


def _percent_agreement(claimed: Value, printed: Value) -> Agreement | None:
    """Compare a percentage with a number whose percent sign is in the column header or another cell."""
    same = claimed.number == printed.number and printed.scale is None
    return "normalized" if same else None


def _date_agreement(claimed: Value, printed: Value) -> Agreement | None:
    if claimed.kind != printed.kind:
        return None
    if claimed.number == printed.number:
        return "exact" if claimed.text == printed.text else "normalized"
    with_year = max(claimed.number, printed.number) >= 10**7 > min(claimed.number, printed.number)
    return "normalized" if with_year and claimed.number % 10000 == printed.number % 10000 else None


def _same_amount(claimed: Value, printed: Value, scale: Decimal | None) -> bool:
    """Return whether both are the same amount after scaling, and rounding where the claim permits it.

    A claim without a scale may repeat a number as a table with a scale prints it,
    or write the number out in full.
    """
    if claimed.scale is None and printed.scale is None and claimed.number == printed.number:
        return True
    printed_amount = printed.number * (printed.scale or scale or 1)
    claimed_amount = claimed.number * (claimed.scale or 1)
    if printed_amount == claimed_amount:
        return True
    if claimed.scale is None and not claimed.hedged:
        return False
    step = (claimed.scale or 1) * Decimal(1).scaleb(-_decimals(claimed))
    if claimed.hedged and claimed.scale is None and claimed.number == claimed.number.to_integral():
        step = Decimal(1).scaleb(_trailing_zeros(claimed.number))
    near = abs(printed_amount - claimed_amount) <= FARTHEST_ROUNDING * abs(printed_amount)
    return near and (printed_amount / step).quantize(Decimal(1), ROUND_HALF_UP) * step == claimed_amount


def _decimals(value: Value) -> int:
    exponent = value.number.as_tuple().exponent
    return -exponent if isinstance(exponent, int) and exponent < 0 else 0


def _trailing_zeros(number: Decimal) -> int:
    digits = str(abs(int(number)))
    return len(digits) - len(digits.rstrip("0")) if int(number) else 0


# Whether a unit supports the values of a claim.

FALLING = re.compile(
    r"\b(?:loss|losses|lost|decreas\w*|declin\w*|fell|fall\w*|down|lower\w*|reduc\w*|drop\w*|used|spen[dt]\w*|paid|pays?|"
    r"paying|payments?|repa\w+|purchas\w*|repurchas\w*|outflows?|outlays?|deficits?|negative|shrank|shrunk|contract\w*|"
    r"acquired|invested|capex|expenditures?|dividends?|charges?|costs?|expenses?|deduct\w*|less|minus|under)\b",
    re.IGNORECASE,
)
_CLOSE_BEFORE = 60  # characters before a number in which a word can change its sign


@dataclass(frozen=True, slots=True)
class ValueMatch:
    """A value of the claim and the printed value that supports it; ``heads``: boxes of its column's head."""

    claimed: Value
    printed: Value
    agreement: Agreement
    heads: tuple[Rect, ...] = ()


@dataclass(frozen=True, slots=True)
class ValueSupport:
    """How far a unit supports the values of a claim.

    Attributes:
        missing: the values it does not print, as written in the claim.
        reason: why, in a sentence for people.
        terms: 0..1, the share of the claim's content words in the unit; 0 when values are missing.
    """

    unit: SourceUnit
    places: tuple[ValueMatch, ...]
    missing: tuple[str, ...]
    reason: str
    terms: float

    @property
    def complete(self) -> bool:
        return bool(self.places) and not self.missing


def check_values(sentence: str, unit: SourceUnit, around: Sequence[SourceUnit]) -> ValueSupport:
    """Check the sentence's values against the unit. ``around``: the other units of its page, in order."""
    printed_mark = page_mark(unit, around)
    values = values_in(sentence, decimal_mark(sentence) or printed_mark)
    times = [value for value in values if value.kind in ("year", "date")]
    amounts = [v for v in values if v.kind not in ("year", "date")]
    naming = [value for value in amounts if repeats_head(sentence, value, heads_of_columns(unit))]
    amounts = [value for value in amounts if value not in naming] or amounts
    years = {amount.start: year_of_value(sentence, amount, unit.language) for amount in amounts}
    reader = _ValueReader(sentence, unit, around, years, values_in(_with_joined_digits(unit), printed_mark))
    places, missing, reasons = [], [], []
    for value in amounts or times:
        found = reader.find(value)
        if isinstance(found, ValueMatch):
            places.append(found)
        else:
            missing.append(value.text)
            reasons.append(found)
    columns = {column_of(unit, place.printed.start) for place in places}
    for value in naming:
        if value not in amounts and not repeats_head(sentence, value, heads_of_columns(unit, columns)):
            missing.append(value.text)
            reasons.append(f"{value.text} is the heading of another column.")
    unknown = [time for time in times if amounts and not reader.knows_time(time)]
    missing += [time.text for time in unknown]
    reasons += [f"The passage says nothing about {time.text}." for time in unknown]
    return ValueSupport(
        unit, tuple(places), tuple(missing), next(iter(reasons), ""), reader.terms() if not missing else 0.0
    )


class _ValueReader:
    """Find the values of one claim in one unit."""

    def __init__(
        self,
        sentence: str,
        unit: SourceUnit,
        around: Sequence[SourceUnit],
        years: dict[int, ValueYear],
        printed: Sequence[Value],
    ) -> None:
        self._sentence, self._unit, self._around, self._years = sentence, unit, around, years
        self._printed = printed
        self._own_years = {value.year for value in self._printed if value.year is not None}

    def find(self, value: Value) -> ValueMatch | str:
        """Return the place that supports the value, or the reason why there is none."""
        same = [
            ValueMatch(value, printed, agreed)
            for printed in self._printed
            if (agreed := self._agreement(value, printed))
        ]
        if not same:
            return self._why_missing(value)
        if len(self._years) == 1:
            same = [p for p in same if not names_another_column(self._sentence, self._unit, p.printed.start)]
        if not same:
            return f"{value.text} is here, but in a different column."
        of_year = [place for place in map(self._placed, same) if place is not None]
        if not of_year:
            return f"{value.text} is here, but for a different year."
        return min(of_year, key=lambda place: place.agreement != "exact")

    def _agreement(self, value: Value, printed: Value) -> Agreement | None:
        check_budget()
        agreed = agreement(value, printed, self._scale)
        if agreed is None and (value.number < 0) != (printed.number < 0):
            return self._agreement_but_for_sign(value, printed)
        return agreed

    def _agreement_but_for_sign(self, value: Value, printed: Value) -> Agreement | None:
        """Compare where a word on one side is the sign on the other: "a loss of 305" is (305)."""
        turned = agreement(_negated(value), printed, self._scale)
        if not turned or value.number == 0:
            return None
        if printed.number < 0:
            is_loss = FALLING.search(re.sub(r"\([^)]*[a-z][^)]*\)", "", self._sentence))
        else:
            before = self._unit.text[max(0, printed.start - _CLOSE_BEFORE) : printed.start]
            is_loss = FALLING.search(re.split(r"[.;]\s", before)[-1])
        return "normalized" if is_loss else None

    def _placed(self, place: ValueMatch) -> ValueMatch | None:
        """Return the place with its heads; None under or beside a year other than the claim's."""
        check_budget()  # the unit is divided into sentences
        claimed = self._years.get(place.claimed.start) or ANY_YEAR
        start = place.printed.start
        years = head_years(self._unit, start)
        wrong = (
            not any(map(claimed.allows, years)) if years else self._is_of_another_year(place.printed, claimed)
        )
        return None if wrong else replace(place, heads=column_heads(self._unit, start, self._around))

    def _is_of_another_year(self, printed: Value, claimed: ValueYear) -> bool:
        if self._unit.type == "table" or not self._own_years or claimed == ANY_YEAR:
            return False
        printed_year = year_of_value(self._unit.text, printed, self._unit.language)
        if claimed.year in self._own_years or not printed_year.compared:
            return not printed_year.allows(claimed.year)
        return not self._is_in_heads(claimed.year)

    def knows_time(self, time: Value) -> bool:
        """Return whether the unit, its heads and sections, or its page have this year or date."""
        if any(agreement(time, printed) for printed in self._printed):
            return True
        if time.kind == "date" and self._has_other_day(time):
            return False
        if time.year is not None and (time.year in self._own_years or self._is_in_heads(time.year)):
            return True
        page = [value for other in self._around for value in values_in(other.text)]
        return any(agreement(time, value) or (time.year and value.year == time.year) for value in page)

    def _has_other_day(self, date: Value) -> bool:
        """Return whether the heads have days, and none of them is the date's: "year ended 31 December"."""
        days = {
            value.number % _MONTHS_AND_DAYS
            for head in heads_of(self._unit)
            for value in values_in(head)
            if value.kind == "date"
        }
        return bool(days) and date.number % _MONTHS_AND_DAYS not in days

    def _is_in_heads(self, year: int) -> bool:
        return any(str(year) in head for head in heads_of(self._unit))

    @cached_property
    def _scale(self) -> Decimal | None:
        texts = [*heads_of(self._unit), *(other.text for other in self._nearest_first())]
        return page_scale(texts, self._unit.language)

    def _nearest_first(self) -> list[SourceUnit]:
        start = self._unit.char_start
        before = [other for other in self._around if other.char_start < start]
        return [*reversed(before), *(other for other in self._around if other.char_start >= start)]

    def _why_missing(self, value: Value) -> str:
        if any(agreement(_negated(value), printed, self._scale) for printed in self._printed):
            return f"{value.text} is here with the opposite sign."
        if any(value.digits == printed.digits for printed in self._printed):
            return f"The page has the digits of {value.text}, but a different unit or scale."
        return f"The passage does not have {value.text}."

    def terms(self) -> float:
        passages = [self._unit.text, self._unit.title, *heads_of(self._unit)]
        if not re.search(r"[^\W\d_]{3}", self._unit.text):  # a row whose label is on the line before
            passages += [other.text for other in self._nearest_first()[:1]]
        return shared_terms(self._sentence, passages)


OTHER_PLACE = " is here, but "  # in another column, or for another year
_MONTHS_AND_DAYS = 10_000  # the number of a date is 20240928; without its year 928


FOOTNOTE_DIGITS = re.compile(r"(?<=[^\W\d_]{3})\d(?:,\d)*\b")  # "Operational1,2"


_SPACED = re.compile(r"(?:(?<=\t)|^)\d{1,3}(?: \d{3})+(?=\t|$)")


def _with_joined_digits(unit: SourceUnit) -> str:
    """Return the text of a row with no-break spaces in cells that hold one number: "2 000"."""
    if unit.type != "table":
        return unit.text
    return _SPACED.sub(lambda cell: cell[0].replace(" ", "\u00a0"), unit.text)


def heads_of(unit: SourceUnit) -> list[str]:
    """Return the texts above the unit: its table's caption and heads, its sections, innermost first."""
    table = [unit.table.caption, *unit.table.head_rows] if unit.table else []
    table += [plain for head in table if (plain := FOOTNOTE_DIGITS.sub("", head)) != head]
    return [*table, *reversed(unit.section_path), unit.title]


def _negated(value: Value) -> Value:
    return replace(value, number=-value.number)
