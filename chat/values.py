"""Numbers, amounts, percentages, dates and years, as a text writes them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal
from functools import lru_cache
from typing import Literal

from chat.decimal_marks import DecimalMark, decimal_mark

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
# Whole names: "decreased 12 percent" and "margin 15" hold no month.
_MONTH_NAMES = (
    r"jan(?:uary?)?|januar",
    r"feb(?:ruary?)?|februar",
    r"mar(?:ch)?|märz",
    r"apr(?:il)?",
    r"may|mai",
    r"june?|juni",
    r"july?|juli",
    r"aug(?:ust)?",
    r"sept?(?:ember)?",
    r"o[ck]t(?:ober)?",
    r"nov(?:ember)?",
    r"de[cz](?:ember)?",
)
_MONTHS = tuple(re.compile(names, re.IGNORECASE) for names in _MONTH_NAMES)
_MONTH = r"(?P<{0}>" + "|".join(_MONTH_NAMES) + r")\b\.?"
_YEAR = r"(?:19|20)\d\d"

_DATES = re.compile(
    rf"\b{_MONTH.format('m1')}\s+(?P<d1>\d{{1,2}})(?:st|nd|rd|th)?(?:,?\s+(?P<y1>{_YEAR}))?(?![\d,.]*\d)"
    rf"|\b(?P<d2>\d{{1,2}})(?:st|nd|rd|th|\.)?\s+(?:of\s+)?{_MONTH.format('m2')}(?:,?\s+(?P<y2>{_YEAR}))?\b"
    rf"|\b(?P<y3>{_YEAR})-(?P<m3>\d\d)-(?P<d3>\d\d)\b"
    rf"|(?<![\d.])(?P<d4>\d{{1,2}})\.\s?(?P<m4>\d{{1,2}})\.\s?(?P<y4>{_YEAR})\b",
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
# Digits that can be read in one way only, whatever mark the text writes.
_COMMA_FORM = re.compile(
    r"\d{1,3}(?:\.\d{3})+,\d+|\d{1,3}(?:\.\d{3}){2,}|\d{1,3}(?:[\s'’]\d{3})+,\d+|\d+,\d{1,2}|0,\d+"
)
_POINT_FORM = re.compile(
    r"\d{1,3}(?:,\d{3})+\.\d+|\d{1,3}(?:,\d{3}){2,}|\d{1,3}(?:[\s'’]\d{3})+\.\d+|\d*\.(?:\d{1,2}|\d{4,})"
    r"|0?\.\d+|\d{4,}\.\d+"
)
_NO_DIGIT = re.compile(r"\D")
# A number of these says where, not how much.
_REFERENCE = re.compile(
    r"(?:\b(?:note|notes|table|tables|figure|fig|page|pages|p|pp|item|items|section|sections|chapter|part|"
    r"exhibit|appendix|article|step|rule|form|no|phase|level|version|topic|asu|asc|q)\.?|§|#)\s?$",
    re.IGNORECASE,
)
# A number before a street's name is an address: "12 Harbour Road".
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
        number: signed, as its digits say it; for a date ``yyyymmdd`` (``mmdd`` without a year).
        digits: the digits as printed, without sign, currency and unit.
        scale: 10**6 for "million"; None where none is written beside it.
        hedged: "about", "nearly" stands before it: a rounded number will do.
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
        """The year it is, or is in."""
        if self.kind == "year":
            return int(self.number)
        return int(self.number) // 10000 if self.kind == "date" and self.number >= 10**7 else None


@lru_cache(maxsize=4096)
def values_in(text: str, mark: DecimalMark | None = None) -> tuple[Value, ...]:
    """Every value of a text, in order. Numbers that are part of a name (``COVID-19``, ``3M``) are none.

    ``mark`` is the decimal mark the text writes; the text itself tells when it is not given.
    """
    mark = mark or decimal_mark(text) or "."
    dates = list(_dates_in(text))
    taken = [(date.start, date.end) for date in dates]
    numbers = [value for match in _NUMBERS.finditer(text) for value in _value(text, match, mark)]
    free = [value for value in numbers if not any(a < value.end and value.start < b for a, b in taken)]
    return tuple(sorted(dates + free, key=lambda value: value.start))


def _dates_in(text: str) -> Iterator[Value]:
    for match in _DATES.finditer(text):
        day = int(match["d1"] or match["d2"] or match["d3"] or match["d4"])
        name = match["m1"] or match["m2"]
        month = _month(name) if name else int(match["m3"] or match["m4"])
        year = int(match["y1"] or match["y2"] or match["y3"] or match["y4"] or 0)
        if 1 <= day <= 31 and 1 <= month <= 12:
            number = Decimal(year * 10000 + month * 100 + day)
            yield Value(match[0], match.start(), match.end(), "date", number, match[0])


def _month(name: str) -> int:
    return next(number for number, names in enumerate(_MONTHS, start=1) if names.fullmatch(name))


def _value(text: str, match: re.Match[str], mark: DecimalMark) -> Iterator[Value]:
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
    number = _number(digits, mark)
    opened = match["open"] is not None or match["open2"] is not None
    negative = match["minus"] is not None or (opened and match["close"] is not None)
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


def _opens_with_percent(match: re.Match[str]) -> bool:
    return (match["unit"] or "").strip() == "%"


def _extent(text: str, match: re.Match[str], opened: bool) -> tuple[int, int]:
    """The range of the value: brackets only in pairs, no spaces at the ends."""
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
    glued = after[:1].isalpha() and not match["unit"]
    return glued or (after[:1] == "-" and after[1:].isupper() and not match["unit"])


def _is_year(digits: str, currency: str, unit: str) -> bool:
    return not currency and not unit and re.fullmatch(_YEAR, digits) is not None


def scale_named(unit: str) -> Decimal | None:
    """10**6 for ``million``, ``millions``, ``mn`` and ``Mio.``; None for what is no scale."""
    name = unit.casefold().strip(" -.").removesuffix("s")
    return SCALES.get(_SCALE_NAMES.get(name, name))


def _number(digits: str, mark: DecimalMark) -> Decimal:
    if _COMMA_FORM.fullmatch(digits):
        mark = ","
    elif _POINT_FORM.fullmatch(digits):
        mark = "."
    whole, _, decimals = digits.partition(mark)
    return Decimal(f"{_NO_DIGIT.sub('', whole) or 0}.{decimals}")
