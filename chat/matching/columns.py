"""Row and column heads of a value in a table, by where they stand on the page.

Heads are looked for on the page, not only in the table's own rows: they are
often set apart, and then no layout engine is sure that they belong to it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from chat.claims import SourceUnit
from documents.pdf.geometry import Rect, bounding_box

_YEAR = re.compile(r"(?:19|20)\d\d")
_HEAD_WORD = re.compile(
    r"\(?(?:jan|feb|mar|apr|may|june?|july?|aug|sep|oct|nov|dec)[a-z]*\.?|\(?in|\(?\$?(?:thousands|millions|billions).*|"
    r"\(?dollars|\(?amounts|at|as|of|for|the|years?|fiscal|ended|ending|months|quarter|change|%|\$|fy|20\d\d.*|19\d\d.*|"
    r"\d{1,2},?|restated.*|vs\.?|unaudited.*",
    re.IGNORECASE,
)
LEAST_HEAD_SHARE = 0.6  # share of a line's words that are those of a column head
SAME_LINE = 3.0  # points between the middles of words of one line


@dataclass(frozen=True, slots=True)
class _PlacedWord:
    text: str
    rect: Rect


def column_years(cell: Rect, units: Sequence[SourceUnit]) -> tuple[frozenset[int], tuple[Rect, ...]]:
    """Years in the head of the column a cell stands in, and the boxes of that head.

    ``units`` are those of its page. Nothing when no line above is a line of
    years: then the column says nothing of time.
    """
    for line in _lines_above(cell, units):
        years = [word for word in line if _YEAR.search(word.text)]
        if len(years) >= 2 and _is_head(line):
            head = min(years, key=lambda word: _apart(cell, word.rect))
            return frozenset(int(year) for year in _YEAR.findall(head.text)), (head.rect,)
    return frozenset(), ()


def _is_head(line: Sequence[_PlacedWord]) -> bool:
    return sum(_HEAD_WORD.fullmatch(word.text) is not None for word in line) >= LEAST_HEAD_SHARE * len(line)


def _apart(cell: Rect, head: Rect) -> float:
    """Distance between two boxes one above the other; 0 and less when they overlap."""
    overlap = cell.overlap_x(head)
    return -overlap if overlap > 0 else abs(cell.center[0] - head.center[0])


def _lines_above(cell: Rect, units: Sequence[SourceUnit]) -> Iterator[list[_PlacedWord]]:
    """The page's lines above a cell, nearest first, each across all columns."""
    above = [word for unit in units for word in _words(unit) if word.rect.center[1] < cell.y0]
    above.sort(key=lambda word: -word.rect.center[1])
    line: list[_PlacedWord] = []
    for word in above:
        if line and line[0].rect.center[1] - word.rect.center[1] > SAME_LINE:
            yield line
            line = []
        line.append(word)
    if line:
        yield line


def _words(unit: SourceUnit) -> Iterator[_PlacedWord]:
    for word in unit.words:
        start = word.char_start - unit.char_start
        yield _PlacedWord(unit.text[start : start + word.char_end - word.char_start], word.rect)


def row_head(unit: SourceUnit, start: int, units: Sequence[SourceUnit]) -> tuple[Rect, ...]:
    """Boxes of the words that head the row a value at ``unit.text[start]`` stands in.

    A row without words of its own is headed by the line before it.
    """
    if unit.type != "table":
        return ()
    words = [word for word in _words(unit) if any(map(str.isalpha, word.text))]
    own = [
        word.rect for word, source in zip(words, words, strict=True) if source.rect.x1 <= _left(unit, start)
    ]
    if own:
        return (bounding_box(own),)
    before = [other for other in units if other.type == "table" and other.char_start < unit.char_start]
    above = max(before, key=lambda other: other.char_start, default=None)
    rects = [word.rect for word in _words(above)] if above and above.page == unit.page else []
    return (bounding_box(rects),) if rects and not any(c.isdigit() for c in above.text) else ()  # type: ignore[union-attr]


def _left(unit: SourceUnit, start: int) -> float:
    at = unit.char_start + start
    return next((word.rect.x0 + 1 for word in unit.words if word.char_end > at), 0.0)
