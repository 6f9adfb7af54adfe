"""Conversations, answers and citations through the API, over a real ASGI server."""

from __future__ import annotations

import io
import json
from typing import Any

import httpx
import pytest
from django.contrib.auth.models import User
from PIL import Image, ImageColor

from chat.citations.stored_citations import COLOURS
from chat.models import Citation, Conversation, Message
from documents.models import ApiToken, Document
from tests.chat.conftest import PAGE_1, QUESTION

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def api(alice: User, asgi_server: str) -> httpx.Client:
    """Calls with a token of Alice's that may read and ask, but not write."""
    _, key = ApiToken.objects.issue(alice, "test", ["read", "ask"])
    return httpx.Client(base_url=f"{asgi_server}/api", headers={"Authorization": f"Bearer {key}"}, timeout=60)


def ask(api: httpx.Client, conversation: Conversation, **more: Any) -> httpx.Response:
    headers = more.pop("headers", {})
    body = {"question": QUESTION} | more
    return api.post(f"/conversations/{conversation.pk}/messages/", json=body, headers=headers)


def test_an_answer_comes_with_citations_that_say_where_the_words_stand(
    api: httpx.Client, report: Document
) -> None:
    made = api.post("/conversations/", json={"documents": [str(report.pk)]}).json()
    assert made["scope"] == "documents"
    answered = ask(api, Conversation.objects.get(pk=made["id"]))
    assert answered.status_code == 201
    answer = answered.json()["answer"]
    assert answer["status"] == "complete" and "[1]" in answer["text"]
    citation = answer["citations"][0]
    assert "1,577" in citation["quote"] and citation["quote"] in PAGE_1.replace("\n", " ")
    assert (citation["document"], citation["page"], citation["verdict"]) == (str(report.pk), 1, "found")
    box = citation["region"]["bbox"]
    assert abs(box["x0"] - 72) < 1 and box["y0"] < 90 < box["y1"], "drawn at x = 72 pt, baseline y = 90 pt"
    assert box["x"] == box["x0"] and abs(box["width"] - (box["x1"] - box["x0"])) < 1e-6
    assert citation["permalink"].startswith("http") and f"citation={citation['id']}" in citation["permalink"]
    alone = api.get(f"/citations/{citation['id']}").json()
    assert alone == {**citation, "permalink": alone["permalink"], "image": alone["image"]}


def test_a_citation_leads_to_its_chunk_and_the_units_beside_it(
    api: httpx.Client, conversation: Conversation
) -> None:
    answer = ask(api, conversation).json()["answer"]
    first = answer["citations"][0]
    context = api.get(f"/citations/{first['id']}/context").json()
    assert context["citation"]["id"] == first["id"] and context["unit"]["id"] == first["unit"]
    assert context["before"] == context["after"] == []
    units = [unit["id"] for unit in context["chunk"]["units"]]
    assert first["unit"] in units
    assert units == context["chunk"]["unit_ids"]
    siblings = api.get(f"/citations/{first['id']}/siblings").json()["results"]
    assert [row["id"] for row in siblings] == [unit for unit in units if unit != first["unit"]]

    wide = api.get(f"/citations/{first['id']}/context?neighbours=2").json()
    positions = [unit["position"] for unit in wide["before"] + [wide["unit"]] + wide["after"]]
    assert len(positions) > 1
    assert positions == sorted(positions)
    assert api.get(f"/citations/{first['id']}/context?neighbours=x").status_code == 400
    of_unit = api.get(f"/units/{first['unit']}/context?neighbours=2").json()
    assert of_unit == {name: wide[name] for name in of_unit}
    assert api.get(f"/units/{first['unit']}/siblings").json()["results"] == siblings


def test_an_answer_is_streamed_as_server_sent_events(api: httpx.Client, conversation: Conversation) -> None:
    streamed = ask(api, conversation, headers={"Accept": "text/event-stream"})
    assert streamed.status_code == 201
    assert streamed.headers["Content-Type"].startswith("text/event-stream")
    kinds = [
        line.removeprefix("event: ") for line in streamed.text.splitlines() if line.startswith("event: ")
    ]
    assert kinds[0] == "status" and kinds[-1] == "done" and {"text", "citation", "verdict"} <= set(kinds)
    done = json.loads([line for line in streamed.text.splitlines() if line.startswith("data: ")][-1][6:])
    again = api.get(f"/messages/{done['message']}/stream", headers={"Last-Event-ID": "3"}).text
    assert "id: 4" in again and "id: 3\n" not in again
    assert api.get(f"/messages/{done['message']}").json()["status"] == "complete"


