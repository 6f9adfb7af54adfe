"""The ingestion pipeline: parse, store and index a document.

Every step is idempotent: work happens under a lease on the document's row,
rows are replaced in one transaction, and a worker that dies leaves the
previous state.
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

from documents.failures import IngestionFailure, failure_of, is_storage_away, shortage
from documents.ingestion.leases import (
    UNLEASED,
    Interrupted,
    Lease,
    LostLease,
    acquire,
    renewed_while_running,
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
from documents.ingestion.source_files import obtain_pdf, restore_previous, store_text_layer, unlock
from documents.models import UNFINISHED, Document, Page
from documents.models.content import MOST_TRIES
from documents.signals import document_parsed
from pdf.failures import FailureCode, ParseFailure
from pdf.gc_control import memory_released

logger = logging.getLogger(__name__)
CANCELLED = "Cancelled before it was read. Try again whenever you like."
NEW_CANCELLED = "Reading it was cancelled."
STOPPED = "Recognising the text of this page was stopped. Re-process the document to continue."
REPROCESSABLE = (Document.Status.READY, Document.Status.RECOGNISING, Document.Status.FAILED)
STORAGE_PAUSE = 5.0  # seconds
LEASE_LOST = "deleted or taken over by another worker: nothing was stored"


def ingest_document(document_id: uuid.UUID) -> bool:
    """Ingest one document in this process. Return False when it is leased or needs no work."""
    with sigterm_deferred():  # no interruption between the lease and the work
        lease = acquire(document_id)
        if lease is not None:
            ingest(lease)
    return lease is not None


def ingest(lease: Lease) -> None:
    """Process the leased document until it is ``recognising``, ``ready`` or ``failed``."""
    logger.info("ingestion started")
    if document := lease.row.first():
        start_job(document)
    work_on(lease, run_stages, mark_failed)


def work_on(lease: Lease, work: Callable[[Lease], None], fail: Callable[[Lease, Exception], None]) -> None:
    """Run ``work`` under the lease. SIGTERM and database outages requeue the document."""
    with structlog.contextvars.bound_contextvars(document=str(lease.document_id)):
        _work_on(lease, work, fail)


def _work_on(lease: Lease, work: Callable[[Lease], None], fail: Callable[[Lease, Exception], None]) -> None:
    try:
        with sigterm_raises(), renewed_while_running(lease), memory_released():
            work(lease)
    except LostLease:
        logger.info(LEASE_LOST)
    except Interrupted:
        requeue_interrupted(lease)
        raise SystemExit(0) from None
    except (OperationalError, InterfaceError) as error:
        after_database_error(lease, error)
    except Exception as error:
        if is_storage_away(error):
            after_storage_error(lease, error)
            return
        log_failure(lease, error)
        fail(lease, error)


def requeue_interrupted(lease: Lease) -> None:
    """Requeue the document, on a new connection if this one was cut off in a statement."""
    try:
        return_to_queue(lease.row)
    except (OperationalError, InterfaceError):
        connection.close()
        return_to_queue(lease.row)


def log_failure(lease: Lease, error: Exception) -> None:
    """Log the failure: INFO for faults of the file and deleted documents, a traceback for our own errors."""
    if not lease.row.exists():
        logger.info(LEASE_LOST)
    elif isinstance(error, ParseFailure | IngestionFailure) and error.code != FailureCode.INTERNAL:
        logger.info("failed", extra={"code": error.code, "detail": getattr(error, "detail", "")})
    else:
        logger.exception("failed", extra={"detail": getattr(error, "detail", "")})


def run_stages(lease: Lease) -> None:
    """Parse, store and index the document. Raises LostLease, IngestionFailure, ParseFailure, or any error."""
    seconds: dict[str, float] = {}
    if lease.row.get().failure_code != FailureCode.EMBEDDING_FAILED:  # otherwise only indexing is left
        read_and_store(lease, seconds)
    lease.update(status=Document.Status.INDEXING, progress=0)
    with timed(seconds, "index"):
        document_parsed.send(Document, document=lease.row.get())
    mark_read(lease, seconds)


def read_and_store(lease: Lease, seconds: dict[str, float]) -> None:
    """Parse and store the document; record the seconds of each stage."""
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
    """Repeat the layout with the pages recognised since, and index what is new."""
    content = read_document(lease, lease.row.get(), shows_progress=False)
    lease.update(status=Document.Status.INDEXING)  # the index lags until the signal is handled
    replace_content(lease, content, searchable=True)
    document = lease.row.get()
    if not document.pages_waiting:
        store_text_layer(lease, document, content.parsed)
    document_parsed.send(Document, document=lease.row.get())
    lease.update(status=Document.Status.RECOGNISING, attempts=0, **search_fields(document))


def mark_read(lease: Lease, seconds: dict[str, float]) -> None:
    """Make the document searchable; scanned pages are recognised in the background."""
    document = lease.row.get()
    if document.pages_waiting or document.pictures_waiting:
        release(lease, Document.Status.RECOGNISING, stage_seconds=seconds, **search_fields(document))
        transaction.on_commit(lambda: issue_recognition_tickets(1), robust=True)
    else:
        mark_ready(lease, stage_seconds=seconds)


def search_fields(document: Document) -> dict[str, Any]:
    """Return the fields that make an indexed document searchable, if it has any text."""
    indexed_at = timezone.now() if document.unit_count else None
    return {"indexed_at": indexed_at, "progress": document.pages_read / max(1, document.page_count)}


def mark_ready(lease: Lease, **values: Any) -> None:
    """Finish the ingestion of the document."""
    release(lease, Document.Status.READY, progress=1, indexed_at=timezone.now(), **values)
    settle_jobs(Document.objects.filter(pk=lease.document_id))
    logger.info("ready", extra={"seconds": values.get("stage_seconds", {})})


def release(lease: Lease, status: Document.Status, **values: Any) -> None:
    """Release the lease and clear failures and attempts."""
    lease.update(
        status=status,
        failure_code="",
        failure_message="",
        attempts=0,
        **UNLEASED,
        **values,
    )


def mark_failed(lease: Lease, error: Exception) -> None:
    """End the ingestion with a reason for the user.

    A document that could not be embedded is searchable by keywords. One whose new file could not be read is
    restored to its previous version.
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
        **UNLEASED,
    )
    settle_jobs(Document.objects.filter(pk=lease.document_id))


