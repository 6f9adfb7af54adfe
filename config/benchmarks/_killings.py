"""Processes killed and told to stop, documents deleted: in the middle of work, at random moments."""

from __future__ import annotations

import os
import signal
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

from config.benchmarks._arena import CONTENT, SMALL, Arena, Broken, rows_of
from config.processes import Group
from documents.deletion import delete_document
from documents.models import Document

SAME = 1  # the serial of the file whose rows are compared
BACKLOG = 10
MEMBERS = ("worker", "pusher", "monitor", "sentinel")
QUIET = 2.0  # seconds in which something that was deleted could come back


def kill_busy_worker(chaos: Arena, number: int) -> float:
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
    if rows_of(document) != rows_of(undisturbed):
        raise Broken("the rows differ from those of an undisturbed run")
    delete_document(document)
    return seconds


def sum_of_stages(document: Document) -> float:
    return sum(document.stage_seconds[stage] for stage in ("read", "store", "index"))


def kill_idle_process(chaos: Arena, number: int) -> float:
    """Each kind in turn; a backlog of ten drains."""
    chaos.wait_until_whole()
    chaos.member(MEMBERS[number % len(MEMBERS)]).kill()
    return chaos.wait_until_ready(*(chaos.upload(pages=SMALL) for _ in range(BACKLOG)))


def stop_and_start(chaos: Arena, number: int) -> float:
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
    chaos.worker = Group.start("worker")
    chaos.wait_until_ready(document)
    return seconds


def delete_during_ingest(chaos: Arena, number: int) -> float:
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
