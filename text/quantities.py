"""Quantities of a text: a number bound to its scale, currency and unit, or a date."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass, replace
from decimal import Decimal
from functools import cache, lru_cache

from text.languages import UNSPACED_LANGUAGES, language_data
from text.numbers import (
    HISTORIC_YEAR_DIGITS,
    Date,
    DecimalMark,
    Number,
    dates_in,
    fractions_in,
    number_words,
    numbers_in,
    outline_numbers,
    same_characters,
)
from text.units import (
    CURRENCY,
    CURRENCY_CODES,
    CURRENCY_SYMBOLS,
    Unit,
    hundredth_at,
    unit_at,
    units_by_symbol,
)

_BEFORE = re.compile(rf"(?P<currency>{CURRENCY})\s?(?P<minus>[-–]?)$")
# A scale and a currency in one word: "TEUR", "M€".
GLUED_SCALE = re.compile(
    r"(?P<scale>MM|Mds|Mrd|Md|mn|bn|[TKkMm])(?P<after>[$£€¥₹₩]|EUR|USD|CHF|GBP)(?![^\W\d_])"
)
GLUED_SCALES = {
    "k": 3, "t": 3, "m": 6, "mm": 6, "mn": 6, "md": 9, "mds": 9, "mrd": 9, "bn": 9, "b": 9, "tn": 12,
}  # fmt: skip
_MINUS = re.compile(r"(?<![A-Za-zÀ-ӿ0-9.)%])[-–]\s?$")
_YEAR = re.compile(HISTORIC_YEAR_DIGITS)
_YEAR_BEHIND = re.compile(rf"\s{HISTORIC_YEAR_DIGITS}(?!\d|[.,]\d)")
_AMBIGUOUS = frozenset(
    {"ha", "t", "d", "s", "h", "l", "г", "г.", "год", "году", "года"}
)  # units that may be words behind a year
_LINK = re.compile(r"[\s'’-]*(?:(?:(?:of|de|di|von|des|additional|consecutive|full|calendar)\s)|d['’])*")


@dataclass(frozen=True, slots=True)
class Quantity:
    """A bound number: ``text[start:end]`` with sign, currency, scale and unit.

    Attributes:
        value: the number, signed and scaled.
        dimension: what it measures (see ``text.units``); ``money``, ``year``, ``date``, ``ordinal`` or ''.
        base: the amount in the dimension's base unit.
        unit: symbol of its unit or code of its currency (``ANY_CURRENCY``: cents).
        step: the last place that is written, in base units: what rounding to it may hide.
        scale: of the scale word beside its digits ("million"), else 1.
        bare: neither scale, unit nor currency is written beside it.
    """

    start: int
    end: int
    value: Decimal
    dimension: str = ""
    base: Decimal = Decimal(0)
    unit: str = ""
    step: Decimal = Decimal(0)
    bare: bool = True
    scale: Decimal = Decimal(1)


@lru_cache(maxsize=4096)
def quantities_in(text: str, language: str, mark: DecimalMark | None = None) -> tuple[Quantity, ...]:
    """Return every quantity and date of a text, in order; ``mark``: its decimal mark, if known."""
    plain = same_characters(text)
    dates = [_of_date(date) for date in dates_in(plain, language)]
    dates += _fractions(plain, language, [(date.start, date.end) for date in dates])
    taken = [(date.start, date.end) for date in dates]
    dates += [q for q in _amounts(plain, language) if not any(a < q.end and q.start < b for a, b in taken)]
    taken = [*((date.start, date.end) for date in dates), *outline_numbers(plain)]
    found: list[Quantity] = []
    for number in numbers_in(plain, language, mark):
        if not any(a <= number.start < b for a, b in taken):
            quantity = _bound(plain, number, language)
            if not found or quantity.start >= found[-1].end:
                found.append(quantity)
    found = _with_units_of_ranges(plain, _in_one(plain, _ratios(plain, found)))
    return tuple(sorted([*dates, *found], key=lambda quantity: quantity.start))


_JOINT = re.compile(r" (?:and |und |et |y |e |en |и |و ?)?")


def _in_one(text: str, found: list[Quantity]) -> list[Quantity]:
    """Amounts side by side as one: 8万5千円, "1 hour 30 minutes", "3 million and 400 thousand"."""
    joined: list[Quantity] = []
    for quantity in found:
        left = joined[-1] if joined else None
        if left is None or not (
            left.end == quantity.start or _JOINT.fullmatch(text, left.end, quantity.start)
        ):
            joined.append(quantity)
            continue
        units = units_by_symbol()
        own, held = units.get(quantity.unit), units.get(left.unit)
        if left.bare and quantity.value == left.value and text[quantity.start] == "(":  # "thirty (30) days"
            joined[-1] = replace(quantity, start=left.start)
            continue
        factor = quantity.base / quantity.value if quantity.value else Decimal(1)
        if (
            not left.dimension
            and 0 < quantity.value < left.scale > 1
            and (left.end == quantity.start or quantity.scale > 1)
        ):
            value = left.value + quantity.value
            joined[-1] = replace(quantity, start=left.start, value=value, base=value * factor, bare=False)
        elif (
            own
            and held
            and left.dimension == quantity.dimension in _MIXED
            and held.factor > own.factor
            and 0 < quantity.base < held.factor
        ):
            base = left.base + quantity.base
            joined[-1] = replace(quantity, start=left.start, value=base / own.factor, base=base)
        else:
            joined.append(quantity)
    return joined


_TO_ONE = re.compile(r"\s?(?:to|zu|à|a|:|：|对|対)\s?")
_FROM = re.compile(r"\b(?:from|von|de|between|zwischen|entre)\s+$", re.IGNORECASE)


def _ratios(text: str, found: list[Quantity]) -> list[Quantity]:
    """Join "3.5 to 1" to one number; not "from 3 to 1"."""
    joined: list[Quantity] = []
    for own in found:
        left = joined[-1] if joined else None
        to_one = left is not None and text[own.start : own.end] == "1" and left.bare and not left.dimension
        if (
            left
            and to_one
            and _TO_ONE.fullmatch(text, left.end, own.start)
            and not _FROM.search(text[: left.start])
        ):
            joined[-1] = replace(left, end=own.end)
        else:
            joined.append(own)
    return joined


_MIXED = ("time", "calendar", "length", "mass")  # what is said in two units: "1 hour 30 minutes"


def _of_date(date: Date) -> Quantity:
    number = Decimal(date.year * 10000 + date.month * 100 + date.day)
    if date.year and not date.month:
        year = Decimal(date.year)
        return Quantity(date.start, date.end, year, "year", year, bare=True)
    return Quantity(date.start, date.end, number, "date", number, bare=False)


def _bound(text: str, number: Number, language: str) -> Quantity:
    value, end = number.value, number.end
    half, end = _half_at(text, end, language)
    value += half
    bracketed = _in_bracket(text, number.start, end)
    start, currency, negative = _left_of(text, number.start - bracketed, language)
    if bracketed:
        end, negative = text.index(")", end) + 1, True
    step = _last_place(text[number.start : number.end], value)
    scale, end = _scale_at(text, end, language, short=bool(currency))
    if scale == 1 and not currency and (glued := GLUED_SCALE.match(text, end + (text[end : end + 1] == " "))):
        scale, end = Decimal(10) ** GLUED_SCALES[glued["scale"].lower()], glued.start("after")
    bare = scale == 1
    value, step = value * scale, step * scale
    if not currency:
        currency, end = _currency_at(text, end, language)
    if not currency and (hundredth := hundredth_at(text, end, language)):
        currency, end = hundredth
        value, step = value / 100, step / 100
    unit: Unit | None = None
    symbol = currency
    alone = text[start - 1 : start] == "(" and text[end : end + 1] == ")"  # "thirty (30) days"
    if not currency and (found := _unit_at(text, end + alone, language)):
        year = scale == 1 and _YEAR.fullmatch(text[number.start : number.end]) is not None
        names_year = found[0] == "a" and _YEAR_BEHIND.match(text, found[1])  # "6.4 آلاف عام 2020"
        if not names_year and not (year and text[end : found[1]].strip() in _AMBIGUOUS):
            symbol, end = found
            start -= alone
            unit = units_by_symbol()[symbol]
            half, end = _half_at(text, end, language)
            value += half * scale
    if not currency and not unit and (named := _unit_before(text, start, number, language)):
        start, symbol = named
        unit = units_by_symbol()[symbol]
    if _in_bracket(text, start, end):
        start, end, negative = start - 1, text.index(")", end) + 1, True
    if negative:
        value = -value
    if currency:
        return Quantity(start, end, value, "money", value, currency, step, False, scale)
    if unit:
        base = value * unit.factor + unit.offset
        return Quantity(start, end, value, unit.dimension, base, symbol, step * unit.factor, False, scale)
    digits = text[number.start : number.end]
    if bare and not negative and not number.spelled and _YEAR.fullmatch(digits):
        return Quantity(start, end, value, "year", value, "", step)
    return Quantity(start, end, value, "", value, "", step, bare, scale)


@cache
def _half_pattern(language: str) -> re.Pattern[str] | None:
    """Match "and a half" after a number, or after the number's unit."""
    words = tomllib.loads(language_data(language, "numbers.toml")).get("and_half", "").split()
    listed = "|".join(re.escape(word.replace("_", " ")) for word in words)
    if language in UNSPACED_LANGUAGES:  # 1時間半, 一个半小时
        return re.compile(f"[个個]半|(?<=[年月日天周週时時間间钟鐘分秒])(?:{listed})(?!数|期|導|导)")
    return re.compile(rf"\s(?:{listed})(?!\w)", re.IGNORECASE) if words else None


