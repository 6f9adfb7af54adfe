"""Export as a Word document, with sources and references at the end."""

from __future__ import annotations

import io
import re
from collections.abc import Sequence

from docx import Document as new_document
from docx.document import Document as WordDocument
from docx.text.paragraph import Paragraph
from markdown_it.token import Token

from chat.exports.exported_answer import Export, Part
from chat.exports.markdown import footnote, one_line
from chat.markdown.html import ON_A_PAGE, HeadingLevels
from chat.markdown.overlay import laid_out, marked_text

_UNWRITABLE = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]")  # XML 1.0, 2.2


def as_docx(export: Export) -> bytes:
    """Return a DOCX file; superscripts are the numbers of the sources."""
    document = new_document()
    document.core_properties.title = writable(one_line(export.title))[:250]
    document.add_heading(writable(one_line(export.title)), level=1)
    for part in export.parts:
        _write_part(document, part)
    document.add_heading("Sources", level=2)
    for source in export.sources:
        document.add_paragraph(writable(f"[{source.number}] {footnote(export, source)}"))
    if export.references:
        document.add_heading("References", level=2)
    for line in export.references:
        document.add_paragraph(writable(line))
    out = io.BytesIO()
    document.save(out)
    return out.getvalue()


def _write_part(document: WordDocument, part: Part) -> None:
    if part.heading:
        document.add_heading(writable(one_line(part.heading)), level=2)
    text, _ = marked_text(part.content)
    tokens = [token for block in laid_out(text.text, text.places).blocks for token in block]
    HeadingLevels(ON_A_PAGE + bool(part.heading)).settle(tokens)
    _Writer(document, [citation.number for citation in part.citations]).write(tokens)
    if part.summary:
        document.add_paragraph().add_run(part.summary).italic = True


def writable(text: str) -> str:
    return _UNWRITABLE.sub("", text)


class _Writer:
    """Write Markdown tokens to the document."""

    def __init__(self, document: WordDocument, numbers: Sequence[int]) -> None:
        self._document, self._numbers = document, numbers
        self._lists: list[str] = []
        self._heading = 0
        self._rows: list[list[Token]] | None = None

    def write(self, tokens: Sequence[Token]) -> None:
        for token in tokens:
            self._write(token)

    def _write(self, token: Token) -> None:
        match token.type:
            case "bullet_list_open" | "ordered_list_open":
                self._lists.append("List Bullet" if token.type.startswith("bullet") else "List Number")
            case "bullet_list_close" | "ordered_list_close":
                self._lists.pop()
            case "heading_open":
                self._heading = int(token.tag[1])
            case "heading_close":
                self._heading = 0
            case "table_open":
                self._rows = []
            case "tr_open" if self._rows is not None:
                self._rows.append([])
            case "table_close":
                self._end_table()
            case "inline" if self._rows is not None:
                self._rows[-1].append(token)
            case "inline":
                self._runs(self._paragraph(), token.children or [])
            case "fence" | "code_block":
                self._document.add_paragraph().add_run(writable(token.content)).font.name = "Courier New"

    def _paragraph(self) -> Paragraph:
        if self._heading:
            return self._document.add_heading(level=self._heading)
        return self._document.add_paragraph(style=self._lists[-1] if self._lists else None)

    def _end_table(self) -> None:
        rows, self._rows = self._rows or [], None
        if not rows:
            return
        table = self._document.add_table(len(rows), max(map(len, rows)), style="Table Grid")
        for row, cells in zip(table.rows, rows, strict=True):
            for cell, token in zip(row.cells, cells, strict=False):
                self._runs(cell.paragraphs[0], token.children or [])

    def _runs(self, paragraph: Paragraph, tokens: Sequence[Token]) -> None:
        bold = italic = False
        for token in tokens:
            if token.type in ("strong_open", "strong_close"):
                bold = token.type == "strong_open"
            elif token.type in ("em_open", "em_close"):
                italic = token.type == "em_open"
            elif token.type in ("softbreak", "hardbreak"):
                paragraph.add_run(" ")
            elif token.type == "citation":
                self._superscript(paragraph, int(token.meta["index"]))
            elif token.content:
                run = paragraph.add_run(writable(token.content))
                run.bold, run.italic = bold, italic

    def _superscript(self, paragraph: Paragraph, index: int) -> None:
        if index < len(self._numbers):
            run = paragraph.add_run(str(self._numbers[index]))
            run.font.superscript = True
