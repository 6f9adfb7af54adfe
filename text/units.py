"""Units of measure: what a unit measures, and its size in the base unit of that dimension.

Symbols follow UCUM's spelling where print does. Names in a language come from
``text/languages/<code>/units.toml``. A month has no fixed number of days, so
months and years are a dimension of their own.
"""

from __future__ import annotations

import re
import tomllib
from dataclasses import dataclass
from decimal import Decimal
from functools import cache
from pathlib import Path

from text.languages import UNSPACED_LANGUAGES, language_data, languages_with


@dataclass(frozen=True, slots=True)
class Unit:
    """``value * factor + offset`` is the amount in the dimension's base unit."""

    dimension: str
    factor: Decimal
    offset: Decimal = Decimal(0)


_TABLE = Path(__file__).with_name("units.txt")
# Symbols that are words of some language, or our own: only their names are read.
_NAMES_ONLY = frozenset({
    "a", "mo", "wk", "inch", "acre", "times", "fraction", "pp", "bp", "um", "mi", "decade", "century",
    "pence",
})  # fmt: skip
# Units that Unicode has as one sign.
SIGNS = {
    "℃": "°C", "℉": "°F", "㎡": "m²", "㎥": "m³", "㎜": "mm", "㎝": "cm", "㎞": "km", "㎢": "km²", "㎎": "mg",
    "㎏": "kg", "㎖": "mL", "㎾": "kW", "㎐": "Hz", "㎑": "kHz", "㎒": "MHz", "㎓": "GHz", "㎩": "Pa",
    "㎪": "kPa", "㎫": "MPa",
}  # fmt: skip
_TEMPERATURE = {
    "°C": Unit("temperature", Decimal(1)),
    "°F": Unit("temperature", Decimal(5) / 9, Decimal(-160) / 9),
    "K": Unit("temperature", Decimal(1), Decimal("-273.15")),
}


@cache
def units_by_symbol() -> dict[str, Unit]:
    """Return every symbol the table knows."""
    found = dict(_TEMPERATURE)
    for line in _TABLE.read_text(encoding="utf-8").splitlines()[1:]:
        dimension, _, listed = line.partition(": ")
        for pair in listed.split():
            symbol, _, factor = pair.rpartition("=")
            found[symbol] = Unit(dimension, Decimal(factor))
    return found | {"μ" + s[1:]: u for s, u in found.items() if s.startswith("µ")}


@cache
def unit_names(language: str) -> dict[str, str]:
    """Lower-case unit names of a language and the symbols they stand for."""
    data = tomllib.loads(language_data(language, "units.toml"))
    return SIGNS | {
        name.replace("_", " "): symbol
        for symbol, names in data.get("names", {}).items()
        for name in names.split()
    }


@cache
def unit_named(name: str) -> Unit | None:
    """Return a unit by its symbol, or by its name in a language: "days", "Tage"."""
    languages = sorted(languages_with("units.toml"))
    symbols = (unit_names(language).get(name.lower(), "") for language in languages)
    return units_by_symbol().get(name) or next(filter(None, map(units_by_symbol().get, symbols)), None)


@cache
def _patterns(language: str) -> tuple[re.Pattern[str], re.Pattern[str] | None]:
    symbols = sorted(units_by_symbol().keys() - _NAMES_ONLY, key=len, reverse=True)
    names = sorted(unit_names(language), key=len, reverse=True)
    spaced = language not in UNSPACED_LANGUAGES
    end = r"(?!\w)" if spaced else r"(?![A-Za-z0-9])"
    symbol = re.compile("(?:" + "|".join(map(re.escape, symbols)) + ")" + r"(?![A-Za-zÀ-ɏµ²³0-9])")
    name = re.compile("(?:" + "|".join(map(re.escape, names)) + ")" + end, re.I) if names else None
    return symbol, name


def unit_at(text: str, at: int, language: str) -> tuple[str, int] | None:
    """Symbol and end of the unit that begins at ``text[at]``, or None."""
    symbol, name = _patterns(language)
    named = name.match(text, at) if name else None
    printed = symbol.match(text, at)
    if printed and (named is None or printed.end() >= named.end()):
        return printed[0], printed.end()
    return (unit_names(language)[named[0].lower()], named.end()) if named else None


CURRENCY_CODES = (
    "USD", "EUR", "GBP", "JPY", "CHF", "CAD", "AUD", "NZD", "CNY", "RMB", "INR", "KRW", "SEK", "NOK", "DKK",
    "PLN", "CZK", "HUF", "RUB", "BRL", "MXN", "ZAR", "HKD", "SGD", "AED", "SAR",
)  # fmt: skip
"""The currencies most traded: codes of ISO 4217, and RMB."""
CURRENCY_SYMBOLS = {
    "$": "USD", "US$": "USD", "€": "EUR", "£": "GBP", "¥": "JPY", "￥": "JPY", "₹": "INR", "₩": "KRW",
    "A$": "AUD", "C$": "CAD", "CA$": "CAD", "HK$": "HKD", "NZ$": "NZD", "R$": "BRL", "S$": "SGD",
}  # fmt: skip
CURRENCY_SIGN = r"(?:US|CA?|A|NZ|HK|R|S)?[$£€¥₹₩￥]"
"""Pattern of a sign of a currency."""
CURRENCY = rf"{CURRENCY_SIGN}|\b(?:{'|'.join(CURRENCY_CODES)})(?![^\W\d_])"
"""Pattern of a sign or code of a currency."""
ANY_CURRENCY = "¤"
"""Of an amount in cents, which are a hundredth of more than one currency."""


@cache
def _hundredths(language: str) -> tuple[dict[str, str], re.Pattern[str] | None]:
    """Names of the hundredths of currencies: the currency of each, and what matches them behind a number."""
    data = tomllib.loads(language_data(language, "units.toml"))
    names = {name: code for code, listed in data.get("hundredths", {}).items() for name in listed.split()}
    words = "|".join(map(re.escape, sorted(names, key=len, reverse=True)))
    return names, re.compile(rf"[\s-]?({words})(?!\w)", re.IGNORECASE) if words else None


_PENCE = re.compile(r"(?<=\d)p(?!\w|\.\w)")  # 45p


def hundredth_at(text: str, at: int, language: str) -> tuple[str, int] | None:
    """Return the currency whose hundredth is named at a place, and where the name ends."""
    if language == "en" and _PENCE.match(text, at):
        return "GBP", at + 1
    names, pattern = _hundredths(language)
    match = pattern.match(text, at) if pattern else None
    return (names[match[1].lower()], match.end()) if match else None
