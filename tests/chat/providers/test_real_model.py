"""A real llama.cpp server with a real small model, over real HTTP: what it answers is its own affair, how we
take it is tested. The model is too small to answer well."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Iterator
from typing import Any

import httpx
import pytest
from django.contrib.auth.models import User

from chat.answers import question_commands
from chat.answers.events import DoneEvent, Event, TextEvent
from chat.answers.prompt import ContextItem, Prompt, prompt_for
from chat.answers.prompt import shortened as shortened_prompt
from chat.answers.runner import cancel_live, claim_next, start_next
from chat.answers.write_answer import AnswerContext, write_answer
from chat.citations.model_judge import JudgedClaim, configured_judge
from chat.models import Conversation, Message, Report
from chat.providers import context_window
from chat.providers.base import Shortened, StreamEnd, TextDelta, Usage, stream_with_retries
from chat.providers.context_window import room_for
from chat.providers.local_servers import ServedModel, _models_at
from chat.providers.registry import check_health, limits_of, provider_named
from chat.reports.report_commands import new_report
from chat.reports.report_queue import work_on_next
from citing.claims import SourceUnit
from documents.models import Document
from reviews.cell_answers import answered_together
from reviews.models import Review, ReviewColumn
from tests.chat.conftest import QUESTION, wait_until
from tests.llama_server import MISSING, llama_server, weights

pytestmark = [pytest.mark.slow, pytest.mark.skipif(weights() is None, reason=MISSING)]
CONTEXT = 1280
# Least time of 900 tokens read and 400 written; alone on two cores the server is idle a second after Stop.
WORK_SECONDS = 30


@pytest.fixture(scope="module")
def server() -> Iterator[str]:
    with llama_server(CONTEXT) as address:
        yield address


@pytest.fixture(autouse=True)
def real_model(server: str, settings: Any) -> None:
    settings.COMPATIBLE_BASE_URL, settings.COMPATIBLE_MODEL = f"{server}/v1", "smollm2"
    settings.CHAT_PROVIDER, settings.CHAT_MAX_TOKENS, settings.CHAT_PROMPT_TOKENS = "compatible", 40, 900


def write(conversation: Conversation) -> tuple[Message, list[Event]]:
    """Write the conversation's pending answer; return it with its events."""
    pending = claim_next(conversation.pk)
    assert pending is not None
    events: list[Event] = []
    write_answer(pending, AnswerContext(events.append, threading.Event()))
    pending.refresh_from_db()
    return pending, events


def is_working(server: str) -> bool:
    return any(slot["is_processing"] for slot in httpx.get(f"{server}/slots", timeout=30).json())


def idle_within(server: str, seconds: float) -> bool:
    end = time.monotonic() + seconds
    while is_working(server):
        if time.monotonic() > end:
            return False
        time.sleep(0.05)
    return True


def test_its_size_and_context_are_listed(server: str) -> None:
    (model,) = _models_at(server, "llama.cpp")
    assert (model.name, model.context) == ("smollm2", CONTEXT) and model.size > 90_000_000


@pytest.mark.django_db
def test_it_is_healthy() -> None:
    assert check_health("compatible").working


@pytest.mark.django_db
def test_a_question_is_answered_in_pieces_and_an_answer_that_was_cut_off_goes_on(
    conversation: Conversation,
) -> None:
    question_commands.ask(conversation, QUESTION)
    answer, events = write(conversation)
    assert isinstance(events[-1], DoneEvent) and answer.usage["input_tokens"] > 100
    assert len([event for event in events if isinstance(event, TextEvent)]) > 1
    assert answer.content and (answer.status, answer.error) in (
        ("complete", ""),
        ("incomplete", "The answer hit the length limit."),
    )
    before = answer.content
    Message.objects.filter(pk=answer.pk).update(status="incomplete")
    answer.refresh_from_db()
    question_commands.continue_answer(answer)
    answer, _ = write(conversation)
    assert answer.content.startswith(before) and len(answer.content) > len(before)


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("first_token", [False, True], ids=["before-its-first-word", "while-it-writes"])
def test_stop_ends_its_work(
    server: str, alice: User, report: Document, settings: Any, first_token: bool
) -> None:
    settings.CHAT_MAX_TOKENS = 400
    conversation = question_commands.start_conversation(alice, [report])
    question_commands.ask(conversation, f"{QUESTION} {first_token} " + "Explain it at length. " * 30)
    answer = start_next(conversation.pk)
    assert answer is not None
    wait_until(lambda: is_working(server))
    if first_token:
        wait_until(lambda: answer.events.filter(kind="text").exists())
    cancel_live(answer.pk)
    assert idle_within(server, WORK_SECONDS / 2)
    wait_until(lambda: not Message.objects.unfinished().exists())
    answer.refresh_from_db()
    assert answer.error == "Stopped." and bool(answer.content) == first_token


