"""A parsed page as the line of JSON that ``manage.py parse --json`` prints; measurements read it.

``bbox`` is in page space, ``rects`` (one per line of text) are in display fractions.
"""

from __future__ import annotations

from collections.abc import Iterable

import msgspec

from documents.pdf.geometry import PageFrame, Rect
from documents.pdf.structure import Cell, Furniture, ParsedPage, ParsedUnit, TableRow

Numbers = list[float]


class CellJson(msgspec.Struct, frozen=True):
    column: int
    text: str
    rect: Numbers | None
    header: bool


class TableJson(msgspec.Struct, frozen=True):
    index: int
    row: int
    cells: list[CellJson]


class UnitJson(msgspec.Struct, frozen=True):
    index: int
    type: str
    level: int | None
    section_path: tuple[str, ...]
    text: str
    char_start: int
    char_end: int
    line_start: int
    line_end: int
    bbox: Numbers
    rects: list[Numbers]
    table: TableJson | None


class FurnitureJson(msgspec.Struct, frozen=True):
    text: str
    rects: list[Numbers]


class PageJson(msgspec.Struct, frozen=True):
    page: int
    width: float
    height: float
    rotation: int
    ocr: bool
    furniture: list[FurnitureJson]
    units: list[UnitJson]


def page_line(page: ParsedPage) -> str:
    """One line of JSON, without its line break."""
    frame = page.frame
    line = PageJson(
        page=page.number,
        width=frame.width,
        height=frame.height,
        rotation=frame.rotation,
        ocr=page.ocr,
        furniture=[_furniture(piece, frame) for piece in page.furniture],
        units=[_unit(unit, frame) for unit in page.units],
    )
    return msgspec.json.encode(line).decode()


def _unit(unit: ParsedUnit, frame: PageFrame) -> UnitJson:
    return UnitJson(
        index=unit.index,
        type=unit.type,
        level=unit.level,
        section_path=unit.section_path,
        text=unit.text,
        char_start=unit.char_start,
        char_end=unit.char_end,
        line_start=unit.line_start,
        line_end=unit.line_end,
        bbox=[round(value, 2) for value in unit.bbox],
        rects=_displayed(unit.rects, frame),
        table=_table(unit.table, frame) if unit.table else None,
    )


def _table(row: TableRow, frame: PageFrame) -> TableJson:
    return TableJson(row.index, row.row, [_cell(cell, frame) for cell in row.cells])


def _cell(cell: Cell, frame: PageFrame) -> CellJson:
    rect = _displayed([cell.rect], frame)[0] if cell.rect else None
    return CellJson(cell.column, cell.text, rect, cell.header)


def _furniture(piece: Furniture, frame: PageFrame) -> FurnitureJson:
    return FurnitureJson(piece.text, _displayed(piece.rects, frame))


def _displayed(rects: Iterable[Rect], frame: PageFrame) -> list[Numbers]:
    return [[round(value, 5) for value in frame.to_display(rect)] for rect in rects]
