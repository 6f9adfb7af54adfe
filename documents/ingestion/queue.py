"""The ingestion queue: fair choice of the next document, tickets, jobs, and worker heartbeats.

The documents' rows are the queue. A task in django-q2 is only a ticket that
means "process the next document", so a ticket that is lost, late or delivered
twice does no harm, and no user waits behind another's two hundred files.
Tickets are in the database or in Redis (``PINCITE_REDIS``), which may lose them.
"""

from __future__ import annotations

import logging
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta

from django.conf import settings
from django.db import DatabaseError, IntegrityError, transaction
from django.db.models import (
    Case,
    CharField,
    Count,
    F,
    IntegerField,
    Max,
    Min,
    OuterRef,
    Q,
    QuerySet,
    Subquery,
    Value,
    When,
)
from django.db.models.functions import Coalesce
from django.utils import timezone
from django_q.brokers import get_broker
from django_q.models import OrmQ
from django_q.tasks import async_task

from documents.ingestion.leases import free, holder
from documents.models import WORKING, Document, FailureCode, Job, Worker
from documents.models.job import INDEPENDENT_STAGES
from documents.signals import job_finished

# --- Jobs: the record of background work, listed for 30 days ---
#
# A document's row holds the state of its ingestion; a job records one run of it. A job is opened when work is
# requested, and finished from the row's state; the next sweep finishes jobs that a crash left open.

ABANDONED = timedelta(hours=6)  # longer than django-q2's redelivery of a task
CUT_OFF = "Reading was interrupted. Try again."
CANCELLED_MESSAGES = ("Cancelled before", "Reading it was cancelled")


def open_job(document: Document, kind: Job.Kind | None = None) -> None:
    """Open a job for the document, unless it has an unfinished one."""
    try:
        with transaction.atomic():
            new_job(document, kind or kind_of(document)).save(force_insert=True)
    except IntegrityError:  # unfinished job
        pass


def new_job(document: Document, kind: Job.Kind) -> Job:
    """Return an unsaved job."""
    title = document.title or document.original_name
    return Job(owner_id=document.owner_id, document=document, kind=kind, title=title)


def kind_of(document: Document) -> Job.Kind:
    if document.failure_code == FailureCode.EMBEDDING_FAILED:
        return Job.Kind.EMBED
    return Job.Kind.REREAD if document.parser_version else Job.Kind.READ


def start_job(document: Document) -> None:
    """Record the start of work; open a job where the document was not queued."""
    unfinished = Job.objects.unfinished().of_ingestion().filter(document=document)
    values = {"started_at": Coalesce(F("started_at"), Value(timezone.now())), "attempts": F("attempts") + 1}
    if not unfinished.update(**values):
        open_job(document)
        unfinished.update(**values)


def settle_jobs(documents: QuerySet[Document] | None = None) -> int:
    """Finish the jobs of documents (all by default) that are ready, failed or deleted; count them."""
    unfinished = Job.objects.unfinished().of_ingestion()
    if documents is not None:
        unfinished = unfinished.filter(document__in=documents)
    ended = unfinished.filter(
        Q(document__status__in=[Document.Status.READY, Document.Status.FAILED])
        | Q(document__deleted_at__isnull=False)
    ).select_related("document")
    jobs = [_settled(job) for job in ended]
    fields = ["outcome", "finished_at", "failure_code", "failure_message", "stage_seconds"]
    Job.objects.bulk_update(jobs, fields, batch_size=500)
    for job in jobs:
        job_finished.send_robust(Job, job=job)
    gone = Job.objects.unfinished().filter(document=None) if documents is None else Job.objects.none()
    return len(jobs) + cancel_jobs(gone)


def _settled(job: Job) -> Job:
    document = job.document
    assert document is not None
    job.finished_at = timezone.now()
    job.stage_seconds = document.stage_seconds
    job.failure_code, job.failure_message = document.failure_code, document.failure_message
    if document.deleted_at or any(part in document.failure_message for part in CANCELLED_MESSAGES):
        job.outcome = Job.Outcome.CANCELLED
    else:
        job.outcome = Job.Outcome.FAILED if document.failure_code else Job.Outcome.DONE
    return job


@contextmanager
def independent_job(document: Document, kind: Job.Kind) -> Iterator[None]:
    """Record work other than ingestion: use the waiting job of that kind, or a new one.

    The message of an exception becomes the job's failure. Notes have no jobs, since users don't see them as
    documents.
    """
    if document.kind == Document.Kind.NOTE:
        yield
        return
    waiting = Job.objects.unfinished().filter(document=document, kind=kind).order_by("created_at").first()
    job = waiting or new_job(document, kind)
    job.started_at, job.attempts = timezone.now(), job.attempts + 1
    job.save()
    failure = CUT_OFF
    try:
        yield
        failure = ""
    except Exception as error:
        failure = str(getattr(error, "message", "")) or FailureCode.INTERNAL.label
        raise
    finally:
        finish(job, failure)


