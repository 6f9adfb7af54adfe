"""Records background work as jobs that stay listed for 30 days.

A document's row is the truth of its ingestion; a job is the record of one round of it. So jobs are
opened when work is asked for and settled from the rows, and a crash between the two is repaired by
the next sweep.
"""

from __future__ import annotations

from django.db import IntegrityError, transaction
from django.db.models import Case, CharField, F, Q, QuerySet, Value, When
from django.db.models.functions import Coalesce
from django.utils import timezone

from documents.models import Document, FailureCode, Job

CANCELLED_MESSAGES = ("Cancelled before", "Reading it was cancelled")


def open_job(document: Document, kind: Job.Kind | None = None) -> None:
    """Record that work on the document was asked for; an unfinished job of it goes on."""
    job = Job(owner_id=document.owner_id, document=document, kind=kind or kind_of(document))
    job.title = document.title or document.original_name
    try:
        with transaction.atomic():
            job.save(force_insert=True)
    except IntegrityError:  # it has one
        pass


def kind_of(document: Document) -> Job.Kind:
    if document.failure_code == FailureCode.EMBEDDING_FAILED:
        return Job.Kind.EMBED
    return Job.Kind.REREAD if document.parser_version else Job.Kind.READ


def start_job(document: Document) -> None:
    """Record that a worker has the document; opens a job where nobody asked through the queue."""
    unfinished = Job.objects.unfinished().filter(document=document)
    values = {"started_at": Coalesce(F("started_at"), Value(timezone.now())), "attempts": F("attempts") + 1}
    if not unfinished.update(**values):
        open_job(document)
        unfinished.update(**values)


def settle_jobs(documents: QuerySet[Document] | None = None) -> int:
    """Finish the jobs whose documents came to an end; returns how many. All documents by default."""
    unfinished = Job.objects.unfinished()
    if documents is not None:
        unfinished = unfinished.filter(document__in=documents)
    ended = unfinished.filter(
        Q(document__status__in=[Document.Status.READY, Document.Status.FAILED])
        | Q(document__deleted_at__isnull=False)
    ).select_related("document")
    jobs = [_settled(job) for job in ended]
    fields = ["outcome", "finished_at", "failure_code", "failure_message", "stage_seconds"]
    Job.objects.bulk_update(jobs, fields, batch_size=500)
    gone = unfinished.filter(document=None) if documents is None else Job.objects.none()
    return len(jobs) + gone.update(outcome=Job.Outcome.CANCELLED, finished_at=timezone.now())


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


def record_finished(document: Document, kind: Job.Kind, failure: str = "") -> None:
    """Record work that was done in one step: a fetch that failed, say."""
    now = timezone.now()
    Job.objects.create(
        owner_id=document.owner_id,
        document=document,
        title=document.title or document.original_name,
        kind=kind,
        outcome=Job.Outcome.FAILED if failure else Job.Outcome.DONE,
        failure_message=failure[:200],
        started_at=now,
        finished_at=now,
        attempts=1,
    )


def with_state(jobs: QuerySet[Job]) -> QuerySet[Job]:
    """Jobs with ``listed_state``, by which lists are filtered."""
    state = Case(
        When(~Q(outcome=""), then=F("outcome")),
        When(started_at=None, then=Value("waiting")),
        default=Value("running"),
        output_field=CharField(),
    )
    return jobs.annotate(listed_state=state)
