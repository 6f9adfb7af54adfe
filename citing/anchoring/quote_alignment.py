"""Align a quote with a page that has its words reordered, interrupted or slightly different."""

from __future__ import annotations

import heapq
from bisect import bisect_left, insort
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from citing.anchoring.page_text import Folded, PageText, Span, fold

# Dashes and quotation marks that are words of their own: folding drops them, so they are checked separately.
#
# A dash in an empty table cell between two quoted numbers is not quoted, unless
# the quote has a dash there, too.


def signs_within(page: PageText, tile: Tile) -> Iterator[tuple[int, int]]:
    """Yield the words in a tile that fold to nothing: index, and position in the folded quote."""
    start, end = page.folded.source_range(tile.page_start, tile.page_start + tile.length)
    for index in page.words_in(start, end):
        word = page.words[index]
        first, last = page.folded.folded_range(word.char_start, word.char_end)
        if first == last:
            yield index, first - tile.page_start + tile.quote_start


def prints_sign(quote: str, folded: Folded, at: int) -> bool:
    """Return whether the quote has visible characters between its folded characters ``at - 1`` and ``at``."""
    before, after = int(folded.offsets[at - 1]) + 1, int(folded.offsets[at])
    return bool(quote[before:after].strip())


def without_unquoted_signs(page: PageText, tile: Tile, quote: str, folded: Folded) -> tuple[Span, ...]:
    """Return the tile as ranges of the page's characters, without signs that the quote lacks."""
    start, end = page.folded.source_range(tile.page_start, tile.page_start + tile.length)
    spans = []
    for index, at in signs_within(page, tile):
        if not prints_sign(quote, folded, at):
            spans.append((start, page.words[index].char_start))
            start = page.words[index].char_end
    spans.append((start, end))
    return tuple(span for span in spans if page.text[slice(*span)].strip())


# --- Greedy string tiling: the substrings that two texts share, in any order ---
#
# A table read by rows has the same substrings as one read by columns. The longest common substring is taken
# first, then the longest of the rest (Wise, "String similarity via greedy string tiling", 1993; here with
# hashed seeds). Of several places on the page, the one nearest to the neighbouring tiles is taken.

SEED = 6  # folded characters; the shortest piece that is looked for
_COMMON_SEED = 60  # places in the quote; a seed with more is a ruled line or leader dots
_MANY_PLACES = 200  # places in the page; of a piece with more, only the first are weighed

Separation = Callable[[int, int], float]  # how far apart two characters of the page stand


class Tile(NamedTuple):
    """``quote[quote_start:quote_start + length] == page[page_start:page_start + length]``."""

    quote_start: int
    page_start: int
    length: int

    @property
    def quote_end(self) -> int:
        return self.quote_start + self.length

    @property
    def page_end(self) -> int:
        return self.page_start + self.length


def tiles(quote: str, page: str, separation: Separation = lambda one, other: abs(one - other)) -> list[Tile]:
    """Return the common substrings, without overlap, in the order of the quote."""
    places = _common_pieces(quote, page)
    queue = [(-length, start) for start, length in places]
    heapq.heapify(queue)
    free_quote, free_page = bytearray(b"\1") * len(quote), bytearray(b"\1") * len(page)
    laid: list[Tile] = []
    while queue:
        length, start = heapq.heappop(queue)
        candidates = [Tile(start, at, -length) for at in places.pop((start, -length))[:_MANY_PLACES]]
        cut = {tile: _longest_free(tile, free_quote, free_page) for tile in candidates}
        whole = [tile for tile, free in cut.items() if free == tile]
        if whole:
            best = min(whole, key=lambda tile: _stray(tile, laid, separation))
            insort(laid, best)
            free_quote[best.quote_start : best.quote_end] = bytes(best.length)
            free_page[best.page_start : best.page_end] = bytes(best.length)
            continue
        for free in cut.values():
            if free.length >= SEED:
                if (free.quote_start, free.length) not in places:
                    heapq.heappush(queue, (-free.length, free.quote_start))
                places[free.quote_start, free.length].append(free.page_start)
    return laid


def _stray(tile: Tile, laid: list[Tile], separation: Separation) -> float:
    """Distance on the page to the nearer of the pieces before and after it in the quote."""
    at = bisect_left(laid, tile)
    distances = []
    if at:
        distances.append(separation(laid[at - 1].page_end - 1, tile.page_start))
    if at < len(laid):
        distances.append(separation(tile.page_end - 1, laid[at].page_start))
    return min(distances, default=0.0)


