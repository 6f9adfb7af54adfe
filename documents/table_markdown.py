"""Rows of a table as Markdown, each part of a table with its head."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from documents.pdf.structure import TableRow


def width(rows: Iterable[TableRow]) -> int:
    """Number of columns that hold all of the rows."""
    return max([0, *(max([len(row.head_rows), *(cell.column + 1 for cell in row.cells)]) for row in rows)])


def row_line(row: TableRow, columns: int) -> str:
    """One row: ``| Revenue | 1,234 | 1,100 |``."""
    return _line(_texts(row, columns))


def head_lines(rows: Sequence[TableRow], columns: int) -> list[str]:
    """The head over these rows and the rule under it: their own head rows, or the table's known head.

    Several head rows become one line, column by column. Empty where no head is known.
    """
    own = [_texts(row, columns) for row in rows if row.header]
    known = next((row.head_rows for row in rows if any(row.head_rows)), ())
    heads = own or ([[*known, *[""] * (columns - len(known))]] if known else [])
    if not heads:
        return []
    head = [" ".join(text for text in column if text) for column in zip(*heads, strict=True)]
    return [_line(head), _line(["---"] * columns)]


def table_lines(rows: Sequence[TableRow], columns: int, with_head: bool = True) -> list[str]:
    """The rows as one Markdown table, under its head where wanted."""
    head = head_lines(rows, columns) if with_head else []
    return head + [row_line(row, columns) for row in rows if not (head and row.header)]


def _texts(row: TableRow, columns: int) -> list[str]:
    texts = [""] * columns
    for cell in row.cells:
        texts[cell.column] = f"{texts[cell.column]} {cell.text}".strip()
    return texts


def _line(texts: Iterable[str]) -> str:
    return "| " + " | ".join(" ".join(text.replace("|", "\\|").split()) for text in texts) + " |"
