"""Tables that other parsers give as text: their rows, from HTML, Markdown or placed cells."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from html.parser import HTMLParser
from typing import NamedTuple

LONGEST = 500_000  # characters that are read of one table's text
MOST_COLUMNS = 1_000
_RULE = re.compile(r"\|?(?:\s*:?-+:?\s*\|)+(?:\s*:?-+:?\s*)?")
_BAR = re.compile(r"(?<!\\)\|")


class Rows(NamedTuple):
    """Cells as text, row by row; ``has_head``: the first row heads the columns."""

    rows: list[list[str]]
    has_head: bool


NONE = Rows([], False)


def rows_of(text: str) -> Rows:
    """Of a table written as HTML or Markdown; none where it is neither."""
    text = text.strip()[:LONGEST]
    if text.startswith("<"):
        return _from_html(text)
    return _from_markdown(text.splitlines()) if text.startswith("|") else NONE


def rows_of_cells(cells: Iterable[object]) -> Rows:
    """Of Docling's cells, each with the row and column it begins at; one over several stands in the first."""
    placed: dict[int, dict[int, str]] = {}
    heads: set[int] = set()
    for cell in cells:
        if not isinstance(cell, dict):
            continue
        row, column = cell.get("start_row_offset_idx"), cell.get("start_col_offset_idx")
        if isinstance(row, int) and isinstance(column, int) and 0 <= column < MOST_COLUMNS:
            placed.setdefault(row, {})[column] = str(cell.get("text", ""))
            heads |= {row} if cell.get("column_header") else set()
    width = max((column + 1 for row in placed.values() for column in row), default=0)
    order = sorted(placed)
    return Rows(
        [[placed[row].get(column, "") for column in range(width)] for row in order],
        bool(order and order[0] in heads),
    )


def _from_markdown(lines: list[str]) -> Rows:
    head = len(lines) > 1 and bool(_RULE.fullmatch(lines[1].strip()))
    rows = [_markdown_cells(line) for line in lines if line.strip() and not _RULE.fullmatch(line.strip())]
    return Rows(rows, head)


def _markdown_cells(line: str) -> list[str]:
    line = line.strip().removeprefix("|")
    cells = [cell.strip().replace("\\|", "|") for cell in _BAR.split(line)]
    return cells[:-1] if len(cells) > 1 and not cells[-1] else cells


def _from_html(html: str) -> Rows:
    parser = _TableParser()
    parser.feed(html)
    parser.close()
    rows = [row for row in parser.rows if row]
    return Rows(rows, bool(rows) and parser.has_head)


class _TableParser(HTMLParser):
    """Cells of ``tr``, ``td`` and ``th``; one over several columns stands in the first of them.

    ``has_head``: the first row is of head cells only.
    """

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.rows: list[list[str]] = []
        self.has_head = True
        self._cell: int | None = None

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag == "tr":
            self.rows.append([])
        elif tag in ("td", "th") and self.rows:
            row = self.rows[-1]
            self._cell = len(row)
            row += [""] * min(_span(dict(attrs)), MOST_COLUMNS - len(row))
            self.has_head &= tag == "th" or len(self.rows) > 1

    def handle_endtag(self, tag: str) -> None:
        if tag in ("td", "th", "tr"):
            self._cell = None

    def handle_data(self, data: str) -> None:
        if self._cell is not None and self._cell < len(self.rows[-1]):
            self.rows[-1][self._cell] = f"{self.rows[-1][self._cell]} {data}".strip()


def _span(attributes: Mapping[str, str | None]) -> int:
    written = attributes.get("colspan") or ""
    return int(written) if written.isdecimal() and 1 <= int(written) <= MOST_COLUMNS else 1
