"""Finding a quote in a stored document of any length: narrow to likely pages first, then anchor."""

from __future__ import annotations

from collections.abc import Sequence
from uuid import UUID

from chat.anchoring import Anchor, find_quote
from chat.matching.folding import tokens
from chat.matching.page_text import PageText
from chat.matching.word_sources import pages_of_rows
from documents.models import Page

LIKELY_PAGES = 8
_LONGEST_WORDS = 10  # of the quote, and as many of the context


def locate(document: UUID, quote: str, context: str = "") -> Anchor | None:
    """Where the quote stands in the document, or None. The caller knows that it may be read."""
    texts = list(Page.objects.filter(document=document).order_by("number").values_list("number", "text"))
    likely = likely_numbers(texts, quote, context)
    found = find_quote(_pages(document, likely), quote, context)
    if found is None and len(texts) > len(likely):
        rest = [number for number, _ in texts if number not in likely]
        found = find_quote(_pages(document, rest), quote, context)
    return found


def _pages(document: UUID, numbers: Sequence[int]) -> list[PageText]:
    return pages_of_rows(Page.objects.filter(document=document, number__in=numbers).order_by("number"))


def likely_numbers(texts: Sequence[tuple[int, str]], quote: str, context: str) -> list[int]:
    """Numbers of the pages that have most of the quote's longest words, and of its context's."""
    worth = {word: 0.3 * len(word) for word in _longest(context)} | {
        word: float(len(word)) for word in _longest(quote)
    }
    scores = {}
    for number, text in texts:
        lower = text.casefold()
        scores[number] = sum(weight for word, weight in worth.items() if word in lower)
    return sorted(scores, key=lambda number: -scores[number])[:LIKELY_PAGES]


def _longest(text: str) -> list[str]:
    return sorted(set(tokens(text)), key=len, reverse=True)[:_LONGEST_WORDS]
