"""Levels of headings: by rank of type, numbering, and the series that chapters, parts and items make."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from documents.pdf.fast.blocks import Block

DEEPEST = 6

_NUMBERING = re.compile(
    r"^(?:(?:chapter|part|item|section|appendix|annex|article)\s+)?([A-Z]?\d{0,2}(?:\.\d{1,3}){0,5})\.?[\s\u3000]",
    re.I,
)
_SERIES = re.compile(
    r"^(?:(chapter|part|item|section|appendix|annex|article|note|глава|раздел)\s*[\divxlc]"
    r"|第.{1,4}([章节節])\s*[\divxlc一二三四五六七八九十]?)",
    re.I,
)

# Which series stands within which, the outermost first.
_OUTERMOST_FIRST = (
    *("part", "раздел", "appendix", "annex", "chapter", "глава", "章", "article", "section"),
    *("节", "節", "item", "note"),
)

# Size, bold, in capitals: greater is higher up.
StyleKey = tuple[float, bool, bool]


def section_number(text: str) -> str:
    """The number that the text begins with (``2.1``), or ''."""
    match = _NUMBERING.match(text)
    number = match.group(1) if match else ""
    return number if any(map(str.isdigit, number)) else ""


def series_of(text: str) -> str:
    """What the heading is one of: ``item`` of ``Item 7A. …``; or ''."""
    match = _SERIES.match(text)
    return next(filter(None, match.groups()), "").casefold() if match else ""


def is_capitals(text: str) -> bool:
    if not text.isupper():  # most are told so
        return False
    letters = [c for c in text if c.isalpha()]
    return len(letters) >= 4 and all(c.isupper() for c in letters) and any(len(w) > 3 for w in text.split())


def set_levels(headings: Sequence[Block]) -> None:
    """Gives each heading its level, 1 to 6. One that the outline has told already keeps it."""
    series = [series_of(heading.text) for heading in headings]
    levels = _below_series(_by_type(headings), series)
    dense = {level: rank for rank, level in enumerate(sorted(set(levels)), 1)}
    for heading, level in zip(headings, levels, strict=True):
        if heading.level is None:
            heading.level = min(DEEPEST, dense[level])


def _below_series(levels: Sequence[int], series: Sequence[str]) -> list[int]:
    """The levels, those between two members of a series made deeper than the series."""
    around = _series_around(series)
    of_series = _levels_of_series(series, around, levels)
    highest: dict[str, int] = {}
    for level, enclosing, own in zip(levels, around, series, strict=True):
        if enclosing and not own:
            highest[enclosing[-1]] = min(level, highest.get(enclosing[-1], level))
    found = []
    for level, own, enclosing in zip(levels, series, around, strict=True):
        if own:
            level = of_series[own]
        elif enclosing:
            level = max(level, of_series[enclosing[-1]] + 1 + level - highest[enclosing[-1]])
        found.append(level)
    return found


def _by_type(headings: Sequence[Block]) -> list[int]:
    """Levels by rank of type; numbering deepens them, the outline has the last word."""
    ranks = _ranks(headings)
    base: int | None = None
    levels = []
    for heading in headings:
        level = ranks[_style_key(heading)]
        number = section_number(heading.text)
        if number and not series_of(heading.text):
            depth = number.count(".")
            if base is None:
                base = level - depth
            level = max(1, base) + depth
        levels.append(max(1, level) if heading.level is None else heading.level)
    return levels


def _style_key(block: Block) -> StyleKey:
    style = block.lines[0].style
    return round(style.size * 2) / 2, style.bold, is_capitals(block.text)


def _ranks(headings: Iterable[Block]) -> dict[StyleKey, int]:
    keys = sorted({_style_key(heading) for heading in headings}, reverse=True)
    return {key: rank for rank, key in enumerate(keys, 1)}


def _series_around(series: Sequence[str]) -> list[list[str]]:
    """For each heading the series it stands in, between two of their members; the outermost first."""
    order = _in_order(series)
    begin = {name: series.index(name) for name in order}
    end = {name: len(series) - 1 - series[::-1].index(name) for name in order}
    return [
        [name for name in order[: order.index(own) if own else None] if begin[name] < place < end[name]]
        for place, own in enumerate(series)
    ]


def _in_order(series: Sequence[str]) -> list[str]:
    return sorted(set(filter(None, series)), key=_OUTERMOST_FIRST.index)


def _levels_of_series(
    series: Sequence[str], around: Sequence[Sequence[str]], by_type: Sequence[int]
) -> dict[str, int]:
    """One level for all members of a series, below the series that it stands in."""
    levels: dict[str, int] = {}
    for name in _in_order(series):
        members = [place for place, own in enumerate(series) if own == name]
        outer = [levels[other] + 1 for place in members for other in around[place]]
        levels[name] = max([min(by_type[place] for place in members), *outer])
    return levels
