"""From characters of a page to the rectangles that light them: one per line, never over other words."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Sequence

import numpy as np

from chat.citations.anchoring.page_text import PageText
from pdf.geometry import Rect

WIDEST_GAP = 1.5  # line heights; words of one line farther apart get rectangles of their own
SAME_LINE = 0.5  # share of the lower box that must overlap across the line

Span = tuple[int, int]  # range of characters of the page's text


def highlight_rects(page: PageText, spans: Iterable[Span]) -> tuple[Rect, ...]:
    """Rectangles in page space over the characters of ``spans`` and no others, in reading order."""
    lit = [(word, _lit_part(page, word, span)) for span in spans for word in page.words_in(*span)]
    dark = _centers_outside(page, {word for word, _ in lit})
    lines: list[Rect] = []
    for _, rect in lit:
        joined = _joined(page, lines[-1], rect) if lines else None
        if joined is not None and _covered(dark, joined) is None:
            lines[-1] = joined
        else:
            lines.append(rect)
    return tuple(_clear_of(page, line, dark) for line in lines)


def _lit_part(page: PageText, index: int, span: Span) -> Rect:
    """The word's box, cut where letters or digits of it stand outside the span."""
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
    """The part of a word's box from ``low`` to ``high`` (0..1) in reading direction."""
    if any(unicodedata.bidirectional(character) in ("R", "AL") for character in text):
        low, high = 1 - high, 1 - low
    if rect.height > 1.5 * rect.width and page.sideways:
        return Rect(rect.x0, rect.y0 + low * rect.height, rect.x1, rect.y0 + high * rect.height)
    return Rect(rect.x0 + low * rect.width, rect.y0, rect.x0 + high * rect.width, rect.y1)


def _joined(page: PageText, line: Rect, word: Rect) -> Rect | None:
    """Both as one rectangle, when the word goes on the line."""
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
    """The points inside a rectangle; None when there are none."""
    inside = (points >= rect[:2]).all(1) & (points <= rect[2:]).all(1)
    return points[inside] if inside.any() else None


def _clear_of(page: PageText, rect: Rect, dark: np.ndarray) -> Rect:
    """Lower the rectangle towards its own middle until no other word's centre is in it."""
    points = _covered(dark, rect)
    if points is None:
        return rect
    axis = 0 if page.sideways else 1
    middle = rect.center[axis]
    offsets = points[:, axis] - middle
    half = (rect[axis + 2] - rect[axis]) / 2
    above = [-offset for offset in offsets if offset < -half / 4]
    below = [offset for offset in offsets if offset > half / 4]
    low = middle - min([half, *(0.9 * offset for offset in above)])
    high = middle + min([half, *(0.9 * offset for offset in below)])
    return Rect(low, rect.y0, high, rect.y1) if axis == 0 else Rect(rect.x0, low, rect.x1, high)


def text_of(page: PageText, spans: Sequence[Span]) -> str:
    """The words of the spans as the page prints them; an ellipsis where some are left out between."""
    return " … ".join(" ".join(page.text[start:end].split()) for start, end in spans)
