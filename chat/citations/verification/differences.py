"""What differs between a claim and one sentence of its source, as it is found."""

from __future__ import annotations

from collections.abc import Sequence

from chat.citations.verification.order import Pairing
from chat.citations.verification.tokens import Token
from chat.claims import Conflict


class Differences:
    """Collects conflicts, missing words and open questions of a pairing.

    ``explained_claim`` and ``explained_source`` hold indexes of tokens without a partner that another
    rule has accounted for.
    """

    def __init__(self, pairing: Pairing) -> None:
        self.pairing = pairing
        self.claim, self.source, self.words = pairing.claim, pairing.source, pairing.words
        self.conflicts: list[Conflict] = []
        self.missing: list[str] = []
        self.open: list[str] = []
        self.explained_source: set[int] = set()
        self.explained_claim: set[int] = set()

    def relevant_unmatched(self) -> list[int]:
        """Indexes of the source's tokens without a partner, in the clauses that the claim uses."""
        return [at for at in self.pairing.unmatched_source if self.source[at].clause in self.pairing.clauses]

    def said_whole(self, own: Sequence[int]) -> bool:
        """Whether several tokens of the source all have a partner."""
        return len(own) > 1 and all(at in self.pairing.matched_source for at in own)

    def replaced(self, at: int, own: Sequence[int]) -> bool:
        """Whether another token takes this one's place: an amount of the same measure, or an ordinal."""
        token = self.source[at]
        for other in (self.source[j] for j in own):
            if token.quantity and other.quantity and token.quantity.dimension == other.quantity.dimension:
                return True
            if token.marker and other.marker and token.marker.category == other.marker.category == "ordinal":
                return True
        return False

    def conflict(self, kind: str, i: int | None, j: int | None) -> None:
        """Record that claim token ``i`` and source token ``j`` say different things; either may be absent."""
        claim = self.claim[i] if i is not None else None
        source = self.source[j] if j is not None else None
        self.conflicts.append(
            Conflict(
                kind,
                claim.word if claim else "",
                source.word if source else "",
                (claim.start, claim.end) if claim else (0, 0),
                (source.start, source.end) if source else (0, 0),
            )
        )


def is_marker(token: Token, category: str, value: str = "") -> bool:
    """Whether the token is a marker of this category, and of this value where one is given."""
    return (
        token.marker is not None and token.marker.category == category and value in ("", token.marker.value)
    )
