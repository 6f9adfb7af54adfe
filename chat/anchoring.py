"""Anchoring: where on its page a quoted text stands.

Exact words first; then the same words but for what printing changes; then
pieces of them, in whatever order the page has them; then, for a value, the same
value written otherwise. Each step looks only when the one before found nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

from chat.matching.alignment import Alignment, align
from chat.matching.context import choose
from chat.matching.ellipses import without_ellipses
from chat.matching.folding import Folded, fold
from chat.matching.highlights import Span, highlight_rects, text_of
from chat.matching.occurrences import Occurrence, occurrences
from chat.matching.page_breaks import over_page_break
from chat.matching.page_text import PageText
from chat.matching.signs import without_unquoted_signs
from chat.matching.tiling import Tile
from chat.matching.value_places import value_places
from documents.pdf.geometry import Rect

NORMALIZED_SHARE = 0.97  # share of the quote's characters found for which it still counts as the same words


@dataclass(frozen=True)
class PageAnchor:
    """What of the quote stands on one page: ``spans`` are ranges of the page's characters."""

    page: PageText
    spans: tuple[Span, ...]

    @cached_property
    def rects(self) -> tuple[Rect, ...]:
        """One per line and column, page space."""
        return highlight_rects(self.page, self.spans)

    @cached_property
    def text(self) -> str:
        """The words as the page prints them."""
        return text_of(self.page, self.spans)


@dataclass(frozen=True, slots=True)
class Anchor:
    """Where a quote stands; ``parts`` has one entry for each page it runs over, and is never empty."""

    verdict: Literal["exact", "normalized", "partial"]
    parts: tuple[PageAnchor, ...]

    @property
    def page(self) -> int:
        """Number of the page it begins on, from 1."""
        return self.parts[0].page.number

    @property
    def rects(self) -> tuple[Rect, ...]:
        """The rectangles on that page."""
        return self.parts[0].rects

    @property
    def text(self) -> str:
        return " ".join(part.text for part in self.parts)


def find_quote(pages: Sequence[PageText], quote: str, context: str = "") -> Anchor | None:
    """Where the quote stands on these pages, or None.

    ``context`` (the sentence or table row around it, the heads of its row and
    column) chooses among several places.
    """
    folded = fold(quote)
    if not folded.text:
        return None
    found = occurrences(pages, quote, folded)
    if found:
        return _anchored(choose(found, quote, context), quote, folded)
    return (
        _across_pages(pages, quote, folded)
        or _with_words_left_out(pages, quote)
        or _aligned(align(pages, quote, folded))
        or _same_value(pages, quote, context)
    )


def _anchored(place: Occurrence, quote: str, folded: Folded) -> Anchor:
    verdict: Literal["exact", "normalized"] = "exact" if place.fit == 2 else "normalized"
    first, *spans = without_unquoted_signs(place.page, Tile(0, place.at, len(folded.text)), quote, folded)
    spans = [(place.start, first[1]), *spans]
    spans[-1] = (spans[-1][0], place.end)
    return Anchor(verdict, (PageAnchor(place.page, tuple(spans)),))


def _aligned(found: Alignment | None) -> Anchor | None:
    if found is None:
        return None
    verdict: Literal["normalized", "partial"] = "normalized" if found.found >= NORMALIZED_SHARE else "partial"
    return Anchor(verdict, (PageAnchor(found.page, found.spans),))


def _across_pages(pages: Sequence[PageText], quote: str, folded: Folded) -> Anchor | None:
    parts = over_page_break(pages, quote, folded)
    return Anchor("normalized", tuple(PageAnchor(*part) for part in parts)) if parts else None


def _with_words_left_out(pages: Sequence[PageText], quote: str) -> Anchor | None:
    found = without_ellipses(pages, quote)
    return Anchor("normalized", (PageAnchor(*found),)) if found else None


def _same_value(pages: Sequence[PageText], quote: str, context: str) -> Anchor | None:
    found = value_places(pages, quote)
    if not found:
        return None
    place = choose(found, quote, context)
    return Anchor("normalized", (PageAnchor(place.page, ((place.start, place.end),)),))