def _half_at(text: str, at: int, language: str) -> tuple[Decimal, int]:
    """Return the half that a number has besides its whole, and where its words end."""
    pattern = _half_pattern(language)
    match = pattern.match(text, at) if pattern else None
    return (Decimal("0.5"), match.end()) if match else (Decimal(0), at)


def _left_of(text: str, start: int, language: str) -> tuple[int, str, bool]:
    """Start of the quantity, the currency before its digits, whether a minus stands there."""
    if (word := _minus_word(text, start, language)) is not None:
        return word, "", True
    before = text[max(0, start - 8) : start]
    if match := _BEFORE.search(before):
        start -= len(before) - match.start()
        written = match["currency"]
        currency = CURRENCY_SYMBOLS.get(written, "USD" if written.endswith("$") else written)
        negative = bool(match["minus"])
        if minus := _MINUS.search(text, max(0, start - 3), start):
            return minus.start(), currency, True
        return start, currency, negative
    minus = _MINUS.search(before)
    if minus and (
        start - len(before) + minus.start() == 0 or not before[: minus.start()].rstrip()[-1:].isdigit()
    ):
        return start - (len(before) - minus.start()), "", True
    return start, "", False


@cache
def _minus_pattern(language: str) -> re.Pattern[str] | None:
    """Match a word that makes the next number negative; "less" only after a preposition."""
    data = tomllib.loads(language_data(language, "numbers.toml"))
    if not (words := data.get("minus", "").split()):
        return None
    before = "|".join(data.get("before_minus", "").split())
    gap = "" if language in UNSPACED_LANGUAGES else " "
    begin = rf"(?<!\w)(?:{before}) " if before else "" if not gap else r"(?<!\w)"
    return re.compile(rf"{begin}(?P<minus>(?:{'|'.join(words)}){gap})$", re.IGNORECASE)


