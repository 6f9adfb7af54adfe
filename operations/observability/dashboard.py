"""The admin dashboard: workers, documents, tokens used and the slowest searches."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from datetime import datetime, timedelta

from django.contrib import admin, messages
from django.contrib.admin.views.decorators import staff_member_required
from django.contrib.auth.models import User
from django.core.exceptions import PermissionDenied
from django.db.models import Count, FloatField, QuerySet, Sum
from django.db.models.fields.json import KeyTextTransform
from django.db.models.functions import Cast
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.views.decorators.http import require_POST
from django_q.models import Failure, Success

from chat.models import Message
from documents.admin.base import link_to_list
from documents.ingestion.queue import tickets_left
from documents.models import Document, Worker
from documents.tasks import sweep
from retrieval.models import SearchQuery

SHOWN = 20  # workers, leased documents


@dataclass(frozen=True, slots=True)
class WorkerState:
    """One `manage.py worker`; ``alive`` while its heartbeats arrive."""

    holder: str
    seen_at: datetime
    started_at: datetime
    restarts: int
    alive: bool


@dataclass(frozen=True, slots=True)
class Work:
    """A leased document; ``is_expired``: its lease has expired."""

    document: Document
    is_expired: bool


@dataclass(frozen=True, slots=True)
class Queue:
    workers: tuple[WorkerState, ...]
    waiting: int
    working: tuple[Work, ...]
    tickets: int | None
    failed: int
    last_success: Success | None
    failures: tuple[Failure, ...]

    @property
    def stands_still(self) -> bool:
        """Return whether documents wait and no worker is alive."""
        return bool(self.waiting) and not any(worker.alive for worker in self.workers)


def queue() -> Queue:
    """Read the state of the queue, in eight queries."""
    now = timezone.now()
    documents = Document.objects.sources().filter(deleted_at=None)
    working = documents.filter(lease__isnull=False).order_by("started_at")[:SHOWN]
    alive = set(Worker.objects.alive().values_list("pk", flat=True))
    return Queue(
        tuple(
            WorkerState(row.holder, row.seen_at, row.started_at, row.restarts, row.holder in alive)
            for row in Worker.objects.all()[:SHOWN]
        ),
        documents.filter(status=Document.Status.UPLOADED).count(),
        tuple(Work(row, row.lease_expires_at is not None and row.lease_expires_at < now) for row in working),
        tickets_left(),
        documents.filter(status=Document.Status.FAILED).count(),
        Success.objects.order_by("-stopped").first(),
        tuple(Failure.objects.order_by("-stopped")[:5]),
    )


DAYS = 14
SLOWEST = 10  # searches
SWEPT = "Requeued: {resumed} · failed: {given_up} · deleted from the bin: {removed} · tickets: {tickets}."
Rows = list[tuple[str, float]]


def counts(user: User) -> dict[str, Rows]:
    """Return what the user may see counted, by title. ``/metrics`` has more, for Grafana."""
    tables: dict[str, Rows] = {}
    if user.has_perm("documents.view_document"):
        present = Document.objects.sources().filter(deleted_at=None)
        failed = present.filter(status=Document.Status.FAILED)
        tables["Documents by state"] = linked(counted(present, "status"), "status__exact")
        tables["Failures by reason"] = linked(counted(failed, "failure_code"), "failure_code")
    if user.has_perm("chat.view_message"):
        tokens = Sum(Cast(KeyTextTransform("output_tokens", "usage"), FloatField()))
        answers = Message.objects.filter(usage__has_key="output_tokens", created_at__gte=since())
        used = answers.order_by().values_list("provider").annotate(tokens=tokens).order_by("-tokens")
        tables["Tokens written in two weeks, by provider"] = list(used)
    return tables


def since() -> datetime:
    return timezone.now() - timedelta(days=DAYS)


def slowest_searches() -> list[SearchQuery]:
    return list(SearchQuery.objects.filter(created_at__gte=since()).order_by("-milliseconds")[:SLOWEST])


def counted(rows: QuerySet[Document], field: str) -> Rows:
    found = rows.order_by().values_list(field).annotate(count=Count("pk")).order_by("-count")
    return [(name or "–", count) for name, count in found]


def linked(values: Rows, parameter: str) -> Rows:
    """Replace each name by a link to its documents in the admin's list."""
    return [
        (
            link_to_list(Document, name.replace("_", " "), **{parameter: name, "deleted_at__isnull": True}),
            number,
        )
        for name, number in values
    ]


def signed_in(request: HttpRequest) -> User:
    assert isinstance(request.user, User)  # ``staff_member_required`` lets nobody else through
    return request.user


@staff_member_required
def dashboard(request: HttpRequest) -> HttpResponse:
    user = signed_in(request)
    may_see_documents = user.has_perm("documents.view_document")
    may_see_searches = user.has_perm("retrieval.view_searchquery")
    context = admin.site.each_context(request) | {
        "title": "Dashboard",
        "counts": counts(user),
        "queue": queue() if may_see_documents else None,
        "may_see_errors": user.has_perm("django_q.view_failure"),
        "may_see_searches": may_see_searches,
        "slowest": slowest_searches() if may_see_searches else [],
    }
    return render(request, "admin/dashboard.html", context)


@require_POST
@staff_member_required
def sweep_now(request: HttpRequest) -> HttpResponse:
    """Run the sweep that workers run every few seconds. It is idempotent."""
    if not request.user.has_perm("documents.change_document"):
        raise PermissionDenied
    messages.success(request, SWEPT.format(**asdict(sweep())))
    return redirect("admin-dashboard")
