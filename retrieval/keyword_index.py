"""Reads the inverted index in scope: which passages hold which terms, and how much."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any

import msgspec
import numpy as np
from django.db import connection
from numpy.typing import NDArray

from retrieval.analysis import term_number
from retrieval.candidates import PassageKey
from retrieval.models import EmbeddingSpace
from retrieval.postings import COVER, IMPACT_STEP, MOST_PASSAGES, NAMES, POSTING, idf
from retrieval.rows import read_rows
from retrieval.scope import ScopeSql

Numbers = NDArray[np.signedinteger[Any]]
PAIR = np.dtype([("entry", ">i4"), ("count", ">i4")])

# One statement, so one snapshot: the documents in scope, whose rights are looked up once, the postings
# in them, and, as it has to be known too, the embedding space that answers. Both aggregates of a term
# run over the same rows in the same order, so the entries' sizes cut the joined postings. Bytes travel
# faster than rows and arrays. IS TRUE keeps the condition beside the index's rows, which come term by
# term; as a join it would cost a sort of them all.
INDEX = """
WITH entry AS MATERIALIZED (
    SELECT id, passage_count, chunk_count
    FROM retrieval_indexeddocument WHERE document_id IN ({documents})
)
SELECT NULL::int AS term, sum(chunk_count) AS chunk_count,
       string_agg(int4send(id) || int4send(passage_count), '' ORDER BY id) AS entries, NULL::bytea AS packed,
       (SELECT row_to_json(space)::text FROM retrieval_embeddingspace space WHERE active) AS space
FROM entry
UNION ALL
SELECT term, NULL, string_agg(int4send(entry_id) || int4send(length(packed) / {posting_size}), ''),
       string_agg(packed, ''), NULL
FROM retrieval_posting
WHERE term = ANY(%s::int4[]) AND (entry_id IN (SELECT id FROM entry)) IS TRUE
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

    at: Numbers
    packed: NDArray[np.uint8]

    @property
    def values(self) -> NDArray[np.float32]:
        return self.packed * IMPACT_STEP

    def __len__(self) -> int:
        return len(self.at)


@dataclass(frozen=True)
class TermPostings:
    """One term in scope: the passages that hold it, the documents whose names or first page do.

    ``documents``: numbers of those that hold it anywhere; a long one may come twice.
    """

    passages: Impacts
    names: Impacts
    covers: Impacts
    documents: Numbers

    @cached_property
    def document_count(self) -> int:
        return int(np.count_nonzero(np.bincount(self.documents)))


@dataclass(frozen=True)
class ScopeIndex:
    """The indexed documents in scope, in the order of their entries, and postings in them.

    Their passages are numbered through: those of entry ``e`` start at ``starts[e]``.
    ``postings`` lacks terms that stand nowhere in scope; ``space`` is None before anything was embedded.
    """

    entry_ids: Numbers
    starts: Numbers
    chunk_count: int
    postings: Mapping[str, TermPostings]
    space: EmbeddingSpace | None

    @property
    def passage_count(self) -> int:
        return int(self.starts[-1])

    @cached_property
    def sizes(self) -> Numbers:
        """Passages of each document."""
        return np.diff(self.starts)

    @cached_property
    def document_count(self) -> int:
        return len(self.entry_ids)

    def entry_of(self, passages: Numbers) -> Numbers:
        """The number of the document that each passage stands in."""
        return np.searchsorted(self.starts, passages, side="right") - 1

    def keys_of(self, passages: Sequence[int]) -> list[PassageKey]:
        """Entry ids and ordinals of passage numbers."""
        numbers = np.array(passages, np.int64)
        entries = self.entry_of(numbers)
        places = zip(self.entry_ids[entries].tolist(), (numbers - self.starts[entries]).tolist(), strict=True)
        return [PassageKey(*place) for place in places]

    @cached_property
    def rarity(self) -> dict[str, float]:
        """Inverse document frequency of the terms that stand in passages."""
        return {
            term: idf(len(found.passages), self.passage_count)
            for term, found in self.postings.items()
            if len(found.passages)
        }

    def document_idf(self, documents: int) -> float:
        """Of a term in so many documents, names or first pages."""
        return idf(documents, self.document_count)


def open_index(scope: ScopeSql, terms: Collection[str]) -> ScopeIndex:
    """The indexed documents in scope, with the postings of the terms; one statement."""
    numbers = {term_number(term): term for term in terms}
    statement = INDEX.format(documents=scope.documents, posting_size=POSTING.itemsize)
    params = [*scope.document_params, [*numbers]]
    (_, chunk_count, packed_entries, _, space), *rows = read_rows(statement, params)
    entry_ids, sizes = _pairs(packed_entries or b"")
    starts = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int32)
    found = _unpacked(entry_ids, starts, [row[2] for row in rows], [row[3] for row in rows]) if rows else ()
    named = zip((numbers[row[0]] for row in rows), found, strict=True)
    active = EmbeddingSpace(**msgspec.json.decode(space)) if space else None
    return ScopeIndex(entry_ids, starts, chunk_count or 0, dict(named), active)


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


def _unpacked(
    entry_ids: Numbers, starts: Numbers, places: Sequence[bytes], packed: Sequence[bytes]
) -> Iterator[TermPostings]:
    """Postings term by term, of what the statement gives: (entry, how many) of each, and the postings.

    All terms are unpacked at once: a question has many, and every step over an array has its price.
    """
    entries, counts = _pairs(b"".join(places))
    documents = np.searchsorted(entry_ids, entries)
    postings = np.frombuffer(b"".join(packed), POSTING)
    ordinals, impacts = postings["passage"], postings["impact"]
    row_ends = np.cumsum([len(place) // PAIR.itemsize for place in places])
    ends = np.cumsum([len(part) // POSTING.itemsize for part in packed])
    in_passages = ordinals < MOST_PASSAGES
    whole = np.flatnonzero(~in_passages)  # those of a document's names, or of its first page
    passages = np.repeat(starts[documents], counts)
    passages += ordinals

    def of_whole(kind: int) -> Iterator[Impacts]:
        where = whole[ordinals[whole] == kind]
        at = documents[np.searchsorted(np.cumsum(counts), where, side="right")]
        return _cut(at, impacts[where], np.searchsorted(where, ends))

    return map(
        TermPostings,
        _cut(passages[in_passages], impacts[in_passages], ends - np.searchsorted(whole, ends)),
        of_whole(NAMES),
        of_whole(COVER),
        (documents[start:end] for start, end in pairwise([0, *row_ends])),
    )


def _cut(at: Numbers, packed: NDArray[np.uint8], ends: Numbers) -> Iterator[Impacts]:
    """Term by term; ``ends`` says where each ends."""
    return (Impacts(at[start:end], packed[start:end]) for start, end in pairwise([0, *ends.tolist()]))


def _pairs(packed: bytes) -> tuple[Numbers, Numbers]:
    """Entry ids, and how many of something each has."""
    pairs = np.frombuffer(packed, PAIR)
    return pairs["entry"].astype(np.int64), pairs["count"].astype(np.int64)


def _run(statement: str, params: Sequence[Any]) -> list[tuple]:
    with connection.cursor() as cursor:
        cursor.execute(statement, params)
        return cursor.fetchall()
