"""A page as anchoring reads it: its text, and where each word of it stands."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from chat.matching.folding import Folded, fold
from documents.pdf.geometry import PageFrame, Rect
from documents.pdf.structure import Word


@dataclass(frozen=True, eq=False)
class PageText:
    """A page's text and words (as in ``ParsedPage``), with what searching them needs, made once.

    Attributes:
        number: 1-based.
        words: in the order of ``text``; boxes in page space.
        folded_before: the text folded, where somebody did so already.
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
        """One row ``x0, y0, x1, y1`` a word."""
        corners = [(word.x0, word.y0, word.x1, word.y1) for word in self.words]
        return np.array(corners, float).reshape(-1, 4)

    @cached_property
    def centers(self) -> npt.NDArray[np.float64]:
        return (self.boxes[:, :2] + self.boxes[:, 2:]) / 2

    @cached_property
    def sideways(self) -> bool:
        """Whether most words run up or down in page space."""
        long = self.boxes[[word.char_end - word.char_start > 2 for word in self.words]]
        width, height = (long[:, 2:] - long[:, :2]).sum(0)
        return bool(height > width)

    def along(self, rect: Rect) -> tuple[float, float]:
        """The stretch of a box in the direction of the lines."""
        return (rect.y0, rect.y1) if self.sideways else (rect.x0, rect.x1)

    def across(self, rect: Rect) -> tuple[float, float]:
        """The stretch of a box across the lines."""
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