@pytest.mark.django_db
def test_it_replies_by_a_schema() -> None:
    schema = {
        "type": "object",
        "properties": {"colour": {"type": "string", "enum": ["red", "blue"]}},
        "required": ["colour"],
        "additionalProperties": False,
    }
    provider = provider_named("compatible")
    prompt = Prompt("Which colour is the sky?", system="Reply in JSON.", schema=schema)
    deltas = list(stream_with_retries(provider, prompt, limits_of(provider), threading.Event()))
    text = "".join(delta.text for delta in deltas if isinstance(delta, TextDelta))
    assert json.loads(text)["colour"] in ("red", "blue")
    assert StreamEnd("stop") in deltas and any(isinstance(delta, Usage) for delta in deltas)


@pytest.mark.django_db
def test_it_fills_a_cell_of_a_review(alice: User, report: Document, settings: Any) -> None:
    settings.CHAT_MAX_TOKENS = 120
    review = Review.objects.create(owner=alice, name="Anvils")
    column = ReviewColumn(review=review, title="Sold", question=QUESTION, kind="number")
    reply = answered_together([column], report, alice, provider_named("compatible"))
    assert reply.usage["input_tokens"] > 100
    assert reply.error is not None or reply.cells[0] is not None  # a cut-off reply, or a cell by the schema


@pytest.mark.django_db
def test_it_judges_or_says_nothing(settings: Any) -> None:
    settings.JUDGE, settings.JUDGE_SECONDS = "chat", 120
    judge = configured_judge(provider_named("compatible"), threading.Event())
    assert judge is not None
    passage = "The tenant may assign the lease with the landlord's written consent."
    judged = list(judge.judged([JudgedClaim(passage, "Assignment needs consent.")]))
    assert all(place == 0 and isinstance(word, bool) for place, word in judged)


@pytest.mark.django_db
def test_a_prompt_for_a_larger_context_is_refused_and_sent_again_shorter(
    settings: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The server says that its context is larger than it is, as one behind a proxy may."""
    settings.CHAT_PROMPT_TOKENS = 8000
    lying = ServedModel(16_000, reads_pieces=True, counts_tokens=True)
    monkeypatch.setattr(context_window, "served_model", lambda base_url, model: lying)
    provider = provider_named("compatible")
    unit = SourceUnit("a", "d", 1, "The harbour was built of oak, brick and granite in 1871. " * 12, 0, ())
    prompt = prompt_for("When was the harbour built?", [ContextItem(f"u{n}", unit) for n in range(1, 20)])
    deltas = list(stream_with_retries(provider, prompt, limits_of(provider), threading.Event()))
    (shortened,) = [delta for delta in deltas if isinstance(delta, Shortened)]
    (usage,) = [delta for delta in deltas if isinstance(delta, Usage)]
    assert 0 < shortened.left_out < 19 and CONTEXT / 2 < usage.input_tokens < CONTEXT
    assert any(isinstance(delta, TextDelta) for delta in deltas)
    fits = shortened_prompt(prompt, room_for(provider))  # what was counted and refused is known now
    assert len(fits.passages) == 19 - shortened.left_out


def test_a_report_is_written_to_its_end(alice: User, report: Document) -> None:
    made = new_report(alice, "What did Acme sell?", [report], "Anvils sold\nPills")
    while work_on_next():
        pass
    made.refresh_from_db()
    assert (made.state, made.error) == (Report.State.DONE, "") and made.note is not None and made.tokens > 0
    assert "## Anvils sold" in made.note.content and "## Pills" in made.note.content
    assert {one.outcome for one in made.note.citations.all()} <= {"verified", "found"}
