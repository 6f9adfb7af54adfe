"""Anchoring: locate a quote on its pages.

The steps, each tried only if the one before found nothing: the exact words; the words after folding (spaces,
hyphens, case, accents); pieces of them in any order; for a single value, the same value in another notation.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Literal

from rapidfuzz.distance import LCSseq

from citing.anchoring.page_text import (
    Folded,
    PageText,
    Span,
    fold,
    highlight_rects,
    text_of,
    tokens,
)
from citing.anchoring.quote_alignment import Alignment, Tile, align, without_unquoted_signs
from citing.budget import check_budget
from citing.comparison.values.support import agreement
from pdf.geometry import Rect
from text.measures import page_scale
from text.numbers import decimal_mark
from text.terms import one_line
from text.values import Value, values_in

# --- Where a quote stands in one piece, and which of several places its context means ---

REACH = 8  # characters beside the quote in which its outer signs are looked for
LONG_ENOUGH = 16  # folded characters that do not stand together by chance
_SIGNS = frozenset("-−–(")
_MINUSES = frozenset("-−–")
_OUTER = re.compile(r"[\s\-−–—'\"“”‘’«»„]*")
_OUTER_END = re.compile(r"[\s\-−–—'\"“”‘’«»„]*$")
_NEGATIVE = re.compile(r"\s*[-−–]\s?[$£€¥]?\d[\d.,]*\s?%?\s*$")


@dataclass(frozen=True, slots=True)
class Occurrence:
    """``page.text[start:end]`` holds the quote.

    Attributes:
        at: its start in the page's folded text.
        fit: 2 when the characters are those of the quote but for white space; 1 when they only
            fold to the same; 0 when the page has a sign before a number and the quote has none.
    """

    page: PageText
    start: int
    end: int
    at: int
    fit: int

    @property
    def text(self) -> str:
        return self.page.text[self.start : self.end]


def occurrences(pages: Sequence[PageText], quote: str, folded: Folded) -> list[Occurrence]:
    """Return all places of a quote, in page order. ``folded`` is the folded quote.

    A long quote is taken within words, too, where nothing better is found: some
    files print no spaces.
    """
    found = [place for page in pages for place in _on_page(page, quote, folded.text, True)]
    if not found and len(folded.text) >= LONG_ENOUGH:
        found = [place for page in pages for place in _on_page(page, quote, folded.text, False)]
    return found


def _on_page(page: PageText, quote: str, wanted: str, whole_words: bool) -> Iterator[Occurrence]:
    for at in _places(page.folded.text, wanted):
        start, end = page.folded.source_range(at, at + len(wanted))
        if whole_words and not _between_borders(page.text, start, end):
            continue
        start, end = _with_outer_signs(page.text, start, end, quote)
        if not _loses_sign(page.text, start, quote):
            yield Occurrence(page, start, end, at, _fit(page.text, start, end, quote))


def _places(text: str, wanted: str) -> Iterator[int]:
    at = text.find(wanted) if wanted else -1
    while at >= 0:
        yield at
        at = text.find(wanted, at + 1)


def _between_borders(text: str, start: int, end: int) -> bool:
    """Return whether both ends are at word or number boundaries."""
    return not (_joined(text, start - 1, start) or _joined(text, end - 1, end))


def _joined(text: str, left: int, right: int) -> bool:
    if left < 0 or right >= len(text):
        return False
    before, after = text[left], text[right]
    if before.isdigit() and after in ".," and text[right + 1 : right + 2].isdigit():
        return True
    if after.isdigit() and before in ".," and text[left - 1 : left].isdigit() and left > 0:
        return True
    if before.isdigit() or after.isdigit():
        return before.isdigit() and after.isdigit()
    return before.isalpha() and after.isalpha() and not (_is_unspaced(before) or _is_unspaced(after))


def _is_unspaced(character: str) -> bool:
    """Return whether the character is of a script without spaces, where every position is a boundary."""
    return (
        "\u2e80" <= character <= "\ud7ff"
        or "\uf900" <= character <= "\ufaff"
        or "\u0e00" <= character <= "\u0eff"
    )


def _with_outer_signs(text: str, start: int, end: int, quote: str) -> tuple[int, int]:
    """Widen the range by as many hyphens and quotes as the quote has at its ends: folding drops them.

    No more: beside them other cells of a table may be empty, too.
    """
    head, tail = _OUTER.match(quote), _OUTER_END.search(quote)
    before, after = _OUTER_END.search(text[:start][-REACH:]), _OUTER.match(text[end : end + REACH])
    if head and before:
        start -= len(_nearest(before[0][::-1], len("".join(head[0].split()))))
    if tail and after:
        end += len(_nearest(after[0], len("".join(tail[0].split()))))
    return start, end


def _nearest(signs: str, count: int) -> str:
    """Return the beginning of ``signs``, up to the ``count``-th that is no space."""
    places = [place for place, sign in enumerate(signs) if not sign.isspace()][:count]
    return signs[: places[-1] + 1] if places else ""


def _loses_sign(text: str, start: int, quote: str) -> bool:
    """Return whether the quote is a negative number that the page prints without a sign."""
    return _NEGATIVE.match(quote) is not None and text[start] not in _MINUSES


def _fit(text: str, start: int, end: int, quote: str) -> int:
    if (
        quote[:1].isdigit()
        and start
        and text[start - 1] in _SIGNS
        and text[start - 2 : start - 1].strip() == ""
    ):
        return 0
    return 2 if one_line(text[start:end]) == one_line(quote) else 1


# --- Which of several places is meant: the one whose surroundings are the context's ---

MANY = 60  # places; with more, only those on the pages most like the context are looked at
_WINDOW = 40  # tokens on each side


def choose(found: Sequence[Occurrence], quote: str, context: str) -> Occurrence:
    """Return the first place whose surroundings match the context best. ``found`` is not empty."""
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
    """Return 0 (nothing in common) to 1 (the same context), by the text around the quote and its row."""
    check_budget()
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
    whole = sum(len(token) ** 0.5 * count for token, count in bag.items())
    return got / whole if whole else 0.0


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


# --- Where a quoted value stands that the page writes otherwise: ``3577`` for ``$3,577`` ---

_SEPARATORS = re.compile(r"[.,\s'’]")
_MOST_OTHER_LETTERS = 12  # letters beside its values, of a quote that is no more than a value


def value_places(pages: Sequence[PageText], quote: str) -> list[Occurrence]:
    """Return all places of the value, when the quote is little more than one value."""
    values = values_in(quote)
    if len(values) != 1 or sum(map(str.isalpha, quote.replace(values[0].text, ""))) > _MOST_OTHER_LETTERS:
        return []
    return [place for page in pages for place in _values_on(page, values[0], quote)]


def _values_on(page: PageText, value: Value, quote: str) -> Iterator[Occurrence]:
    if _significant(value.digits) not in _SEPARATORS.sub("", page.text) and value.kind != "date":
        return
    scale, mark = page_scale([page.text], ""), decimal_mark(page.text)
    quoted = values_in(quote, decimal_mark(quote) or mark)
    for printed in values_in(page.text, mark):
        if any(agreement(value, printed, scale) for value in quoted):
            at, _ = page.folded.folded_range(printed.start, printed.end)
            yield Occurrence(page, printed.start, printed.end, at, 1)


def _significant(digits: str) -> str:
    return _SEPARATORS.sub("", digits).strip("0")


# --- A quote that begins at the foot of one page and ends at the head of the next ---

LEAST_PART_OF_QUOTE = 6  # folded characters on either page
LEAST_WHOLE = 24  # folded characters; shorter quotes would be put together by chance

Part = tuple[PageText, tuple[Span, ...]]


def over_page_break(pages: Sequence[PageText], quote: str, folded: Folded) -> tuple[Part, Part] | None:
    """Return the two pages and their spans, when the whole quote stands on them."""
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
    """Return the number of the quote's characters on the first page; the others are on the second."""
    if (
        quote[:LEAST_PART_OF_QUOTE] not in upper.folded.text
        or quote[-LEAST_PART_OF_QUOTE:] not in lower.folded.text
    ):
        return None
    longest = _longest_prefix(upper.folded.text, quote)
    for split in range(longest, LEAST_PART_OF_QUOTE - 1, -1):
        if len(quote) - split >= LEAST_PART_OF_QUOTE and quote[split:] in lower.folded.text:
            return split
    return None


