"""The ranked lists of one search: one by words and one by meaning for each query."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from django.conf import settings

from retrieval.candidates import PassageKey
from retrieval.deadlines import ask
from retrieval.keyword_index import ScopeIndex, allowed_passages
from retrieval.models import EmbeddingSpace
from retrieval.providers.embeddings import Embedder, Vectors
from retrieval.questions import Question
from retrieval.results import FullTextLevel
from retrieval.scope import ScopeSql
from retrieval.strategies.fusion import RankedList
from retrieval.strategies.levels import KeywordSearch
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


def terms_wanted(queries: Sequence[NamedQuestion], *, names: bool) -> set[str]:
    """What keyword search looks up; with what may name a document where its names count."""
    wanted = {term for query in queries for term in query.question.weights}
    return wanted | {name for query in queries if names for name in query.question.names}


def keyword_lists(
    queries: Sequence[NamedQuestion],
    scope: ScopeSql,
    index: ScopeIndex,
    *,
    level: FullTextLevel,
    names: bool,
) -> list[RankedList[PassageKey]]:
    """Ranked passages for each query. ``names``: whether the documents' names count.

    One statement where filters tell chunks apart; at the level of units one more for each query.
    """
    words = KeywordSearch(scope, index, allowed_passages(scope, index), names)
    return [
        RankedList(query.name, words.ranked(query.question, level, KEYWORD_DEPTH), query.weight)
        for query in queries
    ]


def vector_lists(
    queries: Sequence[tuple[str, str, float]],
    space: EmbeddingSpace,
    engine: Embedder,
    scope: ScopeSql,
    chunks: int,
) -> list[RankedList[PassageKey]]:
    """Passages of the chunks nearest to each (list name, text, weight); ``chunks`` is how many are in scope.

    Raises ProviderError when the queries cannot be embedded in time.
    """
    texts = [text for _, text, _ in queries]
    vectors = embedded(engine, texts)
    lists = []
    for (name, _, weight), vector in zip(queries, vectors, strict=True):
        best: dict[PassageKey, float] = {}
        for near in nearest_chunks(vector, space, scope, chunks, VECTOR_DEPTH):
            best.setdefault(PassageKey(near.entry_id, near.ordinal), 1 - near.distance)
        lists.append(RankedList(name, list(best.items()), weight * engine.trust))
    return lists


def embedded(engine: Embedder, texts: list[str]) -> Vectors:
    if engine.local:
        return engine.embed(texts, query=True)
    return ask(lambda: engine.embed(texts, query=True), settings.SEARCH_PROVIDER_SECONDS).answer()
