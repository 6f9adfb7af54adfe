"""Word order of parsed pages: units whose words don't follow the printed lines, for each PDF of a folder.

Three rules, checked by the boxes of the words alone:

- interleaved: the words of a unit or cell leave a printed line, and return to it later
- across: three lines of a unit one below the other jump over the same upright gutter
- torn: two words in a word space's distance on one line are in different units
"""

from __future__ import annotations

from argparse import ArgumentParser
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

from django.core.management.base import BaseCommand

from bench.ingest import chosen_files
from documents.ingestion.parser import parse_limits
from pdf.api import ParseFailure, parse_file
from pdf.geometry import Rect
from pdf.structure import ParsedPage, ParsedUnit, Word

# Words are on one line if they share this much of the lower one's height, and their heights are alike.
SAME_LINE, LIKE_HEIGHT = 0.7, 1.35
# The widest word space, the least gap of a gutter, and the least width its lines have in common (heights).
WORD_SPACE, GUTTER, GUTTER_WIDTH = 0.6, 1.2, 0.6
# Words on another line have their middle this far away (heights).
OTHER_LINE = 0.6
# Lines that make a gutter; their maximum distance (heights).
GUTTER_LINES, LEADING = 3, 2.2
# Words on two lines of one unit or in two units that touch at a distance below this are torn apart (heights).
TORN = 0.3


class Break(NamedTuple):
    """A unit that breaks a rule."""

    rule: str
    unit: ParsedUnit
    words: str


class _Placed(NamedTuple):
    """A word, its box with the text running rightwards, and the number of its unit."""

    text: str
    rect: Rect
    unit: int

    @property
    def middle(self) -> float:
        return (self.rect.y0 + self.rect.y1) / 2


def breaks(page: ParsedPage) -> list[Break]:
    """Return the units of a page that break a rule, each with the words where it does."""
    found = []
    placed: list[_Placed] = []
    for unit in page.units:
        words = _words(page, unit.char_start, unit.char_end, unit.index)
        placed += words
        parts = [(words, unit.type != "code")]
        if unit.table:
            parts = [
                (_words(page, cell.char_start, cell.char_end, unit.index), False) for cell in unit.table.cells
            ]
        for part, is_text in parts:
            if at := _interleaved(part):
                found.append(Break("interleaved", unit, at))
                break
            if is_text and (at := _read_across(part)):
                found.append(Break("across", unit, at))
                break
    return found + _torn(page, placed)


def _words(page: ParsedPage, start: int, end: int, unit: int) -> list[_Placed]:
    chosen = [word for word in page.words if start <= word.char_start < end]
    long = [word for word in chosen if word.char_end - word.char_start > 2]
    upright = sum(_is_wide(word) for word in long) * 2 >= len(long)
    return [
        _Placed(
            page.text[word.char_start : word.char_end],
            word.rect if upright else Rect(word.rect.y0, word.rect.x0, word.rect.y1, word.rect.x1),
            unit,
        )
        for word in chosen
    ]


def _is_wide(word: Word) -> bool:
    return word.rect.width >= word.rect.height


def _are_on_one_line(a: _Placed, b: _Placed) -> bool:
    low, high = sorted((a.rect.height, b.rect.height))
    return low > 0 and high <= LIKE_HEIGHT * low and a.rect.overlap_y(b.rect) >= SAME_LINE * low


def _gap(a: _Placed, b: _Placed) -> float:
    """Return the distance of two words of one line, whichever comes first, in heights of the lower one."""
    apart = max(a.rect.x0, b.rect.x0) - min(a.rect.x1, b.rect.x1)
    return apart / min(a.rect.height, b.rect.height)


def _interleaved(words: Sequence[_Placed]) -> str:
    """Return the words between which the text leaves a line to which it returns; '' if it does not."""
    order = sorted(range(len(words)), key=lambda n: words[n].rect.x0)
    for place, i in enumerate(order):
        for j in order[place + 1 :]:
            first, last = sorted((i, j))
            if words[j].rect.x0 > words[i].rect.x1 + WORD_SPACE * words[i].rect.height:
                break
            if last - first > 1 and _are_neighbours(words[i], words[j]):
                far = OTHER_LINE * words[i].rect.height
                if all(abs(other.middle - words[i].middle) > far for other in words[first + 1 : last]):
                    return " ".join(word.text for word in words[max(0, first - 2) : last + 3])
    return ""


def _are_neighbours(a: _Placed, b: _Placed) -> bool:
    return _are_on_one_line(a, b) and -0.2 < _gap(a, b) < WORD_SPACE


def _read_across(words: Sequence[_Placed]) -> str:
    """Return the words around the third gap at one place, on lines one below the other."""
    runs: list[tuple[float, float, float, int]] = []  # the gutter's edges, its last line's middle, its lines
    for n, (a, b) in enumerate(pairwise(words)):
        if not _are_on_one_line(a, b) or _gap(a, b) < GUTTER:
            continue
        x0, x1 = min(a.rect.x1, b.rect.x1), max(a.rect.x0, b.rect.x0)
        height = a.rect.height
        longest = 1
        for left, right, middle, lines in runs:
            left, right = max(left, x0), min(right, x1)
            if right - left >= GUTTER_WIDTH * height and height / 2 < a.middle - middle < LEADING * height:
                longest = max(longest, lines + 1)
                x0, x1 = left, right
        if longest >= GUTTER_LINES:
            return " ".join(word.text for word in words[max(0, n - 3) : n + 5])
        runs.append((x0, x1, a.middle, longest))
    return ""


def _torn(page: ParsedPage, placed: Sequence[_Placed]) -> list[Break]:
    """Return the units that end or begin between two words of one line that stand close together."""
    found: dict[int, Break] = {}
    ordered = sorted(placed, key=lambda word: word.rect.x0)
    for i, word in enumerate(ordered):
        for other in ordered[i + 1 :]:
            if other.rect.x0 > word.rect.x1 + WORD_SPACE * word.rect.height:
                break
            if (
                other.unit != word.unit
                and len(word.text) > 1 < len(other.text)
                and not (page.units[word.unit].table or page.units[other.unit].table)
                and _are_on_one_line(word, other)
                and -0.1 < _gap(word, other) < TORN
            ):
                unit = page.units[word.unit]
                found.setdefault(word.unit, Break("torn", unit, f"{word.text} ‖ {other.text}"))
    return list(found.values())


def add_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("folder", type=Path)
    parser.add_argument("--limit", type=int, default=0, help="of files; 0: all")
    parser.add_argument("--each", action="store_true", help="print every unit that breaks a rule")


def run(command: BaseCommand, options: Mapping[str, Any]) -> int:
    counts: Counter[str] = Counter()
    for name, page, units in _parsed(options["folder"], options["limit"]):
        counts["units"] += units
        for found in page:
            counts[found.rule] += 1
            if options["each"]:
                command.stdout.write(f"{name}: {found.rule}: {found.unit.type}: {found.words}")
    command.stdout.write("  ".join(f"{name} {count}" for name, count in counts.items()))
    return 0


def _parsed(folder: Path, limit: int) -> Iterator[tuple[str, list[Break], int]]:
    for file in chosen_files(folder, limit):
        try:
            document = parse_file(file, limits=parse_limits(), recognise=False)
        except ParseFailure:
            continue
        for page in document.pages:
            yield f"{file.name} p. {page.number}", breaks(page), len(page.units)