def _common_pieces(quote: str, page: str) -> defaultdict[tuple[int, int], list[int]]:
    """Places in the page of each maximal common piece, by its start in the quote and its length."""
    seeds: dict[str, list[int]] = defaultdict(list)
    for at in range(len(quote) - SEED + 1):
        seeds[quote[at : at + SEED]].append(at)
    pieces: defaultdict[tuple[int, int], list[int]] = defaultdict(list)
    for p in range(len(page) - SEED + 1):
        starts = seeds.get(page[p : p + SEED], ())
        if len(starts) > _COMMON_SEED:
            continue
        for q in starts:
            if not (p and q and page[p - 1] == quote[q - 1]):
                pieces[q, _common_length(quote, q, page, p)].append(p)
    return pieces


def _common_length(quote: str, q: int, page: str, p: int) -> int:
    """Length of the common prefix of ``quote[q:]`` and ``page[p:]``, by doubling steps."""
    length, step, longest = SEED, 16, min(len(quote) - q, len(page) - p)
    while length < longest and step:
        size = min(step, longest - length)
        if quote.startswith(page[p + length : p + length + size], q + length):
            length += size
            step *= 2
        else:
            step = size // 2
    return length


def _longest_free(tile: Tile, free_quote: bytearray, free_page: bytearray) -> Tile:
    q, p, length = tile
    if 0 not in free_quote[q : q + length] and 0 not in free_page[p : p + length]:
        return tile
    both = bytes(a & b for a, b in zip(free_quote[q : q + length], free_page[p : p + length], strict=True))
    best = max(both.split(b"\0"), key=len)
    at = both.find(best) if best else 0
    return Tile(q + at, p + at, len(best))


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
    """Spans of one page. ``found`` is the share of the quote's characters in them (0..1)."""

    page: PageText
    spans: tuple[Span, ...]
    found: float


def align(pages: Sequence[PageText], quote: str, folded: Folded) -> Alignment | None:
    """Return the page with the largest part of the quote, if that part is large enough."""
    if len(folded.text) < LONG_TILE:
        return None
    aligned = [_align_page(page, quote, folded) for page in likely_pages(pages, folded.text)]
    return max((found for found in aligned if found), key=lambda found: found.found, default=None)


def likely_pages(pages: Sequence[PageText], quote: str) -> list[PageText]:
    """Return the pages that share most shingles with the quote, best first."""
    first = list(_shingles_held(pages, quote, _FIRST_SAMPLES))[:_FINALISTS]
    counts = _shingles_held(first or pages, quote, _SAMPLES)
    best = max(counts.values(), default=0)
    return [page for page, count in counts.items() if count >= _LEAST_OF_BEST * best][:_CANDIDATES]


def _shingles_held(pages: Sequence[PageText], quote: str, samples: int) -> dict[PageText, int]:
    """Return how many of about ``samples`` shingles each page has, the most first, without zeros."""
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
    words = _highlighted_words(page, lit, laid, quote, folded)
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
    """Return the tiles without ends that are parts of a word in both texts: those letters agree by chance."""
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


def _highlighted_words(
    page: PageText, lit: np.ndarray, laid: Sequence[Tile], quote: str, folded: Folded
) -> np.ndarray:
    """Mark the words with most characters in tiles, and the quoted signs between them."""
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

    Marks them in ``words``. Returns the number of folded characters found.
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
    """Return the missing part of a quoted word: all of it, or one half of a hyphenated word."""
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
    """Return the page's words matched with the words before and after one of the quote."""
    before = next((p.match for p in reversed(parts[max(0, at - 8) : at]) if p.match is not None), None)
    after = next((p.match for p in parts[at + 1 : at + 9] if p.match is not None), None)
    return [match for match in (before, after) if match is not None]


def _nearest(page: PageText, candidates: Sequence[int], neighbours: Sequence[int]) -> int | None:
    """Return the candidate closest to a neighbour: on its line first, then by distance."""
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
    """Return runs of marked words as ranges of the page's characters."""
    lit = np.flatnonzero(words)
    if not len(lit):
        return
    for run in np.split(lit, np.flatnonzero(np.diff(lit) > 1) + 1):
        yield page.words[int(run[0])].char_start, page.words[int(run[-1])].char_end
