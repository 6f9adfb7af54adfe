"""Sentences that cite nothing, matched against the passages the model was shown.

Only what the verifier verifies becomes a citation. It is stored as matched by us,
not by the model.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence

from chat.claims import VERIFIED, Claim, SourceUnit, Verification
from chat.verification import verify

CANDIDATES = 4  # passages a sentence is verified against
LEAST_OVERLAP = 0.3  # share of the sentence's words that a passage must have
_WORDS = re.compile(r"\d+(?:[.,]\d+)*|[^\W\d_]{3,}")
_UNSPACED = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af\u0e00-\u0eff]")

Neighbours = Callable[[SourceUnit], Sequence[SourceUnit]]


class PassageMatcher:
    """Finds the passage that a sentence rests on."""

    def __init__(self, shown: Sequence[SourceUnit], neighbours: Neighbours) -> None:
        self._shown = [(unit, terms_of(unit.text)) for unit in shown]
        self._neighbours = neighbours

    def match(self, sentence: str, first: Iterable[SourceUnit] = ()) -> Verification | None:
        """The verification by the first passage that bears the sentence out, ``first`` before others."""
        tried: set[str] = set()
        for unit in [*first, *self._candidates(sentence)]:
            if unit.id in tried:
                continue
            tried.add(unit.id)
            found = verify(Claim(sentence), unit, self._neighbours(unit))
            if found.verdict in VERIFIED and found.verdict != "moved":
                return found
        return None

    def _candidates(self, sentence: str) -> list[SourceUnit]:
        """The passages with most of the sentence's words; of equal ones the better ranked."""
        said = terms_of(sentence)
        if not said:
            return []
        shares = [(len(said & terms) / len(said), unit) for unit, terms in self._shown]
        best = sorted((pair for pair in shares if pair[0] >= LEAST_OVERLAP), key=lambda pair: -pair[0])
        return [unit for _, unit in best[:CANDIDATES]]


def terms_of(text: str) -> set[str]:
    """Words and numbers; pairs of characters in scripts without blanks."""
    folded = text.casefold()
    unspaced = {folded[match.start() : match.start() + 2] for match in _UNSPACED.finditer(folded)}
    return set(_WORDS.findall(_UNSPACED.sub(" ", folded))) | unspaced
