"""Candidates: the passages that a list brought, with their units, read in one statement."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple
from uuid import UUID

from retrieval.analysis import BREAK, terms_of_each
from retrieval.rows import read_rows
from retrieval.scope import ScopeSql

# A passage comes as one row: of most, only the text is looked at.
UNITS = """
SELECT wanted.entry_id, wanted.ordinal, entry.document_id, passage.page_number, unit.*
FROM unnest(%s::int4[], %s::int4[]) AS wanted(entry_id, ordinal)
JOIN retrieval_indexeddocument entry ON entry.id = wanted.entry_id
JOIN retrieval_passage passage
    ON passage.entry_id = wanted.entry_id AND passage.ordinal = wanted.ordinal
CROSS JOIN LATERAL (
    SELECT string_agg(translate(content, chr(1), ' '), chr(1) ORDER BY position) AS contents,
           string_agg(uuid_send(id), '' ORDER BY position),
           string_agg(uuid_send(chunk_id), '' ORDER BY position)
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


@dataclass(frozen=True)
class Candidate:
    """A passage that may answer: the units of a stretch of one page, in reading order.

    ``packed_units`` and ``packed_chunks`` are the ids of its units, and of the chunk of each, 16 bytes
    an id: of most candidates none is looked at.
    """

    key: PassageKey
    document_id: UUID
    page_number: int
    contents: tuple[str, ...]
    packed_units: bytes
    packed_chunks: bytes

    @cached_property
    def unit_ids(self) -> tuple[UUID, ...]:
        return tuple(UUID(bytes=packed) for packed in _cut(self.packed_units))

    @cached_property
    def chunks(self) -> list[bytes]:
        """Of each unit the chunk it is in, by the bytes of its id."""
        return _cut(self.packed_chunks)

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
    rows = read_rows(statement, [*wanted, *scope.chunk_params, *scope.document_params])
    found = map(_candidate, rows)
    return {candidate.key: candidate for candidate in found}


def _candidate(row: tuple) -> Candidate:
    entry_id, ordinal, document_id, page_number, contents, packed_units, packed_chunks = row
    return Candidate(
        key=PassageKey(entry_id, ordinal),
        document_id=document_id,
        page_number=page_number,
        contents=tuple(contents.split(BREAK)),
        packed_units=packed_units,
        packed_chunks=packed_chunks,
    )


def _cut(packed: bytes) -> list[bytes]:
    return [packed[at : at + 16] for at in range(0, len(packed), 16)]
