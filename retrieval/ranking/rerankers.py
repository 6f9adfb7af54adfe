"""Rerankers: by term features always, by a model (Cohere, cross-encoder) where one is configured."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence, Set
from functools import lru_cache
from typing import Any, Protocol
from uuid import UUID

import httpx
from django.conf import settings

from retrieval.embeddings.fastembed import CrossEncoderReranker
from retrieval.provider_calls import PERMANENT_STATUSES, ProviderError, seconds_of, start_call
from retrieval.ranking.candidate_lists import NamedQuestion, RankedList, fuse
from retrieval.ranking.features import TERM_FEATURES, Candidate, unit_meanings
from retrieval.ranking.hits import FoundCandidates

COHERE_URL = "https://api.cohere.com/v2/rerank"
COHERE_MODEL = "rerank-v3.5"


class Reranker(Protocol):
    """A reranker; ``local``: it runs in this process and cannot hang."""

    local: bool

    def relevance(self, query: str, passages: Sequence[str]) -> list[float]:
        """Return 0..1 for each passage. Raises ProviderError."""
        ...


class HttpReranker:
    """A rerank service with Cohere's API (also Jina, vLLM). ``url`` is the full address of the endpoint."""

    local = False

    def __init__(self, url: str, api_key: str = "", *, model: str = "", seconds: float = 4) -> None:
        headers = {"Authorization": f"Bearer {api_key}"} if api_key else {}
        self._client = httpx.Client(headers=headers, timeout=seconds)
        self._url = url
        self._model = model

    def relevance(self, query: str, passages: Sequence[str]) -> list[float]:
        try:
            answer = self._client.post(self._url, json=self.body(query, list(passages)))
            answer.raise_for_status()
            scores = self.scores(answer.json())
            return [scores[at] for at in range(len(passages))]
        except httpx.HTTPStatusError as error:
            status = error.response.status_code
            raise ProviderError(
                f"The rerank service refused with status {status}.",
                permanent=status in PERMANENT_STATUSES,
                retry_after=seconds_of(error.response.headers.get("retry-after")),
            ) from error
        except httpx.TimeoutException as error:
            raise ProviderError("The rerank service did not answer in time.") from error
        except httpx.HTTPError as error:
            raise ProviderError("The rerank service cannot be reached.") from error
        except (KeyError, TypeError, ValueError) as error:
            raise ProviderError("The rerank service returned something that makes no sense.") from error

    def body(self, query: str, passages: list[str]) -> dict[str, Any]:
        named = {"model": self._model} if self._model else {}
        return {**named, "query": query, "documents": passages, "top_n": len(passages)}

    def scores(self, answer: Any) -> dict[int, float]:
        """Return the scores by index of the passage."""
        return {int(row["index"]): float(row["relevance_score"]) for row in answer["results"]}


class TeiReranker(HttpReranker):
    """The endpoint ``/rerank`` of Hugging Face's Text Embeddings Inference."""

    def body(self, query: str, passages: list[str]) -> dict[str, Any]:
        return {"query": query, "texts": passages, "truncate": True}

    def scores(self, answer: Any) -> dict[int, float]:
        return {int(row["index"]): float(row["score"]) for row in answer}


def configured_reranker() -> Reranker | None:
    """Return the reranker of the settings; None without one."""
    kind, _, model = (settings.RERANKER or ("cohere" if settings.COHERE_API_KEY else "")).partition(":")
    if not kind:
        return None
    return _reranker(
        kind, settings.RERANK_URL, settings.COHERE_API_KEY, model, settings.SEARCH_PROVIDER_SECONDS
    )


@lru_cache(maxsize=4)
def _reranker(kind: str, url: str, key: str, model: str, seconds: float) -> Reranker:
    """Return the client or loaded model, shared by all searches."""
    if kind == "fastembed":
        return CrossEncoderReranker(model) if model else CrossEncoderReranker()
    if kind == "tei":
        return TeiReranker(url, key, seconds=seconds)
    return HttpReranker(url or COHERE_URL, key, model=model or COHERE_MODEL, seconds=seconds)


# Rerank the candidates by their content: cheap features always, a model if there is one.

WEIGHTS = {
    "keyword": 0.8,
    "fused": 0.3,
    "meaning": 0.15,
    "named page": 0.8,
    "best unit": 0.2,
    "coverage": 0.2,
    "phrases": 0.6,
    "quoted": 0.4,
    "headings": 0.45,
    "pairs": 0.4,
    "place": 1.6,
    "table": 0.4,
    "digits": 0.33,
}
"""What a feature at its best (1) adds, in shares of the keyword score.

Fitted on questions about general documents, about filings and about a standard in four languages, each time
without one of the three, then rounded to where halving or doubling one changes little in any.
``manage.py bench weights`` fits them again (docs/search.md has both figures)."""
MEANING_UNDERSTOOD = 0.3
"""What the similarity of a model that understands sentences adds to its weight."""
MEANING_IN_DOUBT = 1.5
"""The same times the share of the question's words that the best candidate lacks: meaning counts where words
fail. Both from a sweep (docs/search.md)."""
UNIT_MEANING = 0.5
"""The same of the unit nearest in meaning, which is looked for in the best ``NEAREST_DEPTH`` alone."""

NEAREST_DEPTH = 16
"""Candidates whose units are compared with the question one by one, which costs more than all the rest."""
MODEL_DEPTH = 20
PASSAGE_CHARACTERS = 2000


Features = Mapping[str, float]
"""Of a candidate, by the names of ``WEIGHTS``; each in 0..1."""


