"""Which year a value is said of in a sentence."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from chat.values import Value, values_in

SURE = 2.5  # times farther than the nearest year another must be before it is ruled out
_COMMA = 20  # characters a comma or semicolon counts for
_COMPARISON = re.compile(
    r"\b(?:compared?|comparison|versus|vs\.?|than|from|since|over|prior|before|against|after)\W+(?:\w+\W+){0,4}$",
    re.IGNORECASE,
)
_SENTENCE_END = re.compile(r"[.!?]\s+(?=[A-Z(])")


@dataclass(frozen=True, slots=True)
class YearSaid:
    """The year a value is most likely said of; ``others`` are years it may be said of, too.

    ``compared``: the year is only what the value is compared with ("up 4 percent from 2017").
    """

    year: int
    others: frozenset[int] = frozenset()
    compared: bool = False

    def allows(self, year: int) -> bool:
        return year == self.year or year in self.others


@dataclass(frozen=True, slots=True)
class _AnyYear(YearSaid):
    def allows(self, year: int) -> bool:
        return True


ANY_YEAR = _AnyYear(0)


def _years_beside(text: str, values: Sequence[Value]) -> dict[int, YearSaid]:
    """For each value of a text that has years, by its start, the year it is said of."""
    years = [value for value in values if value.year is not None]
    amounts = [value for value in values if value.kind not in ("year", "date")]
    if not years or not amounts:
        return {}
    if "respectively" in text:
        same = len(years) == len(amounts)
        return {a.start: YearSaid(_year(y)) for a, y in zip(amounts, years, strict=True)} if same else {}
    return {amount.start: _nearest_year(text, amount, years) for amount in amounts}


def year_said(text: str, value: Value) -> YearSaid:
    """The year a value of the text is said of, by its sentence; any year where that says none."""
    start, end = _sentence_around(text, value)
    sentence = text[start:end]
    return _years_beside(sentence, values_in(sentence)).get(value.start - start, ANY_YEAR)


def _sentence_around(text: str, value: Value) -> tuple[int, int]:
    ends = [match.end() for match in _SENTENCE_END.finditer(text)]
    start = max((end for end in ends if end <= value.start), default=0)
    return start, min((end for end in ends if end >= value.end), default=len(text))


def _nearest_year(text: str, amount: Value, years: Sequence[Value]) -> YearSaid:
    far = {year: _distance(text, amount, year) for year in years}
    nearest = min(years, key=far.__getitem__)
    near_too = {_year(year) for year in years if far[year] <= SURE * far[nearest] + 8}
    compared = _COMPARISON.search(text[: nearest.start]) is not None
    return YearSaid(_year(nearest), frozenset(near_too - {_year(nearest)}), compared)


def _year(value: Value) -> int:
    assert value.year is not None
    return value.year


def _distance(text: str, amount: Value, year: Value) -> float:
    """Characters between the two; a comma or semicolon counts for many."""
    between = text[amount.end : year.start] if year.start >= amount.end else text[year.end : amount.start]
    return len(between) + _COMMA * len(re.findall(r"[,;]", between))
