"""Opens a file that claims to be a PDF, and says what it says of itself. For the confined readers only."""

from __future__ import annotations

import pymupdf

from documents.pdf.failures import FailureCode, ParseFailure
from documents.pdf.fast.tags.tree import readable_tags
from documents.pdf.messages import About
from documents.pdf.structure import OutlineEntry
from documents.pdf.xmp import read_xmp

# What it thinks of a file it would write to standard error, thousands of times.
pymupdf.TOOLS.mupdf_display_errors(False)
pymupdf.TOOLS.mupdf_display_warnings(False)

_UNSTORABLE = dict.fromkeys([0, *range(0xD800, 0xE000)])
_LONGEST_TITLE = 500
_MOST_ENTRIES = 5000


def open_document(path: str, password: str | None, most_pages: int) -> pymupdf.Document:
    """The file as a PDF with at least one page. Raises ParseFailure."""
    try:
        document = pymupdf.open(path, filetype="pdf")
    except Exception as error:  # MuPDF raises many kinds
        raise ParseFailure(FailureCode.DAMAGED, detail=repr(error)) from None
    if not document.is_pdf:
        raise ParseFailure(FailureCode.NOT_A_PDF)
    if document.needs_pass and not document.authenticate(password or ""):
        raise ParseFailure(FailureCode.PASSWORD_PROTECTED)
    try:
        count = document.page_count
    except Exception as error:
        raise ParseFailure(FailureCode.DAMAGED, detail=repr(error)) from None
    if count < 1:
        raise ParseFailure(FailureCode.DAMAGED if document.is_repaired else FailureCode.NO_PAGES)
    if count > most_pages:
        raise ParseFailure(FailureCode.TOO_MANY_PAGES)
    return document


def about(document: pymupdf.Document) -> About:
    """Metadata, bookmarks and language, cleaned of what a database refuses."""
    return About(
        _metadata(document),
        _outline(document),
        clean(document.language or "")[:12],
        _is_tagged(document),
    )


def _is_tagged(document: pymupdf.Document) -> bool:
    try:
        return readable_tags(document) is not None
    except Exception:  # MuPDF raises many kinds; a damaged structure tree is none
        return False


def clean(text: str) -> str:
    """The text without NUL and lone surrogates."""
    return text.translate(_UNSTORABLE)


def _metadata(document: pymupdf.Document) -> dict[str, str]:
    """The document information dictionary; XMP says what that leaves out."""
    found = read_xmp(document.get_xml_metadata() or "") | {
        key: value for key, value in (document.metadata or {}).items() if value
    }
    return {key: clean(value)[:2000] for key, value in found.items() if isinstance(value, str) and value}


def _outline(document: pymupdf.Document) -> tuple[OutlineEntry, ...]:
    entries = document.get_toc(simple=True)[:_MOST_ENTRIES]
    return tuple(OutlineEntry(level, clean(title)[:_LONGEST_TITLE], page) for level, title, page in entries)
