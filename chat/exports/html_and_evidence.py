"""Export as an HTML file, and as the evidence pack, a PDF with the cited pages."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from contextlib import ExitStack
from uuid import UUID

from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString, mark_safe

from chat.answers.events import CitationShown
from chat.exports.markdown import Export, ExportPart, quotes_of, reader_address
from chat.markdown.html import ON_A_PAGE, rendered_blocks
from chat.models import Citation
from documents.ingestion.parser import local_file, parse_limits
from documents.models import Document
from pdf.api import bind_evidence
from pdf.failures import ParseFailure
from pdf.geometry import Rect
from pdf.sandbox.messages import HighlightedFile, HighlightedPage, PdfHighlight

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
    sources = export.sources
    references = format_html_join("", "<li>{}</li>", ((line,) for line in export.references))
    return format_html(
        '<h1>{}</h1>{}<h2>Sources</h2><ol class="sources">{}</ol>{}',
        export.title,
        format_html_join("", "{}", ((text(part),) for part in export.parts)),
        format_html_join(
            "", "{}", ((source_item(export, source, sources[:at]),) for at, source in enumerate(sources))
        ),
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


def source_item(export: Export, source: CitationShown, before: Sequence[CitationShown]) -> SafeString:
    quotes = format_html_join(
        "; ",
        "<q>{}</q>{} ({})",
        (
            (words, format_html(" in <q>{}</q>", passage) if passage else "", standing)
            for words, passage, standing in quotes_of(export, source.number)
        ),
    )
    section = f", {source.section}" if source.section else ""
    address = reader_address(export, source)
    return format_html(
        '<li id="source-{}" value="{}">{}{}: {}{}</li>',
        source.number,
        source.number,
        export.named(source, before),
        section,
        quotes,
        format_html(' <a href="{}">Open</a>', address) if address else "",
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
    return PdfHighlight(str(row.number), rects, f"{row.claim}\n\n{row.outcome_text}. {row.reason}".strip())
