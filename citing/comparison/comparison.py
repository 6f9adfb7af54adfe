"""Comparisons that both sides write: the words on each side of "than"."""

from __future__ import annotations

from collections.abc import Sequence

from citing.comparison.alignment import Pairing, content_places
from citing.comparison.token import Token
from text.semantics import Lexicon


def both_compare(pairing: Pairing) -> bool:
    """Return whether both sides contain a comparison: "than", "as fast as"."""
    return compares(pairing.claim, pairing.words) and compares(pairing.source, pairing.words)


def comparison_turned(pairing: Pairing) -> bool:
    """Return whether the comparison is inverted: "A is less than B", "B is more than A"."""
    return (
        bool(pairing.opposites)
        and compares(pairing.claim, pairing.words)
        and compares(pairing.source, pairing.words)
    )


def compares(tokens: Sequence[Token], words: Lexicon) -> bool:
    """Return whether the tokens contain a comparison: "more than"."""
    return any(token.word in words.than | words.than_behind for token in tokens)


def only_claim_compares(pairing: Pairing) -> str:
    """Return the comparative that only the claim has: "longer than" of "is 420 m long"; '' without one."""
    if not compares(pairing.claim, pairing.words) or compares(pairing.source, pairing.words):
        return ""
    if any(pair == "excess" for token in pairing.source for pair, _ in token.poles):
        return ""
    than = next((at for at, token in enumerate(pairing.claim) if token.word in pairing.words.than), 0)
    return next((t.word for t in pairing.claim[:than][::-1] if any(p in _COMPARED for p, _ in t.poles)), "")


_COMPARED = frozenset(
    ["amount", "height", "size", "length", "width", "depth", "weight", "strength", "speed", "age",
     "temperature", "quality", "newness", "price", "level"]
)  # fmt: skip


def _ranks(token: Token) -> bool:
    return token.marker is not None and token.marker.category == "ordinal"


def operands_exchanged(pairing: Pairing) -> bool | None:
    """Return whether the words after "than" changed sides; None where that is undecidable."""
    if pairing.words.than_behind:
        held = {pairing.partners.get(k, -1) for k in standard_of(pairing.claim, pairing.words)} - {-1}
        other = standard_of(pairing.source, pairing.words)
        return not held & other if held and other else None
    at = next((k for k, token in enumerate(pairing.claim) if token.word in pairing.words.than), None)
    there = next((k for k, token in enumerate(pairing.source) if token.word in pairing.words.than), None)
    if at is None or there is None:
        return None
    stems = [token.stem for token in pairing.source if token.kind == "word" or _ranks(token)]
    behind = [
        pairing.partners[k]
        for k in range(at + 1, len(pairing.claim))
        if k in pairing.partners and (pairing.claim[k].kind != "marker" or _ranks(pairing.claim[k]))
    ]
    telling = [j for j in behind if stems.count(pairing.source[j].stem) < 2] or behind[:1]
    if not telling:
        return None
    return telling[0] < there


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
