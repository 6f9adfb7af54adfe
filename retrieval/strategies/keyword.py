"""Keyword search: BM25F over passages, and over the documents' names.

In a library the same words stand in every company's report; which report is
meant is said by its name and year. So a document's names are ranked as a
field of their own, by how few documents share them, and add to the score of
all its passages.
"""

from __future__ import annotations

import re

import numpy as np
from numpy.typing import NDArray

from retrieval.keyword_index import ScopeIndex
from retrieval.questions import Question

NAMES_WEIGHT = 3.0
EARLIER_YEAR = 0.5
"""Of a question that names several years, the latest says which report: it tells of those before."""
YEAR = re.compile(r"(?:19|20)\d\d")
DAY = re.compile(r"\d\d?")  # of a date: '30' names no document

Scores = NDArray[np.float32]


def passage_scores(question: Question, index: ScopeIndex) -> Scores:
    """A score for every passage in scope; 0 where none of the question's terms stands."""
    scores = np.zeros(index.passage_count, np.float32)
    for term, weight in question.weights.items():
        if term in index.rarity:
            found = index.postings[term].passages
            np.add.at(scores, found.at, np.float32(weight * index.rarity[term]) * found.values)
    return scores


def name_scores(question: Question, index: ScopeIndex) -> Scores:
    """How well each document's names, and its first page, meet what the person wrote.

    A word of a first page names its document as far as other documents do not hold it at all:
    earnings releases begin with what every report speaks of.
    """
    scores = np.zeros(index.document_count, np.float32)
    latest = max((term for term in question.said if YEAR.fullmatch(term)), default="")
    own = {term: weight for term, weight in question.weights.items() if term in question.said}
    for term, weight in {**dict.fromkeys(question.names, 1.0), **own}.items():
        if term in index.postings and not DAY.fullmatch(term):
            found = index.postings[term]
            weight *= EARLIER_YEAR if YEAR.fullmatch(term) and term != latest else 1.0
            by_name = index.document_idf(len(found.names))
            by_cover = index.document_idf(found.document_count)
            scores[found.names.at] += np.float32(weight * by_name) * found.names.values
            scores[found.covers.at] += np.float32(weight * by_cover) * found.covers.values
    return scores


def best_passages(scores: Scores, limit: int) -> list[int]:
    """Numbers of the passages with the highest scores above 0, best first."""
    least, found = float(scores.max(initial=0.0)), np.array([], np.int64)
    while least > 0 and len(found) < limit:  # few passages come near the best: only those are sorted
        least = least / 2 if least > 1e-3 else 0.0
        found = np.flatnonzero(scores > least)
    order = np.argsort(-scores[found], kind="stable")
    return [int(at) for at in found[order[:limit]]]
