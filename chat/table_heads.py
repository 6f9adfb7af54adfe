"""Column heads for rows whose table was parsed without its head: the years set above the columns."""

from __future__ import annotations

from dataclasses import replace

import msgspec

from chat.claims import SourceUnit
from chat.matching.columns import column_years
from chat.sources import Sources
from documents.pdf.structure import Cell, TableRow

ColumnKey = tuple[str, int, int, int]  # document, page, table, column


def with_column_years(sources: Sources) -> None:
    """Gives the shown rows that have no column heads the years above their cells, where the page has some.

    Each column of a table is looked at once.
    """
    known: dict[ColumnKey, str] = {}
    for index, unit in enumerate(sources.shown):
        if unit.table is not None and not unit.table.header and not any(unit.table.head_rows[1:]):
            row = _headed(unit, unit.table, sources, known)
            if any(row.head_rows):
                sources.shown[index] = sources.units[unit.id] = replace(unit, table=row)


def _headed(unit: SourceUnit, row: TableRow, sources: Sources, known: dict[ColumnKey, str]) -> TableRow:
    heads = [""] * (max((cell.column for cell in row.cells), default=-1) + 1)
    for cell in row.cells[1:]:
        if cell.rect is not None and any(map(str.isdigit, cell.text)):
            key = (unit.document, unit.page, row.index, cell.column)
            if key not in known:
                known[key] = _year_above(cell, unit, sources)
            heads[cell.column] = known[key]
    return msgspec.structs.replace(row, head_rows=tuple(heads) if any(heads) else row.head_rows)


def _year_above(cell: Cell, unit: SourceUnit, sources: Sources) -> str:
    assert cell.rect is not None
    years, _ = column_years(cell.rect, sources.pages[unit.document, unit.page])
    return str(next(iter(years))) if len(years) == 1 else ""
