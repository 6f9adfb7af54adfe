"""What the whole survives: processes killed, PostgreSQL restarted, documents deleted, SIGTERM, a flood.

Runs a worker and a web server on an installation of its own, in a folder of
``PINCITE_VAR``: nobody's documents are touched. All trials at their full
number of rounds take about forty minutes.
"""

from __future__ import annotations

import os
import socket
import subprocess
import sys
from argparse import ArgumentParser
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import msgspec
from django.conf import settings
from django.core.management import call_command
from django.core.management.base import BaseCommand

from config.benchmarks import _deliveries, _fairness, _killings, _outages
from config.benchmarks._arena import Arena, Broken, arena

OWN_FOLDER = "chaos"


@dataclass(frozen=True, slots=True)
class Trial:
    """``run`` does one round and returns what it measured, in ``unit``; no round may be over ``limit``."""

    run: Callable[[Arena, int], float]
    rounds: int
    limit: float
    unit: str = "s"


TRIALS = {
    "kill-busy": Trial(_killings.kill_busy_worker, 20, 60),
    "kill-idle": Trial(_killings.kill_idle_process, 12, 60),
    "sigterm": Trial(_killings.stop_and_start, 5, 30),
    "delete": Trial(_killings.delete_during_ingest, 20, 30),
    "twice": Trial(_deliveries.delivered_twice, 50, 60),
    "no-ticket": Trial(_deliveries.killed_before_enqueueing, 3, 300),
    "restart-ingest": Trial(_outages.restarted_during_ingest, 3, 90),
    "restart-question": Trial(_outages.restarted_during_a_question, 3, 60),
    "restart-idle": Trial(_outages.restarted_while_idle, 3, 60),
    "flood": Trial(_fairness.one_file_behind_two_hundred, 1, 2, "× idle"),
    "flood-questions": Trial(_fairness.questions_beside_two_hundred, 1, 1.5, "× idle p95"),
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
    with arena(options["pages"], options["seed"]) as chaos:
        for name in options["trials"] or TRIALS:
            finding = attempt(name, chaos, options["rounds"] or TRIALS[name].rounds)
            passed = passed and finding.passed
            command.stdout.write(msgspec.json.encode(finding).decode() if options["json"] else str(finding))
            command.stdout.flush()
    return int(not passed)


def attempt(name: str, chaos: Arena, rounds: int) -> Finding:
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
