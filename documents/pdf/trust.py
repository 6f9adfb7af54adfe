"""Which pages' own text cannot be trusted, so that their picture has to be read; which show nothing."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable

import numpy as np
import pymupdf

from documents.pdf.fast.raw import RawPage, RawWord
from documents.pdf.fast.words import UNDECODABLE
from documents.pdf.geometry import Rect

# Share of characters that no font says the meaning of, from which on a page's text is noise.
GARBLED_SHARE = 0.3
# A page with fewer words than this, almost all of which is one picture, is a scan with a stamp on it.
FEW_WORDS, WHOLE_PAGE = 20, 0.8
# Private use, not assigned, control, surrogate.
_MEANINGLESS = {"Co", "Cn", "Cc", "Cs"}


def needs_recognition(page: RawPage) -> bool:
    """Whether the page has no text that can be trusted. Whether it has ink, only its picture can tell."""
    if page.failure:
        return False
    return not page.words or is_garbled(page.words) or _is_stamped_scan(page)


def has_ink(page: pymupdf.Page) -> bool:
    """Whether anything can be seen on the page, in a coarse picture of it."""
    scale = min(0.5, 400 / max(page.rect.width, page.rect.height, 1))
    pixmap = page.get_pixmap(matrix=pymupdf.Matrix(scale, scale), alpha=False)
    pixels = np.frombuffer(pixmap.samples, np.uint8)
    return bool(pixels.size) and int(pixels.max()) - int(pixels.min()) > 40


def is_garbled(words: Iterable[RawWord]) -> bool:
    text = "".join(word.text for word in words)
    return sum(map(_is_meaningless, text)) > GARBLED_SHARE * len(text)


def _is_meaningless(character: str) -> bool:
    return character == UNDECODABLE or unicodedata.category(character) in _MEANINGLESS


def _is_stamped_scan(page: RawPage) -> bool:
    if len(page.words) >= FEW_WORDS:
        return False
    whole = Rect(0, 0, page.frame.width, page.frame.height)
    return any(_shared_area(image, whole) > WHOLE_PAGE * whole.area for image in page.images)


def _shared_area(a: Rect, b: Rect) -> float:
    return max(0.0, a.overlap_x(b)) * max(0.0, a.overlap_y(b))
