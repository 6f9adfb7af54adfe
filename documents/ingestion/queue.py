"""The ingestion queue: the next document in turn, its tickets and jobs, and the workers alive.

The documents' rows are the queue. A task in django-q2 is only a ticket: it
says "take the next one", so that a ticket which is lost, late or delivered
twice changes nothing, and nobody waits behind somebody else's two hundred files.
Tickets lie in the database, or in Redis (``PINCITE_REDIS``), which may forget them.
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
from documents.models.job import BESIDE
from documents.signals import job_finished

# --- Jobs: the record of background work, listed for 30 days ---
#
# A document's row holds the state of its ingestion; a job records one round of it. A job is opened when work
# is requested and settled from the row. The next sweep settles jobs that a crash left open.

ABANDONED = timedelta(hours=6)  # more than until the queue delivers a task again
CUT_OFF = "It was cut off: the worker was stopped."
CANCELLED_MESSAGES = ("Cancelled before", "Reading it was cancelled")


def open_job(document: Document, kind: Job.Kind | None = None) -> None:
    """Record that work on the document was asked for; an unfinished job of it goes on."""
    try:
        with transaction.atomic():
            new_job(document, kind or kind_of(document)).save(force_insert=True)
    except IntegrityError:  # it has one
        pass


def new_job(document: Document, kind: Job.Kind) -> Job:
    """Not stored yet."""
    title = document.title or document.original_name
    return Job(owner_id=document.owner_id, document=document, kind=kind, title=title)


def kind_of(document: Document) -> Job.Kind:
    if document.failure_code == FailureCode.EMBEDDING_FAILED:
        return Job.Kind.EMBED
    return Job.Kind.REREAD if document.parser_version else Job.Kind.READ


def start_job(document: Document) -> None:
    """Record that a worker has the document; opens a job where nobody asked through the queue."""
    unfinished = Job.objects.unfinished().rounds().filter(document=document)
    values = {"started_at": Coalesce(F("started_at"), Value(timezone.now())), "attempts": F("attempts") + 1}
    if not unfinished.update(**values):
        open_job(document)
        unfinished.update(**values)


def settle_jobs(documents: QuerySet[Document] | None = None) -> int:
    """Finish the jobs whose documents came to an end; returns how many. All documents by default."""
    unfinished = Job.objects.unfinished().rounds()
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
    if document.deleted_at or document.failure_message.startswith(CANCELLED_MESSAGES):
        job.outcome = Job.Outcome.CANCELLED
    else:
        job.outcome = Job.Outcome.FAILED if document.failure_code else Job.Outcome.DONE
    return job


@contextmanager
def job_beside(document: Document, kind: Job.Kind) -> Iterator[None]:
    """Record work beside the reading of a document: the waiting job of that kind, or a new one.

    The sentence of an exception that ends it is its failure. Notes are no documents to people, and have none.
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
        job.stage_seconds = {BESIDE[job.kind]: round((job.finished_at - job.started_at).total_seconds(), 3)}
    job.outcome = Job.Outcome.FAILED if failure else Job.Outcome.DONE
    job.failure_message = failure[:200]
    job.save()


def cancel_jobs(unfinished: QuerySet[Job]) -> int:
    return unfinished.update(outcome=Job.Outcome.CANCELLED, finished_at=timezone.now())


def give_up_abandoned() -> None:
    """Finish jobs beside the reading whose worker was lost: the queue has delivered them again by now."""
    for job in Job.objects.unfinished().filter(kind__in=BESIDE, created_at__lt=timezone.now() - ABANDONED):
        finish(job, CUT_OFF)


def with_state(jobs: QuerySet[Job]) -> QuerySet[Job]:
    """Jobs with ``listed_state``, by which lists are filtered."""
    state = Case(
        When(~Q(outcome=""), then=F("outcome")),
        When(started_at=None, then=Value("waiting")),
        default=Value("running"),
        output_field=CharField(),
    )
    return jobs.annotate(listed_state=state)


logger = logging.getLogger(__name__)
TICKET_IN_HAND = timedelta(minutes=1)  # a worker that is alive needs less when nothing waits
TICKET = "documents.tasks.ingest_next"
RECOGNITION_TICKET = "documents.tasks.recognise_next"


def enqueue(document: Document) -> None:
    """Open a job, and issue a ticket once the present transaction is committed.

    The sweep issues one where that failed.
    """
    open_job(document)
    transaction.on_commit(lambda: issue_tickets(1), robust=True)


def issue_tickets(count: int) -> None:
    for _ in range(count):
        async_task(TICKET, group="ingest")


def issue_recognition_tickets(count: int) -> None:
    for _ in range(count):
        async_task(RECOGNITION_TICKET, group="recognise")


def tickets_left() -> int | None:
    """How many lie in the queue; None when it cannot be asked."""
    try:
        return int(get_broker().queue_size())
    except DatabaseError:
        raise
    except Exception:  # of a broker that is away; each has errors of its own
        logger.exception("the queue cannot be reached")
        return None


def forget_fetched_tickets() -> int:
    """Remove tickets that a cluster fetched and never acknowledged, once there is no work they could be for.

    Who was killed with tickets in hand leaves them for the four hours until the queue hands them out again.
    Redis forgets its own.
    """
    if settings.REDIS_URL or Document.objects.filter(status__in=WORKING).exists():
        return 0
    fetched_before = timezone.now() + timedelta(seconds=settings.Q_CLUSTER["retry"]) - TICKET_IN_HAND
    left = OrmQ.objects.filter(lock__gt=timezone.now(), lock__lt=fetched_before)
    return left.delete()[0]


def waiting() -> QuerySet[Document]:
    """Documents that nobody has begun, or that were put back."""
    return Document.objects.filter(free(), status=Document.Status.UPLOADED, deleted_at=None)


def next_in_turn() -> uuid.UUID | None:
    """The oldest waiting document of who has least in work now, then of who was served longest ago."""
    others = Document.objects.filter(owner=OuterRef("owner")).order_by().values("owner")
    owner = (
        waiting()
        .order_by()
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
    first = waiting().filter(owner=owner).order_by("attempts", "created_at").values_list("pk", flat=True)
    return first.first() if owner is not None else None


def record_heartbeat(restarts: int) -> None:
    """This process's worker is well. Rows of workers that have not been seen for a day go."""
    now = timezone.now()
    Worker.objects.update_or_create(holder=holder(), defaults={"seen_at": now, "restarts": restarts})
    Worker.objects.filter(seen_at__lt=now - timedelta(days=1)).delete()


def forget_worker() -> None:
    """This process's worker ends."""
    Worker.objects.filter(holder=holder()).delete()


def is_any_worker_alive() -> bool:
    return Worker.objects.alive().exists()
