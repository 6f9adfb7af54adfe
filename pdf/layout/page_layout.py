"""The state that the layout passes change: a page in its reading frame, its blocks and their tables.

In the reading frame most text runs rightwards, also of a page set sideways or upside down; ``to_page`` turns
rectangles back to page space.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import groupby
from operator import attrgetter
from statistics import median
from typing import Literal

from msgspec.structs import replace

from pdf.extract.page_content import RawPage
from pdf.extract.words import RawWord, is_contents_line
from pdf.failures import PLAIN_LINES
from pdf.geometry import PageFrame, Rect, rect_of
from pdf.layout.lines import Line, drawn_lines, stacked, with_cells, with_drop_caps
from pdf.structure import UnitType

# A smaller share of right-to-left text than this is a quotation.
FOREIGN = 0.05

PartedBy = Literal["baselines", "spaces", "rules", "grid", "tags"]


def is_right_to_left(lines: Iterable[Line]) -> bool:
    """Return whether most of the characters are in right-to-left lines."""
    rtl_chars = sum([line.chars for line in lines if line.rtl])
    return rtl_chars > 0 and 2 * rtl_chars > sum([line.chars for line in lines])


def column_is_right_to_left(lines: Sequence[Line], page: bool = False) -> bool:
    """Return whether a column is read from right to left, even if many lines are names or links in Latin.

    ``page``: whether its page is. Without a majority of right-to-left text, more lines must be aligned
    to the right edge than to the left one.
    """
    if not lines:
        return page
    rtl_chars, all_chars = (
        sum([line.chars for line in lines if line.rtl]),
        sum([line.chars for line in lines]),
    )
    if not rtl_chars and not page:
        return False
    if 2 * rtl_chars > all_chars:
        return True
    if not page and rtl_chars < FOREIGN * all_chars:
        return False
    left, right = min([line.x0 for line in lines]), max([line.x1 for line in lines])
    at_right = sum([right - line.x1 < line.size for line in lines])
    return at_right > sum([line.x0 - left < line.size for line in lines])


def bounds_of(lines: Sequence[Line]) -> Rect:
    """Return the smallest rectangle around the lines."""
    if len(lines) == 1:
        return lines[0].rect
    return rect_of(
        (
            min([line.x0 for line in lines]),
            min([line.y0 for line in lines]),
            max([line.x1 for line in lines]),
            max([line.y1 for line in lines]),
        )
    )


@dataclass(slots=True, eq=False)
class TableCell:
    """The lines of one cell; ``column`` counts from 0. It covers ``span`` columns and ``rows`` rows."""

    column: int
    lines: list[Line]
    span: int = 1
    rows: int = 1

    @property
    def rect(self) -> Rect:
        return bounds_of(self.lines)


@dataclass(frozen=True, slots=True)
class ColumnHeads:
    """The column headers of a table: ``texts``, by column, '' for a column without one.

    ``headed``: the columns that each cell of the header rows spans, by the cell's id.
    ``rects``: the boxes by column of headers outside the table's rows, in the reading frame.
    ``confidence``: 0..1, the finder's confidence in the headers.
    """

    texts: tuple[str, ...]
    headed: Mapping[int, Sequence[int]] = field(default_factory=dict)
    rects: tuple[Rect | None, ...] = ()
    confidence: float = 1.0


@dataclass(slots=True, eq=False)
class TableBlock:
    """One table on one page; its rows are Blocks that point back to it.

    ``heads`` are the column headers, ``rtl`` whether rows are read from right to left; None while unknown.
    ``parted_by``: what separates its rows. ``confidence``: 0..1, that it is a table (``tables/evidence.py``).
    """

    index: int = 0
    columns: int = 0
    caption: str = ""
    head: list[Block] = field(default_factory=list)
    heads: ColumnHeads | None = None
    rtl: bool | None = None
    parted_by: PartedBy = "baselines"
    confidence: float = 1.0


@dataclass(slots=True, eq=False)
class Block:
    """Lines that become one unit. ``tag_role``: its type by the structure tags, where these are sound."""

    kind: UnitType
    lines: list[Line]
    level: int | None = None
    marker: str = ""
    continues: bool = False
    opens_column: bool = False
    table: TableBlock | None = None
    row: int = 0
    header: bool = False
    cells: list[TableCell] = field(default_factory=list)
    section_path: tuple[str, ...] = ()
    section_type: str = ""
    tag_role: str = ""

    @property
    def rect(self) -> Rect:
        return bounds_of(self.lines)

    @property
    def text(self) -> str:
        return self.lines[0].text if len(self.lines) == 1 else " ".join([line.text for line in self.lines])

    @property
    def rtl(self) -> bool:
        """Return whether most of its text is right to left."""
        return is_right_to_left(self.lines)


class Inset(Line):
    """Blocks of a table, placed among the lines of the page until the reading order is known."""

    __slots__ = ("blocks",)

    def __init__(self, rect: Rect, blocks: list[Block]) -> None:
        style = blocks[0].lines[0].style
        super().__init__([RawWord(*rect, "", style, rect.y1, -1)])
        self.blocks = blocks


def to_reading(rect: tuple[float, float, float, float], turn: int, width: float, height: float) -> Rect:
    """Turn a rectangle from page space to the reading frame, where text of direction ``turn`` runs right.

    ``turn`` is in degrees clockwise; ``width`` and ``height`` are the page's in page space.
    """
    x0, y0, x1, y1 = rect
    if turn == 90:
        return Rect(y0, width - x1, y1, width - x0)
    if turn == 180:
        return Rect(width - x1, height - y1, width - x0, height - y0)
    if turn == 270:
        return Rect(height - y1, x0, height - y0, x1)
    return Rect(x0, y0, x1, y1)


def from_reading(rect: Rect, turn: int, width: float, height: float) -> Rect:
    """Turn a rectangle back to page space; ``width`` and ``height`` are the page's there."""
    x0, y0, x1, y1 = rect
    if turn == 90:
        return Rect(width - y1, x0, width - y0, x1)
    if turn == 180:
        return Rect(width - x1, height - y1, width - x0, height - y0)
    if turn == 270:
        return Rect(y0, height - x1, y1, height - x0)
    return rect


