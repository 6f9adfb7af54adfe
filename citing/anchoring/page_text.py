"""The text of a page with the boxes of its words, and the rectangles of a highlight: one per line."""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from typing import overload

import numpy as np
import numpy.typing as npt

from pdf.geometry import PageFrame, Rect
from pdf.structure import Word
from pdf.word_boxes import WordBoxes

# --- Folding: text without spaces, hyphens, quotation marks, ligatures, case and accents ---
#
# Texts with the same words fold to the same string. The source index of each folded character is kept.

# Quotes, apostrophes, primes: typesetters exchange them freely.
_QUOTES = frozenset("'\"`´′″‘’‚‛“”„‟«»‹›〝〞＂＇")
_DROPPED_CATEGORIES = frozenset({"Zs", "Zl", "Zp", "Cc", "Cf", "Mn", "Pd"})
_DROPPED = frozenset("−ـ⁃") | _QUOTES  # minus sign, Arabic tatweel, hyphen bullet
# Letters that look alike and are typed for each other in Persian and Arabic.
_SAME_LETTER = {"ی": "ي", "ى": "ي", "ک": "ك", "ہ": "ه", "ة": "ه", "⁄": "/", "∕": "/"}


class _FoldedCharacters(dict[str, str]):
    """Each character's folded form, worked out once."""

    def __missing__(self, character: str) -> str:
        parts = unicodedata.normalize("NFKD", character).casefold()
        folded = self[character] = "".join(map(_folded_part, parts))
        return folded


def _folded_part(part: str) -> str:
    if part in _DROPPED or unicodedata.category(part) in _DROPPED_CATEGORIES:
        return ""
    decimal = unicodedata.decimal(part, None)
    return str(decimal) if decimal is not None else _SAME_LETTER.get(part, part)


_folded = _FoldedCharacters()


_NOT_ASCII = re.compile(r"[^\x00-\x7f]+")
_ASCII = {code: _folded[chr(code)] for code in range(128)}
_ASCII_LENGTHS = np.array([len(_ASCII[code]) for code in range(128)], np.int32)


@dataclass(frozen=True)
class Folded:
    """A folded text.

    ``source`` is the text it was made of.
    """

    source: str

    @cached_property
    def text(self) -> str:
        """Return the folded characters; computed at first use, as a search may stop after some pages."""
        return folded_text(self.source)

    @cached_property
    def plain(self) -> Plain:
        """Return the source without accents and marks, for regular expressions."""
        return without_marks(self.source)

    @cached_property
    def offsets(self) -> npt.NDArray[np.int32]:
        """Return the source index of each folded character, ascending."""
        codes = np.frombuffer(self.source.encode("utf-32-le", "surrogatepass"), np.uint32)
        lengths = _ASCII_LENGTHS[np.minimum(codes, 127)]
        for place in np.flatnonzero(codes > 127).tolist():
            lengths[place] = len(_folded[self.source[place]])
        return np.repeat(np.arange(len(codes), dtype=np.int32), lengths)

    @cached_property
    def gaps(self) -> list[int]:
        """Indexes of the folded characters before which folding dropped characters, ascending."""
        return (np.flatnonzero(np.diff(self.offsets) > 1) + 1).tolist()

    def source_range(self, start: int, end: int) -> tuple[int, int]:
        """Range of the original characters behind ``text[start:end]``; ``start < end``."""
        return int(self.offsets[start]), int(self.offsets[end - 1]) + 1

    def folded_range(self, start: int, end: int) -> tuple[int, int]:
        """Range of folded characters that came from ``[start, end)`` of the original."""
        first, last = np.searchsorted(self.offsets, (start, end))
        return int(first), int(last)


@dataclass(frozen=True, slots=True)
class Plain:
    """A text without accents and marks. ``places``: source indexes, None if no character was dropped."""

    text: str
    places: npt.NDArray[np.int32] | None

    def source_range(self, start: int, end: int) -> tuple[int, int]:
        """Range of the original characters behind ``text[start:end]``; ``start < end``."""
        if self.places is None:
            return start, end
        return int(self.places[start]), int(self.places[end - 1]) + 1


def without_marks(text: str) -> Plain:
    """Return a text without accents and marks; case, quotes, hyphens and spaces stay."""
    if text.isascii():
        return Plain(text, None)
    plain = [character if character.isascii() else _without_mark(character) for character in text]
    kept = np.fromiter(map(bool, plain), bool, len(plain))
    return Plain("".join(plain), None if kept.all() else np.flatnonzero(kept).astype(np.int32))


def _without_mark(character: str) -> str:
    folded = _folded[character]
    if len(folded) == 1:
        return folded.upper() if character.isupper() else folded
    return "" if not folded and unicodedata.category(character) in ("Mn", "Cf", "Lm") else character