def _longest_prefix(text: str, quote: str) -> int:
    """Length of the longest beginning of the quote that stands in the text, by bisection."""
    low, high = 0, len(quote)
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if quote[:middle] in text else (low, middle - 1)
    return low


# --- A quote that leaves words out: "Sales grew … in all regions" ---

LEAST_PART = 4  # folded characters between ellipses
FARTHEST = 1500  # folded characters that may be left out
_ELLIPSIS = re.compile(r"[\[(]?(?:…|\.{3,}|(?:\. ){2,}\.)[\])]?")


def without_ellipses(pages: Sequence[PageText], quote: str) -> tuple[PageText, tuple[Span, ...]] | None:
    """Return the first page that has all parts of the quote in their order, and their places."""
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


NORMALIZED_SHARE = 0.97  # share of the quote's characters found for which it still counts as the same words


@dataclass(frozen=True)
class PageAnchor:
    """The part of a quote on one page. ``spans`` are ranges of the page's characters."""

    page: PageText
    spans: tuple[Span, ...]

    @cached_property
    def rects(self) -> tuple[Rect, ...]:
        """Return one per line and column, page space."""
        return highlight_rects(self.page, self.spans)

    @cached_property
    def text(self) -> str:
        """Return the words as the page prints them."""
        return text_of(self.page, self.spans)


