"""Locate quotes in a file or a stored document, and find all occurrences of typed words.

To find words, case, accents, ligatures, quotes and kinds of dashes are folded. A hyphen may split a word over
two lines; in scripts without spaces any line end may.
"""

from __future__ import annotations

import re
import time
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property, lru_cache, partial
from pathlib import Path
from typing import Any
from uuid import UUID

import re2
from django.db.models import Count, Max

from chat.citations.anchoring.find_quote import MANY, Anchor, find_quote
from chat.citations.anchoring.page_text import (
    Folded,
    LazyWords,
    PageText,
    Span,
    fold,
    folded_text,
    without_marks,
)
from documents.ingestion.parser import parse_limits
from documents.models import Page
from pdf.api import ParseFailure, parse_file
from pdf.geometry import PageFrame
from pdf.structure import ParsedDocument
from pdf.word_boxes import WordBoxes, unpack
from text.terms import UNSPACED


def pages_of_file(path: str | Path) -> list[PageText]:
    """Return the pages of a PDF, read in the confined child. Raises ``ParseFailure``; needs no database."""
    return _pages(parse_file(path, limits=parse_limits()))


@dataclass(frozen=True)
class FilePages:
    """The pages of a PDF, read once; those that are pictures are recognised only when they are asked for.

    Recognising takes seconds a page, and most quotes stand on pages with text.
    """

    path: str | Path

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
            return pages_of_file(self.path)
        except ParseFailure:
            return []

    @cached_property
    def _unrecognised(self) -> ParsedDocument:
        return parse_file(self.path, limits=parse_limits(), recognise=False)


def _pages(document: ParsedDocument) -> list[PageText]:
    return [PageText(page.number, page.frame, page.text, page.words) for page in document.pages]


def page_of_row(page: Page) -> PageText:
    """Return a stored page."""
    boxes = partial(unpack, bytes(page.word_boxes), page.width, page.height)
    return PageText(page.number, page.frame, page.text, packed_words(boxes))


def pages_of_rows(pages: Iterable[Page]) -> list[PageText]:
    """Stored pages."""
    return [page_of_row(page) for page in pages]


def packed_words(unpacked: Callable[[], WordBoxes]) -> LazyWords:
    """Return the words of packed boxes, unpacked at the first look: most pages of a search need none."""
    return LazyWords(lambda: unpacked().words)


# The pages of a stored document as anchoring reads them: text from memory, words when they are wanted.

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


def forget_pages() -> None:
    """Empties the memory of texts, for measures of a first call."""
    _pages_of_reading.cache_clear()


def _kept_pages(document: UUID) -> tuple[_KeptPage, ...]:
    state = Page.objects.filter(document=document).aggregate(last=Max("pk"), count=Count("pk"))
    return _pages_of_reading(document, state["last"], state["count"])


@lru_cache(maxsize=_KEPT_DOCUMENTS)
def _pages_of_reading(document: UUID, last: int | None, count: int) -> tuple[_KeptPage, ...]:
    rows = Page.objects.filter(document=document).order_by("number")
    light = rows.defer("word_boxes", "furniture", "figures", "recognised")
    return tuple(_KeptPage(row.pk, row.number, row.frame, fold(row.text)) for row in light)


# Finding a quote in a stored document or a file of any length.


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


def find_in_file(pages: FilePages, quote: str, context: str = "") -> Anchor | None:
    """Return the place of the quote in a file, or None. Raises ``ParseFailure``."""
    return find_quote(pages.printed, quote, context) or find_quote(pages.recognised, quote, context)


MOST_MATCHES = 10_000  # that are counted
HYPHEN_AT_LINE_END = re.compile(r"\S*[-‐‑\u00ad]\s*")
MOST_MEMORY = 4 << 20  # bytes that RE2 may use for a pattern; it refuses one that needs more


class InvalidPattern(ValueError):
    """What was typed is no regular expression."""


@dataclass(frozen=True)
class WordQuery:
    """What somebody typed to find.

    Attributes:
        words: words, or a regular expression.
        whole: only as words of their own.
        regex: whether ``words`` is an expression, in the syntax of RE2.
    """

    words: str
    whole: bool = False
    regex: bool = False

    @cached_property
    def folded(self) -> Folded:
        return fold(self.words.strip())

    @cached_property
    def gaps(self) -> dict[int, str]:
        """Return the characters that folding removed between two of the query, by the second one's offset."""
        return dict(_gaps(self.folded, 0, len(self.folded.text)))

    @cached_property
    def pattern(self) -> Any:
        """Return the compiled expression. RE2 takes time linear in the text. Raises InvalidPattern."""
        options = re2.Options()
        options.case_sensitive = False
        options.max_mem = MOST_MEMORY
        options.log_errors = False
        try:
            return re2.compile(f"(?m){_of_any_script(without_marks(self.words).text)}", options)
        except re2.error as error:
            raise InvalidPattern(_reason(error)) from None


