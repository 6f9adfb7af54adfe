"""Which document is taken in next.

The documents' rows are the queue. A task in django-q2 is only a ticket: it
says "take the next one", so that a ticket which is lost, late or delivered
twice changes nothing, and nobody waits behind somebody else's two hundred files.
Tickets lie in the database, or in Redis (``PINCITE_REDIS``), which may forget them.
"""

from __future__ import annotations

import logging
import uuid
from datetime import timedelta

from django.conf import settings
from django.db import DatabaseError, transaction
from django.db.models import Count, F, IntegerField, Max, Min, OuterRef, QuerySet, Subquery
from django.db.models.functions import Coalesce
from django.utils import timezone
from django_q.brokers import get_broker
from django_q.models import OrmQ
from django_q.tasks import async_task

from documents.jobs import open_job
from documents.leases import free
from documents.models import WORKING, Document

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
