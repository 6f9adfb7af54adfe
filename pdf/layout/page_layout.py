"""The values that the layout passes change: a page in its reading frame, its blocks and their tables.

A page set sideways or upside down is turned for reading; ``to_page`` turns rectangles back to page space.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import groupby
from operator import attrgetter
from statistics import median

from msgspec.structs import replace

from pdf.extract.page_content import RawPage
from pdf.extract.words import RawWord, is_contents_line
from pdf.failures import PLAIN_LINES
from pdf.geometry import PageFrame, Rect, rect_of
from pdf.layout.lines import Line, drawn_lines
from pdf.structure import UnitType

# A page with a smaller share of right-to-left text than this quotes it.
FOREIGN = 0.05


def is_right_to_left(lines: Iterable[Line]) -> bool:
    """Whether most of the text is right to left."""
    leftwards = sum([line.chars for line in lines if line.rtl])
    return leftwards > 0 and 2 * leftwards > sum([line.chars for line in lines])


def column_is_right_to_left(lines: Sequence[Line], page: bool = False) -> bool:
    """Whether a column is read from right to left, though many of its lines may be foreign: names, links.

    ``page`` says it of the page that it stands on. Foreign lines that are set to the right edge tell it.
    """
    if not lines:
        return page
    leftwards, every = sum([line.chars for line in lines if line.rtl]), sum([line.chars for line in lines])
    if not leftwards and not page:
        return False
    if 2 * leftwards > every:
        return True
    if not page and leftwards < FOREIGN * every:
        return False
    left, right = min([line.x0 for line in lines]), max([line.x1 for line in lines])
    at_right = sum([right - line.x1 < line.size for line in lines])
    return at_right > sum([line.x0 - left < line.size for line in lines])


def bounds_of(lines: Sequence[Line]) -> Rect:
    """The smallest rectangle around the lines."""
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
    """The lines of one cell; ``column`` counts from 0."""

    column: int
    lines: list[Line]

    @property
    def rect(self) -> Rect:
        return bounds_of(self.lines)


@dataclass(frozen=True, slots=True)
class ColumnHeads:
    """What stands over each column of a table: ``texts``, by column, '' where nothing does.

    ``headed``: the columns that each cell of the table's header rows stands over, by the cell's id.
    ``rects``: the boxes by column of heads that stand in no row of the table, in the reading frame.
    ``confidence``: 0..1, the finder's confidence in them.
    """

    texts: tuple[str, ...]
    headed: Mapping[int, Sequence[int]] = field(default_factory=dict)
    rects: tuple[Rect | None, ...] = ()
    confidence: float = 1.0


@dataclass(slots=True, eq=False)
class TableBlock:
    """One table on one page; its rows are Blocks that point back to it.

    ``heads`` is what stands over each column, ``rtl`` whether its rows are read leftwards, once it is known.
    """

    index: int = 0
    columns: int = 0
    caption: str = ""
    head: list[Block] = field(default_factory=list)
    heads: ColumnHeads | None = None
    rtl: bool | None = None


@dataclass(slots=True, eq=False)
class Block:
    """Lines that become one unit. ``tag_role``: what its author's tags call it, where they are believed."""

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
        """Whether most of its text runs leftwards."""
        return is_right_to_left(self.lines)


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


# A word is at most so many times as wide as high.
WORD_SHAPE = 8.0
# A scan's lines are looked at from so many words and ems on; so many of them show its slope, which half of
# them keep to within this; smaller slopes part no rows.
LINE_WORDS, LINE_EMS, SLOPED_LINES, SLOPE_SPREAD, LEAST_SLOPE = 3, 8.0, 6, 0.01, 0.005


def slope_of(words: Sequence[RawWord]) -> float:
    """By how much the lines of a recognised page fall to the right (points per point); 0 where they waver."""
    slopes = []
    for _, run in groupby([word for word in words if not word.turn], key=attrgetter("line")):
        line = list(run)
        reach = line[-1].x0 - line[0].x0
        if len(line) >= LINE_WORDS and reach > LINE_EMS * line[0].style.size:
            slopes.append((line[-1].baseline - line[0].baseline) / reach)
    if len(slopes) < SLOPED_LINES:
        return 0.0
    usual = median(slopes)
    waver = median([abs(slope - usual) for slope in slopes])
    return usual if abs(usual) >= LEAST_SLOPE and waver <= SLOPE_SPREAD else 0.0


