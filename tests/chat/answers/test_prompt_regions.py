"""Questions about a part of a page: its picture goes to a model that sees, its words to every other."""

from __future__ import annotations

import base64
import io
import json
import threading
from collections.abc import Callable

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse
from PIL import Image

from chat.answers import question_commands
from chat.answers.question_commands import InvalidOperation, validated_region
from chat.answers.runner import claim_next
from chat.answers.without_model.answer import Extractive
from chat.answers.write_answer import AnswerContext, write_answer
from chat.models import Conversation, Message, Region
from chat.providers.anthropic import Claude
from chat.providers.base import Provider
from chat.providers.openai import ChatCompletions
from chat.providers.registry import provider_named
from documents.contents import units_in
from documents.models import Document
from tests.chat.conftest import wait_until
from tests.chat.scripted_server import (
    Reply,
    anthropic_block,
    anthropic_end,
    anthropic_start,
    openai_answer,
    serving,
)

pytestmark = pytest.mark.django_db
EMPTY = (0.05, 0.9, 0.3, 0.98)  # of the page: nothing is printed there
SEEING: dict[str, tuple[Callable[[str], Provider], tuple[str, ...]]] = {
    "openai": (
        lambda url: ChatCompletions("openai", "scripted", "key", f"{url}/v1", sees=True),
        tuple(openai_answer("It falls.")),
    ),
    "anthropic": (
        lambda url: Claude("anthropic", "scripted", "key", url, sees=True),
        (anthropic_start(), *anthropic_block(0, "It falls."), *anthropic_end()),
    ),
}


def around_words(report: Document) -> tuple[float, float, float, float]:
    """The box of the first unit of page 1, with a margin, in display fractions."""
    page = report.pages.get(number=1)
    unit = report.units.filter(page_number=1).order_by("position").first()
    assert unit is not None
    boxes = page.frame.display_boxes(unit.rects)
    x0, y0 = min(box[0] for box in boxes), min(box[1] for box in boxes)
    x1, y1 = max(box[2] for box in boxes), max(box[3] for box in boxes)
    return (max(0, x0 - 0.01), max(0, y0 - 0.01), min(1, x1 + 0.01), min(1, y1 + 0.01))


def asked(
    talk: Conversation, region: Region, provider: Provider, question: str = "What does it show?"
) -> Message:
    question_commands.ask(talk, question, region=region)
    pending = claim_next(talk.pk)
    assert pending is not None
    write_answer(pending, AnswerContext(lambda event: None, threading.Event(), provider=provider))
    pending.refresh_from_db()
    return pending


def pictures_in(body: object) -> list[bytes]:
    """The PNGs of a request, as either protocol carries them."""
    text = json.dumps(body)
    found = [part.split('"')[0] for part in text.split("data:image/png;base64,")[1:]]
    found += [part.split('"')[0] for part in text.split('"media_type": "image/png", "data": "')[1:]]
    return [base64.b64decode(part) for part in found]


@pytest.mark.parametrize("name", SEEING)
def test_a_model_that_sees_gets_the_picture_of_the_region_and_its_words_first(
    name: str, conversation: Conversation, report: Document
) -> None:
    build, pieces = SEEING[name]
    region = Region(report.pk, 1, around_words(report))
    with serving(Reply(pieces)) as server:
        answer = asked(conversation, region, build(server.url))
    assert answer.status == Message.Status.COMPLETE, answer.error
    [picture] = pictures_in(server.requests[-1])
    image = Image.open(io.BytesIO(picture))
    width, height = report.pages.get(number=1).frame.display_size
    shape = (region.box[2] - region.box[0]) * width / ((region.box[3] - region.box[1]) * height)
    assert image.width / image.height == pytest.approx(shape, rel=0.05)
    assert max(image.size) <= 1568
    assert answer.sources[0] == str(units_in(report.pk, 1, region.box)[0])
    assert "a part of page 1" in json.dumps(server.requests[-1])


