"""A block of another parser's output, its validation, and its tables as rows."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from html.parser import HTMLParser
from typing import Annotated, Literal, NamedTuple, TypeVar

import msgspec

from pdf.structure import Location

BlockType = Literal["text", "heading", "list", "table", "code", "caption", "footnote", "formula", "media"]
Fraction = Annotated[float, msgspec.Meta(ge=0, le=1)]
LONGEST_TEXT = 1_000_000  # characters of one block
MOST_BLOCKS = 200_000


MOST_ERRORS = 20  # that are listed; the rest is only counted
Item = TypeVar("Item")
From1 = Annotated[int, msgspec.Meta(ge=1, le=10_000_000)]
Milliseconds = Annotated[int, msgspec.Meta(ge=0, le=10**12)]


class AdapterError(Exception):
    """The payload is invalid; the message is for the user.

    Attributes:
        blocks: the errors of single blocks, by their number in reading order, from 0.
    """

    def __init__(self, message: str, blocks: Mapping[int, str] | None = None) -> None:
        super().__init__(message)
        self.blocks = dict(blocks or {})


class ImportedBlock(msgspec.Struct, frozen=True, kw_only=True):
    """One validated block.

    Attributes:
        page: from 1; slides and sheets count as pages; 0 for that of the block before.
        quad: four corners, clockwise from the top left, in 0..1 of the page, origin top left.
        level: of a heading, from 1; of a list item, its depth from 0.
        rows: of a table, its cells as text; the first row is the header where ``has_head``.
        row, column: of a cell on its sheet, from 1; of a table, those of its first cell.
        start_ms, end_ms: of audio or video.
    """

    type: BlockType = "text"
    text: str
    page: Annotated[int, msgspec.Meta(ge=0, le=100_000)] = 0
    quad: tuple[tuple[Fraction, Fraction], ...] = ()
    level: int | None = None
    list_style: str = ""
    code_language: str = ""
    rows: tuple[tuple[str, ...], ...] = ()
    has_head: bool = False
    caption: str = ""
    paragraph: From1 | None = None
    line: From1 | None = None
    slide: From1 | None = None
    sheet: Annotated[str, msgspec.Meta(max_length=200)] = ""
    row: From1 | None = None
    column: From1 | None = None
    start_ms: Milliseconds | None = None
    end_ms: Milliseconds | None = None

    def location(self, row: int = 0) -> Location | None:
        """Return the location of row ``row`` of the block; None where it has no more than a page."""
        names = ("slide", "sheet", "column", "paragraph", "line", "start_ms", "end_ms", "quad")
        found = Location(
            row=self.row + row if self.row else None, **{name: getattr(self, name) for name in names}
        )
        return found if found != Location() else None


def make_block(**values: object) -> ImportedBlock:
    """Return a validated block. Raises AdapterError."""
    text = values.get("text")
    if isinstance(text, str):
        values["text"] = clean(text)
    try:
        block = msgspec.convert(values, ImportedBlock, strict=False)
    except msgspec.ValidationError as error:
        raise AdapterError(f"It cannot be read: {error}") from None
    if len(block.text) > LONGEST_TEXT:
        raise AdapterError(f"It is longer than {LONGEST_TEXT:,} characters.")
    return block


def read_each(items: Iterable[Item], read: Callable[[Item], ImportedBlock | None]) -> list[ImportedBlock]:
    """Read each item; None results are skipped. Raises AdapterError with the errors of all items."""
    blocks: list[ImportedBlock] = []
    errors: dict[int, str] = {}
    number = -1
    for number, item in enumerate(items):
        try:
            block = read(item)
        except AdapterError as error:
            errors[number] = str(error)
            continue
        except (AttributeError, KeyError, OverflowError, TypeError, ValueError):  # hostile JSON
            errors[number] = "It is not what this format holds."
            continue
        if block is not None and not errors:
            page = block.page or (blocks[-1].page if blocks else 1)
            blocks.append(msgspec.structs.replace(block, page=page))
        if len(blocks) > MOST_BLOCKS:
            raise AdapterError(f"There are more than {MOST_BLOCKS:,} blocks.")
    if errors:
        first = dict(sorted(errors.items())[:MOST_ERRORS])
        raise AdapterError(f"{len(errors)} of {number + 1} blocks cannot be read.", first)
    return blocks


def clean(text: str) -> str:
    """Remove NUL, which PostgreSQL refuses, and lone surrogates, which are no characters."""
    return text.replace("\x00", "").encode("utf-8", "replace").decode("utf-8")


def quad_of(x0: float, y0: float, x1: float, y1: float, width: float, height: float) -> tuple:
    """Return the corners of a box in fractions of its page, clamped; () for a page without size."""
    if width <= 0 or height <= 0:
        return ()
    left, right = sorted((clamped(x0 / width), clamped(x1 / width)))
    top, bottom = sorted((clamped(y0 / height), clamped(y1 / height)))
    return ((left, top), (right, top), (right, bottom), (left, bottom))


def clamped(value: float) -> float:
    """Clamp to 0..1; NaN becomes 0."""
    return min(1.0, max(0.0, value)) if value == value else 0.0


LONGEST = 500_000  # characters read of one table's text
MOST_COLUMNS = 1_000
_RULE = re.compile(r"\|?(?:\s*:?-+:?\s*\|)+(?:\s*:?-+:?\s*)?")
_BAR = re.compile(r"(?<!\\)\|")


class TextRows(NamedTuple):
    """Cells as text, row by row; ``has_head``: the first row is the header."""

    rows: list[list[str]]
    has_head: bool


NONE = TextRows([], False)


def rows_of(text: str) -> TextRows:
    """Parse a table in HTML or Markdown; ``NONE`` for other text."""
    text = text.strip()[:LONGEST]
    if text.startswith("<"):
        return _from_html(text)
    return _from_markdown(text.splitlines()) if text.startswith("|") else NONE


def rows_of_cells(cells: Iterable[object]) -> TextRows:
    """Place Docling's cells by their first row and column."""
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
    return TextRows(
        [[placed[row].get(column, "") for column in range(width)] for row in order],
        bool(order and order[0] in heads),
    )


def _from_markdown(lines: list[str]) -> TextRows:
    head = len(lines) > 1 and bool(_RULE.fullmatch(lines[1].strip()))
    rows = [_markdown_cells(line) for line in lines if line.strip() and not _RULE.fullmatch(line.strip())]
    return TextRows(rows, head)


def _markdown_cells(line: str) -> list[str]:
    line = line.strip().removeprefix("|")
    cells = [cell.strip().replace("\\|", "|") for cell in _BAR.split(line)]
    return cells[:-1] if len(cells) > 1 and not cells[-1] else cells


def _from_html(html: str) -> TextRows:
    parser = _TableParser()
    parser.feed(html)
    parser.close()
    rows = [row for row in parser.rows if row]
    return TextRows(rows, bool(rows) and parser.has_head)


class _TableParser(HTMLParser):
    """Collect the cells of a table; a cell that spans columns is put into the first.

    ``has_head``: the first row has only ``th`` cells.
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
