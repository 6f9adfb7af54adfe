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
from pdf.structure import Cell, ParsedPage, ParsedUnit, TableRow

PLACE = ("char_start", "char_end", "line_start", "line_end")
UNIT_FIELDS = ("index", "type", "level", "section_path", "text", *PLACE)


def page_line(page: ParsedPage) -> str:
    """Return a page as one line of JSON, which benchmarks read.

    ``bbox`` is in page space. ``rects``, one per line of text, are in display fractions.
    """
    frame = page.frame
    line = {
        "page": page.number,
        "width": frame.width,
        "height": frame.height,
        "rotation": frame.rotation,
        "ocr": page.ocr,
        "furniture": [
            {"text": piece.text, "rects": _displayed(piece.rects, frame)} for piece in page.furniture
        ],
        "units": [_unit(unit, frame) for unit in page.units],
    }
    return msgspec.json.encode(line).decode()


def _unit(unit: ParsedUnit, frame: PageFrame) -> dict[str, object]:
    return {name: getattr(unit, name) for name in UNIT_FIELDS} | {
        "bbox": [round(value, 2) for value in unit.bbox],
        "rects": _displayed(unit.rects, frame),
        "table": _table(unit.table, frame) if unit.table else None,
    }


def _table(row: TableRow, frame: PageFrame) -> dict[str, object]:
    cells = [_cell(cell, frame) for cell in row.cells]
    return {"index": row.index, "row": row.row, "cells": cells, "confidence": row.confidence}


def _cell(cell: Cell, frame: PageFrame) -> dict[str, object]:
    """Return a cell; the columns and rows that it covers, ``span`` and ``rows``, are left out where one."""
    rect = _displayed([cell.rect], frame)[0] if cell.rect else None
    covered = {"span": cell.span, "rows": cell.rows}
    own = {"column": cell.column, "text": cell.text, "rect": rect, "header": cell.header}
    return own | {name: count for name, count in covered.items() if count > 1}


def _displayed(rects: Iterable[Rect], frame: PageFrame) -> list[list[float]]:
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