@dataclass(frozen=True, slots=True)
class Skew:
    """How far the lines of a page fall to the right (points per point), turned about its middle."""

    slope: float = 0.0
    x: float = 0.0
    y: float = 0.0

    def moved(self, rect: tuple[float, float, float, float], way: float = 1) -> Rect:
        """The rectangle moved as its middle is when the page is turned by the skew, or back (``way`` -1)."""
        x0, y0, x1, y1 = rect
        x, y, slope = (x0 + x1) / 2 - self.x, (y0 + y1) / 2 - self.y, way * self.slope
        cosine = 1 / math.hypot(1, slope)
        right, down = (x - slope * y) * cosine - x, (y + slope * x) * cosine - y
        return Rect(x0 + right, y0 + down, x1 + right, y1 + down)

    def straightened(self, word: RawWord) -> RawWord:
        x0, y0, x1, y1 = self.moved(word.rect, -1)
        return replace(word, x0=x0, y0=y0, x1=x1, y1=y1, baseline=word.baseline + y0 - word.y0)

    def around(self, rect: tuple[float, float, float, float]) -> Rect:
        """The box around what fills the rectangle where nothing is turned; a word is hardly higher there."""
        x0, y0, x1, y1 = self.moved(rect)
        higher = abs(self.slope) * max(0.0, x1 - x0 - WORD_SHAPE * (y1 - y0)) / 2
        return Rect(x0, y0 - higher, x1, y1 + higher)


# A page with so many lines that leaders run through has a table of contents; its numbers end within so many
# points of one another, and stand so far (ems) from a title without leaders.
FEWEST_ENTRIES, SAME_END, APART = 3, 2.0, 2.0


def _ends_apart(lines: Sequence[Line]) -> bool:
    """Whether it is one line whose last word is a short number, far from those before it."""
    if len(lines) > 1 or len(lines[0].words) < 2:
        return False
    before, last = lines[0].words[-2:]
    return len(last.text) <= 4 and last.text.isdecimal() and last.x0 - before.x1 > APART * lines[0].size


@dataclass(eq=False)
class PageLayout:
    """One page in the reading frame. ``head`` and ``foot`` are its furniture, top to bottom.

    ``fold``: where the left one of two pages that are printed on it ends. ``skew``: what its places are
    freed of.
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
    blocks: list[Block] = field(default_factory=list)
    fold: float | None = None
    skew: Skew = Skew()

    @cached_property
    def is_plain(self) -> bool:
        """Whether reading frame and page space are the same, and every word lies on the page."""
        if self.skew.slope or self.turn or self.raw.trimmed or not self.raw.words:
            return not (self.skew.slope or self.turn)
        width, height = self.raw.frame.width, self.raw.frame.height
        return all(
            word.x0 >= 0 and word.y0 >= 0 and word.x1 <= width and word.y1 <= height
            for word in self.raw.words
        )

    def contents_entries(self) -> set[Block]:
        """Entries of a table of contents: blocks with leaders, and lines that end at the same edge."""
        leading = [block for block in self.blocks if is_contents_line(block.text)]
        if len(leading) < FEWEST_ENTRIES:
            return set()
        ends = [block.lines[-1].x1 for block in leading]
        return {
            block
            for block in self.blocks
            if block in leading
            or (_ends_apart(block.lines) and any(abs(block.lines[-1].x1 - end) < SAME_END for end in ends))
        }

    def keep_plain_lines(self) -> None:
        """Make each line a block, in the order drawn, and say so: the page's layout failed."""
        self.raw.failure = PLAIN_LINES
        self.blocks = [Block("prose", [line]) for line in self.lines]

    def to_page(self, rect: tuple[float, float, float, float]) -> Rect:
        """From the reading frame to page space, cut to the page."""
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
    """The page turned for reading and freed of a scan's skew, its words in lines."""
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
        rulings, fills, drawings = [], [], []  # what a scan has of them belongs to no words
    lines = drawn_lines(words)
    return PageLayout(raw, turn, width, height, lines, rulings, fills, images, drawings, skew=skew)


def empty_page_layout(raw: RawPage, failure: str) -> PageLayout:
    """A page that keeps its place and nothing else."""
    blank = RawPage(raw.number, raw.frame, raw.label, failure=failure[:200])
    return PageLayout(blank, 0, raw.frame.width, raw.frame.height, [], [], [], [], [])
