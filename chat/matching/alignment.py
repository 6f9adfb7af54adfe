"""Where a quote stands in pieces: reordered, interrupted, or not quite as printed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from chat.matching.folding import Folded, fold
from chat.matching.highlights import Span
from chat.matching.page_text import PageText
from chat.matching.signs import prints_sign, signs_within
from chat.matching.tiling import Separation, Tile, tiles

LONG_TILE = 12  # folded characters; shorter pieces occur anywhere and prove nothing
LEAST_LONG = 0.45  # share of the quote that must be found in long pieces
LEAST_FOUND = 0.75  # share of the quote that must be found at all
LEAST_LIT = 0.5  # share of a word's characters that lights the word
_SAMPLES = 48  # shingles of the quote looked for on a page
_FIRST_SAMPLES = 8  # those looked for on every page; the others where some of these stand
_FINALISTS = 24  # pages on which the others are looked for
_CANDIDATES = 4  # pages that are aligned in full
_LEAST_OF_BEST = 1 / 3  # of the best page's shingles that a page must have to be aligned


@dataclass(frozen=True, slots=True)
class Alignment:
    """The spans of one page that hold ``found`` (0..1) of the quote's characters."""

    page: PageText
    spans: tuple[Span, ...]
    found: float


def align(pages: Sequence[PageText], quote: str, folded: Folded) -> Alignment | None:
    """The page that holds most of the quote, when it holds enough of it to be meant."""
    if len(folded.text) < LONG_TILE:
        return None
    aligned = [_align_page(page, quote, folded) for page in likely_pages(pages, folded.text)]
    return max((found for found in aligned if found), key=lambda found: found.found, default=None)


def likely_pages(pages: Sequence[PageText], quote: str) -> list[PageText]:
    """The pages with most shingles of the quote, best first."""
    first = list(_shingles_held(pages, quote, _FIRST_SAMPLES))[:_FINALISTS]
    counts = _shingles_held(first or pages, quote, _SAMPLES)
    best = max(counts.values(), default=0)
    return [page for page, count in counts.items() if count >= _LEAST_OF_BEST * best][:_CANDIDATES]


