"""What a first attempt does: all words OR-ed, ranked by ``ts_rank``, fused with an HNSW list.

The yardstick of ``bench search``; it is not part of search.
"""

from __future__ import annotations

import re
from uuid import UUID

from django.contrib.auth.models import User
from django.db import connection
from pgvector import HalfVector

from retrieval.models import EmbeddingSpace
from retrieval.providers.embeddings import Vectors
from retrieval.spaces import distance_operand
from retrieval.strategies.fusion import RankedList, fuse

LIMIT = 60

BY_WORDS = """
SELECT chunk_id FROM bench_naive WHERE words @@ to_tsquery('english', %s)
ORDER BY ts_rank(words, to_tsquery('english', %s)) DESC LIMIT %s
"""
BY_MEANING = """
SELECT chunk_id FROM retrieval_chunkvector WHERE space_id = {space}
ORDER BY {operand} <=> %s::halfvec({dimensions}) LIMIT %s
"""


def prepare_naive(owner: User) -> None:
    """A temporary table of the owner's chunks with a tsvector and its GIN index."""
    with connection.cursor() as cursor:
        cursor.execute("DROP TABLE IF EXISTS bench_naive")
        cursor.execute(
            "CREATE TEMP TABLE bench_naive AS SELECT chunk.id AS chunk_id, "
            "to_tsvector('english', context_header || ' ' || content) AS words "
            "FROM documents_retrievalchunk chunk JOIN documents_document document "
            "ON document.id = chunk.document_id WHERE document.owner_id = %s",
            [owner.pk],
        )
        cursor.execute("CREATE INDEX ON bench_naive USING gin (words)")
        cursor.execute("ANALYZE bench_naive")


def naive_words(question: str) -> list[UUID]:
    words = " | ".join(re.findall(r"\w+", question))
    with connection.cursor() as cursor:
        cursor.execute(BY_WORDS, [words, words, LIMIT])
        return [row[0] for row in cursor.fetchall()]


def raw_vectors(vector: Vectors, space: EmbeddingSpace, limit: int = LIMIT) -> list[UUID]:
    """pgvector alone, unfiltered: the floor of any vector search."""
    statement = BY_MEANING.format(
        space=int(space.pk), operand=distance_operand(space), dimensions=int(space.dimensions)
    )
    with connection.cursor() as cursor:
        cursor.execute(statement, [HalfVector(vector).to_text(), limit])
        return [row[0] for row in cursor.fetchall()]


def naive_search(question: str, vector: Vectors, space: EmbeddingSpace) -> list[UUID]:
    lists = [naive_words(question), raw_vectors(vector, space)]
    ranked = [RankedList(str(at), [(item, 0.0) for item in found]) for at, found in enumerate(lists)]
    return [item for item, _ in fuse(ranked)[:10]]
