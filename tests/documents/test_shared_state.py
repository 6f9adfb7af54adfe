"""Data in Redis, and what works without it: a real server, a real worker, outages."""

from __future__ import annotations

import asyncio
import os
import shutil
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.core.files.base import ContentFile
from django.db import connection
from django.utils import timezone
from django_q.models import OrmQ
from redis import Redis

from chat.answers import event_stream
from chat.models import Conversation, Message, StreamEvent
from documents import shared_state
from documents.api.common import callers
from documents.files.uploads import store_upload
from documents.models import Document, RateCount
from tests.drawing import draw_pdf
from tests.operations.management.commands.test_worker import Workers, wait_until_ready
from tests.operations.test_processes_runapp import wait_for

pytestmark = [pytest.mark.worker, pytest.mark.django_db(transaction=True)]


@pytest.fixture
def port() -> int:
    if shutil.which("redis-server") is None:
        pytest.skip("needs redis-server")
    pytest.importorskip("redis")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return int(free.getsockname()[1])


def start(port: int) -> subprocess.Popen[bytes]:
    """Start a Redis server without persistence; return when it answers."""
    options = ["--port", str(port), "--bind", "127.0.0.1", "--save", "", "--appendonly", "no"]
    server = subprocess.Popen(["redis-server", *options], stdout=subprocess.DEVNULL)
    wait_for(lambda: not socket.socket().connect_ex(("127.0.0.1", port)), "redis does not answer")
    return server


@pytest.fixture
def redis(port: int, settings, monkeypatch: pytest.MonkeyPatch) -> Iterator[subprocess.Popen[bytes]]:
    """A Redis server that this process uses."""
    settings.REDIS_URL = f"redis://127.0.0.1:{port}/0"
    shared_state._new_client.cache_clear()
    monkeypatch.setattr(shared_state, "_away_until", 0.0)
    server = start(port)
    yield server
    server.kill()
    server.wait()
    shared_state._new_client.cache_clear()


def test_threads_that_begin_at_once_share_one_client(
    redis: subprocess.Popen[bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A second client would close the pool of the first one as it is thrown away."""
    make = Redis.from_url

    def slowly(*args: Any, **options: Any) -> Redis:
        time.sleep(0.05)
        return make(*args, **options)

    monkeypatch.setattr(Redis, "from_url", slowly)
    with ThreadPoolExecutor(4) as threads:
        clients = list(threads.map(lambda _: shared_state.redis_client(), range(4)))
    assert len({id(client) for client in clients}) == 1


def test_one_cache_serves_all_processes_and_misses_while_redis_is_away(
    redis: subprocess.Popen[bytes], settings
) -> None:
    one, other = (shared_state.SharedCache(settings.REDIS_URL, {}) for _ in range(2))
    one.set("reply", {"words": ("found", 1)}, 60)
    assert other.get("reply") == {"words": ("found", 1)}
    shared_state.redis_client().set(one.make_key("reply"), b"\x80\x05not ours")
    assert other.get("reply", "missed") is None, "what is not signed is never unpickled"
    redis.kill()
    redis.wait()
    one.set("reply", "again", 60)
    began = time.monotonic()
    assert [other.get("reply", "missed") for _ in range(50)] == ["missed"] * 50
    assert time.monotonic() - began < 1, "each use asks a Redis that is away"


def test_limits_count_in_redis_and_go_on_in_the_database_while_it_is_away(
    redis: subprocess.Popen[bytes], settings
) -> None:
    settings.RATES = {"ask": "20/h"}
    allowed: list[bool] = []

    def ask_often() -> None:
        allowed.extend([callers.take("ask", "user 1") == 0 for _ in range(10)])

    threads = [threading.Thread(target=ask_often) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sum(allowed) == 20
    assert 3500 < callers.take("ask", "user 1") <= 3600
    assert not RateCount.objects.exists()
    redis.kill()
    redis.wait()
    assert callers.take("ask", "user 1") == 0
    assert RateCount.objects.get().count == 1


@pytest.mark.parametrize("through", ["redis", "postgres"])
def test_who_follows_an_answer_of_another_process_hears_at_once_what_is_stored(
    through: str, alice: User, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch
) -> None:
    # A listener of the test before ends a second after it, and would hear the other source only.
    wait_for(lambda: shared_state.announcements._thread is None, "an earlier listener does not end")
    if through == "redis":
        request.getfixturevalue("redis")
    monkeypatch.setattr(event_stream, "LOOK_SECONDS", 60.0)  # so polling cannot find it
    monkeypatch.setattr(event_stream, "LOOK_RARELY_SECONDS", 60.0)
    talk = Conversation.objects.create(owner=alice)
    answer = Message.objects.create(
        conversation=talk, role="assistant", position=1, status="streaming", alive_at=timezone.now()
    )

    ended = threading.Event()

    def tell() -> None:
        wait_for(lambda: shared_state.announcements.heard, "nobody listens")
        time.sleep(0.2)  # until the stream is waiting
        StreamEvent.objects.create(message=answer, sequence=1, kind="done", data="{}")
        while not ended.is_set():  # Redis may not have taken the subscription yet
            shared_state.announce([str(answer.pk)])
            ended.wait(1.0)
        connection.close()

    async def heard() -> list[str]:
        return [event.kind async for event in event_stream.follow(answer.pk) if event]

    teller = threading.Thread(target=tell)
    teller.start()
    began = time.monotonic()
    try:
        assert asyncio.run(heard()) == ["done"]
    finally:
        ended.set()
        teller.join()
    assert time.monotonic() - began < 20
    wait_for(lambda: not shared_state.announcements.heard, "the listener does not end")


def store(owner: User, text: str) -> Document:
    """Store a document without a task: the worker's sweep creates it, as for tasks that Redis lost."""
    return store_upload(owner, ContentFile(draw_pdf(text)), f"{text}.pdf", queued=False)


def test_a_process_begins_where_the_queue_is_in_redis() -> None:
    """django-q2 then leaves the page of waiting tickets out of the admin."""
    environment = {**os.environ, "PINCITE_REDIS": "redis://127.0.0.1:1/0"}
    begin = [sys.executable, "-W", "ignore", "-c", "import django; django.setup()"]
    begun = subprocess.run(begin, env=environment, capture_output=True, text=True)
    assert begun.returncode == 0, begun.stderr


@pytest.mark.slow
def test_documents_are_ingested_by_tickets_in_redis_which_may_go_and_come_back(
    alice: User, port: int, tmp_path: Path, settings
) -> None:
    settings.MEDIA_ROOT = tmp_path
    server = start(port)
    worker = Workers(tmp_path, tmp_path / "worker.log", PINCITE_REDIS=f"redis://127.0.0.1:{port}/0")
    try:
        wait_until_ready([store(alice, "The first.")], worker.log)
        server.kill()
        server.wait()
        second = store(alice, "The second.")
        wait_for(lambda: "the queue cannot be reached" in worker.log.read_text(), "nobody noticed")
        assert Document.objects.get(pk=second.pk).status == Document.Status.UPLOADED
        server = start(port)
        wait_until_ready([second], worker.log)
        assert not OrmQ.objects.exists()
    finally:
        worker.stop()
        server.kill()
        server.wait()