@dataclass(frozen=True, slots=True)
class Anchor:
    """The location of a quote. ``parts`` has one entry per page, at least one."""

    verdict: Literal["exact", "normalized", "partial"]
    parts: tuple[PageAnchor, ...]

    @property
    def page(self) -> int:
        """Number of the page it begins on, from 1."""
        return self.parts[0].page.number

    @property
    def rects(self) -> tuple[Rect, ...]:
        """Return the rectangles on that page."""
        return self.parts[0].rects

    @property
    def text(self) -> str:
        return " ".join(part.text for part in self.parts)


def find_quote(pages: Sequence[PageText], quote: str, context: str = "") -> Anchor | None:
    """Return the location of the quote on these pages, or None.

    ``context`` (the sentence or table row around it, the heads of its row and
    column) chooses among several places.
    """
    folded = fold(quote)
    if not folded.text:
        return None
    found = occurrences(pages, quote, folded)
    if found:
        return _anchored(choose(found, quote, context), quote, folded)
    return (
        _across_pages(pages, quote, folded)
        or _with_words_left_out(pages, quote)
        or _aligned(align(pages, quote, folded))
        or _same_value(pages, quote, context)
    )


def _anchored(place: Occurrence, quote: str, folded: Folded) -> Anchor:
    verdict: Literal["exact", "normalized"] = "exact" if place.fit == 2 else "normalized"
    first, *spans = without_unquoted_signs(place.page, Tile(0, place.at, len(folded.text)), quote, folded)
    spans = [(place.start, first[1]), *spans]
    spans[-1] = (spans[-1][0], place.end)
    return Anchor(verdict, (PageAnchor(place.page, tuple(spans)),))


def _aligned(found: Alignment | None) -> Anchor | None:
    if found is None:
        return None
    verdict: Literal["normalized", "partial"] = "normalized" if found.found >= NORMALIZED_SHARE else "partial"
    return Anchor(verdict, (PageAnchor(found.page, found.spans),))


def _across_pages(pages: Sequence[PageText], quote: str, folded: Folded) -> Anchor | None:
    parts = over_page_break(pages, quote, folded)
    return Anchor("normalized", tuple(PageAnchor(*part) for part in parts)) if parts else None


def _with_words_left_out(pages: Sequence[PageText], quote: str) -> Anchor | None:
    found = without_ellipses(pages, quote)
    return Anchor("normalized", (PageAnchor(*found),)) if found else None


def _same_value(pages: Sequence[PageText], quote: str, context: str) -> Anchor | None:
    found = value_places(pages, quote)
    if not found:
        return None
    place = choose(found, quote, context)
    return Anchor("normalized", (PageAnchor(place.page, ((place.start, place.end),)),))
