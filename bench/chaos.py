"""Chaos trials: processes killed, PostgreSQL restarted, tasks delivered twice or never, SIGTERM, a flood.

Runs a worker and a web server on an installation of its own, in a folder of ``PINCITE_VAR``: nobody's
documents are touched. All trials at their full number of rounds take about forty minutes.
"""

from __future__ import annotations

import os
import signal
import socket
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from argparse import ArgumentParser
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import msgspec
from django.conf import settings
from django.core.files.base import ContentFile
from django.core.management import call_command
from django.core.management.base import BaseCommand
from django.db import connection, transaction
from django_q.models import OrmQ

from bench._installation import (
    CONTENT,
    SECONDS_A_WORD,
    SMALL,
    WORDS,
    Broken,
    Installation,
    clear,
    installation,
    rows_of,
    sample_pdf,
    scripted_provider,
    slowdown,
)
from chat.models import Message
from documents.files.uploads import store_upload
from documents.ingestion.queue import issue_tickets
from documents.library import delete_document
from documents.models import Document
from operations.processes import ProcessGroup
from retrieval.index.vectors import activate, active_space, open_space
from retrieval.models import EmbeddingSpace

# --- PostgreSQL is restarted during work; tasks are delivered twice or never ---

ALLOWED = {(200, ""), (503, "5")}  # status and Retry-After of requests meanwhile
ASKED_EVERY = 0.1  # seconds


def restarted_during_ingest(chaos: Installation, number: int) -> float:
    chaos.wait_until_whole()
    document = chaos.upload()
    chaos.busy_process(document)
    time.sleep(chaos.random.uniform(0, 2))
    return with_restart(chaos, lambda: chaos.wait_until_ready(document))


def restarted_while_idle(chaos: Installation, number: int) -> float:
    """Restart PostgreSQL while idle; the next upload must succeed."""
    chaos.wait_until_whole()

    def work() -> None:
        chaos.wait(database_answers, "PostgreSQL never came back")
        chaos.wait_until_ready(chaos.upload(pages=SMALL))

    return with_restart(chaos, work)


def restarted_during_a_question(chaos: Installation, number: int) -> float:
    """Restart PostgreSQL during a question; its answer must be complete, and the next one written."""
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
    """Return question and answer from the API; the answer is not written yet."""
    created = chaos.client.post("/api/conversations/", json={"provider": "compatible"}).raise_for_status()
    path = f"/api/conversations/{created.json()['id']}/messages/"
    question = {"question": "What was measure 12 of part 1?", "wait": False}
    asked: dict[str, Any] = chaos.client.post(path, json=question).raise_for_status().json()
    return asked


def check_answer(chaos: Installation, answer_id: str) -> None:
    """Wait for the end of the answer. Raises Broken if words are missing."""
    answers = Message.objects.filter(pk=answer_id)
    chaos.wait(lambda: not answers.unfinished().exists(), "the answer never ended")
    answer = answers.get()
    said = answer.content.split()
    if answer.status != Message.Status.COMPLETE or len(said) != len(WORDS):
        raise Broken(f"the answer is {answer.status} with {len(said)} words: {answer.error}")


def with_restart(chaos: Installation, work: Callable[[], object]) -> float:
    """Return the seconds from PostgreSQL's fast shutdown until the work is done. Raises Broken for a wrong
    answer.
    """
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
    """Shut PostgreSQL down fast, which closes all connections."""
    pid_file = Path(settings.DATABASES["default"]["HOST"]) / "postmaster.pid"
    os.kill(int(pid_file.read_text().split()[0]), signal.SIGINT)


def database_answers() -> bool:
    connection.close()
    return Document.objects.exists() or True


