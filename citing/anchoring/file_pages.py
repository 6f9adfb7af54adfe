"""Locate quotes in the pages of a PDF file. Reads no database."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from citing.anchoring.find_quote import Anchor, find_quote
from citing.anchoring.page_text import PageText
from pdf.api import ParseFailure, parse_file
from pdf.sandbox.messages import Limits
from pdf.structure import ParsedDocument


def pages_of_file(path: str | Path, limits: Limits) -> list[PageText]:
    """Return the pages of a PDF, read in the confined child. Raises ``ParseFailure``; needs no database."""
    return _pages(parse_file(path, limits=limits))


@dataclass(frozen=True)
class FilePages:
    """The pages of a PDF, read once; those that are pictures are recognised only when they are asked for.

    Recognising takes seconds a page, and most quotes stand on pages with text.
    """

    path: str | Path
    limits: Limits

    @cached_property
    def printed(self) -> list[PageText]:
        """Return all pages; those without text are empty. Raises ``ParseFailure``."""
        return _pages(self._unrecognised)

    @cached_property
    def recognised(self) -> list[PageText]:
        """Return all pages, those without text as their picture reads; empty when none can be recognised."""
        if not any(page.failure or not page.text for page in self._unrecognised.pages):
            return []
        try:
            return pages_of_file(self.path, self.limits)
        except ParseFailure:
            return []

    @cached_property
    def _unrecognised(self) -> ParsedDocument:
        return parse_file(self.path, limits=self.limits, recognise=False)


def _pages(document: ParsedDocument) -> list[PageText]:
    return [PageText(page.number, page.frame, page.text, page.words) for page in document.pages]


def find_in_file(pages: FilePages, quote: str, context: str = "") -> Anchor | None:
    """Return the place of the quote in a file, or None. Raises ``ParseFailure``."""
    return find_quote(pages.printed, quote, context) or find_quote(pages.recognised, quote, context)