def _minus_word(text: str, start: int, language: str) -> int | None:
    """Start of a "minus" before a number."""
    pattern = _minus_pattern(language) if language else None
    match = pattern.search(text, max(0, start - 20), start) if pattern else None
    return match.start("minus") if match else None


def _in_bracket(text: str, start: int, end: int) -> bool:
    """Return whether brackets stand for a minus around ``text[start:end]``."""
    closed = text[start - 1 : start] == "(" and text[end : end + 2].lstrip()[:1] == ")"
    return closed and _is_accounting(text, start)


def _is_accounting(text: str, start: int) -> bool:
    """Return whether a bracket may be a minus: its digits are alone in a cell or after a currency."""
    before = text[: start - 1].rstrip(" ")[-1:]
    return before in ("", "|", "\t", "\n", "$", "€", "£")


def _unit_before(text: str, start: int, number: Number, language: str) -> tuple[int, str] | None:
    """Start and symbol of a unit of time that counts: "week 24", "Monat 6"."""
    if number.spelled or number.value > _MOST_COUNTED or text[max(0, start - 1) : start] != " ":
        return None
    word = _WORD_BEFORE.search(text, max(0, start - _LONGEST_WORD), start)
    found = unit_at(text, word.start(), language) if word else None
    if (
        not word
        or not found
        or found[1] != start - 1
        or units_by_symbol()[found[0]].dimension not in _COUNTED
    ):
        return None
    return word.start(), found[0]


_WORD_BEFORE = re.compile(r"(?<!['’])\b[^\W\d_]+ $")  # not the s of "the bridge's 24 hangers"
_LONGEST_WORD = 40
_MOST_COUNTED = 400  # a week, month or day that is counted has a small number
_COUNTED = ("time", "calendar")


