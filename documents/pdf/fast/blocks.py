"""Blocks: what units are made of, while the layout still moves them about."""

from __future__ import annotations

from dataclasses import dataclass, field

from documents.pdf.fast.lines import Line
from documents.pdf.geometry import Rect, bounding_box
from documents.pdf.structure import UnitType


@dataclass(slots=True, eq=False)
class TableCell:
    """The lines of one cell; ``column`` counts from 0."""

    column: int
    lines: list[Line]

    @property
    def rect(self) -> Rect:
        return bounding_box(line.rect for line in self.lines)


@dataclass(slots=True, eq=False)
class TableBlock:
    """One table on one page; its rows are Blocks that point back to it."""

    index: int = 0
    columns: int = 0
    caption: str = ""
    head: list[Block] = field(default_factory=list)


@dataclass(slots=True, eq=False)
class Block:
    """Lines that become one unit."""

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

    @property
    def rect(self) -> Rect:
        return bounding_box(line.rect for line in self.lines)

    @property
    def text(self) -> str:
        return " ".join(line.text for line in self.lines)
