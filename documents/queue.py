"""Which document is taken in next.

The documents' rows are the queue. A task in django-q2 is only a ticket: it
says "take the next one", so that a ticket which is lost, late or delivered
twice changes nothing, and nobody waits behind somebody else's two hundred files.
"""

from __future__ import annotations

import uuid

from django.db import transaction
from django.db.models import Count, F, IntegerField, Max, Min, OuterRef, QuerySet, Subquery
from django.db.models.functions import Coalesce
from django_q.tasks import async_task

from documents.leases import free
from documents.models import Document

TICKET = "documents.tasks.ingest_next"


def enqueue(document: Document) -> None:
    """Puts a ticket in the queue once the present transaction is committed; the sweep repairs a failure."""
    transaction.on_commit(lambda: issue_tickets(1), robust=True)


def issue_tickets(count: int) -> None:
    for _ in range(count):
        async_task(TICKET, group="ingest")


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
