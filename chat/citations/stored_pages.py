"""The pages of a stored document as anchoring reads them, and the place of a quote on them.

Text is kept in memory; the boxes of words are read when they are wanted.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache, partial
from uuid import UUID

from django.db.models import Count, Max

from citing.anchoring.find_quote import MANY, Anchor, find_quote
from citing.anchoring.page_text import Folded, PageText, fold, folded_text, packed_words
from documents.models import Page
from pdf.geometry import PageFrame
from pdf.word_boxes import WordBoxes, unpack


def page_of_row(page: Page) -> PageText:
    """Return a stored page."""
    boxes = partial(unpack, bytes(page.word_boxes), page.width, page.height)
    return PageText(page.number, page.frame, page.text, packed_words(boxes))


def pages_of_rows(pages: Iterable[Page]) -> list[PageText]:
    """Stored pages."""
    return [page_of_row(page) for page in pages]


_KEPT_DOCUMENTS = 16  # whose text is kept in memory; 300 pages take about 3 megabytes


@dataclass(frozen=True, slots=True)
class _KeptPage:
    """What is kept of a page; ``row`` is its key."""

    row: int
    number: int
    frame: PageFrame
    folded: Folded


class StoredPages:
    """A document's pages; the boxes of their words are read when they are first wanted.

    A document that is read anew has new rows, so text and boxes are always of one reading.
    """

    def __init__(self, document: UUID) -> None:
        self._kept = _kept_pages(document)
        self._boxes: dict[int, bytes] = {}
        self.all = [self._page(kept) for kept in self._kept]

    def read_boxes(self, numbers: Iterable[int]) -> None:
        """Read the word boxes of several pages at once: one query."""
        wanted = set(numbers)
        self._read([kept.row for kept in self._kept if kept.number in wanted])

    def _read(self, rows: list[int]) -> None:
        packed = Page.objects.filter(pk__in=rows).values_list("pk", "word_boxes")
        self._boxes |= {row: bytes(boxes) for row, boxes in packed}

    def _page(self, kept: _KeptPage) -> PageText:
        words = packed_words(partial(self._boxes_of, kept))
        return PageText(kept.number, kept.frame, kept.folded.source, words, kept.folded)

    def _boxes_of(self, kept: _KeptPage) -> WordBoxes:
        if kept.row not in self._boxes:
            self._read([kept.row])
        return unpack(self._boxes.get(kept.row, b""), kept.frame.width, kept.frame.height)


def _kept_pages(document: UUID) -> tuple[_KeptPage, ...]:
    state = Page.objects.filter(document=document).aggregate(last=Max("pk"), count=Count("pk"))
    return _pages_of_reading(document, state["last"], state["count"])


@lru_cache(maxsize=_KEPT_DOCUMENTS)
def _pages_of_reading(document: UUID, last: int | None, count: int) -> tuple[_KeptPage, ...]:
    rows = Page.objects.filter(document=document).order_by("number")
    light = rows.defer("word_boxes", "furniture", "figures", "recognised")
    return tuple(_KeptPage(row.pk, row.number, row.frame, fold(row.text)) for row in light)


def locate(document: UUID, quote: str, context: str = "") -> Anchor | None:
    """Return the place of the quote in the document, or None. The caller checks access."""
    pages = StoredPages(document)
    if context:
        pages.read_boxes(pages_with(pages, quote)[:MANY])
    return find_quote(pages.all, quote, context)


def pages_with(pages: StoredPages, quote: str) -> list[int]:
    """Numbers of the pages among whose places the context may have to choose."""
    wanted = folded_text(quote)
    return [page.number for page in pages.all if wanted and wanted in page.folded.text]
