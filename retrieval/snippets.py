"""The stretch of a text that shows best why it was found, with the words to mark."""

from __future__ import annotations

from collections.abc import Mapping

from retrieval.analysis import Token, tokens_of
from retrieval.results import Snippet

SNIPPET_CHARACTERS = 320


def snippet_of(text: str, weights: Mapping[str, float], size: int = SNIPPET_CHARACTERS) -> Snippet:
    """At most ``size`` characters around the densest matches; ``weights`` says how much a term matters."""
    tokens = list(tokens_of(text))
    worth = [max((weights.get(term, 0.0) for term in token.terms), default=0.0) for token in tokens]
    first = _densest(tokens, worth, size)
    start = tokens[first].start if tokens else 0
    end = _end_of_words(text, start, size)
    start = 0 if end == len(text) and len(text) <= size else start
    marks = [
        (token.start - start, token.end - start)
        for token, value in zip(tokens, worth, strict=True)
        if value > 0.1 and token.start >= start and token.end <= end
    ]
    return Snippet(text[start:end], tuple(marks))


def _densest(tokens: list[Token], worth: list[float], size: int) -> int:
    """First token of the window of ``size`` characters that holds the most worth."""
    best, found, first, total = -1.0, 0, 0, 0.0
    for last, token in enumerate(tokens):
        total += worth[last]
        while token.end - tokens[first].start > size and first < last:
            total -= worth[first]
            first += 1
        if total > best + 1e-9:
            best, found = total, first
    return found


def _end_of_words(text: str, start: int, size: int) -> int:
    if len(text) - start <= size:
        return len(text)
    space = text.rfind(" ", start + size // 2, start + size)
    return start + size if space < 0 else space