@contextmanager
def asked_all_the_time(chaos: Installation) -> Iterator[list[tuple[int, str]]]:
    """Collect status and Retry-After of repeated requests that need the database."""
    seen: list[tuple[int, str]] = []
    stop = threading.Event()
    client = httpx.Client(base_url=chaos.client.base_url, headers=chaos.client.headers, timeout=60)

    def ask() -> None:
        while not stop.wait(ASKED_EVERY):
            answer = client.get("/api/documents/")
            seen.append((answer.status_code, answer.headers.get("Retry-After", "")))

    # A process without a connection would start PostgreSQL itself.
    client.get("/api/documents/").raise_for_status()
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
    """Give the same task to two workers at once: expect one lease, one set of rows, and each text embedded
    once.
    """
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
    """Return a new document, and the keys of two copies of its task that both workers see at once."""
    chaos.serial += 1
    pdf = sample_pdf(1000 + chaos.serial, SMALL)
    with transaction.atomic():
        document = store_upload(chaos.one, ContentFile(pdf), "twice.pdf", queued=False)
        issue_tickets(1)
        ticket = OrmQ.objects.latest("pk")
        copy = OrmQ.objects.create(key=ticket.key, payload=ticket.payload, lock=ticket.lock)
    return document, [ticket.pk, copy.pk]


def check_single(document: Document, embedded: list[str]) -> None:
    """Check that each chunk was embedded once and has one row of each kind. Raises Broken."""
    document.refresh_from_db()
    rows = rows_of(document)
    vectors = rows[next(model._meta.label for model in CONTENT if model.__name__ == "ChunkVector")][0]
    if (len(embedded), vectors) != (document.chunk_count, document.chunk_count):
        raise Broken(f"{document.chunk_count} chunks, {len(embedded)} on the bill, {vectors} vectors")


def killed_before_enqueueing(chaos: Installation, number: int) -> float:
    """Kill a process between storing a file and queueing it: the sweeper finds the file."""
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


# --- Processes are killed, documents deleted ---

SAME = 1  # the serial of the file whose rows are compared
BACKLOG = 10
MEMBERS = ("worker", "pusher", "monitor", "sentinel")
QUIET = 2.0  # seconds in which deleted rows could reappear


def kill_busy_worker(chaos: Installation, number: int) -> float:
    """Kill a worker at a random moment; the document must be ready with the rows of an undisturbed run."""
    undisturbed = Document.objects.filter(owner=chaos.two, original_name=f"chaos {SAME}.pdf").first()
    if undisturbed is None:
        undisturbed = chaos.upload(chaos.two, serial=SAME)
        chaos.wait_until_ready(undisturbed)
    chaos.wait_until_whole()
    document = chaos.upload(serial=SAME)
    process_id = chaos.busy_process(document)
    undisturbed.refresh_from_db()
    time.sleep(chaos.random.uniform(0, sum_of_stages(undisturbed)))
    with suppress(ProcessLookupError):
        os.kill(process_id, signal.SIGKILL)
    seconds = chaos.wait_until_ready(document)
    own, other = rows_of(document), rows_of(undisturbed)
    if differing := [
        f"{kind} ({own[kind][0]} of {other[kind][0]})" for kind in own if own[kind] != other[kind]
    ]:
        raise Broken(f"rows differ from those of an undisturbed run: {', '.join(differing)}")
    delete_document(document)
    return seconds


def sum_of_stages(document: Document) -> float:
    return sum(document.stage_seconds[stage] for stage in ("read", "store", "index"))


def kill_idle_process(chaos: Installation, number: int) -> float:
    """Kill each kind of idle process in turn; a backlog of ten must be processed."""
    chaos.wait_until_whole()
    chaos.member(MEMBERS[number % len(MEMBERS)]).kill()
    return chaos.wait_until_ready(*(chaos.upload(pages=SMALL) for _ in range(BACKLOG)))


def stop_and_start(chaos: Installation, number: int) -> float:
    """Send SIGTERM during work; measure how soon the worker ends. The next one continues, and no attempt is
    counted.
    """
    chaos.wait_until_whole()
    document = chaos.upload()
    chaos.busy_process(document)
    begun = time.monotonic()
    os.kill(chaos.worker.process.pid, signal.SIGTERM)
    chaos.worker.process.wait(60)
    seconds = time.monotonic() - begun
    document.refresh_from_db()
    if document.status != Document.Status.READY and (document.attempts or document.lease):
        raise Broken(f"attempt {document.attempts} was counted, lease {document.lease}")
    chaos.worker = ProcessGroup.start("worker")
    chaos.wait_until_ready(document)
    return seconds


