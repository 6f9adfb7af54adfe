"""Embedding spaces: the active one, its embedder, its HNSW index, and the nearest chunks in it."""

from __future__ import annotations

from operator import itemgetter
from typing import NamedTuple
from uuid import UUID

from django.conf import settings
from django.db import connection, transaction
from django.db.models import Exists, OuterRef, QuerySet
from pgvector import HalfVector

from documents.models import RetrievalChunk
from retrieval.embeddings.base import Embedder, Vectors
from retrieval.embeddings.registry import embedder, split_name
from retrieval.index.postgres import read_rows
from retrieval.models import ChunkVector, EmbeddingSpace
from retrieval.query.scope import ScopeSql

INDEX_FROM = 20_000
"""Vectors from which an HNSW index pays: below, comparing with all of them is as fast, and exact."""
INDEX_MEMORY = "512MB"
HNSW_DIMENSIONS = 4000  # pgvector's limit for halfvec
EF_CONSTRUCTION = 64
"""With 200 inserting a vector takes three times as long, for .02 of recall (docs/search.md)."""


def active_space() -> EmbeddingSpace:
    """Return the active space; without one, activate that of the settings.

    Raises ProviderError if the settings name an unknown provider, or one without its key.
    """
    try:
        return EmbeddingSpace.objects.get(active=True)
    except EmbeddingSpace.DoesNotExist:
        return _first_space()


def _first_space() -> EmbeddingSpace:
    space = open_space(settings.EMBEDDING_SPACE)
    with transaction.atomic():
        EmbeddingSpace.objects.select_for_update().filter(pk=space.pk).get()
        if not EmbeddingSpace.objects.filter(active=True).exists():
            EmbeddingSpace.objects.filter(pk=space.pk).update(active=True)
    return EmbeddingSpace.objects.get(active=True)


def open_space(name: str) -> EmbeddingSpace:
    """Return the space of this name (``provider`` or ``provider:model``); create it if it is new.

    Raises ProviderError if the model does not answer: the length of its vectors must be known.
    """
    provider, model = split_name(name)
    known = EmbeddingSpace.objects.filter(provider=provider, model=model).first()
    if known:
        return known
    engine = embedder(provider, model)
    dimensions = engine.dimensions or engine.embed(["length"]).shape[1]
    space, _ = EmbeddingSpace.objects.get_or_create(
        name=f"{provider}:{model}"[:60],
        defaults={"provider": provider, "model": model, "dimensions": dimensions},
    )
    return space


def embedder_of(space: EmbeddingSpace) -> Embedder:
    """Return the space's embedder. Raises ProviderError if its key is missing."""
    return embedder(space.provider, space.model, space.dimensions)


def without_vector(chunks: QuerySet[RetrievalChunk], space: EmbeddingSpace) -> QuerySet[RetrievalChunk]:
    """Return those chunks that have no vector in the space."""
    vector = ChunkVector.objects.filter(document=OuterRef("document"), chunk=OuterRef("pk"), space=space)
    return chunks.filter(~Exists(vector))


def activate(space: EmbeddingSpace) -> None:
    """Make this space the active one."""
    with transaction.atomic():
        EmbeddingSpace.objects.exclude(pk=space.pk).update(active=False)
        EmbeddingSpace.objects.filter(pk=space.pk).update(active=True, wanted=False, failure="")


def index_name(space: EmbeddingSpace) -> str:
    return f"retrieval_chunkvector_hnsw_{space.pk}"


def distance_operand(space: EmbeddingSpace) -> str:
    """Return the SQL expression that the space's index covers."""
    return f"(embedding::halfvec({int(space.dimensions)}))"


