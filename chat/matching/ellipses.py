"""A quote that leaves words out: "Sales grew … in all regions"."""

from __future__ import annotations

import re
from collections.abc import Sequence

from chat.matching.folding import fold
from chat.matching.highlights import Span
from chat.matching.page_text import PageText

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
