"""Leases: which worker has a document; SIGTERM and database outages while it works.

A task queue may deliver a task twice, late, or for ever; the lease makes that
harmless. Every write of an ingestion happens under its lease, so that a worker
which was given up (killed, stalled, cut off) cannot write over its successor.
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


def acquire(document_id: uuid.UUID) -> Lease | None:
    """Counts an attempt and takes the document; None when it is taken, finished, deleted or worn out."""
    return _take(document_id, Q(status__in=WORKING, attempts__lt=settings.INGEST_MAX_ATTEMPTS))


def acquire_for_recognition(document_id: uuid.UUID) -> Lease | None:
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


def return_to_queue(rows: QuerySet[Document]) -> int:
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
        progress=Case(When(status=Document.Status.RECOGNISING, then=F("progress")), default=Value(0.0)),
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


class Interrupted(KeyboardInterrupt):
    """The process was asked to stop. Not an Exception: nothing that recovers from errors may swallow it.

    Of this kind, because psycopg then cancels the statement it waits for, and its connection can be used.
    """


class _Held:
    """Whether a SIGTERM came that nobody has heard yet."""

    is_waiting = False


@contextmanager
def sigterm_deferred() -> Iterator[None]:
    """Defer SIGTERM until the block ends, or until ``sigterm_raises`` begins inside it."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGTERM, _hold)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)
        if _Held.is_waiting:
            _Held.is_waiting = False
            signal.raise_signal(signal.SIGTERM)


@contextmanager
def sigterm_raises() -> Iterator[None]:
    """Raises Interrupted in the block on SIGTERM. In other threads than the main one it changes nothing."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGTERM, _raise)
    try:
        if _Held.is_waiting:
            _raise(signal.SIGTERM, None)
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


def _hold(signum: int, frame: FrameType | None) -> None:
    _Held.is_waiting = True


def _raise(signum: int, frame: FrameType | None) -> None:
    signal.signal(signal.SIGTERM, signal.SIG_IGN)  # once is enough: the way out must not be cut short
    _Held.is_waiting = False
    raise Interrupted


Result = TypeVar("Result")
PATIENCE = 120.0  # seconds
PAUSE = 0.5  # seconds between two tries
CONNECTION_LOST = ("08", "57P")  # SQLSTATE: connection exceptions; the server shuts down or starts up


def is_unavailable(error: Error) -> bool:
    """Whether the database is not there, rather than unwilling (a full disk, a deadlock, a time limit)."""
    if not isinstance(error, OperationalError | InterfaceError):
        return False
    state = getattr(error.__cause__, "sqlstate", None)
    return state is None or state.startswith(CONNECTION_LOST)


def retry_until_available(work: Callable[[], Result], patience: float = PATIENCE) -> Result:
    """What ``work`` returns, which is done again until the database is back; so it must bear being repeated.

    Raises what ``work`` raised when that was something else, when ``patience``
    seconds are over, and inside a transaction, which is lost as a whole.
    """
    give_up_at = time.monotonic() + patience
    while True:
        try:
            return work()
        except (OperationalError, InterfaceError) as error:
            if connection.in_atomic_block or not is_unavailable(error) or time.monotonic() > give_up_at:
                raise
            logger.warning("the database is away: %s", error)
            connection.close()
            time.sleep(PAUSE)