def test_a_question_sent_again_under_its_key_is_asked_once(
    api: httpx.Client, conversation: Conversation
) -> None:
    headers = {"Idempotency-Key": "a question of Alice's"[:21].replace(" ", "-")}
    first, again = (ask(api, conversation, headers=headers).json() for _ in range(2))
    assert first["answer"]["id"] == again["answer"]["id"]
    assert Message.objects.filter(conversation=conversation).count() == 2
    other = ask(api, conversation, question="Something else?", headers=headers)
    assert (other.status_code, other.json()["code"]) == (422, "key_reused")


def test_one_need_not_wait_and_can_read_on_later(api: httpx.Client, conversation: Conversation) -> None:
    asked = ask(api, conversation, wait=False).json()
    assert asked["answer"]["status"] in ("pending", "streaming", "complete")
    assert "event: done" in api.get(f"/messages/{asked['answer']['id']}/stream").text
    listed = api.get(f"/conversations/{conversation.pk}/messages").json()["results"]
    assert [row["role"] for row in listed] == ["user", "assistant"]
    assert listed[1]["status"] == "complete" and listed[1]["citations"]


def test_an_answer_that_has_ended_is_retried_but_not_cancelled(
    api: httpx.Client, conversation: Conversation
) -> None:
    answer = ask(api, conversation).json()["answer"]["id"]
    assert api.post(f"/messages/{answer}/cancel").status_code == 409
    assert api.post(f"/messages/{answer}/continue").status_code == 409
    assert api.post(f"/messages/{answer}/retry").status_code == 202
    assert "event: done" in api.get(f"/messages/{answer}/stream").text
    assert api.get(f"/messages/{answer}").json()["status"] == "complete"


def test_questions_are_limited_and_need_their_scope(
    api: httpx.Client, alice: User, conversation: Conversation, settings: Any
) -> None:
    settings.RATES = settings.RATES | {"ask": "1/h"}
    assert ask(api, conversation).status_code == 201
    refused = ask(api, conversation)
    assert refused.status_code == 429 and int(refused.headers["Retry-After"]) > 0
    _, key = ApiToken.objects.issue(alice, "reader", ["read"])
    reader = httpx.Client(base_url=api.base_url, headers={"Authorization": f"Bearer {key}"})
    assert ask(reader, conversation).status_code == 403


def test_a_person_says_whether_a_citation_is_right(
    api: httpx.Client, alice: User, conversation: Conversation
) -> None:
    citation = ask(api, conversation).json()["answer"]["citations"][0]["id"]
    _, key = ApiToken.objects.issue(alice, "writer", ["read", "write"])
    writer = httpx.Client(base_url=api.base_url, headers={"Authorization": f"Bearer {key}"})
    assert writer.patch(f"/citations/{citation}/", json={"feedback": "wrong"}).json()["feedback"] == "wrong"
    assert writer.patch(f"/citations/{citation}/", json={"quote": "other"}).status_code == 400
    assert Citation.objects.get(pk=citation).feedback == "wrong"


def test_providers_say_whether_they_answer(api: httpx.Client) -> None:
    cards = {card["name"]: card for card in api.get("/providers/").json()}
    assert cards["extractive"]["configured"] and "key" not in cards["openai"]
    health = api.post("/providers/extractive/health/").json()
    assert set(health) == {"working", "message", "milliseconds"}
    assert api.post("/providers/nobody/health/").status_code == 404


def test_the_cited_words_come_as_a_picture(api: httpx.Client, conversation: Conversation) -> None:
    """The anchor is painted where it stands on the page, pale: a passage is not judged."""
    citation = ask(api, conversation).json()["answer"]["citations"][0]
    answer = api.get(f"/citations/{citation['id']}/image", params={"crop": False, "dpi": 72})
    assert (answer.status_code, answer.headers["Content-Type"]) == (200, "image/png")
    image = Image.open(io.BytesIO(answer.content)).convert("RGB")
    x0, y0, x1, y1 = citation["region"]["display"][0]
    x, y = (x0 + x1) / 2 * image.width, (y0 + 0.02 * (y1 - y0)) * image.height
    assert image.getpixel((int(x), int(y) + 1)) == ImageColor.getrgb(COLOURS[0][0])
    crop = Image.open(io.BytesIO(api.get(f"/citations/{citation['id']}/image").content))
    assert crop.height < crop.width