def after_database_error(lease: Lease, error: Exception) -> None:
    """Requeue the document once the database is reachable again; fail only for a full disk."""
    if shortage(error):  # waiting would not help
        mark_failed(lease, error)
        return
    logger.warning("the database is unreachable: %s", error)
    connection.close()

    def requeue() -> None:
        if return_to_queue(lease.row):
            issue_tickets(1)
            issue_recognition_tickets(1)

    retry_until_available(requeue)


def after_storage_error(lease: Lease, error: Exception) -> None:
    """Requeue the document and pause this worker, since the next document needs the storage too."""
    logger.warning("the file storage does not answer: %s", error)
    return_to_queue(lease.row)
    time.sleep(STORAGE_PAUSE)
    issue_tickets(1)
    issue_recognition_tickets(1)


def ingest_again(document: Document) -> bool:
    """Requeue a finished or failed document. Return False when it is being processed.

    OCR results are kept; pages that were given up are tried again. After a failed embedding only that is
    repeated.
    """
    finished = Document.objects.filter(pk=document.pk, deleted_at=None, status__in=REPROCESSABLE)
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
    """Cancel the ingestion. Return False when the document is neither queued nor being processed.

    A document that was searchable before stays so, with its previous content.
    """
    stopped = Document.objects.filter(pk=document.pk, deleted_at=None, status__in=UNFINISHED)
    cancellation = {
        "status": Document.Status.FAILED,
        "failure_code": FailureCode.INTERNAL,
        "failure_message": CANCELLED,
    }
    restored = restore_previous(stopped, FailureCode.INTERNAL, NEW_CANCELLED)
    searchable = stopped.filter(indexed_at__isnull=False).update(status=Document.Status.READY, **UNLEASED)
    if searchable:
        give_up_pages(Document.objects.filter(pk=document.pk), STOPPED)
    cancelled = bool(restored or searchable or stopped.update(**cancellation, **UNLEASED))
    settle_jobs(Document.objects.filter(pk=document.pk))
    return cancelled


def give_up_pages(documents: QuerySet[Document], reason: str) -> None:
    """Record a failure for the pages that await OCR, instead of another attempt."""
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