@pytest.mark.parametrize("name", SEEING)
def test_a_model_that_cannot_see_gets_the_words_alone_and_is_told_so(
    name: str, conversation: Conversation, report: Document
) -> None:
    build, pieces = SEEING[name]
    with serving(Reply(pieces)) as server:
        blind = build(server.url)
        blind.sees = False
        asked(conversation, Region(report.pk, 1, around_words(report)), blind)
    assert pictures_in(server.requests[-1]) == []
    assert "You are not shown its picture" in json.dumps(server.requests[-1])


def test_an_answer_without_a_model_quotes_the_words_of_the_region(
    conversation: Conversation, report: Document
) -> None:
    region = Region(report.pk, 1, around_words(report))
    answer = asked(conversation, region, Extractive())
    inside = {str(pk) for pk in units_in(report.pk, 1, region.box)}
    assert set(answer.sources) == inside
    assert {str(row.unit_id) for row in answer.citations.all()} <= inside


def test_a_region_without_words_is_refused_in_words_by_what_cannot_see(
    conversation: Conversation, report: Document
) -> None:
    answer = asked(conversation, Region(report.pk, 1, EMPTY), Extractive())
    assert answer.status == Message.Status.FAILED
    assert "does not accept images" in answer.error


@pytest.mark.django_db(transaction=True)  # the answer is written in a thread
def test_a_region_is_asked_for_and_shown_over_http_to_its_owner_alone(
    alice: User, bob: User, client: Client, conversation: Conversation, report: Document
) -> None:
    region = {"document": str(report.pk), "page": 1, "box": [0.1, 0.1, 0.9, 0.3]}
    client.force_login(alice)
    data = {"conversation": conversation.pk, "question": "What is this?", "region": json.dumps(region)}
    page = client.post(reverse("ask-first"), data, headers={"HX-Request": "true"}).content.decode()
    question = conversation.messages.get(role="user")
    assert question.region == Region(report.pk, 1, (0.1, 0.1, 0.9, 0.3))
    address = reverse("question-region", args=[question.pk])
    assert address in page and "does not accept images" in page
    wait_until(lambda: not conversation.messages.unfinished().exists())
    shown = client.get(address)
    assert Image.open(io.BytesIO(shown.content)).format == "PNG"
    report.deleted_at = report.created_at
    report.save()
    assert client.get(address).status_code == 404
    client.force_login(bob)
    assert client.get(address).status_code == 404


BOXES = {"flat": "[0.5, 0, 0.5, 1]", "outside": "[0, 0, 1, 2]", "whole": "[0, 0, 1, 1]"}


@pytest.mark.parametrize(
    "text",
    [
        "{",
        "[]",
        '{"document": 1}',
        f'{{"document": "%s", "page": 1, "box": {BOXES["flat"]}}}',
        f'{{"document": "%s", "page": 1, "box": {BOXES["outside"]}}}',
        f'{{"document": "%s", "page": 99, "box": {BOXES["whole"]}}}',
    ],
)
def test_what_names_no_part_of_a_visible_page_is_refused(alice: User, report: Document, text: str) -> None:
    with pytest.raises(InvalidOperation):
        validated_region(alice, text.replace("%s", str(report.pk)))


def test_nobody_asks_about_a_page_of_anothers_document(bob: User, report: Document) -> None:
    with pytest.raises(InvalidOperation):
        validated_region(bob, json.dumps({"document": str(report.pk), "page": 1, "box": [0, 0, 1, 1]}))


@pytest.mark.parametrize(
    ("provider", "model", "sees"),
    [
        ("openai", "gpt-4.1-mini", True),
        ("openai", "gpt-4o", True),
        ("openai", "gpt-4-turbo", True),
        ("openai", "gpt-4", False),
        ("openai", "gpt-4-0613", False),
        ("openai", "gpt-3.5-turbo", False),
        ("openai", "o3-mini", False),
        ("anthropic", "claude-sonnet-4-5", True),
        ("anthropic", "claude-2.1", False),
        ("compatible", "llama3.1", False),
    ],
)
def test_which_models_are_shown_pictures(provider: str, model: str, sees: bool, settings) -> None:  # type: ignore[no-untyped-def]
    settings.OPENAI_API_KEY = settings.ANTHROPIC_API_KEY = "key"
    settings.COMPATIBLE_BASE_URL = "http://127.0.0.1:1/v1"
    assert provider_named(provider, model).sees is sees
