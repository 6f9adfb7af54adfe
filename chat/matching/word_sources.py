"""Where pages come from: a file read now, or a stored document."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from chat.matching.page_text import PageText
from documents.configured import parse_limits
from documents.models import Page
from documents.pdf.geometry import Rect
from documents.pdf.parsing import parse_file
from documents.pdf.structure import Word
from documents.pdf.wordboxes import unpack


def pages_of_file(path: str | Path) -> list[PageText]:
    """The pages of a PDF, read in the confined child. Raises ``ParseFailure``; needs no database."""
    document = parse_file(path, limits=parse_limits())
    return [PageText(page.number, page.frame, page.text, page.words) for page in document.pages]


def page_of_row(page: Page) -> PageText:
    """A stored page."""
    return PageText(page.number, page.frame, page.text, words_of_row(page))


def pages_of_rows(pages: Iterable[Page]) -> list[PageText]:
    """Stored pages."""
    return [page_of_row(page) for page in pages]


def words_of_row(page: Page) -> list[Word]:
    """The words of a stored page, from its packed boxes."""
    packed = unpack(bytes(page.word_boxes), page.width, page.height)
    rows = zip(packed.spans.tolist(), packed.boxes.tolist(), strict=True)
    return [Word(start, end, Rect(*box)) for (start, end), box in rows]
