"""How the workers fare: who is alive, what waits, what is in work, what ended last and how."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from django.utils import timezone
from django_q.models import Failure, Success

from documents.models import Document, Worker
from documents.queue import tickets_left

SHOWN = 20  # documents in work, failed tasks


@dataclass(frozen=True, slots=True)
class WorkerState:
    """One `manage.py worker`; a silent one has not been heard of for longer than it should be."""

    holder: str
    seen_at: datetime
    started_at: datetime
    restarts: int
    alive: bool


@dataclass(frozen=True, slots=True)
class Work:
    """A document that somebody reads; ``silent`` when its lease has run out."""

    document: Document
    silent: bool


@dataclass(frozen=True, slots=True)
class Queue:
    workers: tuple[WorkerState, ...]
    waiting: int
    working: tuple[Work, ...]
    tickets: int | None
    failed: int
    last_success: Success | None
    failures: tuple[Failure, ...]

    @property
    def stands_still(self) -> bool:
        """Documents wait and nobody is there to read them."""
        return bool(self.waiting) and not any(worker.alive for worker in self.workers)


def queue() -> Queue:
    """Eight queries."""
    now = timezone.now()
    documents = Document.objects.filter(deleted_at=None)
    working = documents.filter(lease__isnull=False).order_by("started_at")[:SHOWN]
    alive = set(Worker.objects.alive().values_list("pk", flat=True))
    return Queue(
        tuple(
            WorkerState(row.holder, row.seen_at, row.started_at, row.restarts, row.holder in alive)
            for row in Worker.objects.all()[:SHOWN]
        ),
        documents.filter(status=Document.Status.UPLOADED).count(),
        tuple(Work(row, row.lease_expires_at is not None and row.lease_expires_at < now) for row in working),
        tickets_left(),
        documents.filter(status=Document.Status.FAILED).count(),
        Success.objects.order_by("-stopped").first(),
        tuple(Failure.objects.order_by("-stopped")[:5]),
    )
