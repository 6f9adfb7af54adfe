"""Reciprocal rank fusion (Cormack, Clarke, Büttcher 2009), with a weight for each list."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

RRF_K = 60

Item = TypeVar("Item", bound=Hashable)


@dataclass(frozen=True, slots=True)
class RankedList(Generic[Item]):
    """Items best first, each with its score in the list's own units.

    ``weight``: how far the list is to be trusted; 1 is plain reciprocal rank fusion. ``least``: the score
    that counts as nothing, of a list whose tail was cut off.
    """

    name: str
    items: Sequence[tuple[Item, float]]
    weight: float = 1.0
    least: float = 0.0


def fuse(lists: Sequence[RankedList[Item]], k: int = RRF_K) -> list[tuple[Item, float]]:
    """Items by Σ weight / (k + rank), best first; those that tie keep the order of the lists."""
    scores: dict[Item, float] = {}
    for ranked in lists:
        for rank, (item, _) in enumerate(ranked.items, 1):
            scores[item] = scores.get(item, 0.0) + ranked.weight / (k + rank)
    return sorted(scores.items(), key=lambda entry: -entry[1])


def interleave(rankings: Sequence[Sequence[tuple[Item, float]]]) -> list[tuple[Item, float]]:
    """The best of each ranking, then the second of each, …; an item comes once.

    Scores are dealt out anew, highest first, so that they fall along the list.
    """
    longest = max((len(ranking) for ranking in rankings), default=0)
    turns = (ranking[at] for at in range(longest) for ranking in rankings if at < len(ranking))
    best: dict[Item, float] = {}
    for item, score in turns:
        best[item] = max(score, best.get(item, score))
    return list(zip(best, sorted(best.values(), reverse=True), strict=True))
