"""Candidates: the chunks that a list brought, with their units, read in one statement."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from functools import cached_property
from uuid import UUID

import numpy as np

from retrieval.index.postgres import read_rows
from retrieval.query.scope import ScopeSql
from text.terms import BREAK, terms_of_each

# A chunk comes as one row with its units joined: of most, only the text is looked at.
UNITS = """
SELECT chunk.id, chunk.document_id, document.title, entry.language, entry.fields, chunk.index,
       chunk.context_header, chunk.chunk_type, chunk.section_path, chunk.page_start, chunk.page_end, unit.*
FROM documents_retrievalchunk chunk
JOIN documents_document document ON document.id = chunk.document_id
JOIN retrieval_indexeddocument entry ON entry.document_id = chunk.document_id
CROSS JOIN LATERAL (
    SELECT string_agg(translate(content, chr(1), ' '), chr(1) ORDER BY position) AS contents,
           string_agg(uuid_send(id), '' ORDER BY position),
           string_agg(int4send(page_number), '' ORDER BY position),
           bool_or(unit_type = 'table')
    FROM documents_citationunit
    WHERE document_id = chunk.document_id AND id = ANY(chunk.unit_ids)
) unit
WHERE chunk.id = ANY(%s) AND unit.contents IS NOT NULL
    AND chunk.document_id IN ({documents}) {chunk_filter}
"""


@dataclass(frozen=True)
class Candidate:
    """A chunk that may answer, with its units in reading order.

    Attributes:
        fields: packs of ``domains`` that its document is of.
        contents: the text of each unit.
        packed_units: the ids of its units, 16 bytes an id: of most candidates none is looked at.
        pages: of each unit, from 1.
        has_table: whether some unit is a row of a table.
    """

    key: UUID
    document_id: UUID
    document_title: str
    language: str
    fields: frozenset[str]
    index: int
    context_header: str
    chunk_type: str
    section_path: tuple[str, ...]
    page_start: int
    page_end: int
    contents: tuple[str, ...]
    packed_units: bytes
    pages: tuple[int, ...]
    has_table: bool = False

    @cached_property
    def unit_ids(self) -> tuple[UUID, ...]:
        packed = self.packed_units
        return tuple(UUID(bytes=packed[at : at + 16]) for at in range(0, len(packed), 16))

    @cached_property
    def terms(self) -> list[list[str]]:
        """The terms of each unit, in the document's language."""
        return terms_of_each(self.contents, self.language)

    @cached_property
    def title_terms(self) -> frozenset[str]:
        """Terms of the document's title, which stand on all its pages."""
        return frozenset(terms_of_each([self.document_title], self.language)[0])

    @cached_property
    def heading_terms(self) -> frozenset[str]:
        """Terms of the headings above it and of its caption."""
        heading = self.context_header.removeprefix(self.document_title)
        return frozenset(terms_of_each([heading], self.language)[0])

    def first_of(self, pages: Collection[int]) -> int | None:
        """The first of these pages that it stands on."""
        return next((page for page in self.pages if page in pages), None)

    @cached_property
    def text(self) -> str:
        return "\n".join(self.contents)


def read_candidates(scope: ScopeSql, chunks: Sequence[UUID]) -> dict[UUID, Candidate]:
    """The chunks with their units, in one statement; what is out of scope is left out."""
    statement = UNITS.format(
        documents=scope.documents, chunk_filter=scope.and_chunk("chunk.document_id, chunk.id")
    )
    rows = read_rows(statement, [list(chunks), *scope.document_params, *scope.chunk_params])
    return {row[0]: _candidate(row) for row in rows}


def _candidate(row: tuple) -> Candidate:
    return Candidate(
        key=row[0],
        document_id=row[1],
        document_title=row[2],
        language=row[3],
        fields=frozenset(row[4] or ()),
        index=row[5],
        context_header=row[6],
        chunk_type=row[7],
        section_path=tuple(row[8]),
        page_start=row[9],
        page_end=row[10],
        contents=tuple(row[11].split(BREAK)),
        packed_units=bytes(row[12]),
        pages=tuple(np.frombuffer(row[13], ">i4").tolist()),
        has_table=row[14],
    )
