"""Anchoring: where on its page a quoted text stands.

Exact words first; then the same words but for what printing changes; then
pieces of them, in whatever order the page has them; then, for a value, the same
value written otherwise. Each step looks only when the one before found nothing.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Literal

from chat.citations.anchoring.occurrences import Occurrence, choose, occurrences
from chat.citations.anchoring.page_text import Folded, PageText, Span, fold, highlight_rects, text_of
from chat.citations.anchoring.quote_alignment import Alignment, Tile, align, without_unquoted_signs
from chat.citations.values.written_values import Value, agreement, decimal_mark, page_scale, values_in
from pdf.geometry import Rect

# Where a quoted value stands that the page writes otherwise: ``3577`` for ``$3,577``.

_SEPARATORS = re.compile(r"[.,\s'’]")
_MOST_OTHER_LETTERS = 12  # letters beside its values, of a quote that is no more than a value


def value_places(pages: Sequence[PageText], quote: str) -> list[Occurrence]:
    """Every place of the quote's one value, when the quote is little more than a value."""
    values = values_in(quote)
    if len(values) != 1 or sum(map(str.isalpha, quote.replace(values[0].text, ""))) > _MOST_OTHER_LETTERS:
        return []
    return [place for page in pages for place in _on_page(page, values[0], quote)]


def _on_page(page: PageText, value: Value, quote: str) -> Iterator[Occurrence]:
    if _significant(value.digits) not in _SEPARATORS.sub("", page.text) and value.kind != "date":
        return
    scale, mark = page_scale([page.text]), decimal_mark(page.text)
    quoted = values_in(quote, decimal_mark(quote) or mark)
    for printed in values_in(page.text, mark):
        if any(agreement(value, printed, scale) for value in quoted):
            at, _ = page.folded.folded_range(printed.start, printed.end)
            yield Occurrence(page, printed.start, printed.end, at, 1)


def _significant(digits: str) -> str:
    return _SEPARATORS.sub("", digits).strip("0")


# A quote that begins at the foot of one page and ends at the head of the next.

LEAST_PART_OF_QUOTE = 6  # folded characters on either page
LEAST_WHOLE = 24  # folded characters; shorter quotes would be put together by chance

Part = tuple[PageText, tuple[Span, ...]]


def over_page_break(pages: Sequence[PageText], quote: str, folded: Folded) -> tuple[Part, Part] | None:
    """The two pages and their spans, when the whole quote stands on them."""
    if len(folded.text) < LEAST_WHOLE:
        return None
    for upper, lower in pairwise(pages):
        if lower.number == upper.number + 1 and (split := _split(upper, lower, folded.text)):
            head = Tile(0, upper.folded.text.rfind(folded.text[:split]), split)
            rest = folded.text[split:]
            tail = Tile(split, lower.folded.text.find(rest), len(rest))
            return (
                (upper, without_unquoted_signs(upper, head, quote, folded)),
                (lower, without_unquoted_signs(lower, tail, quote, folded)),
            )
    return None


def _split(upper: PageText, lower: PageText, quote: str) -> int | None:
    """How many characters of the quote stand on the upper page, the others on the lower."""
    if (
        quote[:LEAST_PART_OF_QUOTE] not in upper.folded.text
        or quote[-LEAST_PART_OF_QUOTE:] not in lower.folded.text
    ):
        return None
    longest = _longest_prefix(upper.folded.text, quote)
    for split in range(longest, LEAST_PART_OF_QUOTE - 1, -1):
        if len(quote) - split >= LEAST_PART_OF_QUOTE and quote[split:] in lower.folded.text:
            return split
    return None


def _longest_prefix(text: str, quote: str) -> int:
    """Length of the longest beginning of the quote that stands in the text, by bisection."""
    low, high = 0, len(quote)
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if quote[:middle] in text else (low, middle - 1)
    return low


# A quote that leaves words out: "Sales grew … in all regions".

LEAST_PART = 4  # folded characters between ellipses
FARTHEST = 1500  # folded characters that may be left out
_ELLIPSIS = re.compile(r"\s*[\[(]?(?:…|\.{3,}|(?:\. ){2,}\.)[\])]?\s*")


def without_ellipses(pages: Sequence[PageText], quote: str) -> tuple[PageText, tuple[Span, ...]] | None:
    """The first page that has all parts of the quote in their order, and their places."""
    parts = [folded for part in _ELLIPSIS.split(quote) if (folded := fold(part).text)]
    if len(parts) < 2 or min(map(len, parts)) < LEAST_PART:
        return None
    for page in pages:
        if spans := _in_order(page, parts):
            return page, spans
    return None


def _in_order(page: PageText, parts: Sequence[str]) -> tuple[Span, ...]:
    """Places of the parts one after another; empty when one is missing."""
    text, first = page.folded.text, page.folded.text.find(parts[0])
    while first >= 0:
        places, at = [first], first + len(parts[0])
        for part in parts[1:]:
            places.append(text.find(part, at, at + FARTHEST + len(part)))
            if places[-1] < 0:
                break
            at = places[-1] + len(part)
        else:
            ends = [place + len(part) for place, part in zip(places, parts, strict=True)]
            return tuple(page.folded.source_range(a, b) for a, b in zip(places, ends, strict=True))
        first = text.find(parts[0], first + 1)
    return ()


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
