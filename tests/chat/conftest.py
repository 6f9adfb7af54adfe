"""A conversation over a really ingested document, and a real ASGI server."""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Callable, Iterator

import pytest
import uvicorn
from django.contrib.auth.models import User
from django.test import Client

from chat.answers import question_commands
from chat.answers.question_commands import start_conversation
from chat.answers.runner import claim_next
from chat.answers.write_answer import AnswerContext, write_answer
from chat.models import Conversation, Message
from documents.models import Document
from tests.conftest import Ingest

PAGE_1 = (
    "Acme sold 1,577 red anvils to Wile Coyote in the desert during 2018.\n"
    "The anvils weighed twelve tons and fell from a great height.\n"
    "No roadrunner was ever hit by any anvil of the company."
)
PAGE_2 = (
    "The catalogue offers rockets, magnets and earthquake pills.\n"
    "Earthquake pills cost 49 dollars for a jar of one hundred pieces."
)
QUESTION = "How many red anvils did Acme sell in 2018?"


@pytest.fixture
def report(alice: User, ingested: Ingest) -> Document:
    return ingested(alice, PAGE_1, PAGE_2, name="acme.pdf")


@pytest.fixture
def conversation(alice: User, report: Document) -> Conversation:
    return start_conversation(alice, [report])


@pytest.fixture
def answer(conversation: Conversation) -> Message:
    """A complete extractive answer about anvils."""
    return answered(conversation, QUESTION)


def answered(conversation: Conversation, question: str) -> Message:
    """Return the complete extractive answer."""
    question_commands.ask(conversation, question)
    pending = claim_next(conversation.pk)
    assert pending is not None
    write_answer(pending, AnswerContext(lambda event: None, threading.Event()))
    pending.refresh_from_db()
    return pending


@pytest.fixture
def asgi_server() -> Iterator[str]:
    """The application behind a real uvicorn on a real socket, in this process."""
    from config.asgi import application
    from operations.postgres.base import connection_limits, connection_pool

    connection_pool.begin()  # importing the application does this only the first time
    connection_limits.begin(20)

    listener = socket.socket()
    listener.bind(("127.0.0.1", 0))
    config = uvicorn.Config(application, log_level="warning", lifespan="off", timeout_graceful_shutdown=1)
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]}, daemon=True)
    thread.start()
    wait_until(lambda: server.started)
    yield f"http://127.0.0.1:{listener.getsockname()[1]}"
    server.should_exit = True
    thread.join(10)
    connection_limits.end()
    connection_pool.end()  # otherwise the test database could not be dropped


def wait_until(true: Callable[[], object], seconds: float = 60) -> None:
    """Wait until a condition holds that another thread or process brings about. Fail after ``seconds``."""
    end = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < end, "it did not happen in time"
        time.sleep(0.02)


@pytest.fixture
def signed_in(alice: User) -> dict[str, str]:
    """Cookies of Alice's session."""
    client = Client()
    client.force_login(alice)
    return {name: morsel.value for name, morsel in client.cookies.items()}