def matches_on(page: Folded, query: WordQuery) -> list[Span]:
    """Ranges of the page's own characters, in order; they do not overlap. Raises InvalidPattern."""
    if query.regex:
        return _expressions_on(page, query)
    wanted = query.folded.text
    found: list[Span] = []
    start = page.text.find(wanted) if wanted else -1
    while start >= 0:
        end = start + len(wanted)
        fits = _fits(page, start, end, query)
        if fits:
            found.append(page.source_range(start, end))
        start = page.text.find(wanted, end if fits else start + 1)
    return found


# Regular expressions see a page as it is printed, line by line, without accents and marks.


def _expressions_on(page: Folded, query: WordQuery) -> list[Span]:
    if not query.words.strip():
        return []
    spans = (match.span() for match in query.pattern.finditer(page.plain.text))
    found = [page.plain.source_range(start, end) for start, end in spans if end > start]
    return [span for span in found if not query.whole or _is_whole(page, *span)]


_PART = re.compile(r"\\.|\[:\^?\w+:\]|\[\^?\]?|.", re.S)  # of an expression
# RE2's own classes are of ASCII.
_IN_CLASS = {r"\w": r"\p{L}\p{N}_", r"\d": r"\p{Nd}"}
_ALONE = {r"\w": r"[\p{L}\p{N}_]", r"\W": r"[^\p{L}\p{N}_]", r"\d": r"\p{Nd}", r"\D": r"\P{Nd}"}
_SPACE = {" ": r"\s", r"\ ": r"\s"}


def _of_any_script(expression: str) -> str:
    """Return the expression with ``\\w`` and ``\\d`` of all scripts, and a space for any white space."""
    parts: list[str] = []
    in_class = False
    for part in _PART.findall(expression):
        in_class = part.startswith("[") or (in_class and part != "]")
        parts.append((_SPACE | (_IN_CLASS if in_class else _ALONE)).get(part, part))
    return "".join(parts)


def _reason(error: re2.error) -> str:
    message = error.args[0] if error.args else ""
    return message.decode(errors="replace") if isinstance(message, bytes) else str(message)


# The counts of a long document come in parts, so that the first match is shown while the rest is searched.

PART_SECONDS = 0.05


@dataclass(frozen=True, slots=True)
class Counts:
    """How many matches each page has, in the order of the search.

    Attributes:
        cut: whether the search ended at the most matches that are counted.
        rest: the page to go on from; None when all were searched.
    """

    by_page: dict[int, int]
    cut: bool = False
    rest: int | None = None


def counts_by_page(
    pages: Iterable[PageText], query: WordQuery, most: int = MOST_MATCHES, seconds: float | None = None
) -> Counts:
    """Count matches until ``most`` are found or ``seconds`` have passed. Raises InvalidPattern."""
    counts: dict[int, int] = {}
    left = most
    begun = time.monotonic()
    for at, page in enumerate(pages):
        if left <= 0:
            return Counts(counts, cut=True)
        if at and seconds is not None and time.monotonic() - begun > seconds:
            return Counts(counts, rest=page.number)
        if count := len(matches_on(page.folded, query)):
            counts[page.number] = count
            left -= count
    return Counts(counts)


def _fits(page: Folded, start: int, end: int, query: WordQuery) -> bool:
    if query.whole and not _is_whole(page, *page.source_range(start, end)):
        return False
    gaps = dict(_gaps(page, start, end))
    return all(
        _alike(page.text[start + at - 1 : start + at + 1], query.gaps.get(at, ""), gaps.get(at, ""))
        for at in gaps.keys() | query.gaps.keys()
    )


def _gaps(folded: Folded, start: int, end: int) -> Iterator[tuple[int, str]]:
    """Yield the characters that folding removed within a range, by their offset in it."""
    for gap in folded.gaps[bisect_right(folded.gaps, start) : bisect_left(folded.gaps, end)]:
        yield gap - start, folded.source[folded.offsets[gap - 1] + 1 : folded.offsets[gap]]


def _alike(pair: str, typed: str, printed: str) -> bool:
    """Return whether the typed text between the characters of ``pair`` may be printed so; '' is nothing."""
    if all(map(UNSPACED.match, pair)):
        return True
    if any(map(str.isspace, typed)):
        return bool(printed) or not pair.isalnum()
    if pair.isdigit():  # 10-12 is not 1012
        return bool(typed) == bool(printed) and not any(map(str.isspace, printed))
    return not any(map(str.isspace, printed)) or HYPHEN_AT_LINE_END.fullmatch(printed) is not None


def _is_whole(page: Folded, start: int, end: int) -> bool:
    return not any(
        one.isalnum() and other.isalnum() and not UNSPACED.match(one) and not UNSPACED.match(other)
        for one, other in (
            (page.source[start - 1 : start] or " ", page.source[start]),
            (page.source[end - 1], page.source[end : end + 1] or " "),
        )
    )
