"""Candidates: the passages that a list brought, with their units, read in one statement."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import groupby
from typing import NamedTuple
from uuid import UUID

from django.core.exceptions import EmptyResultSet
from django.db import connection

from retrieval.scope import Scope

UNITS = """
WITH wanted AS (
    SELECT * FROM unnest(%s::int[], %s::int[]) AS by_words(entry_id, ordinal)
    UNION
    SELECT passage.entry_id, passage.ordinal
    FROM documents_citationunit unit
    JOIN retrieval_indexeddocument entry ON entry.document_id = unit.document_id
    JOIN retrieval_passage passage ON passage.entry_id = entry.id
        AND unit.position BETWEEN passage.first_position AND passage.last_position
    WHERE unit.chunk_id = ANY(%s::uuid[])
)
SELECT wanted.entry_id, wanted.ordinal, unit.document_id,
       unit.id, unit.chunk_id, unit.page_number, unit.unit_type, unit.content
FROM wanted
JOIN retrieval_indexeddocument entry ON entry.id = wanted.entry_id
JOIN retrieval_passage passage
    ON passage.entry_id = wanted.entry_id AND passage.ordinal = wanted.ordinal
JOIN documents_citationunit unit ON unit.document_id = entry.document_id
    AND unit.position BETWEEN passage.first_position AND passage.last_position
WHERE entry.document_id IN ({documents}) AND unit.chunk_id IS NOT NULL {chunk_filter}
ORDER BY wanted.entry_id, wanted.ordinal, unit.position
"""


class PassageKey(NamedTuple):
    entry_id: int
    ordinal: int


class CandidateUnit(NamedTuple):
    id: UUID
    chunk_id: UUID
    page_number: int
    unit_type: str
    content: str


@dataclass(frozen=True)
class Candidate:
    """A passage that may answer. ``units`` are in reading order and all on one page."""

    key: PassageKey
    document_id: UUID
    units: tuple[CandidateUnit, ...]

    @property
    def page_number(self) -> int:
        return self.units[0].page_number

    @cached_property
    def text(self) -> str:
        return "\n".join(unit.content for unit in self.units)


def read_candidates(
    scope: Scope, passages: Sequence[PassageKey], chunk_ids: Sequence[UUID]
) -> dict[PassageKey, Candidate]:
    """The passages named, and those that the chunks are in; what is out of scope is left out."""
    try:
        documents, params = scope.documents().values("pk").query.sql_with_params()
        chunks, chunk_params = (
            scope.chunks().values("pk").query.sql_with_params() if scope.narrows_chunks else ("", ())
        )
    except EmptyResultSet:
        return {}
    statement = UNITS.format(
        documents=documents, chunk_filter=f"AND unit.chunk_id IN ({chunks})" if chunks else ""
    )
    wanted = [[key.entry_id for key in passages], [key.ordinal for key in passages], list(chunk_ids)]
    with connection.cursor() as cursor:
        cursor.execute(statement, [*wanted, *params, *chunk_params])
        rows = cursor.fetchall()
    found = {}
    for (entry_id, ordinal, document_id), group in groupby(rows, lambda row: row[:3]):
        key = PassageKey(entry_id, ordinal)
        found[key] = Candidate(key, document_id, tuple(CandidateUnit(*row[3:]) for row in group))
    return found


def passages_of_chunks(candidates: Sequence[Candidate]) -> dict[UUID, PassageKey]:
    """The passage that holds most of each chunk's units."""
    shares: dict[UUID, Counter[PassageKey]] = {}
    for candidate in candidates:
        for unit in candidate.units:
            shares.setdefault(unit.chunk_id, Counter())[candidate.key] += 1
    return {chunk: share.most_common(1)[0][0] for chunk, share in shares.items()}
