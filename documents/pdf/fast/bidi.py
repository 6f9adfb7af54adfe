"""The order in which the words of a line are read: leftwards in Hebrew, Arabic and their kin."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from functools import lru_cache
from operator import attrgetter

from msgspec.structs import replace

from documents.pdf.fast.lists import marker_of
from documents.pdf.fast.words import RawWord

# A list's marker in a right-to-left line is drawn as so many words at most, so far from the others (ems).
MARKER_WORDS = 2
MARKER_CLEAR = 0.6

# Whatever is written from right to left (Unicode, DerivedBidiClass: R and AL).
RIGHT_TO_LEFT = re.compile(
    "[\u0590-\u08ff\u200f\ufb1d-\ufdff\ufe70-\ufeff\U00010800-\U00010fff\U0001e800-\U0001efff]"
)
_LEFT = attrgetter("x0")


def in_reading_order(words: list[RawWord], rtl: bool = False) -> list[RawWord]:
    """Words of one line as they are read: leftwards in a right-to-left line, save for its Latin runs."""
    words = sorted(words, key=_LEFT)
    if not (rtl or is_rtl(" ".join([word.text for word in words]))):
        return words
    marker, words = _parted_at_marker(words)
    runs: list[list[RawWord]] = []
    was_rightwards = False
    for word, rightwards in zip(words, _rightwards(words), strict=True):
        if rightwards and was_rightwards:
            runs[-1].append(word)
        else:
            runs.append([word])
        was_rightwards = rightwards
    return [*marker, *(word for run in reversed(runs) for word in run)]


def _parted_at_marker(words: list[RawWord]) -> tuple[list[RawWord], list[RawWord]]:
    """The marker of a list's item that stands clear at the right, made one word, and the words beside it.

    Its number would run on rightwards with the foreign words it stands beside; its full stop may be drawn
    by itself.
    """
    for count in range(1, min(MARKER_WORDS, len(words) - 1) + 1):
        first, beside = words[-count], words[-count - 1]
        if first.x0 - beside.x1 > MARKER_CLEAR * first.style.size:
            text = "".join([word.text for word in reversed(words[-count:])])
            if not marker_of(text):
                break
            return [replace(words[-1], x0=first.x0, text=text)], words[:-count]
    return [], words


def _rightwards(words: Sequence[RawWord]) -> list[bool]:
    """Whether each word of a right-to-left line runs rightwards; signs between two such words do.

    (A part of the Unicode bidirectional algorithm, UAX 9, rules N1 and N2.)
    """
    found = [_direction(word.text) for word in words]
    before, after = _carried(found), _carried(found[::-1])[::-1]
    return [
        direction > 0 or (direction == 0 and left > 0 and right > 0)
        for direction, left, right in zip(found, before, after, strict=True)
    ]


def _carried(directions: Sequence[int]) -> list[int]:
    """For each, itself or the last before it that is not 0."""
    found, last = [], 0
    for direction in directions:
        last = direction or last
        found.append(last)
    return found


def is_rtl(text: str) -> bool:
    """Whether most of its letters are Hebrew, Arabic or of their kin."""
    return not text.isascii() and bool(RIGHT_TO_LEFT.search(text)) and _direction(text) < 0


@lru_cache(maxsize=65536)
def _direction(text: str) -> int:
    """Letters running rightwards (and digits, weakly) less letters running leftwards."""
    if text.isascii():
        return 1 if any(map(str.isalnum, text)) else 0
    kinds = [unicodedata.bidirectional(c) for c in text]
    left, right = sum(k in ("R", "AL") for k in kinds), kinds.count("L")
    return right - left if left or right else int(any(k in ("EN", "AN") for k in kinds))
