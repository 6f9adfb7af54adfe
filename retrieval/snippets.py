"""The stretch of a text that shows best why it was found, with the words to mark."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from retrieval.analysis import Token, tokens_of
from retrieval.results import Snippet

SNIPPET_CHARACTERS = 320
TAIL = 20
"""Characters behind the last match: the end is cut back to a space, and not past a match and its comma."""
WORD_START = re.compile(r"(?<!\S)\S")


def snippet_of(
    text: str, weights: Mapping[str, float], size: int = SNIPPET_CHARACTERS, language: str = "en"
) -> Snippet:
    """At most ``size`` characters around the densest matches; ``weights`` says how much a term matters."""
    tokens = tokens_of(text, weights.keys(), language)
    worth = [max(weights.get(term, 0.0) for term in token.terms) for token in tokens]
    start = 0 if len(text) <= size else _densest(text, tokens, worth, size - TAIL)
    end = _end_of_words(text, start, size)
    marks = [
        (token.start - start, token.end - start)
        for token, value in zip(tokens, worth, strict=True)
        if value > 0.1 and token.start >= start and token.end <= end
    ]
    return Snippet(text[start:end], tuple(marks), start)


def _densest(text: str, tokens: Sequence[Token], worth: Sequence[float], size: int) -> int:
    """Where the stretch of ``size`` characters that holds the most worth begins: at a word."""
    best, start, first, total = 0.0, 0, 0, 0.0
    for last, token in enumerate(tokens):
        total += worth[last]
        while token.end - tokens[first].start > size and first < last:
            total -= worth[first]
            first += 1
        if total > best + 1e-9:
            best, start = total, min(tokens[first].start, _next_word(text, token.end - size))
    return start


def _next_word(text: str, at: int) -> int:
    """The first place from ``at`` on where a word begins; the end of the text where none does."""
    word = WORD_START.search(text, max(0, at))
    return word.start() if word else len(text)


def _end_of_words(text: str, start: int, size: int) -> int:
    if len(text) - start <= size:
        return len(text)
    space = text.rfind(" ", start + size // 2, start + size)
    return start + size if space < 0 else space
