"""A page on its way from words to units."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property

from documents.pdf.fast.blocks import Block
from documents.pdf.fast.frames import from_reading, rects_for_reading, words_for_reading
from documents.pdf.fast.lines import Line, drawn_lines
from documents.pdf.fast.raw import RawPage
from documents.pdf.geometry import Rect


@dataclass(eq=False)
class Sheet:
    """One page in the reading frame. ``head`` and ``foot`` are its furniture, top to bottom."""

    raw: RawPage
    turn: int
    width: float
    height: float
    lines: list[Line]
    rulings: list[Rect]
    fills: list[Rect]
    images: list[Rect]
    drawings: list[Rect]
    head: list[Line] = field(default_factory=list)
    foot: list[Line] = field(default_factory=list)
    blocks: list[Block] = field(default_factory=list)

    @cached_property
    def is_plain(self) -> bool:
        """Whether reading frame and page space are the same, and every word lies on the page."""
        if self.turn or self.raw.trimmed or not self.raw.words:
            return not self.turn
        width, height = self.raw.frame.width, self.raw.frame.height
        return all(
            word.x0 >= 0 and word.y0 >= 0 and word.x1 <= width and word.y1 <= height
            for word in self.raw.words
        )

    def to_page(self, rect: tuple[float, float, float, float]) -> Rect:
        """From the reading frame to page space, cut to the page."""
        if self.is_plain:
            return tuple.__new__(Rect, rect)
        frame = self.raw.frame
        x0, y0, x1, y1 = from_reading(Rect(*rect), self.turn, frame.width, frame.height)
        return Rect(
            min(max(x0, 0.0), frame.width),
            min(max(y0, 0.0), frame.height),
            min(max(x1, 0.0), frame.width),
            min(max(y1, 0.0), frame.height),
        )


def sheet_of(raw: RawPage) -> Sheet:
    """The page turned for reading, its words in lines."""
    turn, frame = raw.turn, raw.frame
    sideways = turn in (90, 270)
    return Sheet(
        raw,
        turn,
        frame.height if sideways else frame.width,
        frame.width if sideways else frame.height,
        drawn_lines(words_for_reading(raw, turn)),
        rects_for_reading(raw.rulings, frame, turn),
        rects_for_reading(raw.fills, frame, turn),
        rects_for_reading(raw.images, frame, turn),
        rects_for_reading(raw.drawings, frame, turn),
    )


def empty_sheet(raw: RawPage, failure: str) -> Sheet:
    """A page that keeps its place and nothing else."""
    blank = RawPage(raw.number, raw.frame, raw.label, failure=failure[:200])
    return Sheet(blank, 0, raw.frame.width, raw.frame.height, [], [], [], [], [])