def finish(job: Job, failure: str) -> None:
    job.finished_at = timezone.now()
    if job.started_at:
        job.stage_seconds = {
            INDEPENDENT_STAGES[job.kind]: round((job.finished_at - job.started_at).total_seconds(), 3)
        }
    job.outcome = Job.Outcome.FAILED if failure else Job.Outcome.DONE
    job.failure_message = failure[:200]
    job.save()


def cancel_jobs(unfinished: QuerySet[Job]) -> int:
    return unfinished.update(outcome=Job.Outcome.CANCELLED, finished_at=timezone.now())


def give_up_abandoned() -> None:
    """Finish independent jobs whose worker died: django-q2 would have redelivered their tasks by now."""
    for job in Job.objects.unfinished().filter(
        kind__in=INDEPENDENT_STAGES, created_at__lt=timezone.now() - ABANDONED
    ):
        finish(job, CUT_OFF)


def with_state(jobs: QuerySet[Job]) -> QuerySet[Job]:
    """Annotate jobs with ``listed_state``, for filters of lists."""
    state = Case(
        When(~Q(outcome=""), then=F("outcome")),
        When(started_at=None, then=Value("waiting")),
        default=Value("running"),
        output_field=CharField(),
    )
    return jobs.annotate(listed_state=state)


logger = logging.getLogger(__name__)
ACKNOWLEDGED_WITHIN = timedelta(minutes=1)  # a live worker acknowledges sooner when nothing waits
TICKET = "documents.tasks.ingest_next"
RECOGNITION_TICKET = "documents.tasks.recognise_next"


def enqueue(document: Document) -> None:
    """Open a job, and issue a ticket once the transaction is committed (or the sweep does)."""
    open_job(document)
    transaction.on_commit(lambda: issue_tickets(1), robust=True)


def issue_tickets(count: int) -> None:
    for _ in range(count):
        async_task(TICKET, group="ingest")


def issue_recognition_tickets(count: int) -> None:
    for _ in range(count):
        async_task(RECOGNITION_TICKET, group="recognise")


def tickets_left() -> int | None:
    """Return the number of queued tickets; None when the broker is unreachable."""
    try:
        return int(get_broker().queue_size())
    except DatabaseError:
        raise
    except Exception:  # each broker has its own errors
        logger.exception("the queue cannot be reached")
        return None


def forget_fetched_tickets() -> int:
    """Delete tickets that were fetched but never acknowledged, when there is no work left.

    A killed cluster leaves its tickets locked until redelivery, for ``retry`` seconds of the settings: a
    month. Documents don't wait for it, as their leases end. Redis expires its own tickets.
    """
    if settings.REDIS_URL or Document.objects.filter(status__in=WORKING).exists():
        return 0
    fetched_before = timezone.now() + timedelta(seconds=settings.Q_CLUSTER["retry"]) - ACKNOWLEDGED_WITHIN
    left = OrmQ.objects.filter(lock__gt=timezone.now(), lock__lt=fetched_before)
    return left.delete()[0]


def waiting_documents() -> QuerySet[Document]:
    """Return queued documents without a valid lease."""
    return Document.objects.filter(free(), status=Document.Status.UPLOADED, deleted_at=None)


def next_in_turn() -> uuid.UUID | None:
    """Return the next document to ingest, or None.

    New documents come before those that are processed again, which may be a whole library. Owners with the
    fewest documents in work come first, then those served least recently. Of one owner, files come before
    papers without a file, of which an imported list may add thousands; then the oldest.
    """
    unread = waiting_documents().filter(indexed_at=None)
    among = unread if unread.exists() else waiting_documents()
    others = Document.objects.filter(owner=OuterRef("owner")).order_by().values("owner")
    owner = (
        among.order_by()
        .values("owner")
        .annotate(
            oldest=Min("created_at"),
            in_work=Coalesce(
                Subquery(
                    others.exclude(lease=None).annotate(n=Count("pk")).values("n"),
                    output_field=IntegerField(),
                ),
                0,
            ),
            served=Subquery(others.annotate(last=Max("started_at")).values("last")),
        )
        .order_by("in_work", F("served").asc(nulls_first=True), "oldest")
        .values_list("owner", flat=True)
        .first()
    )
    files_first = Case(When(kind=Document.Kind.PAPER, file="", then=1), default=0)
    first = among.filter(owner=owner).order_by("attempts", files_first, "created_at")
    return first.values_list("pk", flat=True).first() if owner is not None else None


def record_heartbeat(restarts: int) -> None:
    """Record that this worker is alive. Delete workers that have been silent for a day."""
    now = timezone.now()
    Worker.objects.update_or_create(holder=holder(), defaults={"seen_at": now, "restarts": restarts})
    Worker.objects.filter(seen_at__lt=now - timedelta(days=1)).delete()


def forget_worker() -> None:
    """Delete this worker's heartbeat."""
    Worker.objects.filter(holder=holder()).delete()


def is_any_worker_alive() -> bool:
    return Worker.objects.alive().exists()
