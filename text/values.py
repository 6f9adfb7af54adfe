"""Values of a text as they are printed: numbers, amounts, percentages, years and dates, in any language.

A claim, a quote and a page may be of different languages, and of a row of numbers the language is not known.
So a value keeps its digits, and its scale apart from them ("1,577" of a page in millions), where a
``text.quantities.Quantity`` of a known language is one amount in a base unit. Digits, decimal marks, months
and scale words are read by the functions and data of ``text.numbers`` for both. The two differ in this:

- Numbers in words, fractions and units are no values: without the language "may", "six" and "un" are words.
- Numbers of names, references and addresses are no values ("COVID-19", "Note 5"). As quantities they are
  compared: a claim must not change them.
- An ordinary space joins no digits, as in "1 577", and a comma no decimals but one or two: rows and lists
  have numbers side by side.
- Brackets are a minus in a sentence, too: claims repeat the cell "(305)".
- A date needs a day, "June 2020" is a year; "6/12/2020" is no date, as its order is that of a language.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal
from functools import lru_cache
from typing import Literal

from text.numbers import (
    YEAR,
    DecimalMark,
    dates_in,
    decimal_mark,
    digit_value,
    number_words,
    outline_numbers,
)
from text.sentences import sentence_spans
from text.units import CURRENCY

Kind = Literal["number", "amount", "percent", "year", "date"]

_LANGUAGES = ("en", "de")
"""Languages of the names of months and scales. A name of both is English: "billion"."""
_SCALES = number_words("de").scales | number_words("en").scales
SCALE_WORD = re.compile(rf"\b(?:{'|'.join(name for name in _SCALES if len(name) > 4)})\b", re.IGNORECASE)
"""A scale that is written out: "million", "Milliarden"."""
_DIGITS = (
    r"\d{1,3}(?:\.\d{3})+,\d+"  # 1.577,00
    r"|\d{1,3}(?:\.\d{3}){2,}(?![.\d])"  # 1.577.000
    r"|\d{1,3}(?:[\u00a0\u202f\u2009'’]\d{3})+(?:[.,]\d{1,2})?"  # 1 577,5 and 1'577.50
    r"|\d{1,3}(?:,\d{3})+(?:\.\d+)?"  # 1,577.5
    r"|\d+,\d{1,2}(?![\d,])"  # 15,6
    r"|\d+(?:\.\d+)?|(?<!\d)\.\d+"
)
_SCALE = "|".join(
    f"{gap}(?:{'|'.join(map(re.escape, sorted(names, key=len, reverse=True)))})(?!\\w)"
    for gap, names in (
        (r"[\s-]?", [name for name in _SCALES if len(name) > 4]),
        (r"\s?", [name for name in _SCALES if 1 < len(name) <= 4]),
        ("", [name for name in _SCALES if len(name) == 1]),
    )
)
_NUMBERS = re.compile(
    rf"(?P<open>\(\s?)?(?P<currency>{CURRENCY})?\s?(?P<open2>\(\s?)?"
    rf"(?:(?<![\w.])(?P<minus>[-−–](?=[$£€¥\d.])))?(?P<currency2>[$£€¥₹])?\s?"
    rf"(?P<digits>{_DIGITS})"
    r"(?P<percent>\s?%)?(?P<close>\s?\))?"
    r"(?P<unit>\s?(?:%|percent(?:age\s+points?)?\b|per\s+cent\b|pct\b)"
    rf"|{_SCALE})?"
    rf"(?P<after>\s?(?:(?:dollars|euros|pounds|yen)\b|(?:{CURRENCY})(?!\s?[(\d–—-])))?",
    re.IGNORECASE,
)
# A number after one of these words is a reference, not a value.
_REFERENCE = re.compile(
    r"(?:\b(?:note|notes|table|tables|figure|fig|page|pages|p|pp|item|items|section|sections|chapter|part|"
    r"exhibit|appendix|article|step|rule|form|no|phase|level|version|topic|asu|asc|q)\.?|§|#)\s?$",
    re.IGNORECASE,
)
# A number before the name of a street is part of an address: "12 Harbour Road".
_ADDRESS = re.compile(
    r"[a-d]?\s+(?:[A-Z][\w'’.-]*\s+){1,3}(?:Street|St|Road|Rd|Avenue|Ave|Lane|Drive|Square|Place|Way|Court|"
    r"Boulevard|Terrace|Gardens|Close|Crescent|Row)\b"
)
_FISCAL = re.compile(r"\bFY\s?['’]?$", re.IGNORECASE)  # "FY23" is a year
_HEDGES = re.compile(
    r"\b(?:about|approximately|approx|around|nearly|almost|roughly|some|circa|over|more than|"
    r"less than|under|close to|just)\W*$|[~≈]\s?$",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Value:
    """A value as written: ``source[start:end] == text``.

    Attributes:
        number: the signed number without its scale; for a date ``yyyymmdd`` (``mmdd`` without a year).
        digits: the digits as printed, without sign, currency and unit.
        scale: 10**6 for "million"; None where no scale is written beside the number.
        hedged: "about", "nearly" or the like is before it, so that a rounded number agrees.
    """

    text: str
    start: int
    end: int
    kind: Kind
    number: Decimal
    digits: str
    currency: str = ""
    scale: Decimal | None = None
    hedged: bool = False

    @property
    def year(self) -> int | None:
        """Return the year, of a year or a date; None for other values."""
        if self.kind == "year":
            return int(self.number)
        return int(self.number) // 10000 if self.kind == "date" and self.number >= 10**7 else None


@lru_cache(maxsize=4096)
def values_in(text: str, mark: DecimalMark | None = None) -> tuple[Value, ...]:
    """Return every value of a text, in order, without numbers that are part of a name: ``COVID-19``, ``3M``.

    ``mark`` is the decimal mark of the text; None infers it from the text.
    """
    mark = mark or decimal_mark(text)
    dates = list(_dates_in(text))
    taken = [*((date.start, date.end) for date in dates), *outline_numbers(text)]
    numbers = [value for match in _NUMBERS.finditer(text) for value in _value(text, match, mark)]
    free = [value for value in numbers if not any(a < value.end and value.start < b for a, b in taken)]
    return tuple(sorted(dates + free, key=lambda value: value.start))


def _dates_in(text: str) -> Iterator[Value]:
    """Yield dates with a day; the second year of "December 31, 2021 and 2020" is a year."""
    for date in dates_in(text, *_LANGUAGES):
        written = text[date.start : date.end]
        if date.day and "/" not in written and not YEAR.fullmatch(written):
            number = Decimal(date.year * 10000 + date.month * 100 + date.day)
            yield Value(written, date.start, date.end, "date", number, written)


def _value(text: str, match: re.Match[str], mark: DecimalMark | None) -> Iterator[Value]:
    """Yield the value of a match of ``_NUMBERS``; nothing for a name, a reference or an address."""
    start, end = match.start("digits"), match.end("digits")
    if _is_part_of_a_name(text, start, end, match) or _REFERENCE.search(text[max(0, start - 14) : start]):
        return
    if _ADDRESS.match(text, end):
        return
    digits = match["digits"]
    currency = (match["currency"] or match["currency2"] or match["after"] or "").strip()
    unit = (match["percent"] or match["unit"] or "").strip().casefold()
    percent = unit.startswith(("%", "per", "pct")) or _opens_with_percent(match)
    scale = None if percent else _SCALES.get(unit.removeprefix("-"))
    if _is_year(digits, currency, unit):
        yield Value(digits, start, end, "year", Decimal(digits), digits)
        return
    if len(digits) == 2 and digits.isdigit() and _FISCAL.search(text[max(0, start - 4) : start]):
        yield Value(digits, start, end, "year", Decimal(f"20{digits}"), digits)
        return
    number = digit_value(digits, mark)
    opened = match["open"] is not None or match["open2"] is not None
    negative = match["minus"] is not None or (
        opened and match["close"] is not None and not _is_remark(text, match)
    )
    first, last = _extent(text, match, opened)
    yield Value(
        text[first:last],
        first,
        last,
        "percent" if percent else "amount" if currency else "number",
        -number if negative else number,
        digits,
        currency,
        scale,
        _HEDGES.search(text[max(0, first - 16) : first]) is not None,
    )


def _is_remark(text: str, match: re.Match[str]) -> bool:
    """Return whether a percentage in brackets restates the words before it: "two thirds (66%)", no loss."""
    before = text[: match.start()].rstrip(" ")[-1:]
    word_follows = text[match.end() :].lstrip(" ")[:1].isalpha()  # not in "it was (3.2%)."
    return match["percent"] is not None and before.isalnum() and word_follows


def _opens_with_percent(match: re.Match[str]) -> bool:
    return (match["unit"] or "").strip() == "%"


def _extent(text: str, match: re.Match[str], opened: bool) -> tuple[int, int]:
    """Return start and end of the value in the text, without unpaired brackets and outer spaces."""
    first, last = match.span()
    if opened and match["close"] is None:
        first = match.start("digits") if match["open2"] else match.end("open")
        currency = match.start("currency")
        first = currency if match["open2"] is None and currency >= 0 else first
    if match["close"] is not None and not opened:
        last = match.end("percent") if match["percent"] else match.end("digits")
    text = text[first:last]
    return first + len(text) - len(text.lstrip()), last - (len(text) - len(text.rstrip()))


def _is_part_of_a_name(text: str, start: int, end: int, match: re.Match[str]) -> bool:
    before, after = text[max(0, start - 2) : start], text[end : end + 2]
    if before[-1:].isalpha() and not match["currency"]:
        return before[-2:].casefold() != "fy"
    if before[-1:] == "-" and before[:1].isalpha():
        return True
    if match["unit"] in ("M", "K", "B") and not (match["currency"] or match["currency2"] or end - start > 1):
        return True
    letter_follows = after[:1].isalpha() and not match["unit"]
    return letter_follows or (after[:1] == "-" and after[1:].isupper() and not match["unit"])


def _is_year(digits: str, currency: str, unit: str) -> bool:
    return not currency and not unit and YEAR.fullmatch(digits) is not None


# Which year a value of a sentence belongs to.

SURE = 2.5  # another year is excluded where it is this many times farther than the nearest
_COMMA = 20  # characters a comma or semicolon counts for
_COMPARISON = re.compile(
    r"\b(?:compared?|comparison|versus|vs\.?|than|from|since|over|prior|before|against|after)\W+(?:\w+\W+){0,4}$",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class ValueYear:
    """The most likely year of a value; ``others`` are years it may also belong to.

    ``compared``: the year is only what the value is compared with ("up 4 percent from 2017").
    """

    year: int
    others: frozenset[int] = frozenset()
    compared: bool = False

    def allows(self, year: int) -> bool:
        return year == self.year or year in self.others


@dataclass(frozen=True, slots=True)
class _AnyYear(ValueYear):
    def allows(self, year: int) -> bool:
        return True


ANY_YEAR = _AnyYear(0)


def _years_beside(text: str, values: Sequence[Value]) -> dict[int, ValueYear]:
    """Map the start of each value to its year, in a text that has years."""
    years = [value for value in values if value.year is not None]
    amounts = [value for value in values if value.kind not in ("year", "date")]
    if not years or not amounts:
        return {}
    if "respectively" in text:
        same = len(years) == len(amounts)
        return {a.start: ValueYear(_year(y)) for a, y in zip(amounts, years, strict=True)} if same else {}
    return {amount.start: _nearest_year(text, amount, years) for amount in amounts}


def year_of_value(text: str, value: Value, language: str) -> ValueYear:
    """Return the year of a value by its sentence; any year where that has none."""
    spans = sentence_spans(text, language)
    start, end = next((span for span in spans if span.start <= value.start < span.end), (0, len(text)))
    sentence = text[start:end]
    return _years_beside(sentence, values_in(sentence)).get(value.start - start, ANY_YEAR)


def _nearest_year(text: str, amount: Value, years: Sequence[Value]) -> ValueYear:
    far = {year: _distance(text, amount, year) for year in years}
    nearest = min(years, key=far.__getitem__)
    near_too = {_year(year) for year in years if far[year] <= SURE * far[nearest] + 8}
    compared = _COMPARISON.search(text[: nearest.start]) is not None
    return ValueYear(_year(nearest), frozenset(near_too - {_year(nearest)}), compared)


def _year(value: Value) -> int:
    assert value.year is not None
    return value.year


def _distance(text: str, amount: Value, year: Value) -> float:
    """Return the characters between the two; a comma or semicolon counts for ``_COMMA``."""
    between = text[amount.end : year.start] if year.start >= amount.end else text[year.end : amount.start]
    return len(between) + _COMMA * len(re.findall(r"[,;]", between))
