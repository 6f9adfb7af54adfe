"""Ranked lists of candidates (BM25F, vectors, named places) for each query, and their fusion."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import product
from typing import Generic, TypeVar
from uuid import UUID

import numpy as np
from django.conf import settings
from numpy.typing import NDArray

from retrieval.embeddings.base import Embedder, Vectors
from retrieval.index.full_text import NAMES_WEIGHT, ScopeIndex, name_scores
from retrieval.index.postgres import phrase, read_rows
from retrieval.index.vectors import nearest_chunks
from retrieval.models import EmbeddingSpace
from retrieval.provider_calls import start_call
from retrieval.query.question_terms import Place, QueryTerms
from retrieval.query.scope import ScopeSql
from retrieval.ranking.features import FeatureExtractor, read_candidates
from retrieval.results import FullTextLevel

# Reciprocal rank fusion (Cormack, Clarke, Büttcher 2009), with a weight for each list.

RRF_K = 60

Item = TypeVar("Item", bound=Hashable)


@dataclass(frozen=True, slots=True)
class RankedList(Generic[Item]):
    """Items best first, each with its score in the list's own units.

    ``weight``: how far the list is to be trusted; 1 is plain reciprocal rank fusion. ``least``: the score
    that counts as nothing, of a list whose tail was cut off.
    """

    name: str
    items: Sequence[tuple[Item, float]]
    weight: float = 1.0
    least: float = 0.0


def fuse(lists: Sequence[RankedList[Item]], k: int = RRF_K) -> list[tuple[Item, float]]:
    """Return the items by Σ weight / (k + rank), best first; ties keep the order of the lists."""
    scores: dict[Item, float] = {}
    for ranked in lists:
        for rank, (item, _) in enumerate(ranked.items, 1):
            scores[item] = scores.get(item, 0.0) + ranked.weight / (k + rank)
    return sorted(scores.items(), key=lambda entry: -entry[1])


def interleave(rankings: Sequence[Sequence[tuple[Item, float]]]) -> list[tuple[Item, float]]:
    """Return the best of each ranking, then the second of each, …; each item once.

    Scores are reassigned, highest first, so that they decrease.
    """
    longest = max((len(ranking) for ranking in rankings), default=0)
    turns = (ranking[at] for at in range(longest) for ranking in rankings if at < len(ranking))
    best: dict[Item, float] = {}
    for item, score in turns:
        best[item] = max(score, best.get(item, score))
    return list(zip(best, sorted(best.values(), reverse=True), strict=True))


# Keyword search: BM25F over chunks, and over the documents' names.
#
# In a library, many documents of one kind have the same words; their names and years distinguish them. So the
# names are a separate field, ranked by their rarity, and add to the score of all chunks of the document.

Scores = NDArray[np.float32]
Ranked = list[tuple[UUID, float]]
WHOLE_WEIGHT = 0.5
"""Of the question's words anywhere in a document beside those of one chunk: which document is meant."""
UNIT_DEPTH = 240
"""Chunks whose units are ranked: a unit cannot score higher than its chunk."""


