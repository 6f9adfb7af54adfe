"""What the reader paints: rectangles stored at ingest, never a search in the browser's text layer."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

import msgspec

from documents.models import CitationUnit, Page
from documents.pdf.geometry import PageFrame, Rect, bounding_box
from documents.pdf.wordboxes import unpack

Box = tuple[float, float, float, float]
SAME_LINE = 0.5  # share of the lower word's height two words of one line have in common
WORD_GAP = 2.0  # heights: a wider gap begins another column


class Highlight(msgspec.Struct, frozen=True):
    """Two layers of paint on one page, in display fractions, one box per line of text.

    Attributes:
        unit: painted pale: the whole passage.
        anchor: painted strong: the very words.
        heads: row and column heads of a cited cell.
    """

    page: int
    unit: tuple[Box, ...] = ()
    anchor: tuple[Box, ...] = ()
    heads: tuple[Box, ...] = ()


def shown(rects: Iterable[Sequence[float]], frame: PageFrame) -> tuple[Box, ...]:
    """Rectangles of page space in display fractions, to a hundred-thousandth of the page."""
    boxes = (frame.to_display(Rect(*rect)) for rect in rects)
    return tuple(tuple(round(value, 5) for value in box) for box in boxes)  # type: ignore[misc]


def highlight_unit(unit: CitationUnit, page: Page, quote: str = "") -> Highlight:
    """The unit pale; its words that read ``quote`` strong, when it holds them."""
    return Highlight(
        page=page.number,
        unit=shown(unit.rects, page.frame),
        anchor=shown(quoted_lines(page, quote, unit.char_start, unit.char_end), page.frame),
    )


def highlight_quote(page: Page, quote: str) -> Highlight:
    """The words of the page that read ``quote``."""
    return Highlight(page.number, anchor=shown(quoted_lines(page, quote, 0, len(page.text)), page.frame))


def quoted_lines(page: Page, quote: str, start: int, end: int) -> list[Rect]:
    """One rectangle per line of the first place between ``start`` and ``end`` that reads the quote.

    White space and case do not count; nothing else is guessed. Empty when it is not there.
    """
    words = [re.escape(word) for word in quote.split()]
    match = re.compile(r"\s*".join(words), re.IGNORECASE).search(page.text, start, end) if words else None
    if match is None:
        return []
    return lines_of(unpack(bytes(page.word_boxes), page.width, page.height).between(*match.span()))


def lines_of(words: Iterable[Rect]) -> list[Rect]:
    """Word boxes in reading order, joined to one rectangle per line and column."""
    lines: list[list[Rect]] = []
    for word in words:
        if lines and _goes_on(lines[-1][-1], word):
            lines[-1].append(word)
        else:
            lines.append([word])
    return [bounding_box(line) for line in lines]


def _goes_on(last: Rect, word: Rect) -> bool:
    height = min(last.height, word.height)
    near = -word.overlap_x(last) < WORD_GAP * max(last.height, word.height)
    return near and last.overlap_y(word) > SAME_LINE * height
