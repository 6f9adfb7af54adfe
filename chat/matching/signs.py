"""Dashes and quotes that stand alone on a page: folding drops them, so they are asked for apart.

A dash in an empty table cell between two quoted numbers is not quoted, unless
the quote has a dash there, too.
"""

from __future__ import annotations

from collections.abc import Iterator

from chat.matching.folding import Folded
from chat.matching.highlights import Span
from chat.matching.page_text import PageText
from chat.matching.tiling import Tile


def signs_within(page: PageText, tile: Tile) -> Iterator[tuple[int, int]]:
    """Words inside a tile that fold to nothing: their index, and their place in the folded quote."""
    start, end = page.folded.source_range(tile.page_start, tile.page_start + tile.length)
    for index in page.words_in(start, end):
        word = page.words[index]
        first, last = page.folded.folded_range(word.char_start, word.char_end)
        if first == last:
            yield index, first - tile.page_start + tile.quote_start


def prints_sign(quote: str, folded: Folded, at: int) -> bool:
    """Whether the quote prints anything between its folded characters ``at - 1`` and ``at``."""
    before, after = int(folded.offsets[at - 1]) + 1, int(folded.offsets[at])
    return bool(quote[before:after].strip())


def without_unquoted_signs(page: PageText, tile: Tile, quote: str, folded: Folded) -> tuple[Span, ...]:
    """The tile as ranges of the page's characters, signs left out that the quote does not print."""
    start, end = page.folded.source_range(tile.page_start, tile.page_start + tile.length)
    spans = []
    for index, at in signs_within(page, tile):
        if not prints_sign(quote, folded, at):
            spans.append((start, page.words[index].char_start))
            start = page.words[index].char_end
    spans.append((start, end))
    return tuple(span for span in spans if page.text[slice(*span)].strip())
