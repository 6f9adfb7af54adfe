"""The result of parsing: values that go from the parser to the database.

The parser runs in a child process that reads hostile files, so these values
are ``msgspec`` structs, sent as MessagePack and validated by the receiver, not
pickles.

Frequent values are not tracked by the garbage collector (``gc=False``): they
cannot form cycles, and are created a quarter faster.

All rectangles are in page space (see ``geometry``). Page numbers are 1-based;
indexes, characters, rows and columns count from 0; lines are numbered from 1
through the whole document.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from functools import lru_cache
from typing import Literal

import msgspec

from pdf.geometry import PageFrame, Rect

UnitType = Literal["prose", "heading", "list", "table", "code", "caption", "footnote", "formula"]
# What OCR has still to read: nothing, the whole page, or pictures on a page with text.
Awaits = Literal["", "page", "pictures"]


class Word(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """A word on one line, and its box.

    A word hyphenated at a line's end is two Words whose character ranges touch;
    the hyphen itself has no character.
    """

    char_start: int
    char_end: int
    x0: float
    y0: float
    x1: float
    y1: float

    @property
    def rect(self) -> Rect:
        return Rect(self.x0, self.y0, self.x1, self.y1)


class Cell(msgspec.Struct, frozen=True, gc=False):
    """One cell of a table row.

    Attributes:
        rect: None where the cell is empty.
        headed_columns: the columns that a cell of a header row stands over.
        span: number of columns that it covers, from ``column`` on.
        rows: number of rows that it covers, from its own downwards.
    """

    column: int
    text: str
    rect: Rect | None = None
    header: bool = False
    char_start: int = 0
    char_end: int = 0
    headed_columns: tuple[int, ...] = ()
    span: int = 1
    rows: int = 1


class TableRow(msgspec.Struct, frozen=True, gc=False):
    """The place of a unit of type ``table`` in its table.

    Attributes:
        index: number of the table in the document, from 0; the same on all its pages.
        row: number of the row in the table, from 0, header rows included.
        cells: left to right; a cell that spans columns is in its first.
        header: whether this is a header row.
        head_rows: text of the column headers of this row, by column ('' where none).
        caption: the table's caption or title, if known.
        head_rects: boxes by column of heads that stand above the table, in none of its rows; else empty.
        head_confidence: 0..1, the parser's confidence in ``head_rows``; 1 for those of the table's own rows.
        spanning: column and text of the cells of rows above that extend over this row.
        confidence: 0..1, the parser's confidence that the table is one and its rows and cells are right.
    """

    index: int
    row: int
    cells: tuple[Cell, ...]
    header: bool = False
    head_rows: tuple[str, ...] = ()
    caption: str = ""
    head_rects: tuple[Rect | None, ...] = ()
    head_confidence: float = 1.0
    spanning: tuple[tuple[int, str], ...] = ()
    confidence: float = 1.0


class Location(msgspec.Struct, frozen=True, omit_defaults=True, gc=False):
    """The location of an imported unit in its source: slide, sheet, or time.

    Attributes:
        slide, row, column, paragraph, line: from 1; a sheet's row and column.
        start_ms, end_ms: of audio or video.
        quad: four corners, clockwise from the top left, in display fractions.
    """

    slide: int | None = None
    sheet: str = ""
    row: int | None = None
    column: int | None = None
    paragraph: int | None = None
    line: int | None = None
    start_ms: int | None = None
    end_ms: int | None = None
    quad: tuple[tuple[float, float], ...] = ()

    def within(self, row: TableRow | None, start: int, end: int) -> Location:
        """Return the location of characters [start, end) of the page; in ``row``, with the cell's column."""
        if row is None or not self.row:
            return self
        cited = [cell.column for cell in row.cells if cell.char_start < end and start < cell.char_end]
        column = (self.column or 1) + cited[0] if len(cited) == 1 else None
        return msgspec.structs.replace(self, column=column)

    @property
    def in_words(self) -> str:
        """``slide 4``, ``sheet Q2, B7`` or ``12:04–12:31``; '' where there is only a page."""
        parts = [f"slide {self.slide}"] if self.slide else []
        if self.sheet:
            cell = f"{column_letters(self.column)}{self.row}" if self.column and self.row else ""
            row = f"row {self.row}" if self.row else ""
            parts.append(", ".join(filter(None, (f"sheet {self.sheet}", cell or row))))
        if self.start_ms is not None:
            times = (clock_time(time) for time in (self.start_ms, self.end_ms) if time is not None)
            parts.append("–".join(dict.fromkeys(times)))
        return ", ".join(parts)


def column_letters(number: int) -> str:
    """Return a spreadsheet's column name: 1 is A, 27 is AA."""
    letters = ""
    while number > 0:
        number, rest = divmod(number - 1, 26)
        letters = chr(ord("A") + rest) + letters
    return letters


