"""Ranked candidates as hits a person can read."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from uuid import UUID

from documents.models import RetrievalChunk
from retrieval.candidates import Candidate, PassageKey
from retrieval.evidence import Evidence
from retrieval.results import Hit, ListRank
from retrieval.scope import Scope
from retrieval.snippets import snippet_of
from retrieval.strategies.compression import compress
from retrieval.strategies.fusion import RankedList

CHUNK_FIELDS = (
    "document_id",
    "document__title",
    "index",
    "content",
    "context_header",
    "chunk_type",
    "section_path",
    "page_start",
    "page_end",
)


def hits_of(
    ranked: Sequence[tuple[PassageKey, float]],
    candidates: Mapping[PassageKey, Candidate],
    evidence: Mapping[PassageKey, Evidence],
    why: Mapping[PassageKey, tuple[ListRank, ...]],
    weights: Mapping[str, float],
    scope: Scope,
    *,
    compressed: bool,
) -> tuple[Hit, ...]:
    """One hit a passage: its best chunk. One statement; a chunk deleted meanwhile is left out."""
    best = {key: best_chunk(candidates[key], evidence[key]) for key, _ in ranked}
    rows = RetrievalChunk.objects.filter(document__in=scope.documents(), pk__in=best.values())
    chunks = {row[0]: row[1:] for row in rows.values_list("id", *CHUNK_FIELDS)}
    return tuple(
        _hit(
            best[key], chunks[best[key]], candidates[key], evidence[key], score, why[key], weights, compressed
        )
        for key, score in ranked
        if best[key] in chunks
    )


def best_chunk(candidate: Candidate, evidence: Evidence) -> UUID:
    """The chunk whose units say most together."""
    worth: dict[UUID, float] = {}
    for unit, score in zip(candidate.units, evidence.unit_scores, strict=True):
        worth[unit.chunk_id] = worth.get(unit.chunk_id, 0.0) + score
    return max(worth, key=lambda chunk: worth[chunk])


def _hit(
    chunk_id: UUID,
    row: tuple,
    candidate: Candidate,
    evidence: Evidence,
    score: float,
    why: tuple[ListRank, ...],
    weights: Mapping[str, float],
    compressed: bool,
) -> Hit:
    document_id, title, index, content, header, chunk_type, section_path, page_start, page_end = row
    order = sorted(range(len(candidate.units)), key=lambda at: -evidence.unit_scores[at])
    best = [candidate.units[at] for at in order if evidence.unit_scores[at] > 0] or [candidate.units[0]]
    return Hit(
        chunk_id=chunk_id,
        document_id=document_id,
        document_title=title,
        index=index,
        page=candidate.page_number,
        page_start=page_start,
        page_end=page_end,
        unit_ids=tuple(unit.id for unit in candidate.units if unit.chunk_id == chunk_id),
        best_unit_ids=tuple(unit.id for unit in best),
        passage_unit_ids=tuple(unit.id for unit in candidate.units),
        score=score,
        why=why,
        snippet=snippet_of(content, weights),
        passage=compress(candidate.text, weights) if compressed else candidate.text,
        context_header=header,
        section_path=tuple(section_path),
        chunk_type=chunk_type,
    )


def ranks_in(lists: Sequence[RankedList[PassageKey]]) -> dict[PassageKey, tuple[ListRank, ...]]:
    """Where each passage stood in each list."""
    ranks: dict[PassageKey, tuple[ListRank, ...]] = {}
    for ranked in lists:
        for rank, (key, score) in enumerate(ranked.items, 1):
            ranks[key] = (*ranks.get(key, ()), ListRank(ranked.name, rank, round(score, 4)))
    return ranks
