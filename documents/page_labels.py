"""Printed page numbers, read from headers and footers, and lines counted on their page.

A filing's cover has no number and its page 33 is printed as 31; lawyers cite the printed one.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from django.utils.translation import gettext

from pdf.structure import ParsedPage

NEARBY = 3  # pages: how far apart numbers of one sequence may be
LEAST_PAGES = 3  # of a sequence
_NUMBER = re.compile(r"(?<![\w.,/–-])((?:[A-Z]{1,2}|\d{1,2})[-–])?(\d{1,4})(?![\w%/]|[.,–-]\w)")


class _Sequence(NamedTuple):
    """Numbers that count on with the pages: ``F-12`` on page 40 is of prefix ``F-`` and offset 28."""

    prefix: str
    offset: int


def printed_labels(pages: Sequence[ParsedPage]) -> dict[int, str]:
    """Return the printed number of each page (by page number, from 1) that is of a sequence of numbers.

    A number counts if headers or footers of at least three pages nearby count on with it. Pages between
    two of one sequence belong to it, too: a plate or the first page of a chapter often has no number.
    """
    found: dict[_Sequence, list[int]] = defaultdict(list)
    for page in pages:
        for sequence in set(_sequences(page)):
            found[sequence].append(page.number)
    labels: dict[int, str] = {}
    for sequence, run in sorted(_runs(found), key=lambda item: len(item[1])):  # the longest one last
        labels |= {
            number: f"{sequence.prefix}{number - sequence.offset}" for number in range(run[0], run[-1] + 1)
        }
    return labels


def _sequences(page: ParsedPage) -> Iterator[_Sequence]:
    for part in page.furniture:
        for match in () if part.is_line_number else _NUMBER.finditer(part.text):
            yield _Sequence(match[1] or "", page.number - int(match[2]))


def _runs(found: dict[_Sequence, list[int]]) -> Iterator[tuple[_Sequence, list[int]]]:
    """Yield each sequence with the numbers of its pages, split where more than NEARBY pages lack it."""
    for sequence, numbers in found.items():
        run = [numbers[0]]
        for number in numbers[1:]:
            if number - run[-1] > NEARBY:
                yield from _long_enough(sequence, run)
                run = []
            run.append(number)
        yield from _long_enough(sequence, run)


def _long_enough(sequence: _Sequence, run: list[int]) -> Iterator[tuple[_Sequence, list[int]]]:
    if len(run) >= LEAST_PAGES:
        yield sequence, run


def lines_on_page(lines: tuple[int, int], first_line: int) -> tuple[int, int]:
    """Convert line numbers of the document into those of the page, from 1; (0, 0) if unknown."""
    if not (lines[0] and first_line):
        return 0, 0
    return lines[0] - first_line + 1, lines[1] - first_line + 1


def place_in_words(
    page: int, lines: tuple[int, int], label: str = "", first_line: int = 0, where: str = ""
) -> str:
    """Format ``p. 31 (33 in the file), lines 2–7``: the printed page, and lines counted on that page.

    Args:
        page: number in the file, from 1. It is named only where ``label``, the printed one, is another.
        lines: first and last line, numbered through the document; 0 where they are unknown.
        first_line: the page's first line, numbered so; 0 where it is unknown, then no lines are named.
        where: replaces it: ``slide 4``, ``sheet Q2, B7``, ``12:04``.
    """
    if where:
        return where
    shown = {"page": page, "label": label}
    first, last = lines_on_page(lines, first_line)
    if label and label != str(page):
        named = gettext("p. %(label)s (%(page)s in the file)") % shown
    else:
        named = gettext("p. %(page)s") % shown
    if not first:
        return named
    if last <= first:
        return gettext("%(place)s, line %(line)s") % {"place": named, "line": first}
    return gettext("%(place)s, lines %(first)s–%(last)s") % {"place": named, "first": first, "last": last}


def pinpoint(page: int, lines: tuple[int, int], label: str = "", first_line: int = 0, where: str = "") -> str:
    """Format ``31:2-7``, printed page and lines on it, as courts cite transcripts; arguments as above."""
    first, last = lines_on_page(lines, first_line)
    if where or not first:
        return where or label or str(page)
    return f"{label or page}:{first}" + (f"-{last}" if last > first else "")
