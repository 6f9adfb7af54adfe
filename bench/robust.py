"""Outcomes of hostile files: each PDF of a folder through the API and a real worker, one after the other.

Each must end ``ready`` or ``failed`` with a known code, within 30 s of processor time of the worker and its
children. No worker may be lost or grow by more than 50 MB. If the folder has an ``expected.json`` (``{name:
{"outcome": …}}``), its outcomes must match, too.
"""

from __future__ import annotations

import subprocess
from argparse import ArgumentParser
from collections import Counter, deque
from collections.abc import Iterator, Mapping
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any

import msgspec
import psutil
from django.core.management.base import BaseCommand
from django.utils import timezone

from bench._installation import Broken, Installation, installation
from bench.ingest import chosen_files
from documents.library import delete_document
from documents.models import Document, FailureCode, Worker
from operations.processes import children
from pdf.failures import PLAIN_LINES

SLOWEST_SECONDS = 30.0  # of processor time
MOST_GROWTH = 50 * 1024 * 1024  # bytes, of one worker process
WARM = 20  # files until a worker has loaded its modules; files between two memory checks
STUCK_SECONDS = 900.0  # of wall time; a busy machine may exceed it
REJECTED = {"not_a_pdf", "empty", "too_large"}
LIMITED = {"took_too_long", "too_much_memory", "too_many_pages"}
FAILED = {str(code) for code in FailureCode} - {"internal"}
# The outcomes that are right for each expectation in `expected.json`.
ENDS = {
    "rejected_at_upload": REJECTED,
    "failed_password": {"password_protected"},
    "failed_timeout_or_limit": LIMITED,
    "failed_limit_or_ready": LIMITED | {"ready"},
    "failed_no_text": {"no_text", "ready"},  # a scan may be recognised
    "failed": FAILED,
    "ready": {"ready"},
    "ready_or_failed": FAILED | {"ready"},
    "failed_or_ready": FAILED | {"ready"},
    "ready_or_rejected": REJECTED | {"ready"},
}
# A warning is printed if poppler finds at least this many words, and we less than this share of them.
POPPLER_WORDS, UNREAD_SHARE = 20, 0.5
POPPLER_SECONDS = 20.0
# Beginnings of the reasons of pages that failed in our own code (``pdf.layout.pipeline``).
OWN_FAULTS = (PLAIN_LINES, "writing: ")


class FileOutcome(msgspec.Struct, frozen=True):
    """The outcome of a file: ``ready`` or a failure code, violated limits, warnings.

    ``seconds`` since its start, and of processor time, which is the one with a limit; ``own_faults``: pages
    that failed in our own code.
    """

    file: str
    outcome: str
    seconds: float
    cpu_seconds: float = 0.0
    pages: int = 0
    unread_pages: int = 0
    own_faults: int = 0
    hidden_words: int = 0
    words: int = 0
    wrong: str = ""
    warning: str = ""


class RobustnessFigures(msgspec.Struct, frozen=True):
    files: int
    outcomes: dict[str, int]
    wrong: int
    warnings: int
    slowest: float
    slowest_cpu: float
    workers_lost: int
    grown_mb: float


def add_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("folder", type=Path, metavar="DIR")
    parser.add_argument("--limit", type=int, default=0, help="most files, spread over the folder")
    parser.add_argument("--list", type=Path, help="a file with one path of a PDF per line, relative to DIR")
    parser.add_argument("--json", action="store_true", help="one JSON object per file, then the figures")


def run(command: BaseCommand, options: dict[str, Any]) -> int:
    folder: Path = options["folder"]
    outcomes: list[FileOutcome] = []
    with installation(pages=1, seed=1) as site:
        site.warm_up(pages=5)
        memory = Memory(site)
        for number, file in enumerate(files_of(folder, options["list"], options["limit"])):
            outcome = outcome_of(site, file, folder)
            outcomes.append(outcome)
            memory.look(settled=number >= WARM)
            if options["json"] or outcome.wrong or outcome.warning:
                command.stdout.write(msgspec.json.encode(outcome).decode())
                command.stdout.flush()
        figures = RobustnessFigures(
            files=len(outcomes),
            outcomes=dict(Counter(outcome.outcome for outcome in outcomes).most_common()),
            wrong=sum(bool(outcome.wrong) for outcome in outcomes),
            warnings=sum(bool(outcome.warning) for outcome in outcomes),
            slowest=max((outcome.seconds for outcome in outcomes), default=0.0),
            slowest_cpu=max((outcome.cpu_seconds for outcome in outcomes), default=0.0),
            workers_lost=sum(Worker.objects.values_list("restarts", flat=True)) + len(memory.gone),
            grown_mb=round(memory.grown / 2**20, 1),
        )
    command.stdout.write(msgspec.json.encode(figures).decode())
    return int(bool(figures.wrong or figures.workers_lost or memory.grown > MOST_GROWTH))


