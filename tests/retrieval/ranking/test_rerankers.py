"""Rerank services of three shapes over real HTTP, and the choice the settings make."""

from __future__ import annotations

import json
import time
from collections.abc import Sequence
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any
from uuid import UUID

import pytest

from retrieval.embeddings.fastembed import CrossEncoderReranker
from retrieval.provider_calls import ProviderError
from retrieval.ranking.rerankers import (
    WEIGHTS,
    TeiReranker,
    by_features,
    by_model,
    configured_reranker,
)
from tests.scripted_server import Answer, ScriptedServer, scripted_server

PASSAGES = ["Barley is sown in March.", "Wheat is sown in autumn."]


@pytest.fixture
def server():  # type: ignore[no-untyped-def]
    with scripted_server() as server:
        yield server


def test_a_cohere_shaped_service_is_asked_at_its_own_address(
    server: ScriptedServer, settings: object
) -> None:
    settings.RERANKER, settings.RERANK_URL = "cohere:jina-reranker-v2", f"{server.url}/v1/rerank"  # type: ignore[attr-defined]
    settings.COHERE_API_KEY = "key"  # type: ignore[attr-defined]
    rows = [{"index": 1, "relevance_score": 0.9}, {"index": 0, "relevance_score": 0.2}]
    server.script["/v1/rerank"] = Answer.json({"results": rows})
    reranker = configured_reranker()
    assert reranker is not None and reranker.relevance("wheat", PASSAGES) == [0.2, 0.9]
    body = json.loads(server.asked[0].body)
    assert body == {"model": "jina-reranker-v2", "query": "wheat", "documents": PASSAGES, "top_n": 2}
    assert server.asked[0].headers["Authorization"] == "Bearer key"


def test_tei_is_asked_in_its_own_words(server: ScriptedServer) -> None:
    server.script["/rerank"] = Answer.json([{"index": 1, "score": 0.7}, {"index": 0, "score": 0.1}])
    assert TeiReranker(f"{server.url}/rerank").relevance("wheat", PASSAGES) == [0.1, 0.7]
    assert json.loads(server.asked[0].body)["texts"] == PASSAGES
    assert "Authorization" not in server.asked[0].headers


def test_tei_s_error_is_a_provider_error(server: ScriptedServer) -> None:
    server.script["/rerank"] = Answer.json({"error": "overloaded"}, status=429)
    with pytest.raises(ProviderError, match="429"):
        TeiReranker(f"{server.url}/rerank").relevance("wheat", PASSAGES)


def test_the_settings_choose_the_reranker_and_it_is_made_once(settings: object) -> None:
    settings.RERANKER, settings.COHERE_API_KEY = "", ""  # type: ignore[attr-defined]
    assert configured_reranker() is None
    settings.RERANKER = "fastembed"  # type: ignore[attr-defined]
    assert isinstance(configured_reranker(), CrossEncoderReranker)
    assert configured_reranker() is configured_reranker(), "a model is loaded once"


@dataclass
class _Reversing:
    """A reranker that prefers later texts. A call takes ``seconds``."""

    local: bool = True
    seconds: float = 0.0
    calls: int = 0

    def relevance(self, query: str, passages: Sequence[str]) -> list[float]:
        self.calls += 1
        time.sleep(self.seconds)
        return [float(passage) for passage in passages]


def ranked(number: int) -> tuple[list[tuple[UUID, float]], Any]:
    keys = [UUID(int=place) for place in range(number)]
    candidates = {key: SimpleNamespace(text=str(place)) for place, key in enumerate(keys)}
    return [(key, 1.0 - place / 10) for place, key in enumerate(keys)], candidates


def places(found: list[tuple[UUID, float]]) -> list[int]:
    return [key.int for key, _ in found]


def test_the_order_of_a_model_is_the_order_and_scores_stay_with_their_places() -> None:
    listed, candidates = ranked(3)
    found = by_model("q", listed, candidates, _Reversing())
    assert places(found) == [2, 1, 0]
    assert [score for _, score in found] == [score for _, score in listed]


def test_a_model_is_not_asked_about_nothing() -> None:
    reranker = _Reversing()
    assert by_model("q", [], {}, reranker) == [] and reranker.calls == 0


def test_what_a_local_model_does_not_read_in_time_keeps_its_place(settings: object) -> None:
    settings.SEARCH_PROVIDER_SECONDS = 0.1  # type: ignore[attr-defined]
    listed, candidates = ranked(7)
    reranker = _Reversing(seconds=0.2)
    assert places(by_model("q", listed, candidates, reranker)) == [3, 2, 1, 0, 4, 5, 6]
    assert reranker.calls == 1


def test_meaning_weighs_where_the_words_of_a_question_fail() -> None:
    """The nearest in meaning has fewer of the words than the first by words."""

    def first(coverage: float, understanding: float) -> int:
        by_words = features(keyword=1.0, fused=1.0, coverage=coverage)
        by_meaning = features(keyword=0.4, fused=0.4, meaning=1.0)
        return by_features({UUID(int=1): by_words, UUID(int=2): by_meaning}, understanding)[0][0].int

    assert first(coverage=0.3, understanding=1) == 2
    assert first(coverage=1.0, understanding=1) == 1, "the words stand there"
    assert first(coverage=0.3, understanding=0) == 1, "averaged words are not trusted so far"


def features(**known: float) -> dict[str, float]:
    return {**dict.fromkeys(WEIGHTS, 0.0), **known}