def rects_for_reading(rects: list[Rect], frame: PageFrame, turn: int) -> list[Rect]:
    """Return the rectangles, given in page space, in the reading frame."""
    return [to_reading(rect, turn, frame.width, frame.height) for rect in rects] if turn else rects


def words_for_reading(raw: RawPage, turn: int) -> list[RawWord]:
    """Return the page's words in the reading frame; words in other directions keep their relative turn."""
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


# Largest width of a word over its height.
WORD_SHAPE = 8.0
# The slope of a scan is measured on lines of at least LINE_WORDS words and LINE_EMS ems, if there are
# SLOPED_LINES of them. It is used where the median deviation from it is at most SLOPE_SPREAD; slopes below
# LEAST_SLOPE are ignored.
LINE_WORDS, LINE_EMS, SLOPED_LINES, SLOPE_SPREAD, LEAST_SLOPE = 3, 8.0, 6, 0.01, 0.005


def slope_of(words: Sequence[RawWord]) -> float:
    """Return the median slope of the lines of a recognised page (points down per point to the right).

    It is 0 where there are too few lines, or their slopes differ too much.
    """
    slopes = []
    for _, run in groupby([word for word in words if not word.turn], key=attrgetter("line")):
        line = list(run)
        length = line[-1].x0 - line[0].x0
        if len(line) >= LINE_WORDS and length > LINE_EMS * line[0].style.size:
            slopes.append((line[-1].baseline - line[0].baseline) / length)
    if len(slopes) < SLOPED_LINES:
        return 0.0
    usual = median(slopes)
    deviation = median([abs(slope - usual) for slope in slopes])
    return usual if abs(usual) >= LEAST_SLOPE and deviation <= SLOPE_SPREAD else 0.0


@dataclass(frozen=True, slots=True)
class Skew:
    """The slope of a scan's lines (points down per point to the right) about its center (``x``, ``y``)."""

    slope: float = 0.0
    x: float = 0.0
    y: float = 0.0

    def moved(self, rect: tuple[float, float, float, float], way: float = 1) -> Rect:
        """Move a rectangle as its center moves when the page is turned by the skew, or back (``way`` -1)."""
        x0, y0, x1, y1 = rect
        x, y, slope = (x0 + x1) / 2 - self.x, (y0 + y1) / 2 - self.y, way * self.slope
        cosine = 1 / math.hypot(1, slope)
        right, down = (x - slope * y) * cosine - x, (y + slope * x) * cosine - y
        return Rect(x0 + right, y0 + down, x1 + right, y1 + down)

    def straightened(self, word: RawWord) -> RawWord:
        x0, y0, x1, y1 = self.moved(word.rect, -1)
        return replace(word, x0=x0, y0=y0, x1=x1, y1=y1, baseline=word.baseline + y0 - word.y0)

    def around(self, rect: tuple[float, float, float, float]) -> Rect:
        """Return the box on the skewed page of a rectangle of the straightened page.

        It is higher by the slope over the rectangle's width; for the width of one word nothing is added.
        """
        x0, y0, x1, y1 = self.moved(rect)
        higher = abs(self.slope) * max(0.0, x1 - x0 - WORD_SHAPE * (y1 - y0)) / 2
        return Rect(x0, y0 - higher, x1, y1 + higher)


