"""Chaos trials: PostgreSQL is restarted during work; tasks are delivered twice or never."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
from django.conf import settings
from django.core.files.base import ContentFile
from django.db import connection, transaction
from django_q.models import OrmQ

from bench._installation import (
    CONTENT,
    SECONDS_A_WORD,
    SMALL,
    WORDS,
    Broken,
    Installation,
    rows_of,
    sample_pdf,
    scripted_provider,
)
from chat.models import Message
from documents.files.uploads import store_upload
from documents.ingestion.queue import issue_tickets
from documents.models import Document
from retrieval.index.vectors import activate, active_space, open_space
from retrieval.models import EmbeddingSpace

ALLOWED = {(200, ""), (503, "5")}  # status and Retry-After of what is asked meanwhile
ASKED_EVERY = 0.1  # seconds


def restarted_during_ingest(chaos: Installation, number: int) -> float:
    chaos.wait_until_whole()
    document = chaos.upload()
    chaos.busy_process(document)
    time.sleep(chaos.random.uniform(0, 2))
    return with_restart(chaos, lambda: chaos.wait_until_ready(document))


def restarted_while_idle(chaos: Installation, number: int) -> float:
    """The first upload after it comes through."""
    chaos.wait_until_whole()

    def work() -> None:
        chaos.wait(database_answers, "PostgreSQL never came back")
        chaos.wait_until_ready(chaos.upload(pages=SMALL))

    return with_restart(chaos, work)


def restarted_during_a_question(chaos: Installation, number: int) -> float:
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


def begin_answer(chaos: Installation) -> dict[str, Any]:
    """Question and answer as the API gives them; the answer is still to be written."""
    created = chaos.client.post("/api/conversations/", json={"provider": "compatible"}).raise_for_status()
    path = f"/api/conversations/{created.json()['id']}/messages/"
    question = {"question": "What was measure 12 of part 1?", "wait": False}
    asked: dict[str, Any] = chaos.client.post(path, json=question).raise_for_status().json()
    return asked


def check_answer(chaos: Installation, answer_id: str) -> None:
    """Waits for the answer's end. Raises Broken unless all its words are there."""
    answers = Message.objects.filter(pk=answer_id)
    chaos.wait(lambda: not answers.unfinished().exists(), "the answer never ended")
    answer = answers.get()
    said = answer.content.split()
    if answer.status != Message.Status.COMPLETE or len(said) != len(WORDS):
        raise Broken(f"the answer is {answer.status} with {len(said)} words: {answer.error}")


def with_restart(chaos: Installation, work: Callable[[], object]) -> float:
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
def asked_all_the_time(chaos: Installation) -> Iterator[list[tuple[int, str]]]:
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


BILLING_SPACE = "compatible:billing"
SWEPT_WITHIN = 300.0
KILLED_AT_ENQUEUEING = """
import os, signal, sys, django
django.setup()
from pathlib import Path
from django.contrib.auth.models import User
from django.core.files.base import ContentFile
from documents.files import uploads
from documents.ingestion import queue
queue.issue_tickets = lambda count: os.kill(os.getpid(), signal.SIGKILL)
owner, pdf = User.objects.get(pk=int(sys.argv[1])), Path(sys.argv[2])
uploads.store_upload(owner, ContentFile(pdf.read_bytes()), pdf.name)
"""


def delivered_twice(chaos: Installation, number: int) -> float:
    """The same task to two workers at once: one lease, one set of rows, one bill from the provider."""
    if not number:
        chaos.wait_until_whole()
    with scripted_provider() as provider:
        usual = active_space()
        activate(open_space(BILLING_SPACE))
        try:
            provider.embedded.clear()
            document, tickets = queued_twice(chaos)
            seconds = chaos.wait_until_ready(document)
            chaos.wait(lambda: not OrmQ.objects.filter(pk__in=tickets).exists(), "a ticket was left over")
        finally:
            activate(usual)
    check_single(document, provider.embedded)
    EmbeddingSpace.objects.filter(model="billing").delete()
    return seconds


def queued_twice(chaos: Installation) -> tuple[Document, list[int]]:
    """A new document, and the keys of two copies of one django-q2 task that both workers see at once."""
    chaos.serial += 1
    pdf = sample_pdf(1000 + chaos.serial, SMALL)
    with transaction.atomic():
        document = store_upload(chaos.one, ContentFile(pdf), "twice.pdf", queued=False)
        issue_tickets(1)
        ticket = OrmQ.objects.latest("pk")
        copy = OrmQ.objects.create(key=ticket.key, payload=ticket.payload, lock=ticket.lock)
    return document, [ticket.pk, copy.pk]


def check_single(document: Document, embedded: list[str]) -> None:
    """Raises Broken unless the provider embedded each chunk once and there is one row of each."""
    document.refresh_from_db()
    rows = rows_of(document)
    vectors = rows[next(model._meta.label for model in CONTENT if model.__name__ == "ChunkVector")][0]
    if (len(embedded), vectors) != (document.chunk_count, document.chunk_count):
        raise Broken(f"{document.chunk_count} chunks, {len(embedded)} on the bill, {vectors} vectors")


def killed_before_enqueueing(chaos: Installation, number: int) -> float:
    """A process that dies between storing a file and putting it in the queue: the sweeper finds it."""
    chaos.wait_until_whole()
    chaos.serial += 1
    with tempfile.TemporaryDirectory() as folder:
        pdf = Path(folder) / f"unqueued {chaos.serial}.pdf"
        pdf.write_bytes(sample_pdf(1000 + chaos.serial, SMALL))
        command = [sys.executable, "-W", "ignore", "-c", KILLED_AT_ENQUEUEING, str(chaos.one.pk), str(pdf)]
        ended = subprocess.run(command, cwd=settings.BASE_DIR, check=False)
    if ended.returncode != -signal.SIGKILL:
        raise Broken(f"the storing process ended with {ended.returncode} instead of being killed")
    document = Document.objects.get(original_name=pdf.name)
    return chaos.wait_until_ready(document, patience=SWEPT_WITHIN)
