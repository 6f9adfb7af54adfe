"""Where pages come from: a file read now, or a stored document."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from pathlib import Path
from typing import overload

from chat.matching.page_text import PageText
from documents.configured import parse_limits
from documents.models import Page
from documents.pdf.parsing import ParseFailure, parse_file
from documents.pdf.structure import ParsedDocument, Word
from documents.pdf.wordboxes import WordBoxes, unpack


def pages_of_file(path: str | Path) -> list[PageText]:
    """The pages of a PDF, read in the confined child. Raises ``ParseFailure``; needs no database."""
    return _pages(parse_file(path, limits=parse_limits()))


@dataclass(frozen=True)
class FilePages:
    """The pages of a PDF, read once; those that are pictures are recognised only when they are asked for.

    Recognising takes seconds a page, and most quotes stand on pages with text.
    """

    path: str | Path

    @cached_property
    def printed(self) -> list[PageText]:
        """All pages; those without text are empty. Raises ``ParseFailure``."""
        return _pages(self._unrecognised)

    @cached_property
    def recognised(self) -> list[PageText]:
        """All pages, those without text as their picture reads; empty when none can be recognised."""
        if not any(page.failure or not page.text for page in self._unrecognised.pages):
            return []
        try:
            return pages_of_file(self.path)
        except ParseFailure:
            return []

    @cached_property
    def _unrecognised(self) -> ParsedDocument:
        return parse_file(self.path, limits=parse_limits(), recognise=False)


def _pages(document: ParsedDocument) -> list[PageText]:
    return [PageText(page.number, page.frame, page.text, page.words) for page in document.pages]


def page_of_row(page: Page) -> PageText:
    """A stored page."""
    boxes = partial(unpack, bytes(page.word_boxes), page.width, page.height)
    return PageText(page.number, page.frame, page.text, PackedWords(boxes))


def pages_of_rows(pages: Iterable[Page]) -> list[PageText]:
    """Stored pages."""
    return [page_of_row(page) for page in pages]


class PackedWords(Sequence[Word]):
    """The words of a stored page, unpacked at the first look: most pages of a search need none."""

    def __init__(self, unpacked: Callable[[], WordBoxes]) -> None:
        self._unpacked = unpacked

    @overload
    def __getitem__(self, index: int) -> Word: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[Word]: ...
    def __getitem__(self, index: int | slice) -> Word | Sequence[Word]:
        return self._words[index]

    def __len__(self) -> int:
        return len(self._words)

    def __iter__(self) -> Iterator[Word]:
        return iter(self._words)

    @cached_property
    def _words(self) -> list[Word]:
        packed = self._unpacked()
        rows = zip(packed.spans.tolist(), packed.boxes.tolist(), strict=True)
        return [Word(*span, *box) for span, box in rows]
