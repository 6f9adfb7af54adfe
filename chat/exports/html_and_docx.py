"""Export as an HTML file, as a Word document, and as the evidence pack, a PDF with the cited pages."""

from __future__ import annotations

import io
import re
from collections import defaultdict
from collections.abc import Sequence
from contextlib import ExitStack
from uuid import UUID

from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString, mark_safe
from docx import Document as new_document
from docx.document import Document as WordDocument
from docx.text.paragraph import Paragraph
from markdown_it.token import Token

from chat.answers.events import CitationShown
from chat.exports.markdown import Export, ExportPart, footnote, quotes_of
from chat.markdown.html import ON_A_PAGE, HeadingLevels, rendered_blocks
from chat.markdown.overlay import laid_out, marked_text
from chat.models import Citation
from documents.ingestion.parser import local_file, parse_limits
from documents.models import Document
from pdf.api import bind_evidence
from pdf.failures import ParseFailure
from pdf.geometry import Rect
from pdf.sandbox.messages import HighlightedFile, HighlightedPage, PdfHighlight
from text.terms import one_line

STYLE = mark_safe(
    "body{font:16px/1.5 system-ui,sans-serif;max-width:44rem;margin:2rem auto;padding:0 1rem}"
    "sup a{text-decoration:none}table{border-collapse:collapse}"
    "td,th{border:1px solid #bbb;padding:.2rem .5rem}"
    "mtd.end{text-align:end;padding-inline-end:0}mtd.start{text-align:start;padding-inline-start:0}"
    "q{color:#555}.sources{font-size:.9rem}"
)
POLICY = "default-src 'none'; style-src 'unsafe-inline'"  # opening the file loads nothing


def as_html(export: Export) -> str:
    """Return an HTML page; superscripts link to the sources at its end."""
    return format_html(
        '<!doctype html><html><head><meta charset="utf-8">'
        '<meta http-equiv="Content-Security-Policy" content="{}">'
        "<title>{}</title><style>{}</style></head>"
        "<body>{}</body></html>",
        POLICY,
        export.title,
        STYLE,
        body(export),
    )


def body(export: Export) -> SafeString:
    """Return title, texts, sources and references as an HTML fragment."""
    references = format_html_join("", "<li>{}</li>", ((line,) for line in export.references))
    return format_html(
        '<h1>{}</h1>{}<h2>Sources</h2><ol class="sources">{}</ol>{}',
        export.title,
        format_html_join("", "{}", ((text(part),) for part in export.parts)),
        format_html_join("", "{}", ((source_item(export, source),) for source in export.sources)),
        format_html('<h2>References</h2><ul class="sources">{}</ul>', references) if references else "",
    )


def text(part: ExportPart) -> SafeString:
    """Return an answer or note as HTML, with links to the sources and the summary of verdicts."""
    top = ON_A_PAGE + bool(part.heading)
    blocks = rendered_blocks(part.content, part.citations, top=top, link=footnote_link)
    heading = format_html("<h2>{}</h2>", part.heading) if part.heading else ""
    summary = format_html("<p><em>{}</em></p>", part.summary) if part.summary else ""
    return format_html("{}{}{}", heading, mark_safe("".join(blocks)), summary)


def footnote_link(citation: CitationShown) -> SafeString:
    return format_html('<sup><a href="#source-{}">{}</a></sup>', citation.number, citation.number)


def source_item(export: Export, source: CitationShown) -> SafeString:
    quotes = format_html_join(
        "; ",
        "<q>{}</q>{} ({})",
        (
            (words, format_html(" in <q>{}</q>", passage) if passage else "", standing)
            for words, passage, standing in quotes_of(export, source.number)
        ),
    )
    section = f", {source.section}" if source.section else ""
    return format_html(
        '<li id="source-{}" value="{}">{}, {}{}: {}</li>',
        source.number,
        source.number,
        f"{source.title} {export.byline(source)}".rstrip(),
        source.place,
        section,
        quotes,
    )


# --- The evidence pack: one PDF with the answer and the cited pages, their words highlighted ---

MOST_PAGES = 100


class PackFailed(Exception):
    """The pack cannot be created; the message is for the user."""


def evidence_pack(answer: Export, visible: set[UUID]) -> bytes:
    """Return the PDF, created in the sandbox. Raises PackFailed.

    ``visible``: the documents the reader may see; pages of others are left out.
    """
    rows = [row for row in answer.rows if row.document_id in visible][: MOST_PAGES * 4]
    with ExitStack() as files:
        marked = [
            HighlightedFile(str(files.enter_context(local_file(document.file))), document.title, pages)
            for document, pages in by_document(rows)
            if document.file
        ]
        try:
            return bind_evidence(body(answer)[:], marked, limits=parse_limits())
        except ParseFailure as failure:
            raise PackFailed(failure.message) from None


def by_document(rows: list[Citation]) -> list[tuple[Document, tuple[HighlightedPage, ...]]]:
    """Return the cited documents in order of first use, each with its cited pages."""
    pages: dict[UUID, dict[int, list[PdfHighlight]]] = defaultdict(lambda: defaultdict(list))
    documents: dict[UUID, Document] = {}
    for row in rows:
        if row.document is not None and row.durability != Citation.Durability.GONE:
            documents.setdefault(row.document.pk, row.document)
            pages[row.document.pk][row.page_number].append(mark_of(row))
    return [
        (document, tuple(HighlightedPage(number, tuple(pages[pk][number])) for number in sorted(pages[pk])))
        for pk, document in documents.items()
    ]


def mark_of(row: Citation) -> PdfHighlight:
    """Return the highlight of the anchor, or of the whole passage without an anchor."""
    rects = tuple(Rect(*rect) for rect in row.rects or row.unit_rects)
    return PdfHighlight(
        str(row.number), rects, f"{row.claim}\n\n{row.get_verdict_display()}. {row.reason}".strip()
    )


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


def _write_part(document: WordDocument, part: ExportPart) -> None:
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
