"""Ranked candidates as hits a person can read."""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass
from typing import NamedTuple
from uuid import UUID

from retrieval.candidates import Candidate, PassageKey
from retrieval.evidence import Evidence
from retrieval.results import Hit, ListRank, Snippet
from retrieval.rows import read_rows
from retrieval.scope import ScopeSql
from retrieval.snippets import snippet_of
from retrieval.strategies.compression import compress
from retrieval.strategies.fusion import RankedList

SNIPPET_UNITS = 4

CHUNKS = """
SELECT chunk.id, chunk.document_id, document.title, chunk.index, chunk.context_header,
       chunk.chunk_type, chunk.section_path, chunk.page_start, chunk.page_end
FROM documents_retrievalchunk chunk JOIN documents_document document ON document.id = chunk.document_id
WHERE chunk.id = ANY(%s) AND chunk.document_id IN ({documents})
"""


class ChunkRow(NamedTuple):
    """The columns of a chunk that a hit shows."""

    id: UUID
    document_id: UUID
    document_title: str
    index: int  # type: ignore[assignment]  # hides tuple.index, as meant
    context_header: str
    chunk_type: str
    section_path: list[str]
    page_start: int
    page_end: int


@dataclass(frozen=True, slots=True)
class Found:
    """What the lists of a search brought.

    Attributes:
        fused: passages by fused score, best first.
        candidates: those of them that were read.
        evidence: what speaks for each, by the name of the question or part it was weighed against.
        rarity: idf of the terms asked for, in scope.
    """

    lists: Sequence[RankedList[PassageKey]]
    fused: Sequence[tuple[PassageKey, float]]
    candidates: Mapping[PassageKey, Candidate]
    evidence: Mapping[PassageKey, Mapping[str, Evidence]]
    rarity: Mapping[str, float]


def hits_of(
    ranked: Sequence[tuple[PassageKey, float]],
    found: Found,
    scope: ScopeSql,
    weights: Mapping[str, float],
    *,
    compressed: bool,
) -> tuple[Hit, ...]:
    """One hit a passage: its best chunk. One statement; what was deleted meanwhile is left out.

    ``weights`` says how much each term's mark tells.
    """
    shown = [(found.candidates[key], score) for key, score in ranked if key in found.candidates]
    strongest = {key: strongest_of(found.evidence[key]) for key, _ in ranked if key in found.candidates}
    best = {candidate.key: best_chunk(candidate, strongest[candidate.key]) for candidate, _ in shown}
    chunks = read_chunks(scope, list(best.values()))
    why = ranks_in(found.lists, best.keys())
    hits = []
    for candidate, score in shown:
        key = candidate.key
        if chunk := chunks.get(best[key]):
            evidence = strongest[key]
            shown_units = [at for at, of in enumerate(candidate.chunks) if of == best[key].bytes]
            told = telling_units(evidence, shown_units)
            snippet = snippet_of("\n".join(candidate.contents[at] for at in told), weights)
            hits.append(
                Hit(
                    chunk_id=best[key],
                    document_id=chunk.document_id,
                    document_title=chunk.document_title,
                    index=chunk.index,
                    page=candidate.page_number,
                    page_start=chunk.page_start,
                    page_end=chunk.page_end,
                    unit_ids=tuple(candidate.unit_ids[at] for at in shown_units),
                    best_unit_ids=best_units(candidate, evidence),
                    passage_unit_ids=candidate.unit_ids,
                    score=round(score, 5),
                    why=why[key],
                    snippet=snippet,
                    snippet_unit_id=candidate.unit_ids[unit_at(snippet, candidate.contents, told)],
                    passage=compress(candidate, evidence, weights) if compressed else candidate.text,
                    context_header=chunk.context_header,
                    section_path=tuple(chunk.section_path),
                    chunk_type=chunk.chunk_type,
                )
            )
    return tuple(hits)


def read_chunks(scope: ScopeSql, ids: list[UUID]) -> dict[UUID, ChunkRow]:
    rows = read_rows(CHUNKS.format(documents=scope.documents), [ids, *scope.document_params])
    return {row[0]: ChunkRow(*row) for row in rows}


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


def best_units(candidate: Candidate, evidence: Evidence) -> tuple[UUID, ...]:
    """Units that speak of the question, best first; the passage's first where none does."""
    order = sorted(range(len(candidate.contents)), key=lambda at: -evidence.unit_scores[at])
    best = [candidate.unit_ids[at] for at in order if evidence.unit_scores[at] > 0]
    return tuple(best) or candidate.unit_ids[:1]


def best_chunk(candidate: Candidate, evidence: Evidence) -> UUID:
    """The chunk whose units say most together."""
    worth = dict.fromkeys(candidate.chunks, 0.0)
    for chunk, score in zip(candidate.chunks, evidence.unit_scores, strict=True):
        worth[chunk] += score
    return UUID(bytes=max(worth, key=worth.__getitem__))


def ranks_in(
    lists: Sequence[RankedList[PassageKey]], passages: Set[PassageKey]
) -> dict[PassageKey, tuple[ListRank, ...]]:
    """Where each of the passages stood in each list."""
    ranks: dict[PassageKey, tuple[ListRank, ...]] = {}
    for ranked in lists:
        for rank, (key, score) in enumerate(ranked.items, 1):
            if key in passages:
                ranks[key] = (*ranks.get(key, ()), ListRank(ranked.name, rank, round(score, 4)))
    return ranks
