"""What keyword search ranks: documents, chunks (stretches of a page, of which a hit shows one), or units."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from retrieval.candidates import PassageKey, read_candidates
from retrieval.evidence import Weigher
from retrieval.keyword_index import ScopeIndex
from retrieval.questions import Question
from retrieval.results import FullTextLevel
from retrieval.scope import ScopeSql
from retrieval.strategies.keyword import NAMES_WEIGHT, Scores, best_passages, name_scores, passage_scores

Ranked = list[tuple[PassageKey, float]]
UNIT_DEPTH = 240
"""Passages whose units are ranked one by one: a unit says no more than the passage it stands in."""


@dataclass(frozen=True, slots=True)
class KeywordSearch:
    """One search's scope and index.

    Attributes:
        allowed: passages that the filters let through; None for all.
        names: whether the documents' names count.
    """

    scope: ScopeSql
    index: ScopeIndex
    allowed: np.ndarray | None
    names: bool

    def ranked(self, question: Question, level: FullTextLevel, limit: int) -> Ranked:
        """Passages with their scores, best first."""
        words = passage_scores(question, self.index)
        if self.allowed is not None:
            words[~self.allowed] = 0
        by_name = self._by_name(question)
        scores = words + np.where(words > 0, np.repeat(by_name, self.index.sizes), 0)
        if level == "document":
            return self._documents(question, scores, by_name)[:limit]
        if level == "unit":
            return self._units(question, scores, by_name)[:limit]
        best = best_passages(scores, limit)
        return list(zip(self.index.keys_of(best), scores[best].tolist(), strict=True))

    def _by_name(self, question: Question) -> Scores:
        """What a document's names add to the score of all it holds; 0 where there is no choice."""
        if not self.names or self.index.document_count < 2:
            return np.zeros(self.index.document_count, np.float32)
        return NAMES_WEIGHT * name_scores(question, self.index)

    def _documents(self, question: Question, scores: Scores, by_name: Scores) -> Ranked:
        """The best passage of each document, under the document's score: of each term the passage that
        says it most, so that the question's words may stand on different pages."""
        whole = by_name.copy()
        for term, weight in question.weights.items():
            if term in self.index.postings:
                found = self.index.postings[term]
                most = np.zeros_like(whole)
                np.maximum.at(most, self.index.entry_of(found.passages.at), found.passages.values)
                whole += np.float32(weight * self.index.document_idf(found.document_count)) * most
        order = np.array(best_passages(scores, len(scores)), np.int64)
        documents, first = np.unique(self.index.entry_of(order), return_index=True)
        best = zip(self.index.keys_of(order[first].tolist()), whole[documents].tolist(), strict=True)
        return sorted(best, key=lambda item: -item[1])

    def _units(self, question: Question, scores: Scores, by_name: Scores) -> Ranked:
        """Passages by the unit in them that says most by itself. One statement."""
        passages = best_passages(scores, UNIT_DEPTH)
        entries = self.index.entry_of(np.array(passages, np.int64))
        named = dict(zip(self.index.keys_of(passages), by_name[entries].tolist(), strict=True))
        weigher = Weigher(question, self.index.rarity)
        best = {
            key: weigher.weigh(candidate).best_unit
            for key, candidate in read_candidates(self.scope, list(named)).items()
        }
        return sorted(((key, best[key] + named[key]) for key in best), key=lambda item: -item[1])
