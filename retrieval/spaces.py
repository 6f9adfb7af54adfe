"""Embedding spaces: the one that answers, its embedder, its HNSW index."""

from __future__ import annotations

from django.conf import settings
from django.db import connection, transaction

from retrieval.models import ChunkVector, EmbeddingSpace
from retrieval.providers.embeddings import Embedder
from retrieval.providers.registry import embedder, split_name

INDEX_FROM = 20_000
"""Vectors from which an HNSW index pays: below, comparing with all of them is as fast, and exact."""
INDEX_MEMORY = "512MB"
HNSW_DIMENSIONS = 4000  # pgvector's limit for halfvec


def active_space() -> EmbeddingSpace:
    """The space that answers; the one named in the settings becomes it when there is none yet.

    Raises ProviderError when the settings name an unknown provider, or one without its key.
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
    """The space of this name (``provider`` or ``provider:model``), made when it is new.

    Raises ProviderError when the model does not answer: its vectors' length must be known.
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
    """Raises ProviderError when its key is missing."""
    return embedder(space.provider, space.model, space.dimensions)


def activate(space: EmbeddingSpace) -> None:
    """This space answers from now on."""
    with transaction.atomic():
        EmbeddingSpace.objects.exclude(pk=space.pk).update(active=False)
        EmbeddingSpace.objects.filter(pk=space.pk).update(active=True)


def index_name(space: EmbeddingSpace) -> str:
    return f"retrieval_chunkvector_hnsw_{space.pk}"


def distance_operand(space: EmbeddingSpace) -> str:
    """The SQL expression that the space's index is on."""
    return f"(embedding::halfvec({int(space.dimensions)}))"


def build_vector_index(space: EmbeddingSpace, at_least: int = INDEX_FROM) -> bool:
    """Builds the space's HNSW index once it holds ``at_least`` vectors. True when it was built now.

    Runs outside transactions and locks no writer out.
    """
    if space.dimensions > HNSW_DIMENSIONS or has_vector_index(space):
        return False
    if ChunkVector.objects.filter(space=space)[at_least - 1 : at_least].count() == 0:
        return False
    with connection.cursor() as cursor:
        cursor.execute(f"SET maintenance_work_mem = '{INDEX_MEMORY}'")  # a graph that does not fit is slow
        cursor.execute(f"DROP INDEX CONCURRENTLY IF EXISTS {index_name(space)}")  # a build that was cut off
        cursor.execute(
            f"CREATE INDEX CONCURRENTLY {index_name(space)} ON {ChunkVector._meta.db_table} "
            f"USING hnsw ({distance_operand(space)} halfvec_cosine_ops) "
            f"WITH (m = 16, ef_construction = 200) WHERE space_id = {int(space.pk)}"
        )
        cursor.execute("RESET maintenance_work_mem")
    return True


def has_vector_index(space: EmbeddingSpace) -> bool:
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT 1 FROM pg_index WHERE indexrelid = to_regclass(%s) AND indisvalid", [index_name(space)]
        )
        return cursor.fetchone() is not None