@dataclass(frozen=True)
class KeywordSearch:
    """One question over the candidates of a scope. ``names``: whether the documents' names count."""

    scope: ScopeSql
    index: ScopeIndex
    question: QueryTerms
    names: bool

    def ranked(self, level: FullTextLevel, limit: int) -> Ranked:
        """Return chunks with their scores, best first; chunks without a word of the question are left out."""
        if level == "document":
            return self._documents()[:limit]
        if level == "unit":
            return self._units()[:limit]
        return self._best(limit)

    @cached_property
    def scores(self) -> Scores:
        """Return the score of each candidate chunk; 0 without a word of the question."""
        words = self._words()
        return words + np.where(words > 0, (self.by_name + self.by_whole)[self.index.at], 0)

    @cached_property
    def by_name(self) -> Scores:
        """Return the score that a document's names add to all its chunks; 0 without a choice of documents."""
        index = self.index
        found: dict[UUID, float] = {}
        if self.names and index.summary.documents > 1:
            scores = name_scores(self.question, index.named, index.columns, index.rarity, index.summary)
            found = dict(zip(index.named.ids, scores.tolist(), strict=True))
        return NAMES_WEIGHT * np.array([found.get(key, 0.0) for key in index.document_ids], np.float32)

    @cached_property
    def by_whole(self) -> Scores:
        """Return the score that all chunks of a document add to each; 0 without a choice of documents."""
        if not self.names or self.index.summary.documents < 2 or not len(self.index.at):
            return np.zeros(len(self.index.document_ids), np.float32)
        return WHOLE_WEIGHT * self._whole()

    def _whole(self) -> Scores:
        """Return for each document Σ weight · idf · impact, each term by its best chunk."""
        index = self.index
        most = np.maximum.reduceat(index.impacts, np.flatnonzero(np.diff(index.at, prepend=-1)), axis=0)
        weights = np.zeros(len(index.columns), np.float32)
        for term, weight in self.question.weights.items():
            weights[index.columns[term]] = weight * index.rarity.get(term, 0.0)
        return np.asarray(most @ weights, np.float32)

    def _words(self) -> Scores:
        """Return Σ weight · idf · impact; words of a pack count for documents of its field."""
        index, question = self.index, self.question
        scores = np.zeros(len(index.at), np.float32)
        for fields in set(index.fields):
            of_field = np.array([found == fields for found in index.fields], np.bool_)[index.at]
            weights = np.zeros(len(index.columns), np.float32)
            for term, weight in question.weights_for(fields).items():
                weights[index.columns[term]] = weight * index.rarity.get(term, 0.0)
            scores[of_field] = index.impacts[of_field] @ weights
        if question.prefixes:  # the scope contains only chunks that have them
            scores += 1.0
        return scores

    def _best(self, limit: int) -> Ranked:
        order = np.argsort(-self.scores, kind="stable")[:limit]
        best = [int(row) for row in order if self.scores[row] > 0]
        return list(zip(self.index.keys_of(best), self.scores[best].tolist(), strict=True))

    def _documents(self) -> Ranked:
        """Return the best chunk of each document with the document's score.

        Each term counts by its best chunk, so that the question's words may be on different pages.
        """
        index = self.index
        if not len(index.at):
            return []
        starts = np.flatnonzero(np.diff(index.at, prepend=-1))
        whole = self._whole() + self.by_name
        found: Ranked = []
        for document, (start, end) in enumerate(zip(starts, [*starts[1:], len(index.at)], strict=True)):
            row = int(start + np.argmax(self.scores[start:end]))
            if self.scores[row] > 0:
                found.append((index.keys_of([row])[0], float(whole[document])))
        return sorted(found, key=lambda item: -item[1])

    def _units(self) -> Ranked:
        """Return the chunks by the score of their best unit. One statement."""
        keys = [key for key, _ in self._best(UNIT_DEPTH)]
        named = dict(zip(self.index.document_ids, self.by_name.tolist(), strict=True))
        weigher = FeatureExtractor(self.question, self.index.rarity)
        scored = [
            (key, weigher.weigh(candidate).best_unit + named[candidate.document_id])
            for key, candidate in read_candidates(self.scope, keys).items()
        ]
        return sorted(scored, key=lambda item: -item[1])


NAMED_PAGE_CHUNKS = 60
DERIVED_WEIGHT = 0.5
"""How far a list is trusted whose query the person did not write."""


@dataclass(frozen=True, slots=True)
class NamedQuestion:
    """A question and the list it makes; ``weight`` 1 is the person's own."""

    name: str
    question: QueryTerms
    weight: float = 1.0


NAMED_PAGES = "named page"
"""The list of chunks on a page that the question names."""
NAMED_PLACES = "named place"
PLACE_DEPTH = 20