def fold(text: str) -> Folded:
    """Fold a text."""
    return Folded(text)


def folded_text(text: str) -> str:
    """Return the folded characters. ASCII is translated as a whole, ten times faster than by character."""
    plain = _NOT_ASCII.sub(lambda found: "".join([_folded[character] for character in found[0]]), text)
    return plain.translate(_ASCII)


def tokens(text: str) -> list[str]:
    """Return words, numbers and signs of a text, folded; ``1,577`` and ``15.6`` are one token each."""
    found = re.findall(r"\d+(?:[.,]\d+)*|[^\W\d_]+|[%$£€¥]", unicodedata.normalize("NFKC", text))
    return [folded for word in found if (folded := "".join([_folded[character] for character in word]))]


class LazyWords(Sequence[Word]):
    """A sequence of words that is built at first access."""

    def __init__(self, make: Callable[[], Sequence[Word]]) -> None:
        self._make = make

    @overload
    def __getitem__(self, index: int) -> Word: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[Word]: ...
    def __getitem__(self, index: int | slice) -> Word | Sequence[Word]:
        return self._words[index]

    def __len__(self) -> int:
        return len(self._words)

    def __iter__(self) -> Iterator[Word]:
        return iter(self._words)

    @cached_property
    def _words(self) -> Sequence[Word]:
        return self._make()


@dataclass(frozen=True, eq=False)
class PageText:
    """A page's text and words (as in ``ParsedPage``), with cached values for searches.

    Attributes:
        number: 1-based.
        words: in the order of ``text``; boxes in page space.
        folded_before: the folded text, if the caller has it.
    """

    number: int
    frame: PageFrame
    text: str
    words: Sequence[Word]
    folded_before: Folded | None = None

    @cached_property
    def folded(self) -> Folded:
        return self.folded_before or fold(self.text)

    @cached_property
    def word_starts(self) -> list[int]:
        return [word.char_start for word in self.words]

    @cached_property
    def folded_words(self) -> list[tuple[int, int]]:
        """For each word the range of folded characters that came from it."""
        ranges = np.array([(word.char_start, word.char_end) for word in self.words], np.int64).reshape(-1, 2)
        return [(first, last) for first, last in np.searchsorted(self.folded.offsets, ranges).tolist()]

    @cached_property
    def boxes(self) -> npt.NDArray[np.float64]:
        """Return one row ``x0, y0, x1, y1`` a word."""
        corners = [(word.x0, word.y0, word.x1, word.y1) for word in self.words]
        return np.array(corners, float).reshape(-1, 4)

    @cached_property
    def centers(self) -> npt.NDArray[np.float64]:
        return (self.boxes[:, :2] + self.boxes[:, 2:]) / 2

    @cached_property
    def sideways(self) -> bool:
        """Return whether most words are vertical in page space."""
        long = self.boxes[[word.char_end - word.char_start > 2 for word in self.words]]
        width, height = (long[:, 2:] - long[:, :2]).sum(0)
        return bool(height > width)

    def along(self, rect: Rect) -> tuple[float, float]:
        """Return the interval of a box along the lines."""
        return (rect.y0, rect.y1) if self.sideways else (rect.x0, rect.x1)

    def across(self, rect: Rect) -> tuple[float, float]:
        """Return the interval of a box across the lines."""
        return (rect.x0, rect.x1) if self.sideways else (rect.y0, rect.y1)

    def words_in(self, start: int, end: int) -> range:
        """Indexes of the words that have characters in ``[start, end)`` of the text."""
        first = max(0, bisect_right(self.word_starts, start) - 1)
        if first < len(self.words) and self.words[first].char_end <= start:
            first += 1
        last = first
        while last < len(self.words) and self.words[last].char_start < end:
            last += 1
        return range(first, last)

    def row_of(self, word: int) -> list[int]:
        """Indexes of the words beside a word on its line across all columns, in reading direction."""
        low, high = self.across(self.words[word].rect)
        axis = 0 if self.sideways else 1
        middles = self.centers[:, axis]
        row = np.flatnonzero((middles > low) & (middles < high))
        return self._in_reading_direction(row)

    def _in_reading_direction(self, row: npt.NDArray[np.int64]) -> list[int]:
        positions = self.centers[row, 1 if self.sideways else 0]
        steps = np.diff(positions)
        forward = steps.sum() == 0 or (np.sign(steps) * (np.diff(row) == 1)).sum() >= 0
        return [int(row[i]) for i in np.argsort(positions if forward else -positions, kind="stable")]


WIDEST_GAP = 1.5  # line heights; words of one line farther apart get rectangles of their own
SAME_LINE = 0.5  # share of the lower box that must overlap across the line