def _last_place(written: str, value: Decimal) -> Decimal:
    exponent = value.as_tuple().exponent
    return Decimal(1).scaleb(exponent) if isinstance(exponent, int) and exponent < 0 else Decimal(1)


@cache
def _scale_pattern(language: str) -> re.Pattern[str] | None:
    scales = sorted(number_words(language).scales, key=len, reverse=True)
    if not scales:
        return None
    end = "" if language in UNSPACED_LANGUAGES else r"(?!\w)"
    gap = r"[ \u00a0\u202f-]?" if language not in UNSPACED_LANGUAGES else r"\s?"
    return re.compile(gap + "(" + "|".join(map(re.escape, scales)) + ")" + end, re.IGNORECASE)


def _scale_at(text: str, at: int, language: str, short: bool) -> tuple[Decimal, int]:
    """Return the scale word at a place; ``short``: also "m" and "k", which are units without a currency."""
    pattern = _scale_pattern(language)
    match = pattern.match(text, at) if pattern else None
    if not match or (
        not short
        and (match[1].isascii() and len(match[1].rstrip(".")) <= 2 and match[1].islower())
        and not _currency_at(text, match.end(), language)[0]
    ):
        return Decimal(1), at
    scales = number_words(language).scales
    scale = scales.get(match[1]) or scales[match[1].lower()]
    end = match.end()
    if language in UNSPACED_LANGUAGES and (more := pattern.match(text, end) if pattern else None):
        scale, end = scale * scales[more[1]], more.end()
    return scale, end


@cache
def currency_names(language: str) -> dict[str, str]:
    """Lower-case names of currencies and their ISO 4217 codes."""
    data = tomllib.loads(language_data(language, "units.toml"))
    names = {
        name.replace("_", " "): code
        for code, listed in data.get("currencies", {}).items()
        for name in listed.split()
    }
    return (
        names
        | {code.lower(): code for code in CURRENCY_CODES}
        | {s.lower(): c for s, c in CURRENCY_SYMBOLS.items()}
    )


@cache
def _currency_pattern(language: str) -> re.Pattern[str]:
    names = sorted(currency_names(language), key=len, reverse=True)
    end = "" if language in UNSPACED_LANGUAGES else r"(?!\w)"
    words = "|".join(map(re.escape, names))
    return re.compile(rf"\s?-?(?:(?:de|d['’]|of|di)\s?)?({words}){end}", re.IGNORECASE)


def _currency_at(text: str, at: int, language: str) -> tuple[str, int]:
    match = _currency_pattern(language).match(text, at)
    if not match or re.match(r"\s?[$£€¥]\s?\d", text[at : at + 4]):
        return "", at
    return currency_names(language)[match[1].lower()], match.end()


def _unit_at(text: str, end: int, language: str) -> tuple[str, int] | None:
    link = _LINK.match(text, end)
    for at in dict.fromkeys((link.end() if link else end, end)):
        if found := unit_at(text, at, language):
            symbol, stop = found
            if stop - at == 1 and symbol.isalpha() and text[stop : stop + 1] in ("'", "’"):
                return None
            return found
    return None


IS_RANGE = re.compile(
    r"\s?(?:-|–|—|to|through|and|or|bis|und|oder|auf|à|et|ou|a|y|o|e|al|tot|en|до|и|или"
    r"|~|〜|～|至|到|から|إلى|و|/)\s?"
)
_CODE = re.compile(r"(?<![^\W\d_])[A-Z]{1,4}[- ]$")  # "rotor R-12 and 4,500 rpm"
_MOST_IN_SCALE = 10_000  # "by 18,000 to 30.1 million" is no range of millions


def _with_units_of_ranges(text: str, found: list[Quantity]) -> list[Quantity]:
    """Give "5" the unit of "10 mg" in "5 to 10 mg", and of a currency in "$5 to 10 million"."""
    for at in range(len(found) - 2, -1, -1):
        left, right = found[at], found[at + 1]
        if (
            (left.dimension == "" or (left.unit == "°" and right.dimension == "temperature"))
            and (left.bare or right.dimension not in ("", "ratio", "points"))
            and not right.bare
            and right.dimension not in ("date", "year")
            and IS_RANGE.fullmatch(text, left.end, right.start)
            and not _CODE.search(text, 0, left.start)
            and not (left.bare and right.scale > 1 and left.value > _MOST_IN_SCALE)
        ):
            unit = units_by_symbol().get(right.unit)
            factor, offset = (unit.factor, unit.offset) if unit else (Decimal(1), Decimal(0))
            scale = right.scale if left.bare else Decimal(1)
            found[at] = replace(
                left,
                value=left.value * scale,
                dimension=right.dimension,
                base=left.value * scale * factor + offset,
                unit=right.unit,
                step=left.step * scale * factor,
                bare=False,
            )
    return found


