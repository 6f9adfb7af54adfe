"""Every tool, resource and endpoint of this app refuses another user's data.

Each probe is made by the owner first, who is answered: a probe that could not succeed would prove nothing.
"""

from __future__ import annotations

import json
import threading
from dataclasses import dataclass
from typing import Any

import pytest
from django.contrib.auth.models import User
from rest_framework.test import APIClient

from agents.mcp_server import make_server
from agents.models import FileCheck, Webhook
from agents.openai_responses import PREFIX
from agents.results import PAGE_URI, PICTURE_URI
from chat.answers import question_commands
from chat.answers.question_commands import start_conversation
from chat.answers.runner import claim_next
from chat.answers.write_answer import AnswerContext, write_answer
from chat.models import Conversation, Message
from documents.models import Collection, Document
from reviews.models import Review
from reviews.review_commands import start_review
from tests.agents.test_mcp_server_fuzzed import answer_of_mcp, rpc
from tests.api_clients import client_of
from tests.chat.conftest import QUESTION

pytestmark = pytest.mark.django_db
SECRETS = ("anvil", "acme", "1,577")  # words of Alice's document and of what she made of it


@dataclass(frozen=True)
class Hers:
    """Alice's objects."""

    document: Document
    collection: Collection
    conversation: Conversation
    answer: Message
    review: Review
    check: FileCheck
    webhook: Webhook


@pytest.fixture
def hers(alice: User, report: Document) -> Hers:
    conversation = start_conversation(alice, [report])
    question_commands.ask(conversation, QUESTION)
    answer = claim_next(conversation.pk)
    assert answer is not None
    write_answer(answer, AnswerContext(lambda event: None, threading.Event()))
    collection = Collection.objects.create(owner=alice, name="Anvils")
    review = start_review(alice, "Anvils", [report])
    check = FileCheck.objects.create(owner=alice, kind="verify", wanted=[], results=["anvil"], status="done")
    webhook = Webhook.objects.create(owner=alice, url="https://acme.example/", events=["answer.done"])
    return Hers(report, collection, conversation, answer, review, check, webhook)


def tool_probes(hers: Hers) -> dict[str, list[dict[str, Any]]]:
    """Return for each tool calls that name or find Alice's objects. `ask` is called without a question."""
    document = str(hers.document.pk)
    return {
        "list_documents": [{}, {"query": "acme"}],
        "search": [{"query": "red anvils"}, {"query": "red anvils", "documents": [document]}],
        "read": [{"document": document}],
        "locate": [{"document": document, "quote": "red anvils"}],
        "verify": [{"document": document, "claim": "The anvils weighed twelve tons."}],
        "review": [{"review": str(hers.review.pk)}],
        "ask": [
            {"question": "", "documents": [document]},
            {"question": "", "conversation": str(hers.conversation.pk)},
        ],
        "write_report": [],  # probed in tests/chat/reports/test_written_report.py
        "compare_versions": [],  # probed in tests/chat/reports/test_reports.py
        "add_document": [],  # takes no id of an object
    }


def told(answer: Any) -> str:
    """Return the answer as JSON in lower case."""
    return json.dumps(answer).lower()


def test_no_tool_gives_another_what_is_hers(alice: User, bob: User, hers: Hers) -> None:
    probes = tool_probes(hers)
    assert set(probes) == {tool.name for tool in make_server()._tool_manager.list_tools()}
    owner, stranger = client_of(alice), client_of(bob)
    for tool, calls in probes.items():
        for arguments in calls:
            body = rpc("tools/call", {"name": tool, "arguments": arguments})
            given, refused = answer_of_mcp(owner, body)["result"], answer_of_mcp(stranger, body)["result"]
            if tool == "ask":
                assert "write a question" in told(given)  # the owner passes the access check
                assert refused["isError"] and "cannot access it" in told(refused)
            else:
                assert any(word in told(given) for word in SECRETS), (tool, arguments)
                assert not any(word in told(refused) for word in SECRETS), (tool, arguments, refused)


def test_no_resource_gives_another_what_is_hers(alice: User, bob: User, hers: Hers) -> None:
    for template in (PAGE_URI, PICTURE_URI):
        uri = template.format(document=hers.document.pk, page=1, boxes="10000-10000-50000-20000")
        body = rpc("resources/read", {"uri": uri})
        assert answer_of_mcp(client_of(alice), body)["result"]["contents"][0]
        assert "cannot access it" in told(answer_of_mcp(client_of(bob), body)["error"])


