"""What the queue survives: workers killed, PostgreSQL restarted, documents deleted, SIGTERM, a flood.

Runs the real worker on this installation's own database, as users who are
removed afterwards. Takes minutes. Stop other workers first.
"""

from __future__ import annotations

import os
import random
import signal
import time
from argparse import ArgumentParser
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import msgspec
import psutil
from django.conf import settings
from django.contrib.auth.models import User
from django.core.files.base import ContentFile
from django.core.management.base import BaseCommand
from django.db import DatabaseError, connection

from config.benchmarks._sample import sample_pdf
from config.processes import Group
from config.watchdog import children
from documents.deletion import delete_document
from documents.models import CitationUnit, Document, Page, RetrievalChunk, Worker
from documents.uploads import store_upload

USERS = ("chaos-one", "chaos-two")
PATIENCE = 180.0
ROWS = (Page, CitationUnit, RetrievalChunk)


class Finding(msgspec.Struct, frozen=True):
    """One trial: what was done, whether all documents came through, and the slowest recovery in seconds."""

    trial: str
    passed: bool
    rounds: int
    slowest: float
    note: str = ""


def add_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("trials", nargs="*", metavar="TRIAL", help=f"of {', '.join(TRIALS)}; all by default")
    parser.add_argument("--rounds", type=int, default=5, help="of each trial")
    parser.add_argument("--pages", type=int, default=60, help="of each document")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--json", action="store_true")


def run(command: BaseCommand, options: dict[str, Any]) -> int:
    unknown = set(options["trials"]) - set(TRIALS)
    if unknown:
        command.stderr.write(f"No such trial: {', '.join(sorted(unknown))}.")
        return 2
    findings = []
    with arena(options["pages"], options["seed"]) as chaos:
        for name in options["trials"] or TRIALS:
            finding = attempt(name, chaos, options["rounds"])
            findings.append(finding)
            said = f"{'✓' if finding.passed else '✗'} {name}: {finding.rounds} rounds,"
            text = f"{said} slowest {finding.slowest:.1f} s {finding.note}"
            command.stdout.write(msgspec.json.encode(finding).decode() if options["json"] else text)
            command.stdout.flush()
    return int(not all(finding.passed for finding in findings))


def attempt(name: str, chaos: Arena, rounds: int) -> Finding:
    try:
        slowest = max(TRIALS[name](chaos, number) for number in range(rounds))
        return Finding(name, True, rounds, round(slowest, 1))
    except TooLong as error:
        return Finding(name, False, rounds, PATIENCE, str(error))


class TooLong(Exception):
    """What was waited for did not come."""


class Arena:
    """A running worker, two users, and documents of known content."""

    def __init__(self, one: User, two: User, pages: int, seed: int) -> None:
        self.one, self.two, self.pages = one, two, pages
        self.random = random.Random(seed)
        self.serial = 0
        self.worker = Group.start("worker")
        self.expected: tuple[int, ...] | None = None

    def upload(self, owner: User | None = None, pages: int = 0) -> Document:
        self.serial += 1
        pdf = sample_pdf(self.serial, pages or self.pages)
        return store_upload(owner or self.one, ContentFile(pdf), f"chaos {self.serial}.pdf")

    def wait(self, condition: Callable[[], object], what: str) -> float:
        """Seconds until the condition holds; a database that is away is waited for."""
        begun = time.monotonic()
        while True:
            try:
                if condition():
                    return time.monotonic() - begun
            except DatabaseError:
                connection.close()
            if time.monotonic() - begun > PATIENCE:
                raise TooLong(what)
            time.sleep(0.05)

    def wait_until_whole(self) -> None:
        Worker.objects.all().delete()
        self.wait(lambda: Worker.objects.alive().exists(), "the queue never became whole")

    def wait_until_ready(self, *documents: Document) -> float:
        keys = [document.pk for document in documents]
        ready = Document.objects.filter(pk__in=keys, status=Document.Status.READY)
        seconds = self.wait(lambda: ready.count() == len(keys), "not all documents became ready")
        for key in keys:
            self.check_rows(key)
        return seconds

    def check_rows(self, key: Any) -> None:
        """Exactly one set of rows, as many as an undisturbed run made."""
        found = tuple(model.objects.filter(document=key).count() for model in ROWS)
        if found[0] != self.pages:
            return
        self.expected = self.expected or found
        if found != self.expected:
            raise TooLong(f"{found} rows instead of {self.expected}")

    def busy_process(self, document: Document) -> int:
        held = Document.objects.filter(pk=document.pk, lease__isnull=False)
        self.wait(held.exists, "nobody took the document")
        return int(held.values_list("lease_holder", flat=True)[0].split(":")[-1])

    def member(self, name: str) -> psutil.Process:
        """A process of the idle cluster, by what it is."""
        (cluster,) = children(self.worker.process.pid)
        (sentinel,) = children(cluster.pid)
        own = sorted(children(sentinel.pid), key=lambda process: process.pid)
        workers = settings.Q_CLUSTER["workers"]
        places = {"worker": 0, "monitor": workers, "pusher": workers + 1}
        return sentinel if name == "sentinel" else own[places[name]]


