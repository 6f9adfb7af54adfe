"""More like this: passages that speak of what a chunk speaks of."""

from __future__ import annotations

import time
from collections import Counter
from dataclasses import replace
from uuid import UUID

from documents.models import RetrievalChunk
from retrieval.analysis import terms_of
from retrieval.lists import NamedQuestion
from retrieval.models import IndexedDocument
from retrieval.plans import Plan
from retrieval.questions import Question, readable
from retrieval.results import SearchOptions, SearchResult
from retrieval.scope import Scope
from retrieval.search import search_planned
from retrieval.strategies.self_query import Filters
from retrieval.trace import Trace

MOST_TERMS = 40
GONE = "That passage is no longer there."


def more_like(chunk_id: UUID, scope: Scope, limit: int = 10) -> SearchResult:
    """Passages in ``scope`` like the chunk, which itself is left out. The chunk must be in scope too."""
    start = time.perf_counter()
    chunk = RetrievalChunk.objects.filter(document__in=scope.documents(), pk=chunk_id).first()
    if chunk is None:
        return SearchResult("", message=GONE)
    language = (
        IndexedDocument.objects.filter(document=chunk.document_id).values_list("language", flat=True).first()
    )
    plan = Plan((NamedQuestion("question", like(chunk.content, language or "en")),), "", Filters(), ())
    trace = Trace(frozenset({"context"}))  # the document's own names would only find the document
    result = search_planned(chunk.content, plan, scope, SearchOptions(limit=limit + 1), trace, None)
    others = tuple(hit for hit in result.hits if hit.chunk_id != chunk_id)[:limit]
    milliseconds = round((time.perf_counter() - start) * 1000, 2)
    return replace(result, hits=others, strategies=trace.reports(), milliseconds=milliseconds)


def like(text: str, language: str) -> Question:
    """The text as a question: its commonest terms, each counting 1."""
    text = readable(text)
    terms = [term for term, _ in Counter(terms_of(text, language)).most_common(MOST_TERMS)]
    groups = tuple((term,) for term in terms)
    return Question(text, dict.fromkeys(terms, 1.0), groups, said=frozenset(terms))
