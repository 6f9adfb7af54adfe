"""From an uploaded file to a document that answers: read, store, index.

Every step may be repeated, by anybody, at any time: work happens under a lease
on the document's row, rows are replaced in one transaction, and a worker that
dies midway leaves what was there before.
"""

from __future__ import annotations

import logging
import time
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import structlog
from django.db import InterfaceError, OperationalError, connection, transaction
from django.db.models import QuerySet
from django.utils import timezone

from documents.failures import IngestionFailure, failure_of, shortage
from documents.ingestion.leases import (
    Interrupted,
    Lease,
    LostLease,
    acquire,
    renewing,
    retry_until_available,
    return_to_queue,
    sigterm_deferred,
    sigterm_raises,
)
from documents.ingestion.parser import read_document
from documents.ingestion.persistence import replace_content
from documents.ingestion.queue import (
    enqueue,
    issue_recognition_tickets,
    issue_tickets,
    settle_jobs,
    start_job,
)
from documents.ingestion.source_files import obtain_pdf, store_text_layer, unlock
from documents.ingestion.versions import restore_previous
from documents.models import UNFINISHED, Document, Page
from documents.models.content import MOST_TRIES
from documents.signals import document_parsed
from pdf.failures import FailureCode, ParseFailure
from pdf.gc_control import memory_released

logger = logging.getLogger(__name__)
CANCELLED = "Cancelled before it was read. Try again whenever you like."
NEW_CANCELLED = "Reading it was cancelled."
STOPPED = "Recognising the text of this page was stopped. Read the document again to go on."
READABLE_AGAIN = (Document.Status.READY, Document.Status.RECOGNISING, Document.Status.FAILED)
TAKEN_AWAY = "deleted or taken over meanwhile: nothing was stored"


def ingest_document(document_id: uuid.UUID) -> bool:
    """Takes one document in, in this process. False when somebody else has it, or it needs no work."""
    with sigterm_deferred():  # between the lease and the work under it
        lease = acquire(document_id)
        if lease is not None:
            ingest(lease)
    return lease is not None


def ingest(lease: Lease) -> None:
    """Brings the leased document to ``recognising``, ``ready`` or ``failed``."""
    logger.info("taken in")
    if document := lease.row.first():
        start_job(document)
    work_on(lease, run_stages, mark_failed)


def work_on(lease: Lease, work: Callable[[Lease], None], fail: Callable[[Lease, Exception], None]) -> None:
    """Does the work while the lease holds. An interruption from outside puts the document back."""
    with structlog.contextvars.bound_contextvars(document=str(lease.document_id)):
        _work_on(lease, work, fail)


def _work_on(lease: Lease, work: Callable[[Lease], None], fail: Callable[[Lease, Exception], None]) -> None:
    try:
        with sigterm_raises(), renewing(lease), memory_released():
            work(lease)
    except LostLease:
        logger.info(TAKEN_AWAY)
    except Interrupted:
        requeue_interrupted(lease)
        raise SystemExit(0) from None
    except (OperationalError, InterfaceError) as error:
        after_database_error(lease, error)
    except Exception as error:
        log_failure(lease, error)
        fail(lease, error)


def requeue_interrupted(lease: Lease) -> None:
    """At once; by another connection where this one was cut off in the middle of a statement."""
    try:
        return_to_queue(lease.row)
    except (OperationalError, InterfaceError):
        connection.close()
        return_to_queue(lease.row)


def log_failure(lease: Lease, error: Exception) -> None:
    """To the log. What is wrong with a file is nothing wrong with us; nor is a file that went meanwhile."""
    if not lease.row.exists():
        logger.info(TAKEN_AWAY)
    elif isinstance(error, ParseFailure | IngestionFailure) and error.code != FailureCode.INTERNAL:
        logger.info("failed", extra={"code": error.code, "detail": getattr(error, "detail", "")})
    else:
        logger.exception("failed", extra={"detail": getattr(error, "detail", "")})


def run_stages(lease: Lease) -> None:
    """The way of one document. Raises LostLease, IngestionFailure, ParseFailure, and what nobody expected."""
    seconds: dict[str, float] = {}
    if lease.row.get().failure_code != FailureCode.EMBEDDING_FAILED:  # else only that is left to do
        read_and_store(lease, seconds)
    lease.update(status=Document.Status.INDEXING, progress=0)
    with timed(seconds, "index"):
        document_parsed.send(Document, document=lease.row.get())
    mark_read(lease, seconds)


def read_and_store(lease: Lease, seconds: dict[str, float]) -> None:
    """Adds to ``seconds`` what each stage took."""
    lease.update(status=Document.Status.PARSING, progress=0)
    with timed(seconds, "obtain"):
        document = obtain_pdf(lease)
    with timed(seconds, "read"):
        content = read_document(lease, document)
    if content.parsed.sealed:
        unlock(document, password="")
    seconds |= content.stage_seconds
    with timed(seconds, "store"):
        replace_content(lease, content)
        store_text_layer(lease, document, content.parsed)


@contextmanager
def timed(seconds: dict[str, float], stage: str) -> Iterator[None]:
    start = time.perf_counter()
    yield
    seconds[stage] = round(time.perf_counter() - start, 3)


