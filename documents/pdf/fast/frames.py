"""Pages set sideways or upside down: turned for reading, and every rectangle turned back."""

from __future__ import annotations

from documents.pdf.fast.raw import RawPage
from documents.pdf.fast.words import RawWord
from documents.pdf.geometry import PageFrame, Rect


def to_reading(rect: tuple[float, float, float, float], turn: int, width: float, height: float) -> Rect:
    """From page space to the reading frame: text that runs in direction ``turn`` then runs rightwards."""
    x0, y0, x1, y1 = rect
    if turn == 90:
        return Rect(y0, width - x1, y1, width - x0)
    if turn == 180:
        return Rect(width - x1, height - y1, width - x0, height - y0)
    if turn == 270:
        return Rect(height - y1, x0, height - y0, x1)
    return Rect(x0, y0, x1, y1)


def from_reading(rect: Rect, turn: int, width: float, height: float) -> Rect:
    """Back to page space; ``width`` and ``height`` are the page's there."""
    x0, y0, x1, y1 = rect
    if turn == 90:
        return Rect(width - y1, x0, width - y0, x1)
    if turn == 180:
        return Rect(width - x1, height - y1, width - x0, height - y0)
    if turn == 270:
        return Rect(y0, height - x1, y1, height - x0)
    return rect


def rects_for_reading(rects: list[Rect], frame: PageFrame, turn: int) -> list[Rect]:
    """The rectangles in the reading frame."""
    return [to_reading(rect, turn, frame.width, frame.height) for rect in rects] if turn else rects


def words_for_reading(raw: RawPage, turn: int) -> list[RawWord]:
    """The page's words in the reading frame; those that run in another direction keep their own turn."""
    if turn == 0:
        return raw.words
    width, height = raw.frame.width, raw.frame.height
    return [
        RawWord(
            *to_reading(word.rect, turn, width, height),
            word.text,
            word.style,
            _baseline(word, turn, width, height),
            word.line,
            (word.turn - turn) % 360,
            word.tag,
        )
        for word in raw.words
    ]


def _baseline(word: RawWord, turn: int, width: float, height: float) -> float:
    if word.turn != turn:
        return to_reading(word.rect, turn, width, height).y1
    return {90: width - word.baseline, 180: height - word.baseline}.get(turn, word.baseline)
