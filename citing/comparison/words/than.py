"""Comparisons that both sides write: the words on each side of "than"."""

from __future__ import annotations

from collections.abc import Sequence

from citing.comparison.words.alignment import Pairing, content_places
from citing.comparison.words.token import Token, is_marker
from text.semantics import Lexicon


def compares(tokens: Sequence[Token], words: Lexicon) -> bool:
    """Return whether the tokens contain a comparison: "more than"."""
    return any(token.word in words.than | words.than_behind for token in tokens)


def operands_exchanged(pairing: Pairing) -> tuple[int, int] | None:
    """Return the claim's "than" and a word behind it that the source has before its own; None without one."""
    if pairing.words.than_behind:
        own, other = standard_of(pairing.claim, pairing.words), standard_of(pairing.source, pairing.words)
        held = {pairing.partners[k] for k in own if k in pairing.partners}
        return (min(own), min(own)) if held and other and not held & other else None
    than = pairing.words.than
    at = next((k for k, token in enumerate(pairing.claim) if token.word in than), None)
    there = next((k for k, token in enumerate(pairing.source) if token.word in than), None)
    if at is None or there is None:
        return None
    stems = [token.stem for token in pairing.source if token.kind == "word" or is_marker(token, "ordinal")]
    behind = [(k, j) for k, j in pairing.ordered if k > at and _is_compared(pairing.claim[k])]
    telling = [(k, j) for k, j in behind if stems.count(pairing.source[j].stem) < 2] or behind[:1]
    return (at, telling[0][0]) if telling and telling[0][1] < there else None


def _is_compared(token: Token) -> bool:
    return token.kind != "marker" or is_marker(token, "ordinal")


def standard_of(tokens: Sequence[Token], words: Lexicon) -> set[int]:
    """Return the standard of a comparison without spaces: the words before "より" or after "比"."""
    behind = next((at for at, token in enumerate(tokens) if token.word in words.than_behind), None)
    if behind is not None:
        start = behind
        while start and tokens[start - 1].content:
            start -= 1
        return set(range(start, behind))
    than = next((at for at, token in enumerate(tokens) if token.word in words.than), len(tokens))
    return set([at for at in content_places(tokens) if at > than][:1])
