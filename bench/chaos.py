"""What the whole survives: processes killed, PostgreSQL restarted, documents deleted, SIGTERM, a flood.

Runs a worker and a web server on an installation of its own, in a folder of
``PINCITE_VAR``: nobody's documents are touched. All trials at their full
number of rounds take about forty minutes.
"""

from __future__ import annotations

import os
import signal
import socket
import statistics
import subprocess
import sys
import time
from argparse import ArgumentParser
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec
from django.conf import settings
from django.core.management import call_command
from django.core.management.base import BaseCommand
from django.db import transaction

from bench import _outages
from bench import _outages as _deliveries
from bench._installation import CONTENT, SMALL, Broken, Installation, clear, installation, rows_of
from documents.library import delete_document
from documents.models import Document
from operations.processes import ProcessGroup

SAME = 1  # the serial of the file whose rows are compared
BACKLOG = 10
MEMBERS = ("worker", "pusher", "monitor", "sentinel")
QUIET = 2.0  # seconds in which something that was deleted could come back


def kill_busy_worker(chaos: Installation, number: int) -> float:
    """At a random moment of its work: the document is ready, its rows are those of an undisturbed run."""
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
    """Each kind in turn; a backlog of ten drains."""
    chaos.wait_until_whole()
    chaos.member(MEMBERS[number % len(MEMBERS)]).kill()
    return chaos.wait_until_ready(*(chaos.upload(pages=SMALL) for _ in range(BACKLOG)))


def stop_and_start(chaos: Installation, number: int) -> float:
    """SIGTERM in the middle of work: how soon the worker ends. The next goes on, no attempt is counted."""
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
    """No row, no vector and no file is left, and nothing comes back."""
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


FLOOD = 200
PAGES = 10  # of each file
SINGLES = 9  # files of the other user, one after the other
QUESTIONS = 40
LEAST_QUESTIONS = 20  # asked before the flood is over
QUESTION = "What was measure {} of part {}?"


def one_file_behind_two_hundred(chaos: Installation, number: int) -> float:
    """Median time until a single file is ready, as a multiple of the same on an idle installation."""
    chaos.warm_up(PAGES)
    idle = median_of_singles(chaos)
    with flood(chaos) as goes_on:
        flooded = median_of_singles(chaos)
        if not goes_on():
            raise Broken("the flood was over first: nothing was shown")
    return flooded / idle


def questions_beside_two_hundred(chaos: Installation, number: int) -> float:
    """95th percentile of questions through the API, as a multiple of the same on an idle installation."""
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
    """Of each question that was answered while it went on."""
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
    """Two hundred files, uploaded at once; whether some of them still wait."""
    waiting = Document.objects.filter(owner=chaos.one, status=Document.Status.UPLOADED)
    with transaction.atomic():  # none is begun before the last is there
        for _ in range(FLOOD):
            chaos.upload(pages=PAGES)
    yield waiting.exists
    clear(chaos.one)


OWN_FOLDER = "chaos"


@dataclass(frozen=True, slots=True)
class Trial:
    """``run`` does one round and returns what it measured, in ``unit``; no round may be over ``limit``."""

    run: Callable[[Installation, int], float]
    rounds: int
    limit: float
    unit: str = "s"


TRIALS = {
    "kill-busy": Trial(kill_busy_worker, 20, 60),
    "kill-idle": Trial(kill_idle_process, 12, 60),
    "sigterm": Trial(stop_and_start, 5, 30),
    "delete": Trial(delete_during_ingest, 20, 30),
    "twice": Trial(_deliveries.delivered_twice, 50, 60),
    "no-ticket": Trial(_deliveries.killed_before_enqueueing, 3, 300),
    "restart-ingest": Trial(_outages.restarted_during_ingest, 3, 90),
    "restart-question": Trial(_outages.restarted_during_a_question, 3, 60),
    "restart-idle": Trial(_outages.restarted_while_idle, 3, 60),
    "flood": Trial(one_file_behind_two_hundred, 1, 2, "× idle"),
    "flood-questions": Trial(questions_beside_two_hundred, 1, 1.5, "× idle p95"),
}


class Finding(msgspec.Struct, frozen=True):
    """One trial: how many rounds held, and the worst that was measured against its limit."""

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


def attempt(name: str, chaos: Installation, rounds: int) -> Finding:
    """Rounds of one trial, up to the first that breaks."""
    trial, worst, held, note = TRIALS[name], 0.0, 0, ""
    try:
        for held in range(rounds):
            worst = max(worst, trial.run(chaos, held))
        held = rounds
    except Broken as error:
        note = str(error)
    passed = not note and worst <= trial.limit
    return Finding(name, passed, held, round(worst, 2), trial.limit, trial.unit, note)


def own_installation(folder: str) -> dict[str, str]:
    """The environment of an embedded installation beside the real one; its models are a script."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{probe.getsockname()[1]}/v1"
    return {
        "DATABASE_URL": "",
        "PINCITE_VAR": str(settings.VAR_DIR / folder),
        "PINCITE_CHAT": "extractive",
        "PINCITE_COMPATIBLE_URL": url,
        "PINCITE_EMBEDDING_URL": url,
        "PINCITE_RATE_ASK": "100000/min",
        "PINCITE_LOG_LEVEL": "WARNING",
    }
