"""Find in a document: every place where typed words stand.

Case, accents, ligatures, quotes and kinds of dashes are folded. A hyphen may break a word over two
lines, and a script that sets no spaces may break anywhere; else words are kept apart as they were typed.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from chat.citations.anchoring.highlights import Span
from chat.citations.anchoring.page_text import Folded, PageText, fold
from text.terms import UNSPACED

MOST_MATCHES = 10_000  # that are counted
HYPHEN_AT_LINE_END = re.compile(r"\S*[-‐‑\u00ad]\s*")


@dataclass(frozen=True)
class WordQuery:
    """What somebody typed to find; ``whole``: only as words of their own."""

    words: str
    whole: bool = False

    @cached_property
    def folded(self) -> Folded:
        return fold(self.words.strip())

    @cached_property
    def gaps(self) -> dict[int, str]:
        """What folding dropped between two characters of the query, by the place of the second."""
        return dict(_gaps(self.folded, 0, len(self.folded.text)))


def matches_on(page: Folded, query: WordQuery) -> list[Span]:
    """Ranges of the page's own characters, in order; they do not overlap."""
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


def counts_by_page(
    pages: Iterable[PageText], query: WordQuery, most: int = MOST_MATCHES
) -> tuple[dict[int, int], bool]:
    """How many matches each page has, and whether the search ended early at ``most`` of them."""
    counts: dict[int, int] = {}
    left = most
    for page in pages:
        if count := len(matches_on(page.folded, query)):
            counts[page.number] = count
            left -= count
        if left <= 0:
            return counts, True
    return counts, False


def _fits(page: Folded, start: int, end: int, query: WordQuery) -> bool:
    if query.whole and not _is_whole(page, *page.source_range(start, end)):
        return False
    gaps = dict(_gaps(page, start, end))
    return all(
        _alike(page.text[start + at - 1 : start + at + 1], query.gaps.get(at, ""), gaps.get(at, ""))
        for at in gaps.keys() | query.gaps.keys()
    )


def _gaps(folded: Folded, start: int, end: int) -> Iterator[tuple[int, str]]:
    offsets = folded.offsets[start:end]
    for at in (np.flatnonzero(np.diff(offsets) > 1) + 1).tolist():
        yield at, folded.source[offsets[at - 1] + 1 : offsets[at]]


def _alike(pair: str, typed: str, printed: str) -> bool:
    """Whether what was typed between the two characters of ``pair`` may be printed so; '' is nothing."""
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