def _shingles_held(pages: Sequence[PageText], quote: str, samples: int) -> dict[PageText, int]:
    """How many of about ``samples`` shingles each page has, the most first; pages without any left out."""
    step = max(1, (len(quote) - LONG_TILE) // samples)
    shingles = {quote[at : at + LONG_TILE] for at in range(0, len(quote) - LONG_TILE + 1, step)}
    counts = {page: sum(shingle in page.folded.text for shingle in shingles) for page in pages}
    return {page: count for page, count in sorted(counts.items(), key=lambda item: -item[1]) if count}


def _align_page(page: PageText, quote: str, folded: Folded) -> Alignment | None:
    if not page.words:  # an abstract that came without its file
        return None
    laid = _whole_words(page, quote, folded, tiles(folded.text, page.folded.text, _separation(page)))
    size = len(folded.text)
    if sum(tile.length for tile in laid if tile.length >= LONG_TILE) < LEAST_LONG * size:
        return None
    covered = np.zeros(size, bool)
    lit = np.zeros(len(page.folded.text), bool)
    for tile in laid:
        covered[tile.quote_start : tile.quote_start + tile.length] = True
        lit[tile.page_start : tile.page_start + tile.length] = True
    words = _lit_words(page, lit, laid, quote, folded)
    found = covered.sum() + _lay_single_words(page, quote, folded, covered, words, laid)
    if found < LEAST_FOUND * size:
        return None
    spans = tuple(_spans(page, words))
    return Alignment(page, spans, float(found / size))


def _separation(page: PageText) -> Separation:
    """Distance between the words that two folded characters of the page stand in."""
    starts = np.array(page.word_starts)
    words = np.searchsorted(starts, page.folded.offsets, side="right") - 1
    return lambda one, other: _distance(page, int(words[one]), int(words[other]))


def _whole_words(page: PageText, quote: str, folded: Folded, laid: Sequence[Tile]) -> list[Tile]:
    """The tiles without ends that are parts of a word in both texts: those letters agree by chance."""
    page_borders = _borders(page.text, page.folded)
    quote_borders = _borders(quote, folded)
    trimmed = []
    for q, p, length in laid:
        start, end = 0, length
        while start < end and not (page_borders[p + start] or quote_borders[q + start]):
            start += 1
        while end > start and not (page_borders[p + end] or quote_borders[q + end]):
            end -= 1
        if end > start:
            trimmed.append(Tile(q + start, p + start, end - start))
    return trimmed


def _borders(text: str, folded: Folded) -> np.ndarray:
    """For each folded position and the end: whether a word of the text begins or ends there."""
    spaces = np.fromiter(map(str.isspace, text), bool, len(text))
    words = np.cumsum(spaces)[folded.offsets]
    return np.concatenate([[True], np.diff(words) > 0, [True]])


def _lit_words(
    page: PageText, lit: np.ndarray, laid: Sequence[Tile], quote: str, folded: Folded
) -> np.ndarray:
    """Which words have most of their characters in tiles, and the signs between them that are quoted."""
    words = np.zeros(len(page.words), bool)
    total = np.concatenate([[0], np.cumsum(lit)])
    for index, (start, end) in enumerate(page.folded_words):
        words[index] = end > start and total[end] - total[start] >= LEAST_LIT * (end - start)
    for tile in laid:
        signs = signs_within(page, tile)
        words[[index for index, at in signs if prints_sign(quote, folded, at)]] = True
    return words


@dataclass(slots=True)
class _QuoteWord:
    """A word of the quote, its folded range, and the page's word it was matched with (or None)."""

    text: str
    start: int
    end: int
    match: int | None = None


def _lay_single_words(
    page: PageText, quote: str, folded: Folded, covered: np.ndarray, words: np.ndarray, laid: Sequence[Tile]
) -> int:
    """Match what is left of the quote word by word, each with the equal word nearest to its neighbours.

    Lights them in ``words``; returns how many folded characters were found.
    """
    parts = list(_quote_words(quote, folded))
    for part in parts:
        if covered[part.start : part.end].mean() >= LEAST_LIT:
            part.match = _matched_word(page, laid, part)
    free: dict[str, list[int]] = {}
    for index, (start, end) in enumerate(page.folded_words):
        if not words[index]:
            free.setdefault(page.folded.text[start:end], []).append(index)
    found = 0
    for at, part in enumerate(parts):
        left = _uncovered(part, folded, covered)
        nearest = _nearest(page, free.get(left, ()), _neighbours(parts, at)) if left else None
        if nearest is not None:
            free[left].remove(nearest)
            part.match, words[nearest] = nearest, True
            found += len(left)
    return found


def _uncovered(part: _QuoteWord, folded: Folded, covered: np.ndarray) -> str:
    """What of a quoted word has not been found: all of it, or the half before or after a line break."""
    left = np.flatnonzero(~covered[part.start : part.end])
    if not len(left) or left[-1] - left[0] + 1 != len(left):
        return ""
    return folded.text[part.start + int(left[0]) : part.start + int(left[-1]) + 1]


def _quote_words(quote: str, folded: Folded) -> Iterator[_QuoteWord]:
    at = 0
    for word in quote.split():
        size = len(fold(word).text)
        if size:
            yield _QuoteWord(folded.text[at : at + size], at, at + size)
        at += size


def _matched_word(page: PageText, laid: Sequence[Tile], part: _QuoteWord) -> int | None:
    middle = (part.start + part.end) // 2
    for tile in laid:
        if tile.quote_start <= middle < tile.quote_start + tile.length:
            at = tile.page_start + middle - tile.quote_start
            inside = page.words_in(*page.folded.source_range(at, at + 1))
            return inside[0] if inside else None
    return None


def _neighbours(parts: Sequence[_QuoteWord], at: int) -> list[int]:
    """The page's words matched with the words before and after one of the quote."""
    before = next((p.match for p in reversed(parts[max(0, at - 8) : at]) if p.match is not None), None)
    after = next((p.match for p in parts[at + 1 : at + 9] if p.match is not None), None)
    return [match for match in (before, after) if match is not None]


def _nearest(page: PageText, candidates: Sequence[int], neighbours: Sequence[int]) -> int | None:
    """The candidate closest to a neighbour: on its line first, then by distance."""
    if not neighbours or not candidates:
        return None

    def distance(index: int) -> float:
        return min(_distance(page, index, neighbour) for neighbour in neighbours)

    return min(candidates, key=distance)


def _distance(page: PageText, one: int, other: int) -> float:
    dx, dy = np.abs(page.centers[one] - page.centers[other])
    across, along = (dx, dy) if page.sideways else (dy, dx)
    return float(min(4 * across + along, 12.0 * abs(one - other)))


def _spans(page: PageText, words: np.ndarray) -> Iterator[Span]:
    """Runs of lit words as ranges of the page's characters."""
    lit = np.flatnonzero(words)
    if not len(lit):
        return
    for run in np.split(lit, np.flatnonzero(np.diff(lit) > 1) + 1):
        yield page.words[int(run[0])].char_start, page.words[int(run[-1])].char_end