def kill_busy_worker(chaos: Arena, number: int) -> float:
    """At a random moment of its work; the document is ready once, its rows are as undisturbed."""
    if chaos.expected is None:
        chaos.wait_until_ready(chaos.upload())
    chaos.wait_until_whole()
    document = chaos.upload()
    process_id = chaos.busy_process(document)
    time.sleep(chaos.random.uniform(0, 2))
    with suppress(ProcessLookupError):
        os.kill(process_id, signal.SIGKILL)
    return chaos.wait_until_ready(document)


def kill_idle_process(chaos: Arena, number: int) -> float:
    """Each kind in turn; a backlog of ten drains."""
    chaos.wait_until_whole()
    chaos.member(("worker", "pusher", "monitor", "sentinel")[number % 4]).kill()
    return chaos.wait_until_ready(*(chaos.upload(pages=2) for _ in range(10)))


def restart_postgres(chaos: Arena, number: int) -> float:
    """In the middle of reading; nobody restarts anything by hand."""
    chaos.wait_until_whole()
    document = chaos.upload()
    chaos.busy_process(document)
    pid_file = Path(settings.DATABASES["default"]["HOST"]) / "postmaster.pid"
    if settings.DATABASE_URL or not pid_file.exists():
        raise TooLong("only the embedded server can be restarted from here")
    os.kill(int(pid_file.read_text().split()[0]), signal.SIGINT)  # fast shutdown: connections are cut
    return chaos.wait_until_ready(document)


def delete_during_ingest(chaos: Arena, number: int) -> float:
    """No row and no file is left, and nothing comes back."""
    chaos.wait_until_whole()
    document = chaos.upload()
    chaos.busy_process(document)
    time.sleep(chaos.random.uniform(0, 2))
    begun = time.monotonic()
    folder = Path(document.file.path).parent
    delete_document(document)
    chaos.wait(lambda: not Document.objects.filter(lease__isnull=False).exists(), "a lease was left")
    time.sleep(2)
    left = [
        model for model in (Document, *ROWS) if model.objects.filter(**owner_of(model, document)).exists()
    ]
    files = [path.name for path in folder.glob("*")]
    if left or files:
        raise TooLong(f"left behind: {left} {files}")
    return time.monotonic() - begun


def owner_of(model: type, document: Document) -> dict[str, Any]:
    return {"pk" if model is Document else "document": document.pk}


def stop_and_start(chaos: Arena, number: int) -> float:
    """SIGTERM in the middle of work; the next worker goes on, and the attempt is not counted."""
    chaos.wait_until_whole()
    document = chaos.upload()
    chaos.busy_process(document)
    begun = time.monotonic()
    chaos.worker.stop(30)
    stopped = time.monotonic() - begun
    chaos.worker = Group.start("worker")
    chaos.wait_until_ready(document)
    return stopped


def flood(chaos: Arena, number: int) -> float:
    """One user's 30 files; another's single one does not wait behind them."""
    chaos.wait_until_whole()
    many = [chaos.upload(pages=5) for _ in range(30)]
    seconds = chaos.wait_until_ready(chaos.upload(chaos.two, pages=5))
    if not Document.objects.filter(owner=chaos.one, status=Document.Status.UPLOADED).exists():
        raise TooLong("the flood was over before the single file was ready: nothing was shown")
    chaos.wait_until_ready(*many)
    return seconds


TRIALS: dict[str, Callable[[Arena, int], float]] = {
    "kill-busy": kill_busy_worker,
    "kill-idle": kill_idle_process,
    "restart-postgres": restart_postgres,
    "delete": delete_during_ingest,
    "sigterm": stop_and_start,
    "flood": flood,
}


@contextmanager
def arena(pages: int, seed: int) -> Iterator[Arena]:
    one, two = (User.objects.get_or_create(username=name)[0] for name in USERS)
    chaos = Arena(one, two, pages, seed)
    try:
        yield chaos
    finally:
        chaos.worker.stop(30)
        for document in Document.objects.filter(owner__in=(one, two)):
            delete_document(document)
        User.objects.filter(username__in=USERS).delete()
