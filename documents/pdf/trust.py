"""Which pages' own text cannot be trusted, so that their picture has to be read; which show no writing."""

from __future__ import annotations

import unicodedata
from collections import Counter
from collections.abc import Iterable

import numpy as np
import pymupdf
from numpy.typing import NDArray

from documents.pdf.fast.raw import RawPage, RawWord
from documents.pdf.fast.words import UNDECODABLE
from documents.pdf.geometry import Rect

# Share of characters that no font says the meaning of, from which on a page's text is noise.
GARBLED_SHARE = 0.3
# A page with fewer words than this, almost all of which is one picture, is a scan with a stamp on it.
FEW_WORDS, WHOLE_PAGE = 20, 0.8
# A page of less contrast (0..255) is blank; one with fewer pixels in small marks shows no writing.
LEAST_CONTRAST, LEAST_PIXELS = 40, 12
# Letters are no larger than this (points).
LARGEST_LETTER = 60
# Private use, not assigned, control, surrogate.
_MEANINGLESS = {"Co", "Cn", "Cc", "Cs"}


def needs_recognition(page: RawPage) -> bool:
    """Whether the page has no text that can be trusted. Whether it has ink, only its picture can tell."""
    if page.failure:
        return False
    return not page.words or is_garbled(page.words) or _is_stamped_scan(page)


def may_show_writing(page: pymupdf.Page) -> bool:
    """Whether a coarse picture of the page has marks as small as letters: neither blank nor boxes alone."""
    scale = min(1.0, 1000 / max(page.rect.width, page.rect.height, 1))
    pixmap = page.get_pixmap(matrix=pymupdf.Matrix(scale, scale), alpha=False, colorspace=pymupdf.csGRAY)
    grey = np.frombuffer(pixmap.samples, np.uint8).reshape(pixmap.height, pixmap.width)
    if not grey.size:
        return False
    low, high = int(grey.min()), int(grey.max())
    if high - low < LEAST_CONTRAST:
        return False
    dark = grey < (low + high) / 2
    return any(
        int((ink & ~_in_long_runs(ink) & ~_in_long_runs(ink.T).T).sum()) >= LEAST_PIXELS
        for ink in (dark, ~dark)
    )


def _in_long_runs(ink: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """The pixels that stand in a run along their row longer than letters are wide."""
    if ink.shape[1] <= LARGEST_LETTER:
        return np.zeros_like(ink)
    sums = np.pad(ink, ((0, 0), (1, 0))).cumsum(axis=1)
    full = (
        sums[:, LARGEST_LETTER:] - sums[:, :-LARGEST_LETTER]
    ) == LARGEST_LETTER  # by first column of the run
    starts = np.pad(full, ((0, 0), (LARGEST_LETTER, LARGEST_LETTER - 1))).cumsum(axis=1)
    return (starts[:, LARGEST_LETTER:] - starts[:, :-LARGEST_LETTER]) > 0


def is_garbled(words: Iterable[RawWord]) -> bool:
    text = "".join([word.text for word in words])
    if text.isascii() and text.isprintable():
        return False
    counts = Counter(text)
    noise = sum(count for character, count in counts.items() if _is_meaningless(character))
    return noise > GARBLED_SHARE * len(text)


def _is_meaningless(character: str) -> bool:
    return character == UNDECODABLE or unicodedata.category(character) in _MEANINGLESS


def _is_stamped_scan(page: RawPage) -> bool:
    if len(page.words) >= FEW_WORDS:
        return False
    whole = Rect(0, 0, page.frame.width, page.frame.height)
    return any(_shared_area(image, whole) > WHOLE_PAGE * whole.area for image in page.images)


def _shared_area(a: Rect, b: Rect) -> float:
    return max(0.0, a.overlap_x(b)) * max(0.0, a.overlap_y(b))
