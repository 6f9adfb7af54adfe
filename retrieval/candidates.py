"""Candidates: the passages that a list brought, with their units, read in one statement."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple
from uuid import UUID

from django.db import connection

from retrieval.scope import ScopeSql

# Who may see what is found out once, not once a passage.
UNITS = """
WITH visible(document_id) AS MATERIALIZED ({documents})
SELECT wanted.entry_id, wanted.ordinal, entry.document_id,
       unit.id, unit.chunk_id, unit.page_number, unit.unit_type, unit.content
FROM unnest(%s::int[], %s::int[]) AS wanted(entry_id, ordinal)
JOIN retrieval_indexeddocument entry ON entry.id = wanted.entry_id
JOIN retrieval_passage passage
    ON passage.entry_id = wanted.entry_id AND passage.ordinal = wanted.ordinal
CROSS JOIN LATERAL (
    SELECT * FROM documents_citationunit
    WHERE document_id = entry.document_id
        AND position BETWEEN passage.first_position AND passage.last_position
        AND chunk_id IS NOT NULL {chunk_filter}
    OFFSET 0
) unit
WHERE entry.document_id IN (SELECT visible.document_id FROM visible)
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


def read_candidates(scope: ScopeSql, passages: Sequence[PassageKey]) -> dict[PassageKey, Candidate]:
    """The passages with their units, in one statement; what is out of scope is left out."""
    statement = UNITS.format(documents=scope.documents, chunk_filter=scope.and_chunk("chunk_id"))
    wanted = [[key.entry_id for key in passages], [key.ordinal for key in passages]]
    units: dict[tuple[PassageKey, UUID], list[CandidateUnit]] = {}
    with connection.cursor() as cursor:
        cursor.execute(statement, [*scope.document_params, *wanted, *scope.chunk_params])
        for entry_id, ordinal, document_id, *unit in cursor.fetchall():
            units.setdefault((PassageKey(entry_id, ordinal), document_id), []).append(CandidateUnit(*unit))
    return {key: Candidate(key, document, tuple(found)) for (key, document), found in units.items()}
