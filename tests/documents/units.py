"""Parsed pages from plain text, for tests of later stages."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec

from pdf.geometry import PageFrame, Rect
from pdf.structure import Cell, ParsedPage, ParsedUnit, TableRow

BOX = Rect(72, 72, 300, 84)


def unit(text: str, type: Any = "prose", **more: Any) -> ParsedUnit:
    return ParsedUnit(0, type, text, 0, len(text), 1, 1, BOX, (BOX,), **more)


def row(
    texts: Sequence[str],
    table: int = 0,
    number: int = 0,
    header: bool = False,
    heads: Sequence[str] = (),
    **more: Any,
) -> ParsedUnit:
    cells = tuple(Cell(column, text, BOX, header) for column, text in enumerate(texts) if text)
    place = TableRow(table, number, cells, header, tuple(heads), more.pop("caption", ""))
    return unit(" ".join(texts), "table", table=place, **more)


def page(number: int, units: Sequence[ParsedUnit]) -> ParsedPage:
    """The units one below the other, each on a line of its own."""
    placed, start = [], 0
    for index, one in enumerate(units):
        end = start + len(one.text)
        placed.append(
            msgspec.structs.replace(
                one, index=index, char_start=start, char_end=end, line_start=index + 1, line_end=index + 1
            )
        )
        start = end + 1
    text = "\n".join(one.text for one in units)
    return ParsedPage(number, str(number), PageFrame(612, 792), text, (), tuple(placed))