def files_of(folder: Path, listed: Path | None, limit: int) -> list[Path]:
    """Return the PDF files of the folder, or those in the list."""
    if listed is None:
        return chosen_files(folder, limit)
    names = [line.strip() for line in listed.read_text().splitlines() if line.strip()]
    return [folder / name for name in names][: limit or None]


def outcome_of(site: Installation, file: Path, folder: Path) -> FileOutcome:
    with file.open("rb") as stream:
        answer = site.client.post("/api/documents/", files={"file": (file.name, stream)})
    name, said = str(file.relative_to(folder)), answer.json()
    if answer.status_code != 201:
        return judged(FileOutcome(name, str(said.get("code")), 0.0), file)
    document, before = Document.objects.get(pk=said["id"]), cpu_seconds(site)
    try:
        outcome = ended(site, document, name)
    except Broken as stuck:
        outcome = FileOutcome(name, "stuck", STUCK_SECONDS, wrong=str(stuck))
    outcome = msgspec.structs.replace(outcome, cpu_seconds=round(cpu_seconds(site) - before, 2))
    delete_document(document)
    return judged(outcome, file)


def cpu_seconds(site: Installation) -> float:
    """Return the processor time of the worker's processes, including ended ones."""
    worker = psutil.Process(site.worker.process.pid)
    spent = 0.0
    for process in (worker, *worker.children(recursive=True)):
        with suppress(psutil.NoSuchProcess):
            spent += sum(process.cpu_times()[:4])  # its own and its children's, user and system
    return spent


def ended(site: Installation, document: Document, name: str) -> FileOutcome:
    """Return the document's final status and the seconds since its start. Raises Broken."""

    def has_ended() -> bool:
        document.refresh_from_db()
        return not document.is_working

    site.wait(has_ended, "never ended", STUCK_SECONDS)
    began = document.started_at or document.created_at
    return FileOutcome(
        name,
        document.failure_code or document.status,
        round((timezone.now() - began).total_seconds(), 2),
        pages=document.page_count,
        unread_pages=len(document.failed_pages),
        own_faults=sum(reason.startswith(OWN_FAULTS) for _, reason in document.failed_pages),
        hidden_words=document.hidden_word_count,
        words=document.word_count,
    )


def judged(outcome: FileOutcome, file: Path) -> FileOutcome:
    return msgspec.structs.replace(
        outcome, wrong="; ".join(faults(outcome, file)), warning=unread_text(outcome, file)
    )


def unread_text(outcome: FileOutcome, file: Path) -> str:
    """Return the text that poppler finds and we do not; '' if it is short or poppler is missing."""
    read = outcome.words + outcome.hidden_words
    found = words_by_poppler(file)
    if found < POPPLER_WORDS or read >= UNREAD_SHARE * found:
        return ""
    return f"poppler reads {found} words, we {read}"


def words_by_poppler(file: Path) -> int:
    try:
        done = subprocess.run(
            ["pdftotext", "-q", str(file), "-"], capture_output=True, timeout=POPPLER_SECONDS, check=False
        )
    except (OSError, subprocess.TimeoutExpired):
        return 0
    return len(done.stdout.split())


def faults(outcome: FileOutcome, file: Path) -> Iterator[str]:
    if outcome.wrong:
        yield outcome.wrong
    if outcome.cpu_seconds > SLOWEST_SECONDS:
        yield f"took {outcome.cpu_seconds} s of processor time"
    if outcome.outcome not in {"ready", "empty", *FailureCode} or outcome.outcome == FailureCode.INTERNAL:
        yield "no reason"
    if outcome.own_faults:
        yield f"lost {outcome.own_faults} pages to faults of ours"
    wanted = expected_in(file.parent).get(file.name, {}).get("outcome", "")
    if wanted and wanted not in ENDS:
        yield f"expected to be {wanted}, which says nothing"
    elif wanted and outcome.outcome not in ENDS[wanted]:
        yield f"should be {wanted}"


@cache
def expected_in(folder: Path) -> Mapping[str, dict[str, Any]]:
    path = folder / "expected.json"
    return msgspec.json.decode(path.read_bytes()) if path.exists() else {}


class Memory:
    """Resident bytes that the ingesting processes keep, counted from when they have loaded their modules.

    Memory that is used for a file and released afterwards is not counted.
    """

    def __init__(self, site: Installation) -> None:
        self._site = site
        self._first: dict[int, int] = {}
        self._lately: dict[int, deque[int]] = {}
        self.gone: set[int] = set()
        self.grown = 0

    def look(self, *, settled: bool) -> None:
        now = {process.pid: process.memory_info().rss for process in self._processes()}
        if not settled:
            return
        self.gone |= self._first.keys() - now.keys()
        for pid, resident in now.items():
            self._first.setdefault(pid, resident)
            lately = self._lately.setdefault(pid, deque(maxlen=WARM))
            lately.append(resident)
            if len(lately) == WARM:
                self.grown = max(self.grown, min(lately) - self._first[pid])

    def _processes(self) -> list[psutil.Process]:
        (cluster,) = children(self._site.worker.process.pid)
        return [worker for sentinel in children(cluster.pid) for worker in children(sentinel.pid)]