def build_vector_index(space: EmbeddingSpace, at_least: int = INDEX_FROM, memory: str = INDEX_MEMORY) -> bool:
    """Build the space's HNSW index once it has ``at_least`` vectors. Return True if it was built now.

    It runs outside of transactions and does not block writers. ``memory``: PostgreSQL's limit for the graph,
    about 1.2 KB per vector of 256 dimensions; a larger graph takes several times as long to build.
    """
    if space.dimensions > HNSW_DIMENSIONS or has_vector_index(space):
        return False
    if ChunkVector.objects.filter(space=space)[at_least - 1 : at_least].count() == 0:
        return False
    with connection.cursor() as cursor:
        if not settings.DATABASE_POOLER:  # with a pooler, the setting would apply to another client
            cursor.execute("SELECT set_config('maintenance_work_mem', %s, false)", [memory])
        cursor.execute(f"DROP INDEX CONCURRENTLY IF EXISTS {index_name(space)}")  # an interrupted build
        cursor.execute(
            f"CREATE INDEX CONCURRENTLY {index_name(space)} ON {ChunkVector._meta.db_table} "
            f"USING hnsw ({distance_operand(space)} halfvec_cosine_ops) "
            f"WITH (m = 16, ef_construction = {EF_CONSTRUCTION}) WHERE space_id = {int(space.pk)}"
        )
        cursor.execute("RESET maintenance_work_mem")
    return True


def has_vector_index(space: EmbeddingSpace) -> bool:
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT 1 FROM pg_index WHERE indexrelid = to_regclass(%s) AND indisvalid", [index_name(space)]
        )
        return cursor.fetchone() is not None


# Vector search: the nearest chunks, exactly or by HNSW.
#
# A small scope is compared completely: that is exact, and faster than a graph search whose results are mostly
# filtered out. In a large scope pgvector scans the space's HNSW index iteratively until enough chunks pass
# the filters.

WINDOWS = 3
"""Vectors that are read for each chunk: a chunk of 500 tokens has three windows of 240."""
EXACT_UP_TO = 20_000  # vectors: about 10 ms on one core at 256 dimensions
# Over 100,150 vectors, most with 27 near copies, recall@10 is .80 (with 1,000 .88); the right pages are the
# same (docs/search.md).
EF_SEARCH = 400
MAX_SCAN_TUPLES = 60_000

# A condition without columns is evaluated before the scan begins, so the settings apply to it, end with the
# statement's transaction, and leave a single statement, which is prepared.
TUNED = f"""
AND (SELECT set_config('hnsw.iterative_scan', 'relaxed_order', true)
         || set_config('hnsw.ef_search', '{EF_SEARCH}', true)
         || set_config('hnsw.max_scan_tuples', '{MAX_SCAN_TUPLES}', true)) IS NOT NULL
"""

NEAREST = """
SELECT chunk_id, ({operand} <=> %s::halfvec({dimensions})) {exact} AS distance
FROM retrieval_chunkvector
WHERE space_id = {space} AND document_id IN ({documents}) {chunk_filter} {tuned}
ORDER BY distance LIMIT {limit}
"""
# No index covers the sum, so PostgreSQL compares every vector, on each shard.
EXACT = "+ 0"


class Nearest(NamedTuple):
    """A chunk and its cosine distance (0..2) from the query."""

    chunk_id: UUID
    distance: float


def nearest_chunks(
    vector: Vectors, space: EmbeddingSpace, scope: ScopeSql, chunks_in_scope: int, limit: int
) -> list[Nearest]:
    """Return the nearest chunks by their nearest windows, nearest first. ``vector`` is one row."""
    vectors = limit * WINDOWS if embedder_of(space).window else limit
    exact = chunks_in_scope <= EXACT_UP_TO or bool(scope.chunks)
    statement = NEAREST.format(
        operand=distance_operand(space),
        dimensions=int(space.dimensions),
        exact=EXACT if exact else "",
        space=int(space.pk),
        documents=scope.documents,
        chunk_filter=scope.and_chunk("document_id, chunk_id"),
        tuned="" if exact else TUNED,
        limit=vectors,  # of a parameter, PostgreSQL would plan each value anew
    )
    text = HalfVector(vector).to_text()
    rows = read_rows(statement, [text, *scope.document_params, *scope.chunk_params])
    best: dict[UUID, Nearest] = {}
    for row in sorted(rows, key=itemgetter(1)):  # relaxed_order returns them almost in order
        best.setdefault(row[0], Nearest(*row))
    return list(best.values())[:limit]