# A page with at least so many lines with leaders has a table of contents. Its page numbers end within
# SAME_END points of one another, and are APART ems away from a title without leaders.
FEWEST_ENTRIES, SAME_END, APART = 3, 2.0, 2.0


def ends_apart(lines: Sequence[Line]) -> bool:
    """Return whether the lines share a baseline and end with a short number, far from the word before it."""
    words = [word for line in lines for word in line.words]
    if len(words) < 2 or abs(lines[-1].baseline - lines[0].baseline) > 0.5:
        return False
    before, last = words[-2:]
    return len(last.text) <= 4 and last.text.isdecimal() and last.x0 - before.x1 > APART * lines[0].size


@dataclass(eq=False)
class PageLayout:
    """One page in the reading frame.

    ``head`` and ``foot`` are its running headers and footers, top to bottom; ``foot`` includes the
    ``line_numbers``. ``fold``: x of the right edge of the left page, where two pages are printed side by
    side. ``skew``: the skew of the scan, already removed from all coordinates. ``contents``: entries of a
    table of contents without leaders. ``fields``: boxes of the fields of a form.
    """

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
    line_numbers: list[Line] = field(default_factory=list)
    blocks: list[Block] = field(default_factory=list)
    contents: set[Block] = field(default_factory=set)
    fold: float | None = None
    skew: Skew = Skew()
    fields: list[Rect] = field(default_factory=list)

    @cached_property
    def is_plain(self) -> bool:
        """Return whether reading frame and page space are the same, and every word lies on the page."""
        if self.skew.slope or self.turn or self.raw.trimmed or not self.raw.words:
            return not (self.skew.slope or self.turn)
        width, height = self.raw.frame.width, self.raw.frame.height
        return all(
            word.x0 >= 0 and word.y0 >= 0 and word.x1 <= width and word.y1 <= height
            for word in self.raw.words
        )

    def contents_entries(self) -> set[Block]:
        """Return the entries of a table of contents: blocks with leaders, lines that end at their edge."""
        ends = self.contents_ends()
        return self.contents | {
            block
            for block in self.blocks
            if ends
            and (
                is_contents_line(block.text)
                or (ends_apart(block.lines) and any(abs(block.lines[-1].x1 - end) < SAME_END for end in ends))
            )
        }

    def contents_ends(self) -> list[float]:
        """Return the x where lines with leaders end; empty if there are too few for a table of contents."""
        ends = [block.lines[-1].x1 for block in self.blocks if is_contents_line(block.text)]
        return ends if len(ends) >= FEWEST_ENTRIES else []

    def keep_plain_lines(self) -> None:
        """Make each line a block, in drawing order, and record that the page's layout failed."""
        self.raw.failure = PLAIN_LINES
        self.blocks = [Block("prose", [line]) for line in self.lines]

    def to_page(self, rect: tuple[float, float, float, float]) -> Rect:
        """Return a rectangle of the reading frame in page space, clipped to the page."""
        if self.is_plain:
            return tuple.__new__(Rect, rect)
        frame = self.raw.frame
        if self.skew.slope:
            rect = self.skew.around(rect)
        x0, y0, x1, y1 = from_reading(Rect(*rect), self.turn, frame.width, frame.height)
        return Rect(
            min(max(x0, 0.0), frame.width),
            min(max(y0, 0.0), frame.height),
            min(max(x1, 0.0), frame.width),
            min(max(y1, 0.0), frame.height),
        )


def page_layout_of(raw: RawPage) -> PageLayout:
    """Return the page in the reading frame, without the skew of a scan, its words grouped into lines."""
    turn, frame = raw.turn, raw.frame
    width, height = (frame.height, frame.width) if turn in (90, 270) else (frame.width, frame.height)
    words = words_for_reading(raw, turn)
    skew = Skew(slope_of(words) if raw.ocr else 0.0, width / 2, height / 2)
    rulings, fills, images, drawings = (
        rects_for_reading(rects, frame, turn) for rects in (raw.rulings, raw.fills, raw.images, raw.drawings)
    )
    if skew.slope:
        words = [skew.straightened(word) for word in words]
        images = [skew.moved(rect, -1) for rect in images]
        rulings, fills, drawings = [], [], []  # vector graphics of a scan do not relate to its words
    lines = with_cells(with_drop_caps(stacked(drawn_lines(words))))
    fields = rects_for_reading(raw.fields, frame, turn)
    return PageLayout(
        raw, turn, width, height, lines, rulings, fills, images, drawings, skew=skew, fields=fields
    )


def empty_page_layout(raw: RawPage, failure: str) -> PageLayout:
    """Return a page without content that keeps its number, label and frame, and records the failure."""
    blank = RawPage(raw.number, raw.frame, raw.label, failure=failure[:200])
    return PageLayout(blank, 0, raw.frame.width, raw.frame.height, [], [], [], [], [])