def delete_during_ingest(chaos: Installation, number: int) -> float:
    """Delete a document during ingestion; no row, vector or file may be left or reappear."""
    chaos.wait_until_whole()
    document = chaos.upload()
    chaos.busy_process(document)
    time.sleep(chaos.random.uniform(0, 3))
    document.refresh_from_db()
    begun = time.monotonic()
    delete_document(document)
    chaos.wait(lambda: not Document.objects.filter(lease__isnull=False).exists(), "a lease was left")
    seconds = time.monotonic() - begun
    time.sleep(QUIET)
    left = [model.__name__ for model, path in CONTENT.items() if exists(model, path, document)]
    files = [path.name for path in Path(document.file.path).parent.glob("*")]
    if left or files or Document.objects.filter(pk=document.pk).exists():
        raise Broken(f"left behind: {left} {files}")
    return seconds


def exists(model: Any, path: str, document: Document) -> bool:
    return bool(model._default_manager.filter(**{path: document.pk}).exists())


# --- A flood of files of one user ---

FLOOD = 200
PAGES = 10  # of each file
SINGLES = 9  # files of the other user, one after the other
QUESTIONS = 40
LEAST_QUESTIONS = 20  # asked before the flood is over
QUESTION = "What was measure {} of part {}?"


def one_file_behind_two_hundred(chaos: Installation, number: int) -> float:
    """Return the median time until a single file is ready, as a multiple of that on an idle installation."""
    chaos.warm_up(PAGES)
    idle = median_of_singles(chaos)
    with flood(chaos) as goes_on:
        flooded = median_of_singles(chaos)
        if not goes_on():
            raise Broken("the flood was over first: nothing was shown")
    return flooded / idle


def questions_beside_two_hundred(chaos: Installation, number: int) -> float:
    """Return the 95th percentile of questions through the API, as a multiple of that of an idle system."""
    chaos.warm_up(PAGES)
    seconds_of_questions(chaos)  # plans are made
    idle = seconds_of_questions(chaos)
    with flood(chaos) as goes_on:
        flooded = seconds_of_questions(chaos, goes_on)
    if len(flooded) < LEAST_QUESTIONS:
        raise Broken(f"the flood was over after {len(flooded)} questions: nothing was shown")
    return percentile(flooded) / percentile(idle)


def median_of_singles(chaos: Installation) -> float:
    def single() -> float:
        return chaos.wait_until_ready(chaos.upload(chaos.two, PAGES))

    return statistics.median(single() for _ in range(SINGLES))


def seconds_of_questions(chaos: Installation, goes_on: Callable[[], bool] = lambda: True) -> list[float]:
    """Return the seconds of each question answered meanwhile."""
    created = chaos.client.post("/api/conversations/", json={}).raise_for_status()
    path = f"/api/conversations/{created.json()['id']}/messages/"
    seconds: list[float] = []
    while len(seconds) < QUESTIONS:
        begun = time.monotonic()
        question = QUESTION.format(len(seconds) + 2, 1)
        chaos.client.post(path, json={"question": question}).raise_for_status()
        if not goes_on():
            break
        seconds.append(time.monotonic() - begun)
    return seconds


def percentile(seconds: list[float]) -> float:
    return statistics.quantiles(seconds, n=20)[-1]


@contextmanager
def flood(chaos: Installation) -> Iterator[Callable[[], bool]]:
    """Upload two hundred files at once; yield a check whether some are still waiting."""
    waiting = Document.objects.filter(owner=chaos.one, status=Document.Status.UPLOADED)
    with transaction.atomic():  # none is begun before the last is there
        for _ in range(FLOOD):
            chaos.upload(pages=PAGES)
    yield waiting.exists
    clear(chaos.one)


OWN_FOLDER = "chaos"