@cache
def _amount_words(language: str) -> dict[str, tuple[Decimal, str]]:
    """Return words that are a number of a unit ("fortnight"), and one of each unit after a preposition."""
    data = tomllib.loads(language_data(language, "units.toml"))
    found: dict[str, tuple[Decimal, str]] = {}
    for amount, words in data.get("amounts", {}).items():
        value, _, symbol = amount.partition(" ")
        found |= {word.replace("_", " "): (Decimal(value), symbol) for word in words.split()}
    return found


@cache
def _amount_pattern(language: str) -> str:
    listed = "|".join(map(re.escape, sorted(_amount_words(language), key=len, reverse=True)))
    return listed if language in UNSPACED_LANGUAGES else rf"(?<!\w)(?:{listed})(?!\w)"


@cache
def _one_pattern(language: str) -> re.Pattern[str] | None:
    """Return an article that may count one: "a week"."""
    articles = tomllib.loads(language_data(language, "numbers.toml")).get("ones", "")
    words = "|".join(articles.split())
    return re.compile(rf"(?<!\w)(?P<one>(?:{words})\s)", re.IGNORECASE) if words else None


@cache
def _before_one(language: str) -> frozenset[str]:
    """Prepositions behind which an article counts: "within a week"."""
    return frozenset(tomllib.loads(language_data(language, "numbers.toml")).get("before_one", "").split())


def _amounts(text: str, language: str) -> Iterator[Quantity]:
    words = _amount_words(language)
    for match in re.finditer(_amount_pattern(language), text.lower()) if words else ():
        yield _of_unit(match.start(), match.end(), *words[match[0]])
    pattern = _one_pattern(language)
    for match in pattern.finditer(text) if pattern else ():
        found = unit_at(text, match.end("one"), language)
        if not found or units_by_symbol()[found[0]].dimension not in ("time", "calendar"):
            continue
        half, end = _half_at(text, found[1], language)  # "an hour and a half"
        before = text[: match.start()].rsplit(maxsplit=1)[-1:]
        if half or (before and before[0].lower() in _before_one(language)):
            yield _of_unit(match.start("one"), end, 1 + half, found[0])


def _of_unit(start: int, end: int, value: Decimal, symbol: str) -> Quantity:
    unit = units_by_symbol()[symbol]
    return Quantity(start, end, value, unit.dimension, value * unit.factor, symbol, unit.factor, False)


def _fractions(text: str, language: str, taken: list[tuple[int, int]]) -> Iterator[Quantity]:
    """Yield "half", "three quarters"; "half a year" as a time, "half a million" as a number or an amount."""
    halves = _half_pattern(language)
    taken = [*taken, *(match.span() for match in (halves.finditer(text) if halves else ()))]
    for number in fractions_in(text, language):
        if any(a <= number.start < b for a, b in taken):
            continue
        taken.append((number.start, number.end))
        value = number.value
        link = _LINK_OF_FRACTION.match(text, number.end)
        end = link.end() if link else number.end
        scale, behind = _scale_at(text, end, language, short=False)
        if scale > 1:
            currency, behind = _currency_at(text, behind, language)
            value, kind = value * scale, "money" if currency else ""
            yield Quantity(number.start, behind, value, kind, value, currency, scale / 10, False, scale)
            continue
        found = unit_at(text, end, language)
        if found and (units_by_symbol()[found[0]].dimension != "ratio" or text[number.end : end].strip()):
            unit = units_by_symbol()[found[0]]
            base = value * unit.factor
            yield Quantity(
                number.start, found[1], value, unit.dimension, base, found[0], unit.factor / 10, False
            )
        else:
            yield Quantity(
                number.start, number.end, value, "ratio", value, "fraction", Decimal("0.01"), False
            )


_LINK_OF_FRACTION = re.compile(
    r"[\s-]?(?:(?:an?|of an?|eine[rs]?|ein|une?|d['’]una?e?|de una?|de|di|di una?|de uma?)\s|d['’])?"
)
