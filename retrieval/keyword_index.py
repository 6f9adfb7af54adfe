"""Reads the inverted index in scope: which passages hold which terms, and how much."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from django.db import connection
from numpy.typing import NDArray

from retrieval.analysis import term_number
from retrieval.postings import COVER, MOST_PASSAGES, NAMES, POSTING, idf, unpack_postings
from retrieval.scope import ScopeSql

ENTRIES = """
SELECT id, passage_count, chunk_count
FROM retrieval_indexeddocument WHERE document_id IN ({documents}) ORDER BY id
"""

# Both aggregates of a term run over the same rows in the same order, so the
# entries' sizes cut the joined postings. Bytes travel faster than arrays.
POSTINGS = """
SELECT term,
       string_agg(int4send(entry_id) || int4send(length(packed) / {posting_size}), ''),
       string_agg(packed, '')
FROM retrieval_posting
WHERE term = ANY(%s) AND entry_id IN (
    SELECT id FROM retrieval_indexeddocument WHERE document_id IN ({documents})
)
GROUP BY term
"""

# A chunk's filters hold for the pages it is on.
ALLOWED = """
SELECT passage.entry_id, string_agg(int4send(passage.ordinal), '')
FROM retrieval_passage passage
JOIN retrieval_indexeddocument entry ON entry.id = passage.entry_id
JOIN (
    SELECT DISTINCT document_id, generate_series(page_start, page_end) AS page_number
    FROM documents_retrievalchunk WHERE id IN ({chunks})
) chunk ON chunk.document_id = entry.document_id AND chunk.page_number = passage.page_number
GROUP BY passage.entry_id
"""


@dataclass(frozen=True, slots=True)
class Impacts:
    """How much each of some passages, or documents, speaks of one term; ``at`` are their numbers in scope."""

    at: NDArray[np.int64]
    values: NDArray[np.float32]

    def __len__(self) -> int:
        return len(self.at)


@dataclass(frozen=True, slots=True)
class TermPostings:
    """One term in scope: the passages that hold it, the documents whose names or first page do.

    ``document_count``: documents that hold it anywhere.
    """

    passages: Impacts
    names: Impacts
    covers: Impacts
    document_count: int


@dataclass(frozen=True)
class ScopeIndex:
    """The indexed documents in scope, in the order of their entries.

    Their passages are numbered through: those of entry ``e`` start at ``starts[e]``.
    """

    entry_ids: NDArray[np.int64]
    starts: NDArray[np.int64]
    chunk_count: int

    @property
    def passage_count(self) -> int:
        return int(self.starts[-1])

    @cached_property
    def sizes(self) -> NDArray[np.int64]:
        """Passages of each document."""
        return np.diff(self.starts)

    @cached_property
    def document_count(self) -> int:
        return len(self.entry_ids)

    def number_of(self, entry_ids: NDArray[np.int32]) -> NDArray[np.int64]:
        """The documents' numbers; -1 for one that was indexed between two statements."""
        at = np.searchsorted(self.entry_ids, entry_ids)
        at[at == len(self.entry_ids)] = -1
        return np.where(self.entry_ids[at] == entry_ids, at, -1)

    def entry_of(self, passages: NDArray[np.int64]) -> NDArray[np.int64]:
        """The number of the document that each passage stands in."""
        return np.searchsorted(self.starts, passages, side="right") - 1

    def place(self, passage: int) -> tuple[int, int]:
        """Entry id and ordinal of a passage number."""
        entry = int(self.entry_of(np.array([passage]))[0])
        return int(self.entry_ids[entry]), passage - int(self.starts[entry])

    def idf(self, term: TermPostings) -> float:
        return idf(len(term.passages), self.passage_count)

    def document_idf(self, documents: int) -> float:
        """Of a term in so many documents, names or first pages."""
        return idf(documents, self.document_count)


def open_index(scope: ScopeSql) -> ScopeIndex:
    """The indexed documents in scope; one statement."""
    rows = _run(ENTRIES.format(documents=scope.documents), scope.document_params)
    sizes = [row[1] for row in rows]
    return ScopeIndex(
        entry_ids=np.array([row[0] for row in rows], np.int64),
        starts=np.concatenate([[0], np.cumsum(sizes, dtype=np.int64)]),
        chunk_count=sum(row[2] for row in rows),
    )


def read_postings(scope: ScopeSql, index: ScopeIndex, terms: Collection[str]) -> Mapping[str, TermPostings]:
    """Postings of the terms in scope; terms that stand nowhere are left out; one statement."""
    numbers = {term_number(term): term for term in terms}
    statement = POSTINGS.format(documents=scope.documents, posting_size=POSTING.itemsize)
    rows = _run(statement, ([*numbers], *scope.document_params)) if numbers else []
    return {
        numbers[number]: _term_postings(index, bytes(places), bytes(packed))
        for number, places, packed in rows
    }


def allowed_passages(scope: ScopeSql, index: ScopeIndex) -> NDArray[np.bool_] | None:
    """Which passages the scope's chunk filters let through; None where it has none."""
    if not scope.chunks:
        return None
    allowed = np.zeros(index.passage_count, np.bool_)
    for entry_id, ordinals in _run(ALLOWED.format(chunks=scope.chunks), scope.chunk_params):
        at = np.searchsorted(index.entry_ids, entry_id)
        if at < len(index.entry_ids) and index.entry_ids[at] == entry_id:
            allowed[index.starts[at] + np.frombuffer(bytes(ordinals), ">i4")] = True
    return allowed


def _term_postings(index: ScopeIndex, places: bytes, packed: bytes) -> TermPostings:
    place = np.frombuffer(places, ">i4").astype(np.int32).reshape(-1, 2)
    entry = index.number_of(place[:, 0])
    ordinals, impacts = unpack_postings(packed)
    entries = np.repeat(entry, place[:, 1])
    whole = np.flatnonzero((ordinals >= MOST_PASSAGES) & (entries >= 0))
    kinds, documents, values = ordinals[whole], entries[whole], impacts[whole]
    passages = index.starts[entries] + ordinals
    parts = passages < index.starts[entries + 1]  # not of the whole, nor of a document indexed anew
    parts &= entries >= 0
    return TermPostings(
        passages=Impacts(passages[parts], impacts[parts]),
        names=Impacts(documents[kinds == NAMES], values[kinds == NAMES]),
        covers=Impacts(documents[kinds == COVER], values[kinds == COVER]),
        document_count=len(np.unique(entry[entry >= 0])),
    )


def _run(statement: str, params: Sequence[Any]) -> list[tuple]:
    with connection.cursor() as cursor:
        cursor.execute(statement, params)
        return cursor.fetchall()
