"""The ranked lists of one search: one by words and one by meaning for each query."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from uuid import UUID

from django.conf import settings

from retrieval.deadlines import ask
from retrieval.full_text import ScopeIndex
from retrieval.models import EmbeddingSpace
from retrieval.providers.embeddings import Embedder, Vectors
from retrieval.questions import Question
from retrieval.results import FullTextLevel
from retrieval.rows import read_rows
from retrieval.scope import ScopeSql
from retrieval.strategies.fusion import RankedList
from retrieval.strategies.keyword import KeywordSearch
from retrieval.strategies.vector import nearest_chunks

KEYWORD_DEPTH = 60
VECTOR_DEPTH = 60
DERIVED_WEIGHT = 0.5
"""How far a list is trusted whose query the person did not write."""


@dataclass(frozen=True, slots=True)
class NamedQuestion:
    """A question and the list it makes; ``weight`` 1 is the person's own."""

    name: str
    question: Question
    weight: float = 1.0


def keyword_lists(
    queries: Sequence[NamedQuestion],
    scope: ScopeSql,
    index: ScopeIndex,
    *,
    level: FullTextLevel,
    names: bool,
) -> list[RankedList[UUID]]:
    """Ranked chunks for each query. ``names``: whether the documents' names count.

    No statement; at the level of units one for each query.
    """
    return [
        RankedList(
            query.name,
            KeywordSearch(scope, index, query.question, names).ranked(level, KEYWORD_DEPTH),
            query.weight,
        )
        for query in queries
    ]


NAMED_PAGES = "named page"
"""The list of chunks that stand on a page which the question names."""

# A page is called by the number printed on it (its label in the file) or by its place.
ON_PAGES = """
SELECT DISTINCT chunk.id, chunk.index
FROM documents_retrievalchunk chunk JOIN documents_page page ON page.document_id = chunk.document_id
WHERE page.number BETWEEN chunk.page_start AND chunk.page_end
    AND (page.number = ANY(%s) OR page.label = ANY(%s))
    AND chunk.document_id IN ({documents}) {chunk_filter}
ORDER BY chunk.index LIMIT {limit}
"""


def chunks_on_pages(scope: ScopeSql, pages: Sequence[int]) -> list[tuple[UUID, float]]:
    """Chunks on these pages of the one document in scope, in reading order. One statement."""
    statement = ON_PAGES.format(
        documents=scope.documents, chunk_filter=scope.and_chunk("chunk.id"), limit=KEYWORD_DEPTH
    )
    labels = [str(page) for page in pages]
    params = [list(pages), labels, *scope.document_params, *scope.chunk_params]
    return [(key, 1.0) for key, _ in read_rows(statement, params)]


def vector_lists(
    queries: Sequence[tuple[str, str, float]],
    space: EmbeddingSpace,
    engine: Embedder,
    scope: ScopeSql,
    chunks: int,
) -> list[RankedList[UUID]]:
    """The chunks nearest to each (list name, text, weight); ``chunks`` is how many are in scope.

    Raises ProviderError when the queries cannot be embedded in time.
    """
    vectors = embedded(engine, [text for _, text, _ in queries])
    lists = []
    for (name, _, weight), vector in zip(queries, vectors, strict=True):
        nearest = nearest_chunks(vector, space, scope, chunks, VECTOR_DEPTH)
        items = [(near.chunk_id, 1 - near.distance) for near in nearest]
        lists.append(RankedList(name, items, weight * engine.trust))
    return lists


def embedded(engine: Embedder, texts: list[str]) -> Vectors:
    if engine.local:
        return engine.embed(texts, query=True)
    return ask(lambda: engine.embed(texts, query=True), settings.SEARCH_PROVIDER_SECONDS).answer()
