"""The admin dashboard: workers, documents, tokens used and the slowest searches."""

from __future__ import annotations

from dataclasses import asdict
from datetime import datetime, timedelta

from django.contrib import admin, messages
from django.contrib.admin.views.decorators import staff_member_required
from django.contrib.auth.models import User
from django.core.exceptions import PermissionDenied
from django.db.models import Count, FloatField, Q, QuerySet, Sum
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


def queue() -> dict[str, object]:
    """Read the state of the queue, in seven queries."""
    documents = Document.objects.sources().filter(deleted_at=None)
    leased = documents.filter(lease__isnull=False).order_by("started_at")
    workers = list(Worker.objects.annotate(alive=Q(pk__in=Worker.objects.alive()))[:SHOWN])
    waiting = documents.filter(status=Document.Status.UPLOADED).count()
    return {
        "workers": workers,
        "waiting": waiting,
        "stands_still": waiting and not any(worker.alive for worker in workers),
        "working": leased.annotate(is_expired=Q(lease_expires_at__lt=timezone.now()))[:SHOWN],
        "tickets": tickets_left(),
        "failed": documents.filter(status=Document.Status.FAILED).count(),
        "last_success": Success.objects.order_by("-stopped").first(),
        "failures": Failure.objects.order_by("-stopped")[:5],
    }


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