def clock_time(milliseconds: int) -> str:
    """Format a time: ``12:04``, ``1:02:03``."""
    minutes, seconds = divmod(milliseconds // 1000, 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{seconds:02}" if hours else f"{minutes}:{seconds:02}"


class ParsedUnit(msgspec.Struct, frozen=True, gc=False):
    """The smallest citable element. ``page.text[char_start:char_end] == text``, always.

    Attributes:
        index: position in the reading order of its page, from 0.
        level: 1..6 for headings; nesting depth from 0 for list items; None otherwise.
        section_path: titles of the headings above, outermost first.
        rects: one per line of text (per column).
        continues: whether it continues the last unit of the previous page or column.
        list_marker: the bullet or number of a list item, as printed.
        section_type: 'abstract', 'introduction', 'methods', ... or ''.
        from_picture: its words come from OCR of a picture on a page with text.
        location: of an imported unit.
    """

    index: int
    type: UnitType
    text: str
    char_start: int
    char_end: int
    line_start: int
    line_end: int
    bbox: Rect
    rects: tuple[Rect, ...]
    level: int | None = None
    section_title: str = ""
    section_path: tuple[str, ...] = ()
    section_type: str = ""
    table: TableRow | None = None
    list_marker: str = ""
    code_language: str = ""
    continues: bool = False
    from_picture: bool = False
    location: Location | None = None


class Furniture(msgspec.Struct, frozen=True, gc=False, omit_defaults=True):
    """A page header, footer, page or line number: part of the page's text, but of no unit."""

    text: str
    char_start: int
    char_end: int
    rects: tuple[Rect, ...]
    is_line_number: bool = False


class Figure(msgspec.Struct, frozen=True, gc=False):
    """A picture or drawing on the page, with its caption, if any."""

    rect: Rect
    caption: str = ""


class ParsedPage(msgspec.Struct, frozen=True):
    """One parsed page. ``text``: page header, units in reading order, page footer.

    ``words`` cover every character of ``text`` but white space, in its order.

    Attributes:
        ocr: the words come from OCR of the page.
        confidence: 0..1, the engine's confidence in its blocks and reading order.
        hidden_words: the number of invisible words, which are left out.
        failure: why the page could not be read, or ''; its text is empty then, unless it is PLAIN_LINES.
        recognised: the OCR result, packed by ``recognition``, for later parses; empty without OCR.
        awaits: what OCR has still to read.
        first_line: the number through the document of its first line, or, where it prints line numbers, of
            the line that these would number 1; 0 without lines.
    """

    number: int
    label: str
    frame: PageFrame
    text: str
    words: tuple[Word, ...]
    units: tuple[ParsedUnit, ...]
    furniture: tuple[Furniture, ...] = ()
    figures: tuple[Figure, ...] = ()
    ocr: bool = False
    confidence: float = 1.0
    hidden_words: int = 0
    failure: str = ""
    recognised: bytes = b""
    awaits: Awaits = ""
    first_line: int = 0


class OutlineEntry(msgspec.Struct, frozen=True):
    """A bookmark of the PDF's outline."""

    level: int
    title: str
    page: int


class ParsedDocument(msgspec.Struct, frozen=True):
    """A parsed file.

    ``metadata``: the strings of the document information dictionary. ``stage_seconds``: wall time of reading,
    OCR and layout. ``sealed``: only its attachments are encrypted, but some viewers ask for a password.
    """

    engine: str
    version: str
    page_count: int
    pages: tuple[ParsedPage, ...]
    metadata: dict[str, str] = {}
    outline: tuple[OutlineEntry, ...] = ()
    language: str = ""
    stage_seconds: dict[str, float] = {}
    sealed: bool = False


# What common headings of papers and reports call their sections; the first that matches counts.
_TYPES = [
    (
        "abstract",
        r"abstract|(?:executive )?summary|zusammenfassung|résumé|resumen|аннотация|摘要|要旨|الملخص",
    ),
    (
        "introduction",
        r"introduction|background|overview|einleitung|введение|引言|はじめに|مقدمة",
    ),
    ("related_work", r"related work|literature review|previous work"),
    (
        "methods",
        r"(?:materials? and )?methods?|methodology|experimental(?: setup| design)?|approach|методы|方法",
    ),
    ("results", r"results?|findings|experiments?|evaluation|результаты|結果|结果"),
    ("discussion", r"(?:results and )?discussion|limitations|обсуждение|考察|讨论"),
    ("conclusion", r"conclusions?|concluding remarks|future work|заключение|выводы|結論|结论"),
    ("references", r"references|bibliography|works cited|literature|литература|参考文献|المراجع"),
    ("acknowledgements", r"acknowledge?ments?|funding"),
    ("appendix", r"appendi(?:x|ces)\b.*|annex\b.*|приложение.*|附录.*|付録.*"),
]
_PATTERNS = [(name, re.compile(rf"^(?:{pattern})$", re.IGNORECASE)) for name, pattern in _TYPES]
_TITLE_NUMBERING = re.compile(r"^[\W\d_]*(?:[IVX]+\.\s*)?|[\W_]+$")


@lru_cache(maxsize=4096)
def section_type(title: str) -> str:
    """What kind of section the heading opens: 'abstract', 'methods', …, or ''."""
    if len(title) > 60:
        return ""
    plain = _TITLE_NUMBERING.sub("", title)
    return next((name for name, pattern in _PATTERNS if pattern.match(plain)), "")


def most_frequent_failure(pages: Sequence[ParsedPage]) -> str:
    """Return the most frequent failure of the pages; '' where they are blank."""
    reasons = Counter(page.failure for page in pages if page.failure)
    return reasons.most_common(1)[0][0] if reasons else ""
