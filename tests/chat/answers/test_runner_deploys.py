"""If a web process ends or is killed while it writes, another continues and readers lose no word."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from urllib.parse import quote

import httpx
import pytest
from django.conf import settings
from django.db import connection

from chat.answers import question_commands
from chat.answers.persistence import DEAD_AFTER
from chat.models import Conversation, Message
from tests.chat.answers.test_event_stream import Heard, answers_at, ask, free_port, listen
from tests.chat.conftest import QUESTION, wait_until
from tests.chat.scripted_server import Reply, openai_answer, openai_chunk, serving

pytestmark = pytest.mark.django_db(transaction=True)
WORDS = [f"word{number} " for number in range(40)]
REST = "and that was all."


@contextmanager
def web_process(model: str = "") -> Iterator[tuple[str, subprocess.Popen[bytes]]]:
    """Another `manage.py web` on this database, and its address."""
    database, params = connection.settings_dict, connection.get_connection_params()
    environment = os.environ | {
        "DATABASE_URL": f"postgres://{database['USER']}@{quote(params['host'], safe='')}/{database['NAME']}",
        "PINCITE_SECRET_KEY": settings.SECRET_KEY,
        "PINCITE_COMPATIBLE_URL": model,
    }
    port = free_port()
    command = [sys.executable, "-W", "ignore", str(settings.BASE_DIR / "manage.py"), "web", f"--port={port}"]
    process = subprocess.Popen(command, env=environment)
    try:
        wait_until(lambda: answers_at(f"http://127.0.0.1:{port}"), 120)
        yield f"http://127.0.0.1:{port}", process
    finally:
        process.kill()
        process.wait(60)


def heard_until_cut(url: str, cookies: dict[str, str], cut: Callable[[], None]) -> list[Heard]:
    """The events until the connection breaks; ``cut`` is called after some words."""
    heard: list[Heard] = []
    try:
        for event in listen(url, cookies):
            heard.append(event)
            if sum(event.kind == "text" for event in heard) == 3:
                cut()
    except httpx.HTTPError:
        pass
    return heard


@pytest.mark.slow
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL], ids=["ended", "killed"])
def test_another_process_goes_on_with_the_answers_of_one_that_is(
    number: int, conversation: Conversation, signed_in: dict[str, str]
) -> None:
    slowly = [part for word in WORDS for part in (openai_chunk(word), 0.25)]
    Conversation.objects.filter(pk=conversation.pk).update(provider="compatible")
    replies = (Reply([*slowly, *openai_answer("")]), Reply(openai_answer(REST)))
    with (
        serving(*replies) as model,
        web_process(f"{model.url}/v1") as (first, process),
        web_process(f"{model.url}/v1") as (second, _),
    ):
        url = ask(first, conversation, signed_in)
        heard = heard_until_cut(url, signed_in, lambda: process.send_signal(number))
        assert heard[-1].kind != "done" and REST not in str(heard[-1].data)
        after = list(listen(url.replace(first, second), signed_in, last=heard[-1].id))
    assert [event.id for event in after] == list(range(heard[-1].id + 1, heard[-1].id + 1 + len(after)))
    assert after[-1].kind == "done" and after[-1].data["status"] == "complete"
    answer = Message.objects.get(role="assistant")
    assert answer.takeovers == 1
    assert answer.content.startswith("word0 ") and answer.content.endswith(f" {REST}")
    if number == signal.SIGTERM:  # the words of the last half second before a kill may be lost
        assert answer.content == "".join(
            told.data["text"] for told in (*heard, *after) if told.kind == "text"
        )
        assert answer.content.startswith("word0 word1 word2 ")


@pytest.mark.slow
def test_an_answer_that_nobody_reads_is_taken_up_too(conversation: Conversation) -> None:
    """Without a model, an answer starts again from its beginning, so no words are repeated."""
    answer = question_commands.ask(conversation, QUESTION).answer
    ended = {"status": "streaming", "alive_at": answer.created_at - DEAD_AFTER, "content": "Half of"}
    Message.objects.filter(pk=answer.pk).update(created_at=answer.created_at - DEAD_AFTER, **ended)
    with web_process():
        wait_until(lambda: Message.objects.filter(pk=answer.pk, status="complete").exists())
    answer.refresh_from_db()
    assert "1,577" in answer.content and "Half of" not in answer.content
