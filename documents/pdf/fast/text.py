"""The page's text, and the units that are slices of it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from documents.pdf.fast.blocks import Block
from documents.pdf.fast.lines import Line, rows_of
from documents.pdf.geometry import Rect, bounding_box
from documents.pdf.structure import Cell, Furniture, ParsedUnit, TableRow, Word

_HYPHENS = "-\u2010\u00ad"


@dataclass(slots=True)
class PageText:
    """Grows a page's text word by word; ``back`` takes a rectangle of the reading frame to page space."""

    back: Callable[[Rect], Rect]
    length: int = 0
    parts: list[str] = field(default_factory=list)
    words: list[Word] = field(default_factory=list)

    def add(self, text: str) -> None:
        self.parts.append(text)
        self.length += len(text)

    def add_lines(self, lines: Sequence[Line]) -> tuple[int, int]:
        """Appends the lines' words, a space between them; returns the range of characters."""
        start = self.length
        glue = ""
        back, words, parts = self.back, self.words, self.parts
        length = self.length
        for n, line in enumerate(lines):
            last_word = len(line.words) - 1
            for i, raw in enumerate(line.words):
                text = raw[4]
                if glue:
                    parts.append(glue)
                    length += 1
                glue = " "
                if i == last_word and n + 1 < len(lines) and breaks_word(text, lines[n + 1].words[0][4]):
                    glue = ""
                    if text[-1] != "-" or not keeps_hyphen(text):
                        text = text[:-1]
                parts.append(text)
                words.append(Word(length, length + len(text), back(Rect(raw[0], raw[1], raw[2], raw[3]))))
                length += len(text)
        self.length = length
        return start, length

    @property
    def text(self) -> str:
        return "".join(self.parts)


def breaks_word(text: str, following: str) -> bool:
    """Whether a word at a line's end goes on with the next line's first."""
    return len(text) > 1 and text[-1] in _HYPHENS and text[-2].isalpha() and following[:1].islower()


def keeps_hyphen(text: str) -> bool:
    """Whether the hyphen belongs to the word (``long-term``) and not to the line."""
    return "-" in text[:-1]


def joined(lines: Sequence[Line]) -> str:
    return " ".join(line.text for line in lines)


def furniture_piece(page: PageText, line: Line) -> Furniture:
    start, end = page.add_lines([line])
    piece = Furniture(line.text, start, end, (page.back(line.rect),))
    page.add("\n")
    return piece


def unit_of(page: PageText, block: Block, index: int, first_line: int) -> ParsedUnit:
    """Appends the block's text to the page and describes it. ``first_line`` counts through the document."""
    if block.cells:
        start, cells = page.length, []
        for n, cell in enumerate(block.cells):
            if n:
                page.add("\t")
            a, b = page.add_lines(cell.lines)
            cells.append(Cell(cell.column, "", page.back(cell.rect), block.header, a, b))
        end = page.length
    else:
        cells = []
        start, end = page.add_lines(block.lines)
    rects = tuple(page.back(rect) for rect in line_rects(block.lines))
    page.add("\n")
    text = page.text[start:end]
    table = None
    if block.table is not None:
        table = TableRow(
            block.table.index,
            block.row,
            tuple(
                Cell(
                    c.column,
                    text[c.char_start - start : c.char_end - start],
                    c.rect,
                    c.header,
                    c.char_start,
                    c.char_end,
                )
                for c in cells
            ),
            block.header,
            (),
            block.table.caption,
        )
    return ParsedUnit(
        index=index,
        type=block.kind,
        text=text,
        char_start=start,
        char_end=end,
        line_start=first_line,
        line_end=first_line + len(rects) - 1,
        bbox=bounding_box(rects),
        rects=rects,
        level=block.level,
        section_title=block.section_path[-1] if block.section_path else "",
        section_path=block.section_path,
        section_type=block.section_type,
        table=table,
        list_marker=block.marker,
        continues=block.continues,
    )


def line_rects(lines: Sequence[Line]) -> list[Rect]:
    """One rectangle per visual line: lines side by side become one."""
    return (
        [bounding_box(line.rect for line in row) for row in rows_of(lines)]
        if len(lines) > 1
        else [lines[0].rect]
    )