def add_recognised_pages(lease: Lease) -> None:
    """Lays the document out anew with the pages that were recognised since, and indexes what is new."""
    content = read_document(lease, lease.row.get(), shows_progress=False)
    lease.update(status=Document.Status.INDEXING)  # from here to the end of this the index may be behind
    replace_content(lease, content, searchable=True)
    document = lease.row.get()
    if not document.pages_waiting:
        store_text_layer(lease, document, content.parsed)
    document_parsed.send(Document, document=lease.row.get())
    lease.update(status=Document.Status.RECOGNISING, attempts=0, **answers(document))


def mark_read(lease: Lease, seconds: dict[str, float]) -> None:
    """The document answers from now on; pages that are pictures are recognised by and by."""
    document = lease.row.get()
    if document.pages_waiting or document.pictures_waiting:
        release(lease, Document.Status.RECOGNISING, stage_seconds=seconds, **answers(document))
        transaction.on_commit(lambda: issue_recognition_tickets(1), robust=True)
    else:
        mark_ready(lease, stage_seconds=seconds)


def answers(document: Document) -> dict[str, Any]:
    """What is written of a document that was indexed: it can be searched if it has any text."""
    indexed_at = timezone.now() if document.unit_count else None
    return {"indexed_at": indexed_at, "progress": document.pages_read / max(1, document.page_count)}


def mark_ready(lease: Lease, **values: Any) -> None:
    """All of the document is read, and it answers."""
    release(lease, Document.Status.READY, progress=1, indexed_at=timezone.now(), **values)
    settle_jobs(Document.objects.filter(pk=lease.document_id))
    logger.info("ready", extra={"seconds": values.get("stage_seconds", {})})


def release(lease: Lease, status: Document.Status, **values: Any) -> None:
    """Gives the document back, whole."""
    lease.update(
        status=status,
        failure_code="",
        failure_message="",
        attempts=0,
        lease=None,
        lease_holder="",
        lease_expires_at=None,
        **values,
    )


def mark_failed(lease: Lease, error: Exception) -> None:
    """Ends the ingestion with a reason a person understands.

    A document that could not be embedded is found by its words all the same. One whose new file could
    not be read is what it was before.
    """
    failure = failure_of(error)
    if restore_previous(lease.row, failure.code, failure.message):
        settle_jobs(Document.objects.filter(pk=lease.document_id))
        return
    if failure.code == FailureCode.EMBEDDING_FAILED:
        lease.row.update(indexed_at=timezone.now())
    lease.row.update(
        status=Document.Status.FAILED,
        failure_code=failure.code,
        failure_message=failure.message[:200],
        lease=None,
        lease_holder="",
        lease_expires_at=None,
    )
    settle_jobs(Document.objects.filter(pk=lease.document_id))


def after_database_error(lease: Lease, error: Exception) -> None:
    """A database that went away is not the document's fault: it goes back to the queue once it answers."""
    if shortage(error):  # waiting would not help
        mark_failed(lease, error)
        return
    logger.warning("the database went away: %s", error)
    connection.close()

    def requeue() -> None:
        if return_to_queue(lease.row):
            issue_tickets(1)
            issue_recognition_tickets(1)

    retry_until_available(requeue)


def ingest_again(document: Document) -> bool:
    """Puts a finished or failed document back in the queue. False when it is in work already.

    Pages that were recognised stay so; those that were given up are tried again. One that only could
    not be embedded is not read again.
    """
    finished = Document.objects.filter(pk=document.pk, deleted_at=None, status__in=READABLE_AGAIN)
    keeps_content = document.failure_code == FailureCode.EMBEDDING_FAILED
    if not (keeps_content or document.is_readable):
        return False
    queued = finished.update(
        status=Document.Status.UPLOADED,
        progress=0,
        attempts=0,
        failure_code=FailureCode.EMBEDDING_FAILED if keeps_content else "",
        failure_message="",
        lease=None,
    )
    if queued:
        document.pages.filter(recognised=b"").update(tries=0)
        enqueue(document)
    return bool(queued)


def cancel(document: Document) -> bool:
    """Takes a document from the queue or from its worker. False when it is in neither.

    One that answered before answers on with what was read of it then.
    """
    stopped = Document.objects.filter(pk=document.pk, deleted_at=None, status__in=UNFINISHED)
    unfinished = {
        "status": Document.Status.FAILED,
        "failure_code": FailureCode.INTERNAL,
        "failure_message": CANCELLED,
    }
    free = {"lease": None, "lease_holder": "", "lease_expires_at": None}
    replaced = restore_previous(stopped, FailureCode.INTERNAL, NEW_CANCELLED)
    answering = stopped.filter(indexed_at__isnull=False).update(status=Document.Status.READY, **free)
    if answering:
        give_up_pages(Document.objects.filter(pk=document.pk), STOPPED)
    cancelled = bool(replaced or answering or stopped.update(**unfinished, **free))
    settle_jobs(Document.objects.filter(pk=document.pk))
    return cancelled


def give_up_pages(documents: QuerySet[Document], reason: str) -> None:
    """Gives the waiting pages of the documents a reason instead of a further attempt."""
    with transaction.atomic():
        for document in documents.select_for_update(of=("self",)):
            waiting = document.pages.exclude(awaits="").order_by("number")
            whole = waiting.filter(awaits=Page.Awaits.PAGE, text="")
            document.failed_pages = sorted(
                [
                    *document.failed_pages,
                    *([number, reason] for number in whole.values_list("number", flat=True)),
                ]
            )
            whole.update(failure=reason)
            waiting.update(awaits="", tries=MOST_TRIES)
            document.pages_waiting = document.pictures_waiting = 0
            document.save(update_fields=["failed_pages", "pages_waiting", "pictures_waiting", "updated_at"])
