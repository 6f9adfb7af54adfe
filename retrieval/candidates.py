"""Candidates: the passages that a list brought, with their units, read in one statement."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple
from uuid import UUID

from django.db import connection

from retrieval.analysis import BREAK, terms_of_each
from retrieval.scope import ScopeSql

# A passage comes as one row: of most, only the text is looked at.
UNITS = """
SELECT wanted.entry_id, wanted.ordinal, entry.document_id, passage.page_number, unit.*
FROM unnest(%s::int[], %s::int[]) AS wanted(entry_id, ordinal)
JOIN retrieval_indexeddocument entry ON entry.id = wanted.entry_id
JOIN retrieval_passage passage
    ON passage.entry_id = wanted.entry_id AND passage.ordinal = wanted.ordinal
CROSS JOIN LATERAL (
    SELECT string_agg(translate(content, chr(1), ' '), chr(1) ORDER BY position) AS contents,
           string_agg(id::text, ',' ORDER BY position),
           string_agg(chunk_id::text, ',' ORDER BY position)
    FROM documents_citationunit
    WHERE document_id = entry.document_id
        AND position BETWEEN passage.first_position AND passage.last_position
        AND chunk_id IS NOT NULL {chunk_filter}
) unit
WHERE unit.contents IS NOT NULL AND entry.document_id IN ({documents})
"""


class PassageKey(NamedTuple):
    entry_id: int
    ordinal: int


class CandidateUnit(NamedTuple):
    id: UUID
    chunk_id: UUID
    content: str


@dataclass(frozen=True)
class Candidate:
    """A passage that may answer: the units of a stretch of one page, in reading order.

    ``unit_ids`` and ``chunk_ids`` are as PostgreSQL wrote them, with commas between.
    """

    key: PassageKey
    document_id: UUID
    page_number: int
    contents: tuple[str, ...]
    unit_ids: str
    chunk_ids: str

    @cached_property
    def units(self) -> tuple[CandidateUnit, ...]:
        written = self.chunk_ids.split(",")
        chunks = {text: UUID(text) for text in dict.fromkeys(written)}
        ids = map(UUID, self.unit_ids.split(","))
        return tuple(map(CandidateUnit, ids, map(chunks.__getitem__, written), self.contents))

    @cached_property
    def terms(self) -> list[list[str]]:
        """The terms of each unit."""
        return terms_of_each(self.contents)

    @cached_property
    def text(self) -> str:
        return "\n".join(self.contents)


def read_candidates(scope: ScopeSql, passages: Sequence[PassageKey]) -> dict[PassageKey, Candidate]:
    """The passages with their units, in one statement; what is out of scope is left out."""
    statement = UNITS.format(documents=scope.documents, chunk_filter=scope.and_chunk("chunk_id"))
    wanted = [[key.entry_id for key in passages], [key.ordinal for key in passages]]
    with connection.cursor() as cursor:
        cursor.execute(statement, [*wanted, *scope.chunk_params, *scope.document_params])
        found = [_candidate(row) for row in cursor.fetchall()]
    return {candidate.key: candidate for candidate in found}


def _candidate(row: tuple) -> Candidate:
    entry_id, ordinal, document_id, page_number, contents, unit_ids, chunk_ids = row
    return Candidate(
        key=PassageKey(entry_id, ordinal),
        document_id=document_id,
        page_number=page_number,
        contents=tuple(contents.split(BREAK)),
        unit_ids=unit_ids,
        chunk_ids=chunk_ids,
    )
