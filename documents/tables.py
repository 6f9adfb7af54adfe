"""Tables put together again from their rows, and written as CSV, Markdown or JSON."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import groupby
from uuid import UUID

import msgspec

from documents.models import CitationUnit, Document
from documents.pdf.structure import TableRow

FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r")
NUMBER_CHARACTERS = set("0123456789.,()%$€£¥ +-–—")


@dataclass(frozen=True, slots=True)
class Table:
    """A table of a document; it may go over several pages.

    Attributes:
        rows: the texts of all cells, row by row; every row has ``columns`` of them.
        header_rows: how many rows at the top head the columns.
        unit_ids: the unit of each row.
    """

    document: UUID
    index: int
    caption: str
    page_start: int
    page_end: int
    columns: int
    header_rows: int
    rows: tuple[tuple[str, ...], ...]
    unit_ids: tuple[UUID, ...]


def tables_of(document: Document, index: int | None = None) -> list[Table]:
    """The tables of a document in their order, or only the one with this index. One query."""
    units = CitationUnit.objects.filter(document=document, table_index__isnull=False)
    if index is not None:
        units = units.filter(table_index=index)
    ordered = units.order_by("table_index", "table_row")
    return [_table(list(rows)) for _, rows in groupby(ordered, key=lambda unit: unit.table_index)]


def _table(units: list[CitationUnit]) -> Table:
    rows = [msgspec.convert(unit.cells, TableRow) for unit in units]
    columns = max((cell.column + 1 for row in rows for cell in row.cells), default=0)
    headers = next((at for at, row in enumerate(rows) if not row.header), len(rows))
    return Table(
        units[0].document_id,
        rows[0].index,
        next((row.caption for row in rows if row.caption), ""),
        units[0].page_number,
        units[-1].page_number,
        columns,
        headers,
        tuple(_texts(row, columns) for row in rows),
        tuple(unit.pk for unit in units),
    )


def _texts(row: TableRow, columns: int) -> tuple[str, ...]:
    texts = [""] * columns
    for cell in row.cells:
        texts[cell.column] = cell.text
    return tuple(texts)


def as_csv(table: Table) -> str:
    """RFC 4180. Cells that a spreadsheet would run as a formula get an apostrophe (OWASP CSV injection)."""
    out = io.StringIO()
    csv.writer(out).writerows([_harmless(text) for text in row] for row in table.rows)
    return out.getvalue()


def as_markdown(table: Table) -> str:
    """GitHub's tables: one header row, so that further header rows stand in the body."""
    if not table.rows:
        return ""
    head = table.rows[0] if table.header_rows else ("",) * table.columns
    body = table.rows[1:] if table.header_rows else table.rows
    lines = [_markdown_row(head), _markdown_row(["---"] * table.columns), *map(_markdown_row, body)]
    caption = f"**{_escaped(table.caption)}**\n\n" if table.caption else ""
    return caption + "\n".join(lines) + "\n"


def _markdown_row(texts: Iterable[str]) -> str:
    return "| " + " | ".join(_escaped(text) for text in texts) + " |"


def _escaped(text: str) -> str:
    """Nothing of the document can end the cell or become HTML."""
    line = " ".join(text.split())
    for character, entity in (("\\", "\\\\"), ("|", "\\|"), ("<", "&lt;"), ("`", "\\`"), ("[", "\\[")):
        line = line.replace(character, entity)
    return line


def _harmless(text: str) -> str:
    is_number = bool(text) and set(text) <= NUMBER_CHARACTERS
    return f"'{text}" if text.startswith(FORMULA_STARTS) and not is_number else text
