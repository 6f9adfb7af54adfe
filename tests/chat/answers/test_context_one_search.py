"""Page, API, command line and answers search by the same strategies, model and reranker."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from io import StringIO

import pytest
from django.contrib.auth.models import User
from django.core.management import call_command
from django.test import Client

from chat.answers.question_commands import ask, start_conversation
from chat.answers.write_answer import AnswerContext, write_answer
from documents.models import Document
from tests.api_clients import client_of
from tests.chat.scripted_server import Reply, ScriptedServer, openai_answer, serving
from tests.scripted_server import Answer, Asked, scripted_server
from tests.scripted_server import ScriptedServer as HttpServer

QUESTION = "How many red anvils were sold?"
VARIANTS = {"variants": ["anvil sales volume"], "parts": [], "passage": "Acme sold anvils.", "filters": {}}


@pytest.fixture
def model(settings: object) -> Iterator[ScriptedServer]:
    with serving(Reply(openai_answer("Acme sold 1,577 [[cite:u1:1]]."))) as script:
        script.for_search = json.dumps(VARIANTS)
        settings.COMPATIBLE_BASE_URL = f"{script.url}/v1"  # type: ignore[attr-defined]
        settings.CHAT_PROVIDER = "compatible"  # type: ignore[attr-defined]
        yield script


def even(asked: Asked) -> Answer:
    count = len(json.loads(asked.body)["documents"])
    return Answer.json({"results": [{"index": at, "relevance_score": 0.5} for at in range(count)]})


@pytest.fixture
def rerank(settings: object) -> Iterator[HttpServer]:
    with scripted_server() as server:
        server.script["/v2/rerank"] = even
        settings.RERANKER, settings.RERANK_URL = "cohere", f"{server.url}/v2/rerank"  # type: ignore[attr-defined]
        yield server


def by_page(alice: User) -> str:
    client = Client()
    client.force_login(alice)
    return client.get("/search/", {"q": QUESTION}).content.decode()


def by_api(alice: User) -> str:
    return json.dumps(client_of(alice).post("/api/search/", {"query": QUESTION}, format="json").json())


def by_command(alice: User) -> str:
    written = StringIO()
    call_command("search", QUESTION, owner="alice", stdout=written)
    return written.getvalue()


def by_answer(alice: User) -> str:
    conversation = start_conversation(alice, Document.objects.visible_to(alice))
    answer = ask(conversation, QUESTION).answer
    write_answer(answer, AnswerContext(lambda event: None, threading.Event()))
    answer.refresh_from_db()
    assert answer.status == "complete", answer.error
    return answer.content


@pytest.mark.parametrize("searched", [by_page, by_api, by_command, by_answer])
def test_every_search_asks_the_model_and_the_reranker_once(
    alice: User,
    report: Document,
    model: ScriptedServer,
    rerank: HttpServer,
    searched: Callable[[User], str],
) -> None:
    said = searched(alice)
    assert model.searches == 1
    assert len(rerank.asked) == 1
    assert "no language model" not in said


def test_the_next_page_of_a_search_pays_for_no_second_reply(
    alice: User, report: Document, model: ScriptedServer
) -> None:
    by_page(alice)
    by_page(alice)
    assert model.searches == 1


def test_a_smaller_model_helps_where_one_is_named(
    alice: User, report: Document, model: ScriptedServer, settings: object
) -> None:
    settings.HELPER_MODEL = "compatible:small"  # type: ignore[attr-defined]
    asked: list[str] = []
    original = model.reply_to

    def noting(path: str, body: dict) -> Reply:  # type: ignore[type-arg]
        asked.append(body["model"])
        return original(path, body)

    model.reply_to = noting  # type: ignore[method-assign]
    by_answer(alice)
    assert asked == ["small", "llama3.1"]


def test_a_conversation_without_a_model_asks_none_for_its_search(
    alice: User, report: Document, model: ScriptedServer
) -> None:
    conversation = start_conversation(alice, [report], provider="extractive")
    answer = ask(conversation, QUESTION).answer
    write_answer(answer, AnswerContext(lambda event: None, threading.Event()))
    assert model.searches == 0


def test_a_provider_that_is_not_set_up_is_named_as_the_reason(
    alice: User, report: Document, settings: object
) -> None:
    settings.CHAT_PROVIDER, settings.OPENAI_API_KEY = "openai", ""  # type: ignore[attr-defined]
    assert "or by OPENAI_API_KEY" in by_api(alice)