def by_features(rows: Mapping[UUID, Features], understanding: float = 0) -> list[tuple[UUID, float]]:
    """Return the candidates by fused score and evidence, best first; scores are about 0 to 4."""
    weights = dict(WEIGHTS)
    if understanding and rows:
        doubt = 1 - max(row["coverage"] for row in rows.values())
        weights["meaning"] += understanding * (MEANING_UNDERSTOOD + MEANING_IN_DOUBT * doubt)
    scored = [(key, sum(weights[name] * row[name] for name in weights)) for key, row in rows.items()]
    return sorted(scored, key=lambda entry: -entry[1])


def rank_by_evidence(
    named: NamedQuestion, found: FoundCandidates, keys: Set[UUID], meaning: bool
) -> list[tuple[UUID, float]]:
    """Return the candidates that lists of this question or part found, with their evidence for it.

    ``meaning``: whether the best are read once more for the unit nearest in meaning.
    """
    ranked = by_features(features_of(named, found, keys), found.understanding)
    return by_nearest_unit(named.question.text, ranked, found.candidates) if meaning else ranked


def features_of(named: NamedQuestion, found: FoundCandidates, keys: Set[UUID]) -> dict[UUID, Features]:
    """Return the features of the candidates of a question or part, in fused order.

    A rank says which came first, not by how much: the score of a list, as a share of the best, does.
    """
    lists = [ranked for ranked in found.lists if belongs(ranked, named)]
    keyword, near = shares(lists, named.name), spread(lists, f"meaning of {named.name}")
    merged = found.fused if len(lists) == len(found.lists) else fuse(lists)
    fused = {key: score for key, score in merged if key in keys}
    evidence = {key: found.evidence[key][named.name] for key in fused}
    most_fused = max(fused.values(), default=0.0) or 1.0
    most_unit = max((of.best_unit for of in evidence.values()), default=0.0) or 1.0
    return {
        key: {
            "keyword": keyword.get(key, 0.0),
            "fused": score / most_fused,
            "meaning": near.get(key, 0.0) if found.is_understood(key) else 0.0,
            "named page": float(key in found.on_pages),
            "best unit": evidence[key].best_unit / most_unit,
            **{name: getattr(evidence[key], name) for name in TERM_FEATURES},
        }
        for key, score in fused.items()
    }


def belongs(ranked: RankedList[UUID], named: NamedQuestion) -> bool:
    """Return whether a list belongs to this part; the whole question has all lists except those of parts."""
    if named.name == "question":
        return "part" not in ranked.name
    return ranked.name in (named.name, f"meaning of {named.name}")


def shares(lists: Sequence[RankedList[UUID]], name: str) -> dict[UUID, float]:
    """Return each chunk's score in the list of that name, as a share of the best."""
    items = next((ranked.items for ranked in lists if ranked.name == name), ())
    return {key: score / items[0][1] for key, score in items}


def spread(lists: Sequence[RankedList[UUID]], name: str) -> dict[UUID, float]:
    """Return each chunk's score in the list of that name, scaled from 0 (lowest) to 1 (first)."""
    ranked = next((ranked for ranked in lists if ranked.name == name), None)
    if ranked is None or not ranked.items:
        return {}
    best, least = ranked.items[0][1], ranked.least
    return {key: (score - least) / ((best - least) or 1.0) for key, score in ranked.items}


def by_nearest_unit(
    query: str, ranked: Sequence[tuple[UUID, float]], candidates: Mapping[UUID, Candidate]
) -> list[tuple[UUID, float]]:
    """Return the first results with the similarity of the unit nearest to the query."""
    head, tail = ranked[:NEAREST_DEPTH], ranked[NEAREST_DEPTH:]
    near = unit_meanings(query, [candidates[key] for key, _ in head])
    more = [UNIT_MEANING * max(0.0, cosine) for cosine in near]
    scored = [(key, score + added) for (key, score), added in zip(head, more, strict=True)]
    return [*sorted(scored, key=lambda entry: -entry[1]), *tail]


def by_model(
    query: str,
    ranked: Sequence[tuple[UUID, float]],
    candidates: Mapping[UUID, Candidate],
    reranker: Reranker,
) -> list[tuple[UUID, float]]:
    """Return the first results in the model's order; ours breaks ties. Raises ProviderError.

    What a model on this machine has not read in time keeps its place. Each place keeps its score.
    """
    head, tail = list(ranked[:MODEL_DEPTH]), list(ranked[MODEL_DEPTH:])
    if not head:
        return tail
    texts = [candidates[key].text[:PASSAGE_CHARACTERS] for key, _ in head]
    relevance = _asked(reranker, query, texts)
    order = sorted(range(len(relevance)), key=lambda place: -relevance[place])
    order += range(len(relevance), len(head))
    moved = [(head[place][0], score) for place, (_, score) in zip(order, head, strict=True)]
    return [*moved, *tail]


LOCAL_BATCH = 4  # texts of 2,000 characters; a small cross-encoder reads one in some .3 s on one core


def _asked(reranker: Reranker, query: str, texts: list[str]) -> list[float]:
    """Return the relevance of the texts; of the first ones, where a local model's time runs out."""
    seconds = settings.SEARCH_PROVIDER_SECONDS
    if not reranker.local:
        return start_call(lambda: reranker.relevance(query, texts), seconds).answer()
    deadline = time.monotonic() + seconds
    relevance: list[float] = []
    while len(relevance) < len(texts) and (not relevance or time.monotonic() < deadline):
        relevance += reranker.relevance(query, texts[len(relevance) : len(relevance) + LOCAL_BATCH])
    return relevance
