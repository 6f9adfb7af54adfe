"""Reranks the candidates by what stands in them: cheap features always, a model where there is one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from uuid import UUID

from django.conf import settings

from retrieval.candidates import Candidate
from retrieval.deadlines import ask
from retrieval.evidence import Evidence
from retrieval.providers.rerankers import Reranker

# What a feature at its best adds, in shares of the keyword score. Fitted (listwise softmax) on questions
# about general documents, about filings and about a standard in four languages, each time without one of
# the three, then rounded to where halving or doubling one changes little in any (docs/search.md).
KEYWORD = 1.0
FUSED = 0.3
MEANING = 0.3
COVERAGE = 0.2
PHRASES = 0.5
QUOTED = 0.4
BEST_UNIT = 0.2
HEADINGS = 0.45
PAIRS = 0.3
PLACE = 0.8
NAMED_PAGE = 0.8
TABLE = 0.4

MODEL_DEPTH = 20
PASSAGE_CHARACTERS = 2000


@dataclass(frozen=True, slots=True)
class Weighed:
    """A candidate with its fused score and its evidence.

    ``keyword`` and ``meaning`` are its scores in these lists, as shares of the best (0..1);
    ``named_page``: the question names a page that it is on.
    """

    key: UUID
    fused: float
    keyword: float
    meaning: float
    named_page: bool
    evidence: Evidence


def by_features(weighed: Sequence[Weighed]) -> list[tuple[UUID, float]]:
    """Candidates by fused score and evidence together, best first; scores are about 0..4.

    A rank says which came first, not by how much: the keyword score, as a share
    of the best, does.
    """
    most_fused = max((item.fused for item in weighed), default=0.0) or 1.0
    most_unit = max((item.evidence.best_unit for item in weighed), default=0.0) or 1.0
    scored = [
        (
            item.key,
            FUSED * item.fused / most_fused
            + KEYWORD * item.keyword
            + MEANING * item.meaning
            + NAMED_PAGE * item.named_page
            + BEST_UNIT * item.evidence.best_unit / most_unit
            + COVERAGE * item.evidence.coverage
            + PHRASES * item.evidence.phrases
            + QUOTED * item.evidence.quoted
            + HEADINGS * item.evidence.headings
            + PAIRS * item.evidence.pairs
            + PLACE * item.evidence.place
            + TABLE * item.evidence.table,
        )
        for item in weighed
    ]
    return sorted(scored, key=lambda entry: -entry[1])


def by_model(
    query: str,
    ranked: Sequence[tuple[UUID, float]],
    candidates: Mapping[UUID, Candidate],
    reranker: Reranker,
) -> list[tuple[UUID, float]]:
    """The head again by the model's relevance, which counts as much as all before. Raises ProviderError."""
    head, tail = list(ranked[:MODEL_DEPTH]), list(ranked[MODEL_DEPTH:])
    texts = [candidates[key].text[:PASSAGE_CHARACTERS] for key, _ in head]
    relevance = _asked(reranker, query, texts)
    most = max((score for _, score in head), default=0.0) or 1.0
    scored = [(key, score / most + value) for (key, score), value in zip(head, relevance, strict=True)]
    return [*sorted(scored, key=lambda entry: -entry[1]), *tail]


def _asked(reranker: Reranker, query: str, texts: list[str]) -> list[float]:
    if reranker.local:
        return reranker.relevance(query, texts)
    return ask(lambda: reranker.relevance(query, texts), settings.SEARCH_PROVIDER_SECONDS).answer()
