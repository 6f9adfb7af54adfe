"""``manage.py parse FILE``: print the pages and units of a PDF. Needs no database."""

from __future__ import annotations

import argparse
from collections.abc import Iterable
from typing import Any

import msgspec
from django.core.management.base import BaseCommand, CommandError, CommandParser

from documents.ingestion.parser import parse_limits
from documents.models.document import page_numbers
from pdf.api import ParseFailure, parse_file
from pdf.geometry import PageFrame, Rect
from pdf.structure import Cell, Furniture, ParsedPage, ParsedUnit, TableRow

# --- JSON of a page, as printed by ``manage.py parse --json`` and read by benchmarks ---
#
# ``bbox`` is in page space. ``rects``, one per line of text, are in display fractions.

Numbers = list[float]


class CellJson(msgspec.Struct, frozen=True):
    """A cell; ``span`` and ``rows``: the columns and rows that it covers, absent where it is one."""

    column: int
    text: str
    rect: Numbers | None
    header: bool
    span: int | msgspec.UnsetType = msgspec.UNSET
    rows: int | msgspec.UnsetType = msgspec.UNSET


class TableJson(msgspec.Struct, frozen=True):
    index: int
    row: int
    cells: list[CellJson]
    confidence: float


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
    """Return a page as one line of JSON."""
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
    return TableJson(row.index, row.row, [_cell(cell, frame) for cell in row.cells], row.confidence)


def _cell(cell: Cell, frame: PageFrame) -> CellJson:
    rect = _displayed([cell.rect], frame)[0] if cell.rect else None
    span = cell.span if cell.span > 1 else msgspec.UNSET
    rows = cell.rows if cell.rows > 1 else msgspec.UNSET
    return CellJson(cell.column, cell.text, rect, cell.header, span, rows)


def _furniture(piece: Furniture, frame: PageFrame) -> FurnitureJson:
    return FurnitureJson(piece.text, _displayed(piece.rects, frame))


def _displayed(rects: Iterable[Rect], frame: PageFrame) -> list[Numbers]:
    return [[round(value, 5) for value in frame.to_display(rect)] for rect in rects]


class Command(BaseCommand):
    help = "Parses a PDF and prints its units in reading order, as text or as one line of JSON per page."
    requires_system_checks: list[str] = []

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("file")
        parser.add_argument("--pages", type=_pages, help="3-9 or 1,4-6; all by default")
        parser.add_argument("--password")
        parser.add_argument("--json", action="store_true", help="one line of JSON per page")

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            document = parse_file(
                options["file"],
                pages=options["pages"],
                password=options["password"],
                limits=parse_limits(),
            )
        except ParseFailure as failure:
            raise CommandError(f"{options['file']}: {failure.message} ({failure.code})") from None
        show = page_line if options["json"] else _readable
        for page in document.pages:
            if page.failure:
                self.stderr.write(f"{options['file']}: page {page.number}: {page.failure}")
            self.stdout.write(show(page))


def _pages(text: str) -> list[int]:
    try:
        return page_numbers(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from None


def _readable(page: ParsedPage) -> str:
    lines = [f"── page {page.number} ──"]
    lines += [f"{unit.type:9} {unit.line_start:5}  {unit.text}" for unit in page.units]
    return "\n".join(lines)
