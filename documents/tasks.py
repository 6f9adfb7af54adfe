"""The tasks of workers (django-q2), and the sweep, which recovers interrupted work.

Tasks have no arguments: the documents' rows are the queue. Do not move this module: django-q2 stores the
dotted names of tasks.
"""

from __future__ import annotations

import logging
from dataclasses import dataclass
from datetime import timedelta

from django.conf import settings
from django.db.models import DurationField, ExpressionWrapper, F, QuerySet, Value
from django.db.models.functions import Greatest, Least, Now
from django.utils import timezone

from documents.ingestion import recognition
from documents.ingestion.leases import UNLEASED
from documents.ingestion.pipeline import ingest_again, ingest_document
from documents.ingestion.queue import (
    forget_fetched_tickets,
    give_up_abandoned,
    issue_recognition_tickets,
    issue_tickets,
    next_in_turn,
    settle_jobs,
    tickets_left,
    waiting_documents,
)
from documents.ingestion.recognition import in_turn, is_limit_reached, next_to_recognise, recognise_document
from documents.ingestion.source_files import restore_previous
from documents.library import delete_document
from documents.models import WORKING, Document, Job, RateCount, SecurityEvent
from documents.signals import library_swept
from pdf.failures import FailureCode

TRIES = 5  # another worker may lease the same document between SELECT and UPDATE


def ingest_next() -> str:
    """Ingest the next queued document. Return its id, or '' when none is queued."""
    for _ in range(TRIES):
        document_id = next_in_turn()
        if document_id is None:
            return ""
        if ingest_document(document_id):
            return str(document_id)
    return ""


def recognise_next() -> str:
    """Ingest a queued document; else recognise pages of the next scanned one. Return its id or ''."""
    if ingested := ingest_next():
        issue_recognition_tickets(1)
        return ingested
    for _ in range(TRIES):
        document_id = None if is_limit_reached() else next_to_recognise()
        if document_id is None:
            return ""
        if recognise_document(document_id, in_turn(), background=True):
            return str(document_id)
    return ""


# --- The sweep: requeue or fail abandoned documents, purge the trash, replace lost tickets ---


logger = logging.getLogger(__name__)
BIN_ROUND = 20  # documents per round
RETRY_ROUND = 20
RETRY_PAUSES = timedelta(minutes=5), timedelta(hours=1)
GIVEN_UP = "Reading this PDF was interrupted each time: the worker was stopped, or it crashed. Try again."
SWEEP_EVERY = 5  # seconds between two rounds, over all processes
MOST_TICKETS = 200  # per round


@dataclass(frozen=True, slots=True)
class Sweep:
    """Counts of documents requeued, failed, embedded again and purged, and of tickets issued."""

    resumed: int
    given_up: int
    retried: int
    removed: int
    tickets: int


def sweep_in_turn() -> Sweep | None:
    """Run a round, unless another process ran one in the last ``SWEEP_EVERY`` seconds."""
    return None if RateCount.take("sweep", 1, SWEEP_EVERY) else sweep()


def sweep() -> Sweep:
    """Run a round: expired leases, old rows, failed embeddings, the trash, missing tickets."""
    expired = Document.objects.filter(lease__isnull=False, lease_expires_at__lt=timezone.now())
    resumed, given_up = recover(expired)
    RateCount.forget_ended()
    SecurityEvent.objects.outdated().delete()
    settle_jobs()
    give_up_abandoned()
    Job.objects.forget_old()
    forget_fetched_tickets()
    done = Sweep(resumed, given_up, retry_embedding(), empty_bin(), replace_lost_tickets())
    library_swept.send(Document)
    return done


def recover_from(holder: str) -> tuple[int, int]:
    """Requeue the documents of a worker known to be dead; ``holder`` as in ``leases.holder``."""
    return recover(Document.objects.filter(lease_holder=holder, lease__isnull=False))


def recover(orphans: QuerySet[Document]) -> tuple[int, int]:
    """Requeue documents, or fail them after the last attempt: they may have killed the worker.

    Return the numbers of both.
    """
    unfinished = orphans.filter(status__in=WORKING)
    exhausted = unfinished.filter(attempts__gte=settings.INGEST_MAX_ATTEMPTS)
    restored = restore_previous(exhausted, FailureCode.INTERNAL, GIVEN_UP)
    given_up = restored + exhausted.update(
        status=Document.Status.FAILED,
        failure_code=FailureCode.INTERNAL,
        failure_message=GIVEN_UP,
        progress=0,
        **UNLEASED,
    )
    resumed = unfinished.update(status=Document.Status.UPLOADED, progress=0, **UNLEASED)
    resumed += recover_recognition(orphans.filter(status=Document.Status.RECOGNISING))
    if resumed or given_up:
        logger.warning("sweep: %s resumed, %s given up", resumed, given_up)
    return resumed, given_up


def recover_recognition(orphans: QuerySet[Document]) -> int:
    """Release documents whose pages were being recognised; give up after the last attempt."""
    recognition.give_up(orphans.filter(attempts__gte=settings.INGEST_MAX_ATTEMPTS))
    return orphans.update(**UNLEASED)


def retry_embedding() -> int:
    """Requeue documents whose embedding failed, with exponential backoff within ``RETRY_PAUSES``."""
    shortest, longest = RETRY_PAUSES
    passed = ExpressionWrapper(F("started_at") - F("created_at"), output_field=DurationField())
    failed = Document.objects.filter(
        status=Document.Status.FAILED, failure_code=FailureCode.EMBEDDING_FAILED, deleted_at=None
    ).alias(pause=Least(Greatest(passed, Value(shortest)), Value(longest)))
    due = failed.filter(started_at__lte=Now() - F("pause"))[:RETRY_ROUND]
    return sum(ingest_again(document) for document in due)


def empty_bin() -> int:
    """Purge documents that were deleted more than ``BIN_DAYS`` ago."""
    outdated = Document.objects.filter(deleted_at__lt=timezone.now() - timedelta(days=settings.BIN_DAYS))
    documents = list(outdated[:BIN_ROUND])
    for document in documents:
        delete_document(document)
    return len(documents)


def replace_lost_tickets() -> int:
    """Issue tickets when documents wait and the queue has none."""
    idle = waiting_documents()[:MOST_TICKETS].count()
    has_scans = recognition.recognisable().exists()
    if not (idle or has_scans) or tickets_left() != 0:
        return 0
    issue_tickets(idle)
    issue_recognition_tickets(int(has_scans))
    return idle + has_scans