# A page is named by its place in the file, its label in the file, or the number printed on it.
# A number printed on more pages than this is not a page number ("Version 5").
PRINTED_AT_MOST = 3
ON_PAGES = r"""
WITH here AS MATERIALIZED (
    SELECT page.document_id, page.number,
           page.number = ANY(%s) OR page.label = ANY(%s) OR page.number - document.page_count - 1 = ANY(%s)
               AS called,
           (SELECT substring(line ->> 'text' FROM %s) FROM jsonb_array_elements(page.furniture) line
            WHERE line ->> 'text' ~ %s LIMIT 1) AS printed
    FROM documents_page page JOIN documents_document document ON document.id = page.document_id
    WHERE page.document_id IN ({documents})
), named AS (
    SELECT document_id, number
    FROM (SELECT *, count(*) OVER (PARTITION BY printed) AS times FROM here) counted
    WHERE called OR (printed IS NOT NULL AND times <= {most})
)
SELECT chunk.id, min(named.number) FROM documents_retrievalchunk chunk
JOIN named ON named.document_id = chunk.document_id
    AND named.number BETWEEN chunk.page_start AND chunk.page_end
WHERE true {chunk_filter}
GROUP BY chunk.id, chunk.index ORDER BY chunk.index LIMIT {limit}
"""


def chunks_on_pages(scope: ScopeSql, pages: Sequence[int]) -> dict[UUID, int]:
    """Return the chunks on these pages of the only document in scope, each with the first page. One
    statement.

    ``pages``: negative numbers count from the end.
    """
    statement = ON_PAGES.format(
        documents=scope.documents,
        chunk_filter=scope.and_chunk("chunk.document_id, chunk.id"),
        limit=NAMED_PAGE_CHUNKS,
        most=PRINTED_AT_MOST,
    )
    labels = [str(page) for page in pages if page > 0]
    printed = rf"(?:^|[^\d.,-])({'|'.join(labels) or '-'})(?:$|[^\d.,-])"
    params = [list(pages), labels, list(pages), printed, printed, *scope.document_params, *scope.chunk_params]
    return dict(read_rows(statement, params))


STATED_PLACE = "stated place"
IN_SCOPE = "SELECT id FROM documents_retrievalchunk WHERE document_id IN ({documents}) {chunk_filter}"


def stated_place(stated: ScopeSql, index: ScopeIndex, question: QueryTerms, limit: int) -> RankedList[UUID]:
    """Return the chunks by words that are where the question says: its kind, section or pages. One statement.

    It is a list and no filter: "in the results" may mean those of a survey.
    """
    there = set(_chunks_in(stated))
    ranked = KeywordSearch(stated, index, question, names=False).ranked("chunk", len(index.at))
    return RankedList(STATED_PLACE, [item for item in ranked if item[0] in there][:limit])


def chunks_at_places(scope: ScopeSql, places: Sequence[Place]) -> list[UUID]:
    """Return chunks with a place's word and number side by side. One statement, for a small scope."""
    written = [phrase(pair) for place in places for pair in product(*place.terms)]
    return _chunks_in(scope.with_words(" | ".join(written)))[:PLACE_DEPTH]


def _chunks_in(scope: ScopeSql) -> list[UUID]:
    statement = IN_SCOPE.format(documents=scope.documents, chunk_filter=scope.and_chunk("document_id, id"))
    return [key for (key,) in read_rows(statement, [*scope.document_params, *scope.chunk_params])]


def vector_lists(
    queries: Sequence[tuple[str, str, float]],
    space: EmbeddingSpace,
    engine: Embedder,
    scope: ScopeSql,
    chunks: int,
    limit: int,
    threshold: float,
) -> list[RankedList[UUID]]:
    """Return the ``limit`` chunks nearest to each (list name, text, weight), all at least as similar as
    ``threshold``.

    ``chunks`` is the number in scope. Raises ProviderError if the queries cannot be embedded in time.
    """
    vectors = embedded(engine, [text for _, text, _ in queries])
    lists = []
    for (name, _, weight), vector in zip(queries, vectors, strict=True):
        nearest = nearest_chunks(vector, space, scope, chunks, limit)
        items = [(near.chunk_id, 1 - near.distance) for near in nearest]
        near_enough = [item for item in items if item[1] >= threshold]
        lists.append(RankedList(name, near_enough, weight * engine.trust, items[-1][1] if items else 0.0))
    return lists


def embedded(engine: Embedder, texts: list[str]) -> Vectors:
    if engine.local:
        return engine.embed(texts, query=True)
    return start_call(lambda: engine.embed(texts, query=True), settings.SEARCH_PROVIDER_SECONDS).answer()
