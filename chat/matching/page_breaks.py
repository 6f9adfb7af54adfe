"""A quote that begins at the foot of one page and ends at the head of the next."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from chat.matching.folding import Folded
from chat.matching.highlights import Span
from chat.matching.page_text import PageText
from chat.matching.signs import without_unquoted_signs
from chat.matching.tiling import Tile

LEAST_PART = 6  # folded characters on either page
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
    if quote[:LEAST_PART] not in upper.folded.text or quote[-LEAST_PART:] not in lower.folded.text:
        return None
    longest = _longest_prefix(upper.folded.text, quote)
    for split in range(longest, LEAST_PART - 1, -1):
        if len(quote) - split >= LEAST_PART and quote[split:] in lower.folded.text:
            return split
    return None


def _longest_prefix(text: str, quote: str) -> int:
    """Length of the longest beginning of the quote that stands in the text, by bisection."""
    low, high = 0, len(quote)
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if quote[:middle] in text else (low, middle - 1)
    return low
