"""Who works on a document, and how often it was tried: kept on its row, taken before work starts.

A task queue may deliver a task twice, late, or for ever; the lease makes that
harmless. Every write of an ingestion happens under its lease, so that a worker
which was given up (killed, stalled, cut off) cannot write over its successor.
"""

from __future__ import annotations

import logging
import os
import socket
import threading
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from django.conf import settings
from django.db import DatabaseError, connection, transaction
from django.db.models import Case, F, Q, QuerySet, Value, When
from django.utils import timezone

from documents.models import WORKING, Document

logger = logging.getLogger(__name__)


class LostLease(Exception):
    """The document was deleted, or another worker has it now: write nothing more."""


@dataclass(frozen=True, slots=True)
class Lease:
    document_id: uuid.UUID
    token: uuid.UUID

    @property
    def row(self) -> QuerySet[Document]:
        """The document's row while the lease holds; no row after that."""
        return Document.objects.filter(pk=self.document_id, lease=self.token, deleted_at=None)

    def update(self, **values: Any) -> None:
        """Writes to the row. Raises LostLease when the lease does not hold."""
        if not self.row.update(**values):
            raise LostLease(self.document_id)

    def lock(self) -> Document:
        """The row, locked to the end of the transaction. Raises LostLease."""
        document = self.row.select_for_update(of=("self",)).first()
        if document is None:
            raise LostLease(self.document_id)
        return document


def host() -> str:
    return socket.gethostname()


def holder() -> str:
    """This process, as a lease names it."""
    return f"{host()}:{os.getpid()}"


def free() -> Q:
    """Rows that nobody works on now."""
    return Q(lease=None) | Q(lease_expires_at__lt=timezone.now())


def take(document_id: uuid.UUID) -> Lease | None:
    """Counts an attempt and takes the document; None when it is taken, finished, deleted or worn out."""
    return _take(document_id, Q(status__in=WORKING, attempts__lt=settings.INGEST_MAX_ATTEMPTS))


def take_to_recognise(document_id: uuid.UUID) -> Lease | None:
    """Takes a document whose pages are to be recognised; None when it is taken, finished or deleted."""
    return _take(document_id, Q(status=Document.Status.RECOGNISING))


def _take(document_id: uuid.UUID, condition: Q) -> Lease | None:
    lease = Lease(document_id, uuid.uuid4())
    now = timezone.now()
    taken = Document.objects.filter(free(), condition, pk=document_id, deleted_at=None).update(
        attempts=F("attempts") + 1,
        lease=lease.token,
        lease_holder=holder(),
        lease_expires_at=now + timedelta(seconds=settings.LEASE_SECONDS),
        started_at=now,
    )
    return lease if taken else None


def give_back(rows: QuerySet[Document]) -> int:
    """Puts documents back in the queue as if they had not been tried: the interruption was not theirs.

    Those whose pages are recognised stay at that.
    """
    return rows.update(
        status=Case(
            When(status=Document.Status.RECOGNISING, then=Value(Document.Status.RECOGNISING)),
            default=Value(Document.Status.UPLOADED),
        ),
        attempts=F("attempts") - 1,
        lease=None,
        lease_holder="",
        lease_expires_at=None,
        progress=0,
    )


@contextmanager
def renewing(lease: Lease) -> Iterator[None]:
    """Keeps the lease alive from a thread of its own while the block works."""
    stop = threading.Event()
    thread = threading.Thread(target=_renew, args=(lease, stop), name="lease", daemon=True)
    thread.start()
    try:
        yield
    finally:
        stop.set()
        thread.join()


def _renew(lease: Lease, stop: threading.Event) -> None:
    while not stop.wait(settings.LEASE_SECONDS / 4):
        try:
            expires = timezone.now() + timedelta(seconds=settings.LEASE_SECONDS)
            if not lease.row.update(lease_expires_at=expires):
                break
        except DatabaseError:
            logger.warning("lease of %s could not be renewed yet", lease.document_id)
            connection.close()  # the next try connects anew
    connection.close()


@contextmanager
def locked(lease: Lease) -> Iterator[Document]:
    """A transaction that holds the document's row; nothing is written once the lease is lost."""
    with transaction.atomic():
        yield lease.lock()
