"""Greedy string tiling: the pieces two texts share, in whatever order each has them.

A table read row by row holds the same pieces as one read column by column.
The longest common piece is laid first, then the longest of what is left (Wise,
"String similarity via greedy string tiling", 1993; here with hashed seeds). A
piece that stands in several places of the page is laid where its neighbours are.
"""

from __future__ import annotations

import heapq
from bisect import bisect_left, insort
from collections import defaultdict
from collections.abc import Callable
from typing import NamedTuple

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
    """Pieces of both texts, none overlapping another, in the order of the quote."""
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
