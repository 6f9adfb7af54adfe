"""Finding a quote in a stored document or a file of any length."""

from __future__ import annotations

from uuid import UUID

from chat.anchoring import Anchor, find_quote
from chat.matching.context import MANY
from chat.matching.folding import folded_text
from chat.matching.stored_pages import StoredPages
from chat.matching.word_sources import FilePages


def locate(document: UUID, quote: str, context: str = "") -> Anchor | None:
    """Where the quote stands in the document, or None. The caller knows that it may be read."""
    pages = StoredPages(document)
    if context:
        pages.read_boxes(pages_with(pages, quote)[:MANY])
    return find_quote(pages.all, quote, context)


def pages_with(pages: StoredPages, quote: str) -> list[int]:
    """Numbers of the pages among whose places the context may have to choose."""
    wanted = folded_text(quote)
    return [page.number for page in pages.all if wanted and wanted in page.folded.text]


def find_in_file(pages: FilePages, quote: str, context: str = "") -> Anchor | None:
    """Where the quote stands in a file, or None. Raises ``ParseFailure``."""
    return find_quote(pages.printed, quote, context) or find_quote(pages.recognised, quote, context)
