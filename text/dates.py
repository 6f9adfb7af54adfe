"""Dates and years of a text, by the month names of its language."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache

from text.languages import language_data

_YEAR = r"(?:1[0-9]|20)\d\d"


@dataclass(frozen=True, slots=True)
class Date:
    """A date as written; ``day`` and ``month`` are 0 where it does not say them, and so is ``year``."""

    start: int
    end: int
    year: int = 0
    month: int = 0
    day: int = 0


@cache
def month_numbers(language: str) -> dict[str, int]:
    """Lower-case month names and their numbers."""
    data = tomllib.loads(language_data(language, "numbers.toml"))
    months = data.get("months", {})
    return {name: int(number) for number, names in months.items() for name in names.split()}


@cache
def _pattern(language: str) -> re.Pattern[str]:
    names = "|".join(map(re.escape, sorted(month_numbers(language), key=len, reverse=True))) or "(?!)"
    month = rf"(?P<{{0}}>{names})\b\.?"
    return re.compile(
        rf"\b{month.format('m1')}\s+(?P<d1>\d{{1,2}})(?:st|nd|rd|th)?(?:,?\s+(?P<y1>{_YEAR}))?(?![\d,.]*\d)"
        rf"|\b(?P<d2>\d{{1,2}})(?:st|nd|rd|th|er|º|\.)?\s+(?:of\s+|de\s+)?{month.format('m2')}"
        rf"(?:,?\s+(?:de[l]?\s+|of\s+)?(?P<y2>{_YEAR}))?\b"
        rf"|\b(?P<y3>{_YEAR})-(?P<mo3>\d\d)-(?P<d3>\d\d)\b"
        rf"|(?<![\d.])(?P<d4>\d{{1,2}})\.\s?(?P<mo4>\d{{1,2}})\.\s?(?P<y4>{_YEAR})\b"
        rf"|(?<![\d/])(?P<d6>\d{{1,2}})/(?P<mo6>\d{{1,2}})/(?P<y6>{_YEAR})\b"
        rf"|(?P<y5>{_YEAR})\s?年\s?(?:(?P<mo5>\d{{1,2}})\s?月\s?(?:(?P<d5>\d{{1,2}})\s?日)?)?"
        rf"|\b{month.format('m7')}\s+(?:de[l]?\s+|of\s+)?(?P<y7>{_YEAR})\b",
        re.IGNORECASE,
    )


def dates_in(text: str, language: str) -> Iterator[Date]:
    """Dates with a day or a month, and 年 years, in order. Plain years are numbers."""
    months = month_numbers(language)
    for match in _pattern(language).finditer(text):
        said = match.groupdict()
        name = next((said[key] for key in ("m1", "m2", "m7") if said[key]), None)
        written = next((said[key] for key in ("mo3", "mo4", "mo5", "mo6") if said[key]), 0)
        month = months[name.lower()] if name else int(written)
        day = int(next((v for k, v in said.items() if k[0] == "d" and v), 0))
        year = int(next((v for k, v in said.items() if k[0] == "y" and v), 0))
        if language == "en" and match["mo6"]:
            month, day = day, month  # 06/12/2023 is read month first; both readings agree where equal
        if month <= 12 and day <= 31:
            yield Date(match.start(), match.end(), year, month, day)
