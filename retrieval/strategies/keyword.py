"""Keyword search: BM25F over passages, and over the documents' names.

In a library the same words stand in every company's report; which report is
meant is said by its name and year. So a document's names are ranked as a
field of their own, by how few documents share them, and add to the score of
all its passages.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from retrieval.keyword_index import ScopeIndex, TermPostings
from retrieval.questions import Question

NAMES_WEIGHT = 2.0
EARLIER_YEAR = 0.5
"""Of a question that names several years, the latest says which report: it tells of those before."""
YEAR = re.compile(r"(?:19|20)\d\d")

Scores = NDArray[np.float32]


def passage_scores(
    question: Question, index: ScopeIndex, postings: Mapping[str, TermPostings], *, names: bool = True
) -> Scores:
    """A score for every passage in scope; 0 where none of the question's terms stands.

    ``names``: whether the documents' names count.
    """
    scores = np.zeros(index.passage_count, np.float32)
    for term, weight in question.weights.items():
        if term in postings:
            found = postings[term]
            scores[found.passages] += np.float32(weight * index.idf(found)) * found.impacts
    if names and index.document_count > 1:
        by_name = document_scores(question, index, postings)
        scores += np.where(scores > 0, np.repeat(by_name, np.diff(index.starts)), 0) * NAMES_WEIGHT
    return scores


def document_scores(question: Question, index: ScopeIndex, postings: Mapping[str, TermPostings]) -> Scores:
    """How well each document's names, and faintly its first page, meet the question."""
    scores = np.zeros(index.document_count, np.float32)
    latest = max((term for term in question.weights if YEAR.fullmatch(term)), default="")
    for term, weight in {**dict.fromkeys(question.names, 1.0), **question.weights}.items():
        if term in postings:
            found = postings[term]
            share = EARLIER_YEAR if YEAR.fullmatch(term) and term != latest else 1.0
            scores[found.entries] += np.float32(weight * share * index.entry_idf(found)) * found.entry_impacts
    return scores


def best_passages(index: ScopeIndex, scores: Scores, limit: int) -> list[int]:
    """Numbers of the passages with the highest scores above 0, best first."""
    count = min(limit, int(np.count_nonzero(scores > 0)))
    if count == 0:
        return []
    top = np.argpartition(-scores, count - 1)[:count]
    return [int(at) for at in top[np.lexsort((top, -scores[top]))]]


def best_of_each_document(index: ScopeIndex, scores: Scores, limit: int) -> list[int]:
    """The best passage of each document, best first: full text at the level of documents."""
    bounds = zip(index.starts[:-1], index.starts[1:], strict=True)
    best = [int(start + np.argmax(scores[start:end])) for start, end in bounds if end > start]
    return sorted((at for at in best if scores[at] > 0), key=lambda at: -scores[at])[:limit]
