"""Vector search returns enough rows, however few pass a filter."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from django.contrib.auth.models import User
from django.db import connection
from django.test.utils import CaptureQueriesContext

from documents.models import Document
from retrieval.embeddings.base import HashingEmbedder
from retrieval.index import document_index, vectors
from retrieval.index.backfill import share_embedded
from retrieval.index.document_index import embedded_texts
from retrieval.index.vectors import active_space, build_vector_index, embedder_of, index_name
from retrieval.models import ChunkVector, EmbeddingSpace
from retrieval.query.scope import Scope, ScopeSql
from tests.retrieval.conftest import written

LIMIT = 20
SECTIONS = (200, 30, 3)
"""Of one document each: a filter by document lets most, an eighth, or one in eighty through."""

# The first scan of the graph returns few rows, all of which a filter may drop.
TUNED = """
AND (SELECT set_config('hnsw.iterative_scan', 'strict_order', true)
         || set_config('hnsw.ef_search', '10', true)
         || set_config('hnsw.max_scan_tuples', '20000', true)) IS NOT NULL
"""


@pytest.fixture
def unsorted(transactional_db: None) -> Iterator[None]:
    """Prevent the comparison of all vectors, which PostgreSQL prefers in such a small library."""
    with connection.cursor() as cursor:
        cursor.execute("SET enable_sort = off")
        yield
        cursor.execute("RESET enable_sort")


@pytest.fixture
def documents(alice: User, transactional_db: None) -> list[Document]:
    """Documents that speak of the same things in as many sections as ``SECTIONS`` says."""
    return [
        written(
            alice, f"report {size}", *[(f"# Part {at}", f"Revenue grew by {at} %.") for at in range(size)]
        )
        for size in SECTIONS
    ]


def found(scope: ScopeSql, chunks_in_scope: int) -> list[vectors.Nearest]:
    space = active_space()
    (asked,) = embedder_of(space).embed(["How fast did revenue grow?"], query=True)
    return vectors.nearest_chunks(asked, space, scope, chunks_in_scope, LIMIT)


def test_every_filter_is_answered_with_as_many_as_there_are(
    alice: User, documents: list[Document], unsorted: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    space = active_space()
    assert build_vector_index(space, at_least=1)
    monkeypatch.setattr(vectors, "TUNED", TUNED)
    for document in documents:
        scope = Scope(alice, document_ids=(document.pk,)).compiled()
        assert scope is not None
        existing = ChunkVector.objects.filter(document=document).count()
        exact, by_index = found(scope, existing), found(scope, vectors.EXACT_UP_TO + 1)
        assert len(exact) == len(by_index) == min(LIMIT, existing)
        assert index_name(space) in plan_of(scope)


@pytest.mark.parametrize(
    "filters",
    [{"page_from": 1, "page_to": 1}, {"page_to": 12}, {"sections": ("Part 7",)}, {"chunk_types": ("prose",)}],
)
def test_filters_on_chunks_are_too(
    alice: User, documents: list[Document], filters: dict[str, object]
) -> None:
    scoped = Scope(alice, **filters)  # type: ignore[arg-type]
    scope = scoped.compiled()
    assert scope is not None
    assert len(found(scope, 10**6)) == min(LIMIT, scoped.chunks().count()) > 0


def plan_of(scope: ScopeSql) -> str:
    """How PostgreSQL would look through the whole space for this scope."""
    with CaptureQueriesContext(connection) as captured:
        found(scope, vectors.EXACT_UP_TO + 1)
    with connection.cursor() as cursor:
        cursor.execute(f"EXPLAIN {captured[-1]['sql']}")
        return "\n".join(row[0] for row in cursor.fetchall())


def test_a_long_chunk_is_embedded_in_windows_under_its_heading_and_found_by_the_best(
    alice: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    engine = HashingEmbedder(window=60)
    monkeypatch.setattr(document_index, "embedder_of", lambda space: engine)
    monkeypatch.setattr(vectors, "embedder_of", lambda space: engine)
    active_space()
    EmbeddingSpace.objects.filter(active=True).update(dimensions=engine.dimensions)
    filler = (
        "Revenue grew in every region, and so did the number of shops and of people who work there. " * 12
    )
    long = written(alice, "long", ("# Goodwill", f"{filler}A glacier covered the valley. {filler}"))
    written(alice, "other", *[(f"# Part {at}", f"Number {at} is about valley roads.") for at in range(5)])
    chunk = long.chunks.get()
    texts = embedded_texts(chunk, engine.window)
    assert len(texts) == ChunkVector.objects.filter(chunk=chunk).count() > 4
    assert all(text.startswith(chunk.context_header) for text in texts)
    assert "".join(text.removeprefix(chunk.context_header).strip() for text in texts).replace(" ", "") == (
        chunk.content.replace(" ", "")
    ), "nothing is left out"
    scope = Scope(alice).compiled()
    assert scope is not None
    (asked,) = engine.embed(["glacier covered valley"], query=True)
    found = vectors.nearest_chunks(asked, active_space(), scope, 10, LIMIT)
    assert found[0].chunk_id == chunk.pk
    assert len({nearest.chunk_id for nearest in found}) == len(found), "each chunk once"
    assert share_embedded(active_space()) == 1
