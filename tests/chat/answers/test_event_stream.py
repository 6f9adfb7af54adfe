"""Answers are streamed over a real ASGI server; clients can disconnect and reconnect."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import dataclass
from urllib.parse import quote

import httpx
import pytest
from django.conf import settings as project_settings
from django.contrib.auth.models import User
from django.db import connection
from django.test import Client

from chat.answers import question_commands
from chat.answers.event_stream import look_after
from chat.answers.events import decode
from chat.answers.persistence import MOST_TAKEOVERS, release_dead_answers
from chat.answers.runner import claim_next
from chat.models import Conversation, Message, StreamEvent
from documents.models import Document
from tests.chat.conftest import QUESTION, wait_until
from tests.chat.scripted_server import Reply, openai_answer, openai_chunk, serving

pytestmark = pytest.mark.django_db(transaction=True)
SLOW = [openai_chunk("Once upon "), 0.1, openai_chunk("a time "), 0.1, *openai_answer("it ended.")]


@dataclass(frozen=True)
class Heard:
    id: int
    kind: str
    data: dict


def listen(url: str, cookies: dict[str, str], last: int = 0) -> Iterator[Heard]:
    """The events of a stream as a browser's EventSource reads them."""
    headers = {"Last-Event-ID": str(last)} if last else {}
    with httpx.stream("GET", url, cookies=cookies, headers=headers, timeout=20) as response:
        assert response.status_code == 200, response.read()
        assert response.headers["content-type"].startswith("text/event-stream")
        fields: dict[str, str] = {}
        for line in response.iter_lines():
            if line:
                name, _, value = line.partition(": ")
                fields[name] = value
            elif "event" in fields:
                yield Heard(int(fields["id"]), fields["event"], json.loads(fields["data"]))
                fields = {}


def words(events: list[Heard]) -> str:
    return "".join(event.data["text"] for event in events if event.kind == "text")


def posted(server: str, path: str, cookies: dict[str, str], **data: str) -> httpx.Response:
    token = "a" * 32  # Django compares the form's token with the cookie's
    with httpx.Client(cookies={**cookies, "csrftoken": token}, base_url=server, timeout=20) as client:
        return client.post(path, data={**data, "csrfmiddlewaretoken": token})


def ask(server: str, conversation: Conversation, cookies: dict[str, str], question: str = QUESTION) -> str:
    """Asks; the URL of the answer's stream."""
    response = posted(server, f"/chat/{conversation.pk}/ask/", cookies, question=question)
    assert response.status_code == 201, response.text
    return server + response.json()["stream"]


@pytest.fixture
def model(settings: project_settings, conversation: Conversation) -> Iterator[list[Reply]]:  # type: ignore[valid-type]
    """The conversation's model: a scripted server. The test says what it replies."""
    replies: list[Reply] = [Reply(SLOW)]
    with serving(*replies) as server:
        settings.COMPATIBLE_BASE_URL = f"{server.url}/v1"
        settings.CHAT_BACKOFF_SECONDS = 0.01
        Conversation.objects.filter(pk=conversation.pk).update(provider="compatible")
        server.replies = replies
        yield replies


def test_an_answer_is_streamed_as_it_is_written(
    asgi_server: str, conversation: Conversation, model: list[Reply], signed_in: dict[str, str]
) -> None:
    heard = threading.Event()
    model[:] = [
        Reply([openai_chunk("Once upon "), heard, openai_chunk("a time "), *openai_answer("it ended.")])
    ]
    events = []
    for event in listen(ask(asgi_server, conversation, signed_in), signed_in):
        events.append(event)
        if event.kind == "text":
            heard.set()  # the model goes on only when its first words have arrived
    assert [event.id for event in events] == list(range(1, len(events) + 1))
    assert [event.kind for event in events][-1] == "done"
    assert words(events) == "Once upon a time it ended."
    stages = [event.data["stage"] for event in events if event.kind == "status"]
    assert stages == ["searching", "reading", "reading", "writing", "checking"]  # passages, then the prompt
    for event in events:
        decode(event.kind, json.dumps(event.data))


