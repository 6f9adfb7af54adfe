"""PostgreSQL restarted in the middle of work, of an answer, and of nothing; nobody mends anything by hand."""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
from django.conf import settings
from django.db import connection

from chat.models import Message
from config.benchmarks._arena import SMALL, Arena, Broken
from config.benchmarks._provider import SECONDS_A_WORD, WORDS, scripted_provider
from documents.models import Document

ALLOWED = {(200, ""), (503, "5")}  # status and Retry-After of what is asked meanwhile
ASKED_EVERY = 0.1  # seconds


def restarted_during_ingest(chaos: Arena, number: int) -> float:
    chaos.wait_until_whole()
    document = chaos.upload()
    chaos.busy_process(document)
    time.sleep(chaos.random.uniform(0, 2))
    return with_restart(chaos, lambda: chaos.wait_until_ready(document))


def restarted_while_idle(chaos: Arena, number: int) -> float:
    """The first upload after it comes through."""
    chaos.wait_until_whole()

    def work() -> None:
        chaos.wait(database_answers, "PostgreSQL never came back")
        chaos.wait_until_ready(chaos.upload(pages=SMALL))

    return with_restart(chaos, work)


def restarted_during_a_question(chaos: Arena, number: int) -> float:
    """The answer that was being written is stored whole, and the next question is answered."""
    chaos.wait_until_whole()
    if not Document.objects.filter(owner=chaos.two, status=Document.Status.READY).exists():
        chaos.wait_until_ready(chaos.upload(chaos.two, pages=SMALL))
    with scripted_provider():
        asked = begin_answer(chaos)
        time.sleep(chaos.random.uniform(0, SECONDS_A_WORD * len(WORDS)))
        seconds = with_restart(chaos, lambda: check_answer(chaos, asked["answer"]["id"]))
        again = begin_answer(chaos)
        check_answer(chaos, again["answer"]["id"])
    return seconds


def begin_answer(chaos: Arena) -> dict[str, Any]:
    """Question and answer as the API gives them; the answer is still to be written."""
    created = chaos.client.post("/api/conversations/", json={"provider": "compatible"}).raise_for_status()
    path = f"/api/conversations/{created.json()['id']}/messages/"
    question = {"question": "What was measure 12 of part 1?", "wait": False}
    asked: dict[str, Any] = chaos.client.post(path, json=question).raise_for_status().json()
    return asked


def check_answer(chaos: Arena, answer_id: str) -> None:
    """Waits for the answer's end. Raises Broken unless all its words are there."""
    answers = Message.objects.filter(pk=answer_id)
    chaos.wait(lambda: not answers.unfinished().exists(), "the answer never ended")
    answer = answers.get()
    said = answer.content.split()
    if answer.status != Message.Status.COMPLETE or len(said) != len(WORDS):
        raise Broken(f"the answer is {answer.status} with {len(said)} words: {answer.error}")


def with_restart(chaos: Arena, work: Callable[[], object]) -> float:
    """Seconds from PostgreSQL's fast shutdown until the work is done. Raises Broken for any wrong answer."""
    with asked_all_the_time(chaos) as seen:
        begun = time.monotonic()
        shut_postgres_down()
        work()
        seconds = time.monotonic() - begun
        chaos.wait(lambda: seen and seen[-1] == (200, ""), f"requests are not answered again: {seen[-3:]}")
    if wrong := set(seen) - ALLOWED:
        raise Broken(f"answered meanwhile: {sorted(wrong)}")
    if (503, "5") not in seen:
        raise Broken("no request met the outage: nothing was shown")
    return seconds


def shut_postgres_down() -> None:
    """A fast shutdown: all connections are cut."""
    pid_file = Path(settings.DATABASES["default"]["HOST"]) / "postmaster.pid"
    os.kill(int(pid_file.read_text().split()[0]), signal.SIGINT)


def database_answers() -> bool:
    connection.close()
    return Document.objects.exists() or True


@contextmanager
def asked_all_the_time(chaos: Arena) -> Iterator[list[tuple[int, str]]]:
    """Status and Retry-After of a request that needs the database, again and again."""
    seen: list[tuple[int, str]] = []
    stop = threading.Event()
    client = httpx.Client(base_url=chaos.client.base_url, headers=chaos.client.headers, timeout=60)

    def ask() -> None:
        while not stop.wait(ASKED_EVERY):
            answer = client.get("/api/documents/")
            seen.append((answer.status_code, answer.headers.get("Retry-After", "")))

    client.get("/api/documents/").raise_for_status()  # one that never asked would start PostgreSQL itself
    thread = threading.Thread(target=ask, daemon=True)
    thread.start()
    try:
        yield seen
    finally:
        stop.set()
        thread.join()