@dataclass(frozen=True, slots=True)
class Trial:
    """``run`` does one round and returns its measurement in ``unit``; no round may exceed ``limit``.

    Seconds are those of an idle machine: at load the limit is longer.
    """

    run: Callable[[Installation, int], float]
    rounds: int
    limit: float
    unit: str = "s"


TRIALS = {
    "kill-busy": Trial(kill_busy_worker, 20, 60),
    "kill-idle": Trial(kill_idle_process, 12, 60),
    "sigterm": Trial(stop_and_start, 5, 30),
    "delete": Trial(delete_during_ingest, 20, 30),
    "twice": Trial(delivered_twice, 50, 60),
    "no-ticket": Trial(killed_before_enqueueing, 3, 300),
    "restart-ingest": Trial(restarted_during_ingest, 3, 90),
    "restart-question": Trial(restarted_during_a_question, 3, 60),
    "restart-idle": Trial(restarted_while_idle, 3, 60),
    "flood": Trial(one_file_behind_two_hundred, 1, 2, "× idle"),
    "flood-questions": Trial(questions_beside_two_hundred, 1, 1.5, "× idle p95"),
}


class TrialResult(msgspec.Struct, frozen=True):
    """A trial: the number of successful rounds, and the worst measurement with its limit."""

    trial: str
    passed: bool
    rounds: int
    worst: float
    limit: float
    unit: str
    note: str = ""

    def __str__(self) -> str:
        held = f"{'✓' if self.passed else '✗'} {self.trial}: {self.rounds} rounds held"
        return f"{held}, worst {self.worst:.1f} {self.unit} (limit {self.limit:g}) {self.note}".rstrip()


def add_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("trials", nargs="*", metavar="TRIAL", help=f"of {', '.join(TRIALS)}; all by default")
    parser.add_argument("--rounds", type=int, default=0, help="of each trial, instead of its own number")
    parser.add_argument("--pages", type=int, default=60, help="of each document")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--json", action="store_true")


def run(command: BaseCommand, options: dict[str, Any]) -> int:
    if unknown := set(options["trials"]) - set(TRIALS):
        command.stderr.write(f"No such trial: {', '.join(sorted(unknown))}.")
        return 2
    if settings.VAR_DIR.name != OWN_FOLDER:
        for name, value in own_installation(OWN_FOLDER).items():
            os.environ[name] = value
        return subprocess.call([sys.executable, *sys.argv])
    call_command("migrate", verbosity=0, interactive=False)
    passed = True
    with installation(options["pages"], options["seed"]) as chaos:
        for name in options["trials"] or TRIALS:
            finding = attempt(name, chaos, options["rounds"] or TRIALS[name].rounds)
            passed = passed and finding.passed
            command.stdout.write(msgspec.json.encode(finding).decode() if options["json"] else str(finding))
            command.stdout.flush()
    return int(not passed)


def attempt(name: str, chaos: Installation, rounds: int) -> TrialResult:
    """Run the rounds of a trial until the first failure."""
    trial, worst, held, note, is_late = TRIALS[name], 0.0, 0, "", False
    try:
        for held in range(rounds):
            measured = trial.run(chaos, held)
            slower = slowdown() if trial.unit == "s" else 1.0
            worst, is_late = max(worst, measured), is_late or measured > trial.limit * slower
        held = rounds
    except Broken as error:
        note = str(error)
    passed = not note and not is_late
    note = f"at load {os.getloadavg()[0]:.0f} {note}".rstrip()
    return TrialResult(name, passed, held, round(worst, 2), trial.limit, trial.unit, note)


def own_installation(folder: str) -> dict[str, str]:
    """Return the environment of a separate embedded installation with scripted models."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{probe.getsockname()[1]}/v1"
    return {
        "DATABASE_URL": "",
        "PINCITE_VAR": str(settings.VAR_DIR / folder),
        "PINCITE_CHAT": "extractive",
        "PINCITE_COMPATIBLE_URL": url,
        "PINCITE_EMBEDDING_URL": url,
        "DJANGO_SETTINGS_MODULE": "bench._settings",
        "PINCITE_LOG_LEVEL": "WARNING",
    }