def test_a_citation_has_its_card_as_soon_as_it_is_told(
    asgi_server: str,
    conversation: Conversation,
    model: list[Reply],
    signed_in: dict[str, str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A card can be requested while the answer is still streamed, before it is first stored."""
    monkeypatch.setattr("chat.answers.runner._record", lambda: None)
    looked = threading.Event()
    words = openai_chunk("Acme sold 1,577 red anvils in 2018 [[cite:u1:1]]. ")
    model[:] = [Reply([words, looked, *openai_answer("It did.")])]
    status = None
    for event in listen(ask(asgi_server, conversation, signed_in), signed_in):
        if event.kind == "citation":
            card = f"{asgi_server}/chat/citations/{event.data['citation']['id']}/card/"
            status = httpx.get(card, cookies=signed_in, timeout=20).status_code
            looked.set()
    assert status == 200


def test_an_extractive_answer_cites_the_words_on_their_page(
    asgi_server: str, conversation: Conversation, signed_in: dict[str, str]
) -> None:
    events = list(listen(ask(asgi_server, conversation, signed_in), signed_in))
    done = events[-1].data
    first = done["citations"][0]
    assert done["status"] == "complete" and "1,577 red anvils" in first["quote"]
    assert first["page"] == 1 and first["verdict"] == "found" and first["rects"]
    assert f'data-citation="{first["id"]}"' in done["html"]
    kinds = [event.kind for event in events]
    assert kinds.index("sources") < kinds.index("text") < kinds.index("verdict")
    assert done["summary"]["text"] == "1 passage"


def test_a_lost_connection_is_resumed_where_it_broke(
    asgi_server: str, conversation: Conversation, model: list[Reply], signed_in: dict[str, str]
) -> None:
    url = ask(asgi_server, conversation, signed_in)
    heard = []
    with closing(listen(url, signed_in)) as stream:
        for event in stream:
            heard.append(event)
            if event.kind == "text":
                break
    heard += list(listen(url, signed_in, last=heard[-1].id))
    assert [event.id for event in heard] == list(range(1, len(heard) + 1))
    assert words(heard) == "Once upon a time it ended."


def test_the_answer_is_stored_though_nobody_listens(
    asgi_server: str, conversation: Conversation, model: list[Reply], signed_in: dict[str, str]
) -> None:
    ask(asgi_server, conversation, signed_in)
    answers = Message.objects.filter(role="assistant", status="complete")
    wait_until(lambda: answers.filter(content="Once upon a time it ended.").exists())


def test_another_process_can_go_on_reading(
    asgi_server: str, conversation: Conversation, model: list[Reply], signed_in: dict[str, str]
) -> None:
    """A second server process knows the answer only from the database."""
    other_runs = threading.Event()
    rest = [openai_chunk("One "), 0.1] * 11
    model[:] = [Reply([openai_chunk("One "), other_runs, *rest, *openai_answer("end.")])]
    url = ask(asgi_server, conversation, signed_in)
    with closing(listen(url, signed_in)) as stream:
        heard = [next(event for event in stream if event.kind == "text")]
    with second_process() as other:
        other_runs.set()
        events = list(listen(url.replace(asgi_server, other), signed_in, last=heard[0].id))
    assert events[0].id == heard[0].id + 1
    assert words(heard) + words(events) == "One " * 12 + "end."


def second_process() -> _Process:
    return _Process()


class _Process:
    """Another uvicorn on the same database."""

    def __enter__(self) -> str:
        database = connection.settings_dict
        params = connection.get_connection_params()
        port = f":{params['port']}" if params.get("port") else ""
        url = f"postgres://{database['USER']}@{quote(params['host'], safe='')}{port}/{database['NAME']}"
        environment = os.environ | {
            "DATABASE_URL": url,
            "PINCITE_SECRET_KEY": project_settings.SECRET_KEY,
            "DJANGO_SETTINGS_MODULE": "config.settings",
        }
        own_port = free_port()
        command = [sys.executable, "-m", "uvicorn", "config.asgi:application", "--port", str(own_port)]
        self.process = subprocess.Popen(command, env=environment)
        address = f"http://127.0.0.1:{own_port}"
        wait_until(lambda: answers_at(address), 120)
        return address

    def __exit__(self, *args: object) -> None:
        self.process.terminate()
        self.process.wait(60)


def free_port() -> int:
    import socket

    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def answers_at(address: str) -> bool:
    try:
        return httpx.get(f"{address}/account/login/").status_code < 500
    except httpx.HTTPError:
        return False


def test_words_that_came_between_two_looks_are_told_before_the_end(conversation: Conversation) -> None:
    answer = question_commands.ask(conversation, QUESTION).answer
    Message.objects.filter(pk=answer.pk).update(status=Message.Status.COMPLETE, content="It ended.")
    StreamEvent.objects.create(message=answer, sequence=4, kind="text", data='{"text": "ended."}')
    assert look_after(answer.pk, after=3) is None
    end = look_after(answer.pk, after=4)
    assert end is not None and (end.sequence, end.kind) == (5, "done")


def test_cancelling_keeps_what_was_written(
    asgi_server: str, conversation: Conversation, model: list[Reply], signed_in: dict[str, str]
) -> None:
    model[:] = [Reply([openai_chunk("Kept words.")], ending="hang")]
    url = ask(asgi_server, conversation, signed_in)
    events = []
    for event in listen(url, signed_in):
        events.append(event)
        if event.kind == "text":
            assert posted(asgi_server, url.removeprefix(asgi_server).replace("stream", "cancel"), signed_in)
    assert events[-1].data["status"] == "incomplete" and events[-1].data["error"] == "Stopped."
    assert Message.objects.get(role="assistant").content == "Kept words."


def test_a_broken_answer_says_so_and_can_be_continued(
    asgi_server: str, conversation: Conversation, model: list[Reply], signed_in: dict[str, str]
) -> None:
    model[:] = [Reply([openai_chunk("First half, ")], ending="reset"), Reply(openai_answer("second half."))]
    url = ask(asgi_server, conversation, signed_in)
    *_, failed, done = listen(url, signed_in)
    assert failed.kind == "error" and failed.data["can_continue"] is True
    assert done.data["status"] == "incomplete"
    path = url.removeprefix(asgi_server).replace("stream", "continue")
    assert posted(asgi_server, path, signed_in).status_code == 201
    events = list(listen(url, signed_in))
    assert words(events) == "second half."
    assert "First half, second half." in events[-1].data["html"]
    assert Message.objects.get(role="assistant").content == "First half, second half."
    assert posted(asgi_server, path, signed_in).status_code == 409, "a complete answer has no end to reach"


def test_a_failed_answer_can_be_retried(
    asgi_server: str, conversation: Conversation, model: list[Reply], signed_in: dict[str, str]
) -> None:
    model[:] = [Reply(["{}"], 401), Reply(openai_answer("Now it works."))]
    url = ask(asgi_server, conversation, signed_in)
    *_, failed, done = listen(url, signed_in)
    assert failed.data["permanent"] is True and done.data["status"] == "failed"
    assert posted(asgi_server, url.removeprefix(asgi_server).replace("stream", "retry"), signed_in)
    assert list(listen(url, signed_in))[-1].data["status"] == "complete"


def test_two_questions_at_once_are_answered_one_after_the_other(
    asgi_server: str, conversation: Conversation, model: list[Reply], signed_in: dict[str, str]
) -> None:
    with ThreadPoolExecutor(2) as pool:
        urls = list(pool.map(lambda q: ask(asgi_server, conversation, signed_in, q), ["One?", "Two?"]))
        streams = list(pool.map(lambda url: list(listen(url, signed_in)), urls))
    assert all(stream[-1].data["status"] == "complete" for stream in streams)
    messages = list(Message.objects.order_by("position"))
    assert [message.role for message in messages] == ["user", "assistant"] * 2
    first, second = messages[1], messages[3]
    began = StreamEvent.objects.filter(message=second).earliest("created_at").created_at
    ended = StreamEvent.objects.filter(message=first, kind="done").get().created_at
    assert began >= ended


def test_ten_tabs_stream_at_once_and_hold_no_database_connection(
    asgi_server: str, alice: User, report: Document, model: list[Reply], signed_in: dict[str, str]
) -> None:
    all_looked = threading.Event()
    model[:] = [Reply([openai_chunk("Begins. "), all_looked, *openai_answer("Ends.")])]
    talks = [question_commands.start_conversation(alice, [report], provider="compatible") for _ in range(10)]
    barrier = threading.Barrier(11, timeout=50)
    before = other_connections()

    def follow(talk: Conversation) -> list[Heard]:
        events = []
        for event in listen(ask(asgi_server, talk, signed_in), signed_in):
            events.append(event)
            if event.kind == "text" and not all_looked.is_set():
                barrier.wait()
        return events

    with ThreadPoolExecutor(10) as pool:
        streams = [pool.submit(follow, talk) for talk in talks]
        barrier.wait()
        wait_until(lambda: other_connections() - before < 8)  # while ten models write
        all_looked.set()
        results = [stream.result() for stream in streams]
    assert {words(events) for events in results} == {"Begins. Ends."}


def other_connections() -> int:
    """Count the connections of programs; those that Citus keeps between its nodes are its own."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT count(*) FROM pg_stat_activity"
            " WHERE datname = current_database() AND pid <> pg_backend_pid()"
            " AND backend_type = 'client backend' AND application_name NOT LIKE 'citus%'"
        )
        return int(cursor.fetchone()[0])


def test_nobody_else_can_read_or_stop_an_answer(
    asgi_server: str, conversation: Conversation, bob: User, signed_in: dict[str, str]
) -> None:
    url = ask(asgi_server, conversation, signed_in)
    client = Client()
    client.force_login(bob)
    cookies = {name: morsel.value for name, morsel in client.cookies.items()}
    assert httpx.get(url, cookies=cookies, timeout=20).status_code == 404
    assert httpx.get(url, timeout=20).status_code == 404
    for verb in ("cancel", "retry", "continue"):
        path = url.removeprefix(asgi_server).replace("stream", verb)
        assert posted(asgi_server, path, cookies).status_code == 404
    assert posted(asgi_server, f"/chat/{conversation.pk}/ask/", cookies, question="?").status_code == 404
    list(listen(url, signed_in))


def test_an_answer_whose_processes_died_is_taken_up_some_times_and_then_given_up(
    conversation: Conversation,
) -> None:
    dead = question_commands.ask(conversation, "One?").answer
    waiting = question_commands.ask(conversation, "Two?").answer
    claimed = claim_next(conversation.pk)
    assert claimed == dead and claim_next(conversation.pk) is None
    for takeovers in range(1, MOST_TAKEOVERS + 1):
        Message.objects.filter(pk=dead.pk).update(content="Half", alive_at="2020-01-01T00:00Z")
        again = claim_next(conversation.pk)
        assert again == dead and again.takeovers == takeovers
    Message.objects.filter(pk=dead.pk).update(content="Half", alive_at="2020-01-01T00:00Z")
    assert claim_next(conversation.pk) == waiting
    dead.refresh_from_db()
    assert dead.status == "incomplete" and dead.content == "Half" and "server was stopped" in dead.error
    assert not release_dead_answers()


def test_the_end_is_told_to_whoever_comes_late(
    asgi_server: str, conversation: Conversation, model: list[Reply], signed_in: dict[str, str]
) -> None:
    url = ask(asgi_server, conversation, signed_in)
    last = list(listen(url, signed_in))[-1]
    StreamEvent.objects.all().delete()
    late = list(listen(url, signed_in, last=last.id))
    assert [event.kind for event in late] == ["done"] and late[0].data["html"] == last.data["html"]
