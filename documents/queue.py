"""Which document is taken in next.

The documents' rows are the queue. A task in django-q2 is only a ticket: it
says "take the next one", so that a ticket which is lost, late or delivered
twice changes nothing, and nobody waits behind somebody else's two hundred files.
Tickets lie in the database, or in Redis (``PINCITE_REDIS``), which may forget them.
"""

from __future__ import annotations

import logging
import uuid

from django.db import DatabaseError, transaction
from django.db.models import Count, F, IntegerField, Max, Min, OuterRef, QuerySet, Subquery
from django.db.models.functions import Coalesce
from django_q.brokers import get_broker
from django_q.tasks import async_task

from documents.leases import free
from documents.models import Document

logger = logging.getLogger(__name__)
TICKET = "documents.tasks.ingest_next"
RECOGNITION_TICKET = "documents.tasks.recognise_next"


def enqueue(document: Document) -> None:
    """Puts a ticket in the queue once the present transaction is committed; the sweep repairs a failure."""
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
