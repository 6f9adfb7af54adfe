"""Find numbers, amounts, percentages, dates and years in a text, and compare two of them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from decimal import ROUND_HALF_UP, Decimal
from functools import lru_cache
from typing import Literal

from text.numbers import YEAR, YEAR_DIGITS, DecimalMark, decimal_mark, digit_value, month_numbers

Kind = Literal["number", "amount", "percent", "year", "date"]

SCALES = {
    "thousand": Decimal(10**3),
    "million": Decimal(10**6),
    "billion": Decimal(10**9),
    "trillion": Decimal(10**12),
}
_OTHER_SCALES = {
    "thousand": "k t tsd tausend",
    "million": "m mm mn mln mio millionen",
    "billion": "b bn bln mrd milliarde milliarden",
    "trillion": "tn billionen",
}
_SCALE_NAMES = {other: name for name, others in _OTHER_SCALES.items() for other in others.split()}
# Whole names or their usual abbreviations: "decreased 12 percent" and "margin 15" contain no month.
_MONTHS = month_numbers("en") | month_numbers("de")
_MONTH = r"(?P<{0}>" + "|".join(sorted(_MONTHS, key=len, reverse=True)) + r")\b\.?"

_DATES = re.compile(
    rf"\b{_MONTH.format('m1')}\s+(?P<d1>\d{{1,2}})(?:st|nd|rd|th)?(?:,?\s+(?P<y1>{YEAR_DIGITS}))?(?![\d,.]*\d)"
    rf"|\b(?P<d2>\d{{1,2}})(?:st|nd|rd|th|\.)?\s+(?:of\s+)?{_MONTH.format('m2')}(?:,?\s+(?P<y2>{YEAR_DIGITS}))?\b"
    rf"|\b(?P<y3>{YEAR_DIGITS})-(?P<m3>\d\d)-(?P<d3>\d\d)\b"
    rf"|(?<![\d.])(?P<d4>\d{{1,2}})\.\s?(?P<m4>\d{{1,2}})\.\s?(?P<y4>{YEAR_DIGITS})\b",
    re.IGNORECASE,
)
_CURRENCY = r"(?:US|CA?|A|NZ|HK)?[$£€¥₹]|\b(?:USD|EUR|GBP|JPY|CHF|CAD|AUD)\b"
_DIGITS = (
    r"\d{1,3}(?:\.\d{3})+,\d+"  # 1.577,00
    r"|\d{1,3}(?:\.\d{3}){2,}(?![.\d])"  # 1.577.000
    r"|\d{1,3}(?:[\u00a0\u202f\u2009'’]\d{3})+(?:[.,]\d{1,2})?"  # 1 577,5 and 1'577.50
    r"|\d{1,3}(?:,\d{3})+(?:\.\d+)?"  # 1,577.5
    r"|\d+,\d{1,2}(?![\d,])"  # 15,6
    r"|\d+(?:\.\d+)?|(?<!\d)\.\d+"
)
_NUMBERS = re.compile(
    rf"(?P<open>\(\s?)?(?P<currency>{_CURRENCY})?\s?(?P<open2>\(\s?)?"
    rf"(?:(?<![\w.])(?P<minus>[-−–](?=[$£€¥\d.])))?(?P<currency2>[$£€¥₹])?\s?"
    rf"(?P<digits>{_DIGITS})"
    r"(?P<percent>\s?%)?(?P<close>\s?\))?"
    r"(?P<unit>\s?(?:%|percent(?:age\s+points?)?\b|per\s+cent\b|pct\b)"
    r"|[\s-]?(?:thousand|million|billion|trillion)s?\b"
    r"|\s?(?:mm|mn|mln|bn|bln|tn|tausend|millionen|milliarden?|billionen)\b|\s?(?:mio|mrd|tsd)\b\.?"
    r"|[kmb]\b)?"
    rf"(?P<after>\s?(?:(?:dollars|euros|pounds|yen)\b|(?:{_CURRENCY})(?!\s?[(\d–—-])))?",
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
    taken = [(date.start, date.end) for date in dates]
    numbers = [value for match in _NUMBERS.finditer(text) for value in _value(text, match, mark)]
    free = [value for value in numbers if not any(a < value.end and value.start < b for a, b in taken)]
    return tuple(sorted(dates + free, key=lambda value: value.start))


def _dates_in(text: str) -> Iterator[Value]:
    for match in _DATES.finditer(text):
        day = int(match["d1"] or match["d2"] or match["d3"] or match["d4"])
        name = match["m1"] or match["m2"]
        month = _MONTHS[name.lower()] if name else int(match["m3"] or match["m4"])
        year = int(match["y1"] or match["y2"] or match["y3"] or match["y4"] or 0)
        if 1 <= day <= 31 and 1 <= month <= 12:
            number = Decimal(year * 10000 + month * 100 + day)
            yield Value(match[0], match.start(), match.end(), "date", number, match[0])


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
    scale = None if percent else scale_named(unit)
    if _is_year(digits, currency, unit):
        yield Value(digits, start, end, "year", Decimal(digits), digits)
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


def scale_named(unit: str) -> Decimal | None:
    """Return 10**6 for ``million``, ``millions``, ``mn`` and ``Mio.``; None for words that name no scale."""
    name = unit.casefold().strip(" -.").removesuffix("s")
    return SCALES.get(_SCALE_NAMES.get(name, name))


# Comparison of two values.
#
# ``3,577`` = ``3577`` = ``$3,577``; ``(305)`` = ``−305``; ``1.577 billion`` =
# ``1,577`` where the page says "in millions".

Agreement = Literal["exact", "normalized"]
FARTHEST_ROUNDING = Decimal("0.05")  # largest share of a value by which rounding may change it

_CONTEXT_SCALE = re.compile(
    r"(?:\bin|\(|[$£€¥]|dollars|usd|eur|amounts)\s*(?:[$£€¥]|us\$|usd|eur|gbp|chf)?\s*"
    r"(?P<scale>thousand|million|billion|tausend|tsd|mio|millionen|mrd|milliarden|t(?=€|eur\b))"
    r"(?:s?\b|(?<=\bt)(?=€|eur\b))",
    re.IGNORECASE,
)


def page_scale(texts: Iterable[str]) -> Decimal | None:
    """Return the scale that the first of the texts with one states: 10**6 for "(in millions)"; else None."""
    return next((scale for scale in map(_scale_in_text, texts) if scale), None)


@lru_cache(maxsize=4096)
def _scale_in_text(text: str) -> Decimal | None:
    for match in _CONTEXT_SCALE.finditer(text):
        if not re.search(r"\d\s*$", text[: match.start()]) or match[0].startswith("("):
            return scale_named(match["scale"])
    return None


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
