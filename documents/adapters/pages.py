"""Blocks as the pages and units that our own parser gives."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby

from documents.adapters.block import Block
from documents.pdf.geometry import PageFrame, Rect
from documents.pdf.structure import Cell, ParsedDocument, ParsedPage, ParsedUnit, TableRow, UnitType

FRAME = PageFrame(612.0, 792.0)
"""A page of US letter: boxes come as fractions, so the size only sets their unit."""

UNIT_TYPES: dict[str, UnitType] = {"text": "prose", "media": "caption"}


def parsed_document(blocks: Sequence[Block], engine: str) -> ParsedDocument:
    """Pages in the order of their numbers; those without blocks are empty."""
    on_page = {number: list(found) for number, found in groupby(sorted(blocks, key=_page), _page)}
    headings: list[tuple[int, str]] = []
    tables = iter(range(len(blocks)))
    pages, line = [], 1
    for number in range(1, max(on_page) + 1):
        page = _PageWriter(number, line, headings, tables)
        for block in on_page.get(number, []):
            page.write(block)
        pages.append(page.finished())
        line = page.line
    return ParsedDocument(engine=engine, version="1", page_count=len(pages), pages=tuple(pages))


def _page(block: Block) -> int:
    return block.page


class _PageWriter:
    """Writes blocks one under the other into a page's text, and keeps where each stands."""

    def __init__(
        self, number: int, line: int, headings: list[tuple[int, str]], tables: Iterator[int]
    ) -> None:
        self.number = number
        self.line = line
        self._headings = headings
        self._tables = tables
        self._text = ""
        self._units: list[ParsedUnit] = []

    def write(self, block: Block) -> None:
        if block.type == "table" and block.rows:
            table = next(self._tables)
            head = block.rows[0] if block.has_head else ()
            for row, cells in enumerate(block.rows):
                self._write_row(block, table, row, cells, head)
            return
        path = self._path_of(block)
        self._add(block, block.text.strip(), path, None)

    def _path_of(self, block: Block) -> tuple[str, ...]:
        """Headings above the block; a heading takes the place of those of its level and below."""
        if block.type == "heading":
            level = block.level or 1
            while self._headings and self._headings[-1][0] >= level:
                self._headings.pop()
            path = tuple(title for _, title in self._headings)
            self._headings.append((level, block.text.strip()[:300]))
            return path
        return tuple(title for _, title in self._headings)

    def _write_row(
        self, block: Block, table: int, row: int, cells: tuple[str, ...], head: tuple[str, ...]
    ) -> None:
        text = "\t".join(cell.strip() for cell in cells)
        if not text.strip():
            return
        start = self._next_start()
        placed, at = [], start
        for column, cell in enumerate(cell.strip() for cell in cells):
            placed.append(Cell(column, cell, char_start=at, char_end=at + len(cell)))
            at += len(cell) + 1
        is_head = bool(head) and row == 0
        place = TableRow(
            index=table,
            row=row,
            cells=tuple(placed),
            header=is_head,
            head_rows=() if is_head else head,
            caption=block.caption,
        )
        self._add(block, text, self._path_of(block), place)

    def _next_start(self) -> int:
        return len(self._text) + 1 if self._text else 0

    def _add(self, block: Block, text: str, path: tuple[str, ...], table: TableRow | None) -> None:
        start = self._next_start()
        self._text += ("\n" if self._text else "") + text
        rect = _rect(block)
        lines = text.count("\n") + 1
        self._units.append(
            ParsedUnit(
                index=len(self._units),
                type=UNIT_TYPES.get(block.type, block.type),  # type: ignore[arg-type]
                text=text,
                char_start=start,
                char_end=start + len(text),
                line_start=self.line,
                line_end=self.line + lines - 1,
                bbox=rect,
                rects=(rect,) if block.quad else (),
                level=block.level,
                section_title=path[-1] if path else "",
                section_path=path,
                table=table,
                list_marker=block.list_style,
                code_language=block.code_language,
            )
        )
        self.line += lines

    def finished(self) -> ParsedPage:
        return ParsedPage(
            number=self.number,
            label=str(self.number),
            frame=FRAME,
            text=self._text,
            words=(),
            units=tuple(self._units),
        )


def _rect(block: Block) -> Rect:
    """The box around the block's corners in page space; the whole page where it has none."""
    if not block.quad:
        return Rect(0.0, 0.0, FRAME.width, FRAME.height)
    xs, ys = [x for x, _ in block.quad], [y for _, y in block.quad]
    return FRAME.from_display(Rect(min(xs), min(ys), max(xs), max(ys)))