Span = tuple[int, int]  # range of characters of the page's text


def highlight_rects(page: PageText, spans: Iterable[Span]) -> tuple[Rect, ...]:
    """Rectangles in page space over the characters of ``spans`` and no others, in reading order."""
    lit = [(word, _highlighted_part(page, word, span)) for span in spans for word in page.words_in(*span)]
    dark = _centers_outside(page, {word for word, _ in lit})
    lines: list[Rect] = []
    for _, rect in lit:
        joined = _joined(page, lines[-1], rect) if lines else None
        if joined is not None and _covered(dark, joined) is None:
            lines[-1] = joined
        else:
            lines.append(rect)
    return tuple(_clear_of(page, line, dark) for line in lines)


def _highlighted_part(page: PageText, index: int, span: Span) -> Rect:
    """Return the word's box, cut where letters or digits of it stand outside the span."""
    word = page.words[index]
    start, end = max(span[0], word.char_start), min(span[1], word.char_end)
    before, after = page.text[word.char_start : start], page.text[end : word.char_end]
    if not any(map(str.isalnum, before + after)):
        return word.rect
    widths = [_set_width(character) for character in page.text[word.char_start : word.char_end]]
    total = sum(widths) or 1
    low = sum(widths[: start - word.char_start]) / total if any(map(str.isalnum, before)) else 0.0
    high = sum(widths[: end - word.char_start]) / total if any(map(str.isalnum, after)) else 1.0
    return _stretch(page, word.rect, low, high, page.text[start:end])


def _set_width(character: str) -> float:
    """Rough width of a character: ideographs are set twice as wide as letters, points half."""
    if unicodedata.east_asian_width(character) in "WF":
        return 2.0
    return 1.0 if character.isalnum() else 0.6


def _stretch(page: PageText, rect: Rect, low: float, high: float, text: str) -> Rect:
    """Return the part of a word's box from ``low`` to ``high`` (0..1) in reading direction."""
    if any(unicodedata.bidirectional(character) in ("R", "AL") for character in text):
        low, high = 1 - high, 1 - low
    if rect.height > 1.5 * rect.width and page.sideways:
        return Rect(rect.x0, rect.y0 + low * rect.height, rect.x1, rect.y0 + high * rect.height)
    return Rect(rect.x0 + low * rect.width, rect.y0, rect.x0 + high * rect.width, rect.y1)


def _joined(page: PageText, line: Rect, word: Rect) -> Rect | None:
    """Return the union of both when the word continues the line, else None."""
    low, high = page.across(line)
    top, bottom = page.across(word)
    height = min(high - low, bottom - top)
    (start, end), (left, right) = page.along(line), page.along(word)
    gap = max(start, left) - min(end, right)
    on_line = min(high, bottom) - max(low, top) >= SAME_LINE * height
    return line.union(word) if on_line and gap <= WIDEST_GAP * height else None


def _centers_outside(page: PageText, lit: set[int]) -> np.ndarray:
    dark = np.ones(len(page.words), bool)
    dark[list(lit)] = False
    return page.centers[dark]


def _covered(points: np.ndarray, rect: Rect) -> np.ndarray | None:
    """Return the points inside a rectangle, or None."""
    inside = (points >= rect[:2]).all(1) & (points <= rect[2:]).all(1)
    return points[inside] if inside.any() else None


def _clear_of(page: PageText, rect: Rect, dark: np.ndarray) -> Rect:
    """Lower the rectangle towards its own middle until no other word's centre is in it."""
    points = _covered(dark, rect)
    if points is None:
        return rect
    axis = 0 if page.sideways else 1
    middle = rect.center[axis]
    offsets: list[float] = (points[:, axis] - middle).tolist()  # not NumPy's floats, which JSON rejects
    half = (rect[axis + 2] - rect[axis]) / 2
    above = [-offset for offset in offsets if offset < -half / 4]
    below = [offset for offset in offsets if offset > half / 4]
    low = middle - min([half, *(0.9 * offset for offset in above)])
    high = middle + min([half, *(0.9 * offset for offset in below)])
    return Rect(low, rect.y0, high, rect.y1) if axis == 0 else Rect(rect.x0, low, rect.x1, high)


def text_of(page: PageText, spans: Sequence[Span]) -> str:
    """Return the words of the spans as the page prints them; an ellipsis where some are left out between."""
    return " … ".join(" ".join(page.text[start:end].split()) for start, end in spans)


def packed_words(unpacked: Callable[[], WordBoxes]) -> LazyWords:
    """Return the words of packed boxes, unpacked at the first look: most pages of a search need none."""
    return LazyWords(partial(_words_of, unpacked))


def _words_of(unpacked: Callable[[], WordBoxes]) -> Sequence[Word]:
    return unpacked().words
