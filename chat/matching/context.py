"""Which of several places is meant: the one whose surroundings are the context's."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from rapidfuzz.distance import LCSseq

from chat.matching.folding import tokens
from chat.matching.occurrences import Occurrence

MANY = 60  # places; with more, only those on the pages most like the context are looked at
_WINDOW = 40  # tokens on each side


def choose(found: Sequence[Occurrence], quote: str, context: str) -> Occurrence:
    """The place that fits its context best; the first of equals. ``found`` is not empty."""
    if len(found) == 1:
        return found[0]
    if not context.strip():
        return max(found, key=lambda place: place.fit)
    sides = split_context(context, quote)
    bag = Counter(tokens(context))
    likely = _on_likely_pages(found, bag)
    return max(likely, key=lambda place: likeness(place, sides, bag) + 0.02 * place.fit)


def split_context(context: str, quote: str) -> list[tuple[list[str], list[str]]]:
    """Tokens before and after each place of the quote in its context; empty when it is not there."""
    words, wanted = tokens(context), tokens(quote)
    ends = range(len(words) - len(wanted) + 1) if wanted else range(0)
    return [(words[:i], words[i + len(wanted) :]) for i in ends if words[i : i + len(wanted)] == wanted]


def _on_likely_pages(found: Sequence[Occurrence], bag: Counter[str]) -> Sequence[Occurrence]:
    if len(found) <= MANY:
        return found
    pages = {place.page.number: place.page for place in found}
    shared = {n: sum(len(word) for word in bag if word in page.folded.text) for n, page in pages.items()}
    best = set(sorted(shared, key=lambda number: -shared[number])[:4])
    return [place for place in found if place.page.number in best]


@dataclass(frozen=True, slots=True)
class _Surroundings:
    """Tokens before and after a place, in the text and on its line, and those over it in its column."""

    text: tuple[list[str], list[str]]
    row: tuple[list[str], list[str]]
    above: list[str]


def likeness(place: Occurrence, sides: Sequence[tuple[list[str], list[str]]], bag: Counter[str]) -> float:
    """0 (nothing in common) to 1 (the very context), from the text around and the row it stands in."""
    around = _Surroundings(_text_sides(place), _row_sides(place), _tokens_of(place, _column_above(place)))
    beside = max((_beside(around, before, after) for before, after in sides), default=0.0)
    return 0.8 * beside + 0.2 * _nearby(around, bag)


def _beside(around: _Surroundings, before: list[str], after: list[str]) -> float:
    return max(_alike(*around.text, before, after), _alike(*around.row, before, after))


def _alike(left: list[str], right: list[str], before: list[str], after: list[str]) -> float:
    """Share of the context's letters found in the same order on the same side, nearer ones worth more."""
    before, after = before[-_WINDOW:], after[:_WINDOW]
    if not before and not after:
        return 0.0
    got = _common(left[::-1], before[::-1]) + _common(right, after)
    return got / (_common(before[::-1], before[::-1]) + _common(after, after))


def _common(page: list[str], wanted: list[str]) -> float:
    """Weight of the longest common subsequence counted from the quote outwards."""
    page = page[: 2 * len(wanted) + 4]
    matched = [
        (len(wanted[i]) ** 0.5) / (1 + i / 4)
        for block in LCSseq.editops(page, wanted).as_matching_blocks()
        for i in range(block.b, block.b + block.size)
    ]
    return sum(matched)


def _text_sides(place: Occurrence) -> tuple[list[str], list[str]]:
    text = place.page.text
    return tokens(text[max(0, place.start - 400) : place.start]), tokens(text[place.end : place.end + 400])


def _row_sides(place: Occurrence) -> tuple[list[str], list[str]]:
    """Tokens before and after it on its line across the page, in whatever order they were drawn."""
    page = place.page
    own = page.words_in(place.start, place.end)
    if not own:
        return [], []
    row = page.row_of(own[0])
    first, last = row.index(own[0]), row.index(own[-1]) if own[-1] in row else row.index(own[0])
    return _tokens_of(place, row[: min(first, last)]), _tokens_of(place, row[max(first, last) + 1 :])


def _tokens_of(place: Occurrence, words: Sequence[int]) -> list[str]:
    text, all_words = place.page.text, place.page.words
    return tokens(" ".join(text[all_words[i].char_start : all_words[i].char_end] for i in words))


def _nearby(around: _Surroundings, bag: Counter[str]) -> float:
    """Share of the context's tokens in the row, in the heads above, and in the text around."""
    text, row, above = ({*before, *after} for before, after in (around.text, around.row, (around.above, [])))
    got = 0.0
    for token, count in bag.items():
        worth = len(token) ** 0.5 * count
        got += worth * max(token in row, 0.8 * (token in above), 0.5 * (token in text))
    return got / sum(len(token) ** 0.5 * count for token, count in bag.items())


def _column_above(place: Occurrence) -> list[int]:
    """Indexes of the words that stand over (or, on a turned page, beside) the place in its column."""
    page = place.page
    own = page.words_in(place.start, place.end)
    if not own:
        return []
    low, high = page.along(page.words[own[-1]].rect)
    return [
        i
        for i, word in enumerate(page.words)
        if page.along(word.rect)[0] < high and page.along(word.rect)[1] > low
    ]
