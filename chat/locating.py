"""Finding a quote in a stored document or a file of any length: likely pages first, recognised ones last."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import lru_cache
from uuid import UUID

from django.db.models import Count, Max

from chat.anchoring import Anchor, find_quote
from chat.matching.folding import tokens
from chat.matching.word_sources import FilePages, pages_of_rows
from documents.models import Page

LIKELY_PAGES = 8
_NEARLY_BEST = 0.85  # share of the best page's score that makes a page one of the first to be read
_TELLING_WORDS = 6  # of the quote, and as many of the context
_KEPT_DOCUMENTS = 16  # whose text is kept in memory, about a megabyte each

Texts = tuple[tuple[int, str], ...]  # page number and text, case folded


def locate(document: UUID, quote: str, context: str = "") -> Anchor | None:
    """Where the quote stands in the document, or None. The caller knows that it may be read."""
    best: Anchor | None = None
    for numbers in _in_likely_order(_texts(document), quote, context):
        pages = pages_of_rows(Page.objects.filter(document=document, number__in=numbers).order_by("number"))
        found = find_quote(pages, quote, context)
        if found and found.verdict != "partial":
            return found
        best = best or found
    return best


def find_in_file(pages: FilePages, quote: str, context: str = "") -> Anchor | None:
    """Where the quote stands in a file, or None. Raises ``ParseFailure``."""
    return find_quote(pages.printed, quote, context) or find_quote(pages.recognised, quote, context)


def _in_likely_order(texts: Texts, quote: str, context: str) -> Iterator[Sequence[int]]:
    """Numbers of the most likely pages, of some more, and of all others."""
    scores = page_scores(texts, quote, context)
    order = sorted(scores, key=lambda number: -scores[number])
    likely = order[:LIKELY_PAGES]
    yield [number for number in likely if scores[number] >= _NEARLY_BEST * scores[likely[0]]]
    if len(likely) > 1:
        yield likely
    if len(order) > len(likely):
        yield order[LIKELY_PAGES:]


def page_scores(texts: Texts, quote: str, context: str) -> dict[int, float]:
    """By page number: how much it has of the quote's rare words, and of its context's."""
    worth = {word: 0.3 * _telling(word) for word in _most_telling(context)}
    worth |= {word: _telling(word) for word in _most_telling(quote)}
    return {number: sum(worth[word] for word in worth if word in text) for number, text in texts}


def _most_telling(text: str) -> list[str]:
    return sorted(set(tokens(text)), key=_telling, reverse=True)[:_TELLING_WORDS]


def _telling(word: str) -> float:
    """Long words are rare; numbers are, too."""
    return len(word) + (5.0 if word[0].isdigit() else 0.0)


def _texts(document: UUID) -> Texts:
    """The document's text. It is kept between calls; a document read anew has new rows."""
    state = Page.objects.filter(document=document).aggregate(last=Max("pk"), count=Count("pk"))
    return _kept_texts(document, state["last"], state["count"])


@lru_cache(maxsize=_KEPT_DOCUMENTS)
def _kept_texts(document: UUID, last: int | None, count: int) -> Texts:
    rows = Page.objects.filter(document=document).order_by("number").values_list("number", "text")
    return tuple((number, text.casefold()) for number, text in rows)
