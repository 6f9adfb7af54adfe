"""Questions on a whole document with a model: its parts are read within a budget that is told before."""

from __future__ import annotations

import re
import threading
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from django.conf import settings as project_settings
from django.contrib.auth.models import User
from django.test import Client

from chat.answers import question_commands
from chat.answers.events import Event, StatusEvent
from chat.answers.question_commands import start_conversation
from chat.answers.runner import claim_next
from chat.answers.whole_documents import plan_of, reading_plan
from chat.answers.write_answer import AnswerContext, write_answer
from chat.models import Citation, Conversation, Message
from documents.models import Document
from retrieval.query.scope import Scope
from tests.chat.scripted_provider import Scripted
from tests.chat.scripted_server import Reply, ScriptedServer, openai_answer, serving
from tests.conftest import Ingest

pytestmark = pytest.mark.django_db
ASKED = Scripted([])
MONTHS = ("January", "February", "March", "April", "May", "June", "July", "August")
PAGES = tuple(
    f"In {month} the lighthouse keeper counted {100 + 7 * at} ships from the gallery.\n"
    f"He wrote their names into the log of the {month} storms and signed it."
    for at, month in enumerate(MONTHS)
)


@pytest.fixture
def log(alice: User, ingested: Ingest) -> Document:
    return ingested(alice, *PAGES, name="lighthouse.pdf")


@pytest.fixture
def small(settings: project_settings) -> None:  # type: ignore[valid-type]
    settings.CHAT_PROMPT_TOKENS = 150
    settings.CHAT_DOCUMENT_TOKENS = 20_000
    settings.CHAT_BACKOFF_SECONDS = 0.01


@pytest.fixture
def model(settings: project_settings, log: Document, alice: User) -> Iterator[ScriptedServer]:  # type: ignore[valid-type]
    with serving(replied) as server:
        settings.COMPATIBLE_BASE_URL = f"{server.url}/v1"
        yield server


def replied(body: dict[str, Any]) -> Reply:
    """Reply to a part with a note on its first passage, and to the whole with that passage's text."""
    asked = body["messages"][-1]["content"]
    alias, page = re.search(r"\[(u\d+) · p\. (\d+)", asked).groups()  # type: ignore[union-attr]
    count = re.search(r"counted (\d+) ships", asked)[1]  # type: ignore[index]
    return Reply(
        openai_answer(f"The keeper counted {count} ships [[cite:{alias}:{page}|counted {count} ships]].")
    )


def answered(
    question: str,
    document: Document,
    user: User,
    hear: Callable[[Event], None] = lambda event: None,
    cancelled: threading.Event | None = None,
) -> Message:
    talk = start_conversation(user, [document])
    Conversation.objects.filter(pk=talk.pk).update(provider="compatible")
    question_commands.ask(talk, question)
    pending = claim_next(talk.pk)
    assert pending is not None
    write_answer(pending, AnswerContext(hear, cancelled or threading.Event()))
    pending.refresh_from_db()
    return pending


@pytest.mark.usefixtures("small")
def test_the_parts_are_read_one_by_one_and_the_answer_cites_what_the_notes_cite(
    model: ScriptedServer, log: Document, alice: User
) -> None:
    answer = answered("Summarise this document", log, alice)
    assert answer.status == "complete", answer.error
    prompts = [body["messages"] for body in model.requests]
    parts = len(prompts) - 1
    assert parts >= 3 and all(
        f"part {at} of {parts}" in prompts[at - 1][-1]["content"] for at in range(1, parts + 1)
    )
    assert "Part 2: The keeper counted" in prompts[-1][-2]["content"]
    assert "[[cite" not in prompts[-1][-2]["content"].replace("[[cite:ALIAS", "")
    citation = Citation.objects.get(message=answer)
    assert citation.verdict == "exact" and citation.page_number == 1
    assert answer.usage["input_tokens"] == 11 * len(prompts)
    assert len(answer.sources) == parts


@pytest.mark.usefixtures("small")
def test_the_budget_is_told_before_anything_is_sent(
    model: ScriptedServer, log: Document, alice: User
) -> None:
    sent_before: list[int] = []

    def hear(event: Event) -> None:
        if isinstance(event, StatusEvent) and event.tokens:
            sent_before.append(len(model.requests))
            assert f"about {event.tokens:,} tokens of at most 20,000" in event.text

    answered("What are the main findings?", log, alice, hear)
    assert sent_before == [*range(len(model.requests) - 1)] and len(sent_before) > 1


@pytest.mark.usefixtures("small")
def test_the_reading_stops_where_the_reader_stops_it(
    model: ScriptedServer, log: Document, alice: User
) -> None:
    for sent in (0, 1):
        stop, before = threading.Event(), len(model.requests)

        def hear(event: Event, stop: threading.Event = stop, most: int = before + sent) -> None:
            if isinstance(event, StatusEvent) and event.tokens and len(model.requests) == most:
                stop.set()

        answer = answered("Summarise this document", log, alice, hear, stop)
        assert len(model.requests) == before + sent and answer.status != Message.Status.COMPLETE


def test_a_budget_leaves_out_the_rest_of_sections_and_is_never_exceeded(log: Document) -> None:
    whole = plan_of([log.pk], limit=20_000, prompt_tokens=120)
    assert whole is not None and whole.left_out == 0
    plan = plan_of([log.pk], limit=whole.tokens - 1, prompt_tokens=120)
    assert plan is not None and plan.tokens < whole.tokens and plan.left_out > 0
    assert f"{plan.left_out} passages are left out" in plan.progress(1)
    pages = [passage.unit.page for part in plan.parts for passage in part]
    assert pages == sorted(pages)


@pytest.mark.usefixtures("small")
def test_particular_questions_and_short_documents_are_answered_from_what_search_finds(
    log: Document,
    alice: User,
    settings: project_settings,  # type: ignore[valid-type]
) -> None:
    scope = Scope(alice, document_ids=(log.pk,))
    assert reading_plan("How many ships were counted in March?", scope, ASKED) is None
    assert reading_plan("Summarise this document", scope, ASKED) is not None
    settings.CHAT_PROMPT_TOKENS = 8_000
    assert reading_plan("Summarise this document", scope, ASKED) is None


@pytest.mark.usefixtures("small")
def test_the_api_tells_the_budget_without_asking(
    log: Document,
    alice: User,
    bob: User,
    settings: project_settings,  # type: ignore[valid-type]
) -> None:
    settings.COMPATIBLE_BASE_URL = "http://127.0.0.1:9/v1"
    talk = start_conversation(alice, [log])
    Conversation.objects.filter(pk=talk.pk).update(provider="compatible")
    client = Client()
    client.force_login(alice)
    url = f"/api/conversations/{talk.pk}/budget/"
    told = client.get(url, {"question": "Summarise this document"}).json()
    assert told["parts"] >= 3 and 0 < told["tokens"] <= told["limit"] == 20_000
    assert client.get(url, {"question": "How many ships came in May?"}).json()["parts"] == 0
    client.force_login(bob)
    assert client.get(url, {"question": "Summarise this document"}).status_code == 404
