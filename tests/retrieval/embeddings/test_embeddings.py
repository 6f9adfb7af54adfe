"""Embedding and rerank services, through their real SDKs, against a server whose answers are scripted."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
import wordllama

from retrieval.embeddings.base import prefixed
from retrieval.embeddings.openai import OpenAIEmbedder
from retrieval.embeddings.registry import embedder, split_name
from retrieval.embeddings.wordllama import WordLlamaEmbedder
from retrieval.provider_calls import ProviderError, with_retries
from retrieval.ranking.rerankers import HttpReranker
from tests.scripted_server import Answer, ScriptedServer, scripted_server

EMBEDDINGS = "/v1/embeddings"


@pytest.fixture
def server() -> Iterator[ScriptedServer]:
    with scripted_server() as server:
        yield server


def openai(server: ScriptedServer, dimensions: int = 0, seconds: float = 5) -> OpenAIEmbedder:
    return OpenAIEmbedder(
        "small", api_key="sk-secret", base_url=f"{server.url}/v1", dimensions=dimensions, seconds=seconds
    )


def vectors(*rows: list[float]) -> Answer:
    data = [{"object": "embedding", "index": at, "embedding": row} for at, row in enumerate(rows)]
    return Answer.json({"object": "list", "model": "small", "data": data[::-1], "usage": {}})


def test_vectors_come_in_the_order_of_the_texts_and_have_length_one(server: ScriptedServer) -> None:
    server.script[EMBEDDINGS] = vectors([3.0, 4.0], [0.0, 2.0])
    found = openai(server).embed(["a", "b"])
    assert found == pytest.approx(np.array([[0.6, 0.8], [0.0, 1.0]]))
    asked = json.loads(server.asked[0].body)
    assert (asked["model"], asked["input"]) == ("small", ["a", "b"])


@pytest.mark.parametrize(
    ("model", "question", "passage"),
    [
        ("nomic-embed-text", "search_query: a", "search_document: a"),
        ("intfloat/multilingual-e5-small", "query: a", "passage: a"),
        ("embeddinggemma", "task: search result | query: a", "title: none | text: a"),
        ("snowflake-arctic-embed2", "query: a", "a"),
        ("mxbai-embed-large", "Represent this sentence for searching relevant passages: a", "a"),
        ("BAAI/bge-m3", "a", "a"),
        ("text-embedding-3-small", "a", "a"),
        ("some-base-embed", "a", "a"),
    ],
)
def test_questions_and_passages_get_the_prefixes_of_the_model_s_family(
    model: str, question: str, passage: str
) -> None:
    assert prefixed(model, ["a"], query=True) == [question]
    assert prefixed(model, ["a"], query=False) == [passage]


@pytest.mark.parametrize(
    ("answer", "permanent"),
    [
        (Answer.json({"error": {"message": "bad key sk-secret"}}, 401), True),
        (Answer.json({"error": {"message": "no such model"}}, 404), True),
        (Answer.json({"error": {"message": "slow down"}}, 429), False),
        (Answer.json({"error": {"message": "oops"}}, 500), False),
        (Answer(200, b"<html>not json", {"Content-Type": "text/html"}), False),
        (Answer.json({"data": []}), False),
        (Answer.json({"data": None}), False),
        (Answer.json({"data": [{"index": 0, "embedding": ["x"]}]}), False),
        (Answer(200, b'{"data": [', {"Content-Type": "application/json", "Content-Length": "999"}), False),
    ],
)
def test_what_goes_wrong_is_one_kind_of_error(
    server: ScriptedServer, answer: Answer, permanent: bool
) -> None:
    server.script[EMBEDDINGS] = answer
    with pytest.raises(ProviderError) as caught:
        openai(server, seconds=0.5).embed(["a"])
    assert caught.value.permanent is permanent
    assert "sk-secret" not in caught.value.message


def test_vectors_of_another_length_are_refused(server: ScriptedServer) -> None:
    server.script[EMBEDDINGS] = vectors([1.0, 0.0, 0.0])
    with pytest.raises(ProviderError, match="length 3, not 256"):
        openai(server, dimensions=256).embed(["a"])


@pytest.mark.django_db
def test_gemini_is_asked_at_its_configured_address(server: ScriptedServer, settings) -> None:  # type: ignore[no-untyped-def]
    settings.GEMINI_API_KEY = "g-secret"
    settings.GEMINI_BASE_URL = f"{server.url}/v1/"
    server.script[EMBEDDINGS] = vectors([1.0, 0.0])
    assert embedder("gemini", "gemini-embedding-001").embed(["a"]) == pytest.approx(np.array([[1.0, 0.0]]))
    assert json.loads(server.asked[0].body)["model"] == "gemini-embedding-001"


def test_a_service_that_hangs_is_given_up(server: ScriptedServer) -> None:
    server.script[EMBEDDINGS] = Answer(delay=3)
    with pytest.raises(ProviderError, match="in time"):
        openai(server, seconds=0.2).embed(["a"])


def test_a_service_that_is_not_there_is_said_so() -> None:
    with pytest.raises(ProviderError, match="cannot be reached"):
        OpenAIEmbedder("small", api_key="k", base_url="http://127.0.0.1:9/v1").embed(["a"])


def test_the_pause_is_the_one_the_service_asks_for(server: ScriptedServer) -> None:
    busy = Answer.json({"error": {}}, 429, **{"Retry-After": "7"})
    server.script[EMBEDDINGS] = [busy, busy, vectors([1.0, 0.0])]
    pauses: list[float] = []
    found = with_retries(lambda: openai(server).embed(["a"]), pause=pauses.append)
    assert found.shape == (1, 2)
    assert pauses == [7, 7]


def test_wordllama_brings_texts_of_one_subject_together() -> None:
    coffee, tea, bonds = WordLlamaEmbedder().embed(["a cup of coffee", "a pot of tea", "maturity of bonds"])
    assert coffee @ tea > coffee @ bonds
    assert WordLlamaEmbedder().embed(["", "x"]).shape == (2, 256)


def test_wordllama_s_vectors_are_those_of_its_own_library() -> None:
    texts = ["Net income was $1,577.00", "row one\nrow  two\n\n\tx", "東京 é 👩‍👩‍👧", "word " * 600]
    package = Path(wordllama.__file__).parent
    theirs = wordllama.WordLlama.load(cache_dir=package, disable_download=True)
    assert WordLlamaEmbedder().embed(texts) == pytest.approx(theirs.embed(texts, norm=True), abs=1e-5)


def test_names_of_spaces_are_checked() -> None:
    assert split_name("openai:text-embedding-3-large") == ("openai", "text-embedding-3-large")
    with pytest.raises(ProviderError, match="no embedding provider"):
        split_name("nonsense")


@pytest.mark.django_db
def test_a_missing_key_is_said_by_its_variable(settings: object) -> None:
    settings.GEMINI_API_KEY = ""  # type: ignore[attr-defined]
    with pytest.raises(ProviderError, match="GEMINI_API_KEY"):
        embedder("gemini", "some-model")


def cohere(server: ScriptedServer) -> HttpReranker:
    return HttpReranker(f"{server.url}/v2/rerank", "key", model="rerank-v3.5", seconds=0.3)


def test_cohere_s_scores_come_in_the_order_of_the_passages(server: ScriptedServer) -> None:
    rows = [{"index": 1, "relevance_score": 0.9}, {"index": 0, "relevance_score": 0.2}]
    server.script["/v2/rerank"] = Answer.json({"results": rows})
    assert cohere(server).relevance("q", ["a", "b"]) == [0.2, 0.9]
    assert server.asked[0].headers["Authorization"] == "Bearer key"


@pytest.mark.parametrize(
    "answer",
    [
        Answer(500),
        Answer(429),
        Answer(401),
        Answer(200, b"no"),
        Answer.json({"results": []}),
        Answer(delay=1),
    ],
)
def test_what_goes_wrong_at_cohere_is_the_same_kind_of_error(server: ScriptedServer, answer: Answer) -> None:
    server.script["/v2/rerank"] = answer
    with pytest.raises(ProviderError):
        cohere(server).relevance("q", ["a"])
