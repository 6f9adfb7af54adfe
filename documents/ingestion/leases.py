"""Leases of documents, and how their workers deal with SIGTERM and database outages.

A task queue may deliver a task twice or late; leases make that harmless. Every
write of an ingestion requires its lease, so a worker that lost it (killed,
stalled, disconnected) cannot overwrite its successor's work.
"""

from __future__ import annotations

import logging
import os
import signal
import socket
import threading
import time
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta
from types import FrameType
from typing import Any, TypeVar

from django.conf import settings
from django.db import DatabaseError, Error, InterfaceError, OperationalError, connection, transaction
from django.db.models import Case, F, Q, QuerySet, Value, When
from django.utils import timezone

from documents.models import WORKING, Document

logger = logging.getLogger(__name__)

UNLEASED: dict[str, Any] = {"lease": None, "lease_holder": "", "lease_expires_at": None}
"""The fields of a document's row without a lease."""


class LostLease(Exception):
    """The document was deleted, or another worker leased it. Write nothing more."""


@dataclass(frozen=True, slots=True)
class Lease:
    document_id: uuid.UUID
    token: uuid.UUID

    @property
    def row(self) -> QuerySet[Document]:
        """Return the document's row while the lease is valid; empty afterwards."""
        return Document.objects.filter(pk=self.document_id, lease=self.token, deleted_at=None)

    def update(self, **values: Any) -> None:
        """Update the row. Raises LostLease when the lease is invalid."""
        if not self.row.update(**values):
            raise LostLease(self.document_id)

    def lock(self) -> Document:
        """Return the row with a row lock until the end of the transaction. Raises LostLease."""
        document = self.row.select_for_update(of=("self",)).first()
        if document is None:
            raise LostLease(self.document_id)
        return document


def host() -> str:
    return socket.gethostname()


def holder() -> str:
    """Return the name of this process in a lease."""
    return f"{host()}:{os.getpid()}"


def free() -> Q:
    """Return the condition on rows without a valid lease."""
    return Q(lease=None) | Q(lease_expires_at__lt=timezone.now())


def acquire(document_id: uuid.UUID) -> Lease | None:
    """Lease the document and count an attempt. Return None when it is leased, finished, deleted or failed."""
    return _lease(document_id, Q(status__in=WORKING, attempts__lt=settings.INGEST_MAX_ATTEMPTS))


def acquire_for_recognition(document_id: uuid.UUID) -> Lease | None:
    """Lease a document whose pages await OCR. Return None when it is leased, finished or deleted."""
    return _lease(document_id, Q(status=Document.Status.RECOGNISING))


def _lease(document_id: uuid.UUID, condition: Q) -> Lease | None:
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


def return_to_queue(rows: QuerySet[Document]) -> int:
    """Requeue documents without counting the attempt: the interruption was not their fault.

    Documents whose pages are being recognised keep that status.
    """
    return rows.update(
        status=Case(
            When(status=Document.Status.RECOGNISING, then=Value(Document.Status.RECOGNISING)),
            default=Value(Document.Status.UPLOADED),
        ),
        attempts=F("attempts") - 1,
        **UNLEASED,
        progress=Case(When(status=Document.Status.RECOGNISING, then=F("progress")), default=Value(0.0)),
    )


@contextmanager
def renewed_while_running(lease: Lease) -> Iterator[None]:
    """Renew the lease from a thread while the block runs."""
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
            connection.close()  # the next attempt reconnects
    connection.close()


@contextmanager
def locked(lease: Lease) -> Iterator[Document]:
    """Run the block in a transaction with a row lock. Raises LostLease."""
    with transaction.atomic():
        yield lease.lock()


class Interrupted(KeyboardInterrupt):
    """SIGTERM arrived. Not an Exception, so that no error handler swallows it.

    A KeyboardInterrupt, since psycopg then cancels the running statement and keeps the connection usable.
    """


class _DeferredSignal:
    """State of the deferred SIGTERM."""

    is_pending = False


@contextmanager
def sigterm_deferred() -> Iterator[None]:
    """Defer SIGTERM until the block ends, or until ``sigterm_raises`` begins inside it."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGTERM, _defer)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)
        if _DeferredSignal.is_pending:
            _DeferredSignal.is_pending = False
            signal.raise_signal(signal.SIGTERM)


@contextmanager
def sigterm_raises() -> Iterator[None]:
    """Raise Interrupted in the block on SIGTERM. Does nothing outside the main thread."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGTERM, _raise)
    try:
        if _DeferredSignal.is_pending:
            _raise(signal.SIGTERM, None)
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


def _defer(signum: int, frame: FrameType | None) -> None:
    _DeferredSignal.is_pending = True


def _raise(signum: int, frame: FrameType | None) -> None:
    signal.signal(signal.SIGTERM, signal.SIG_IGN)  # a second signal must not interrupt the clean-up
    _DeferredSignal.is_pending = False
    raise Interrupted


Result = TypeVar("Result")
RETRY_SECONDS = 120.0
PAUSE = 0.5  # seconds between two attempts
CONNECTION_LOST = ("08", "57P")  # SQLSTATE: connection exceptions; the server shuts down or starts up


def is_unavailable(error: Error) -> bool:
    """Return whether the database is unreachable, as opposed to a full disk, deadlock or timeout."""
    if not isinstance(error, OperationalError | InterfaceError):
        return False
    state = getattr(error.__cause__, "sqlstate", None)
    return state is None or state.startswith(CONNECTION_LOST)


def retry_until_available(work: Callable[[], Result], patience: float = RETRY_SECONDS) -> Result:
    """Retry ``work``, which must be idempotent, until the database is reachable.

    Raises its error after ``patience`` seconds, for other errors, and inside a transaction, which cannot
    be continued.
    """
    give_up_at = time.monotonic() + patience
    while True:
        try:
            return work()
        except (OperationalError, InterfaceError) as error:
            if connection.in_atomic_block or not is_unavailable(error) or time.monotonic() > give_up_at:
                raise
            logger.warning("the database is unreachable: %s", error)
            connection.close()
            time.sleep(PAUSE)