def openai_probes(client: APIClient, hers: Hers) -> list[Any]:
    """Answers to requests for her models and her answer."""
    talk = [{"role": "user", "content": " "}]
    models = [f"document:{hers.document.pk}", f"collection:{hers.collection.pk}"]
    return [
        *(client.post("/v1/chat/completions", {"model": m, "messages": talk}, format="json") for m in models),
        *(client.post("/v1/responses", {"model": m, "input": " "}, format="json") for m in models),
        client.get("/v1/models"),
        client.get(f"/v1/responses/{PREFIX}{hers.answer.pk.hex}"),
    ]


def test_openais_protocol_gives_another_nothing_of_hers(alice: User, bob: User, hers: Hers) -> None:
    *asked, listed, read = openai_probes(client_of(alice), hers)
    assert all("Write a question" in answer.content.decode() for answer in asked)
    assert "acme" in told(listed.json()) and "1,577" in told(read.json())
    *asked, listed, read = openai_probes(client_of(bob), hers)
    assert all("There is no model" in answer.content.decode() for answer in asked)
    assert [model["id"] for model in listed.json()["data"]] == ["library"] and read.status_code == 404
    assert not Conversation.objects.filter(owner=bob).exists()


def api_probes(hers: Hers) -> list[tuple[str, str, dict[str, Any] | None]]:
    """Requests for what is hers: method, path, body."""
    document = str(hers.document.pk)
    claims = [{"claim": "The anvils weighed twelve tons."}]
    return [
        ("post", "/api/verify/", {"document": document, "claims": claims}),
        ("post", f"/api/documents/{document}/locate/", {"quote": "red anvils"}),
        ("get", f"/api/checks/{hers.check.pk}/", None),
        ("get", f"/api/webhooks/{hers.webhook.pk}/", None),
        ("get", f"/api/webhooks/{hers.webhook.pk}/deliveries/", None),
        ("patch", f"/api/webhooks/{hers.webhook.pk}/", {"is_active": True}),
        ("post", "/api/embeds/", {"document": document, "origins": ["https://wiki.example"]}),
        ("get", f"/api/reviews/{hers.review.pk}/", None),
    ]


def test_no_endpoint_gives_another_what_is_hers(alice: User, bob: User, hers: Hers) -> None:
    for method, path, body in api_probes(hers):
        given, refused = (
            getattr(client_of(user), method)(path, body, format="json") for user in (alice, bob)
        )
        assert given.status_code in (200, 201), (path, given.content)
        assert refused.status_code == 404, (path, refused.content)
    assert client_of(alice).get("/api/webhooks/").json()["results"]
    assert client_of(bob).get("/api/webhooks/").json()["results"] == []


SCOPES = ("read", "ask", "write")
NEEDED = {
    "ask": {"ask"},
    "add_document": {"write"},
    "review": {"ask", "write"},
    "compare_versions": {"write"},
    "write_report": {"ask", "write"},
}


@pytest.mark.parametrize("left_out", SCOPES)
def test_no_tool_does_without_the_scope_it_needs(alice: User, report: Document, left_out: str) -> None:
    """A token with all scopes but one: the tools that need it say so, and the others do their work."""
    client = client_of(alice, *(scope for scope in SCOPES if scope != left_out))
    document = str(report.pk)
    calls: dict[str, dict[str, Any]] = {
        "list_documents": {},
        "search": {"query": "anvils"},
        "read": {"document": document},
        "locate": {"document": document, "quote": "anvils"},
        "verify": {"document": document, "claim": "The anvils weighed twelve tons."},
        "ask": {"question": ""},
        "add_document": {"name": "a.pdf", "content_base64": "TVo="},
        "review": {"documents": [document]},
        "compare_versions": {"documents": [document]},
        "write_report": {"documents": [document]},
    }
    for tool, arguments in calls.items():
        body = rpc("tools/call", {"name": tool, "arguments": arguments})
        if left_out == "read":  # the endpoint itself needs this scope
            assert client.post("/mcp", body, content_type="application/json").status_code == 403
            continue
        answer = answer_of_mcp(client, body)["result"]
        lacks = f"no '{left_out}' scope" in told(answer)
        assert lacks is (left_out in NEEDED.get(tool, set())), (tool, answer)
    assert Review.objects.count() == 0 and Document.objects.count() == 1
