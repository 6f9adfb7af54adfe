"""Ranked candidates as hits a person can read."""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass
from uuid import UUID

from retrieval.candidates import Candidate
from retrieval.evidence import Evidence
from retrieval.results import Hit, ListRank, Snippet
from retrieval.snippets import snippet_of
from retrieval.strategies.compression import compress
from retrieval.strategies.fusion import RankedList

SNIPPET_UNITS = 4


@dataclass(frozen=True, slots=True)
class Found:
    """What the lists of a search brought.

    Attributes:
        fused: chunks by fused score, best first.
        candidates: those of them that were read.
        evidence: what speaks for each, by the name of the question or part it was weighed against.
        rarity: idf of the terms asked for, in scope.
    """

    lists: Sequence[RankedList[UUID]]
    fused: Sequence[tuple[UUID, float]]
    candidates: Mapping[UUID, Candidate]
    evidence: Mapping[UUID, Mapping[str, Evidence]]
    rarity: Mapping[str, float]


@dataclass(frozen=True, slots=True)
class Excerpts:
    """How hits are excerpted.

    Attributes:
        weights: how much a term's mark tells.
        compressed: whether ``Hit.passage`` holds only the sentences that matter.
    """

    weights: Mapping[str, float]
    compressed: bool


def hits_of(
    ranked: Sequence[tuple[UUID, float]], found: Found, excerpts: Excerpts | None = None
) -> tuple[Hit, ...]:
    """One hit a chunk; what was deleted meanwhile is left out. Without ``excerpts``, hits have no text."""
    shown = [(found.candidates[key], score) for key, score in ranked if key in found.candidates]
    why = ranks_in(found.lists, {candidate.key for candidate, _ in shown})
    return tuple(
        hit_of(
            candidate,
            strongest_of(found.evidence[candidate.key]),
            score,
            why[candidate.key],
            excerpts,
        )
        for candidate, score in shown
    )


def hit_of(
    candidate: Candidate,
    evidence: Evidence,
    score: float,
    why: tuple[ListRank, ...],
    excerpts: Excerpts | None,
) -> Hit:
    """The chunk as it is shown: on the page of its best unit."""
    best = best_order(evidence)
    page = candidate.pages[best[0]]
    on_page = [at for at, number in enumerate(candidate.pages) if number == page]
    snippet, snippet_unit, passage = Snippet(""), candidate.unit_ids[best[0]], ""
    if excerpts is not None:
        snippet, snippet_unit = excerpt_of(candidate, evidence, on_page, excerpts.weights)
        compressed = excerpts.compressed
        passage = compress(candidate, evidence, excerpts.weights) if compressed else candidate.text
    return Hit(
        chunk_id=candidate.key,
        document_id=candidate.document_id,
        document_title=candidate.document_title,
        index=candidate.index,
        page=page,
        page_start=candidate.page_start,
        page_end=candidate.page_end,
        unit_ids=tuple(candidate.unit_ids[at] for at in on_page),
        best_unit_ids=best_units(candidate, evidence),
        passage_unit_ids=candidate.unit_ids,
        score=round(score, 5),
        why=why,
        snippet=snippet,
        snippet_unit_id=snippet_unit,
        passage=passage,
        context_header=candidate.context_header,
        section_path=candidate.section_path,
        chunk_type=candidate.chunk_type,
    )


def excerpt_of(
    candidate: Candidate, evidence: Evidence, on_page: Sequence[int], weights: Mapping[str, float]
) -> tuple[Snippet, UUID]:
    """The stretch of the page's units that tells most, and the unit that its first mark stands in."""
    told = telling_units(evidence, on_page)
    text = "\n".join(candidate.contents[at] for at in told)
    snippet = snippet_of(text, weights, language=candidate.language)
    return snippet, candidate.unit_ids[unit_at(snippet, candidate.contents, told)]


def telling_units(evidence: Evidence, units: Sequence[int]) -> list[int]:
    """Units for a snippet: the best of these and what follows it."""
    start = max(units, key=lambda at: evidence.unit_scores[at])
    return [at for at in units if start <= at < start + SNIPPET_UNITS]


def unit_at(snippet: Snippet, contents: Sequence[str], units: Sequence[int]) -> int:
    """Of these units, joined by line ends, the one with the snippet's first marked word."""
    place = snippet.start + (snippet.marks[0][0] if snippet.marks else 0)
    for at in units:
        place -= len(contents[at]) + 1
        if place < 0:
            return at
    return units[-1]


def strongest_of(evidence: Mapping[str, Evidence]) -> Evidence:
    """Of the question or the part of it that the candidate meets best."""
    return max(evidence.values(), key=lambda found: found.coverage + found.phrases)


def best_order(evidence: Evidence) -> list[int]:
    """Units of a candidate, those that say most first; in reading order where none says anything."""
    return sorted(range(len(evidence.unit_scores)), key=lambda at: -evidence.unit_scores[at])


def best_units(candidate: Candidate, evidence: Evidence) -> tuple[UUID, ...]:
    """Units that speak of the question, best first; the chunk's first where none does."""
    best = [candidate.unit_ids[at] for at in best_order(evidence) if evidence.unit_scores[at] > 0]
    return tuple(best) or candidate.unit_ids[:1]


def ranks_in(lists: Sequence[RankedList[UUID]], chunks: Set[UUID]) -> dict[UUID, tuple[ListRank, ...]]:
    """Where each of the chunks stood in each list."""
    ranks: dict[UUID, tuple[ListRank, ...]] = {}
    for ranked in lists:
        for rank, (key, score) in enumerate(ranked.items, 1):
            if key in chunks:
                ranks[key] = (*ranks.get(key, ()), ListRank(ranked.name, rank, round(score, 4)))
    return ranks
