"""Blocks: what units are made of, while the layout still moves them about."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from documents.pdf.fast.lines import Line
from documents.pdf.geometry import Rect, rect_of
from documents.pdf.structure import UnitType

# A page with a smaller share of right-to-left text than this quotes it.
FOREIGN = 0.05


def runs_leftwards(lines: Iterable[Line]) -> bool:
    """Whether most of the text is right to left."""
    leftwards = sum([line.chars for line in lines if line.rtl])
    return leftwards > 0 and 2 * leftwards > sum([line.chars for line in lines])


def reads_leftwards(lines: Sequence[Line], page: bool = False) -> bool:
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


def around(lines: Sequence[Line]) -> Rect:
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
        return around(self.lines)


@dataclass(slots=True, eq=False)
class TableBlock:
    """One table on one page; its rows are Blocks that point back to it.

    ``heads`` is what stands over each column, once it has been put together.
    """

    index: int = 0
    columns: int = 0
    caption: str = ""
    head: list[Block] = field(default_factory=list)
    heads: tuple[str, ...] | None = None


@dataclass(slots=True, eq=False)
class Block:
    """Lines that become one unit. ``told``: what its author's tags call it, where they are believed."""

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
    told: str = ""

    @property
    def rect(self) -> Rect:
        return around(self.lines)

    @property
    def text(self) -> str:
        return self.lines[0].text if len(self.lines) == 1 else " ".join([line.text for line in self.lines])

    @property
    def rtl(self) -> bool:
        """Whether most of its text runs leftwards."""
        return runs_leftwards(self.lines)
