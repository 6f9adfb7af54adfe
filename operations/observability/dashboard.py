"""The admin dashboard: documents, workers, citations and costs, with charts as SVG."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass
from datetime import date, datetime, timedelta

from django.contrib import admin, messages
from django.contrib.admin.views.decorators import staff_member_required
from django.contrib.auth.models import User
from django.core.exceptions import PermissionDenied
from django.db.models import Avg, Count, F, FloatField, Sum
from django.db.models.fields.json import KeyTextTransform
from django.db.models.functions import Cast, TruncDate
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.template.defaultfilters import floatformat
from django.utils import timezone
from django.utils.formats import date_format
from django.views.decorators.http import require_POST
from django_q.models import Failure, Success

from chat.models import Citation, Message
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
LAST_READ = 500  # documents whose stage times are averaged
SLOWEST = 10  # searches
SWEPT = "Requeued: {resumed} · failed: {given_up} · deleted from the bin: {removed} · tickets: {tickets}."
WIDTH = 320.0  # of the longest bar, in the SVG's units


@dataclass(frozen=True, slots=True)
class Bar:
    """One bar of a chart; ``width`` and ``y`` (its top) are in the SVG's units."""

    label: str
    value: str
    width: float
    y: float


@dataclass(frozen=True, slots=True)
class Chart:
    title: str
    bars: tuple[Bar, ...]

    @property
    def height(self) -> int:
        return 22 * max(1, len(self.bars))


def chart(title: str, values: list[tuple[str, float]], unit: str = "") -> Chart:
    """Return a chart of horizontal bars, the longest ``WIDTH`` wide."""
    most = max((value for _, value in values), default=0) or 1
    return Chart(
        title,
        tuple(
            Bar(label, floatformat(value, "0g") + unit, WIDTH * value / most, 22.0 * row)
            for row, (label, value) in enumerate(values)
        ),
    )


def charts(user: User) -> list[Chart]:
    """Return the charts the user has permission for, in at most nine queries."""
    return [drawn for permission, draw in CHARTS if user.has_perm(permission) for drawn in draw(since())]


def charts_of_documents(begin: datetime) -> list[Chart]:
    present = Document.objects.sources().filter(deleted_at=None)
    failed = present.filter(status=Document.Status.FAILED)
    return [
        chart("Pages read a day", pages_a_day(begin)),
        chart("Milliseconds a page takes, by stage", milliseconds_by_stage(begin), " ms"),
        chart("Documents by state", linked(counted(present, "status"), "status__exact")),
        chart("Failures by reason", linked(counted(failed, "failure_code"), "failure_code")),
    ]


def charts_of_citations(begin: datetime) -> list[Chart]:
    made = Citation.objects.filter(created_at__gte=begin)
    return [chart("Citations by verdict", counted(made, "verdict"))]


def charts_of_answers(begin: datetime) -> list[Chart]:
    answers = Message.objects.filter(role=Message.Role.ASSISTANT, created_at__gte=begin)
    return [
        chart("Answers by provider", counted(answers, "provider")),
        chart("Seconds an answer takes, by provider", used(answers, "seconds", Avg), " s"),
        chart("Tokens used, by provider", used(answers, "output_tokens", Sum)),
    ]


def charts_of_searches(begin: datetime) -> list[Chart]:
    return [chart("Milliseconds a search takes, by day", searches_a_day(begin), " ms")]


VIEW_SEARCHES = "retrieval.view_searchquery"
CHARTS: tuple[tuple[str, Callable[[datetime], list[Chart]]], ...] = (
    ("documents.view_document", charts_of_documents),
    ("chat.view_citation", charts_of_citations),
    ("chat.view_message", charts_of_answers),
    (VIEW_SEARCHES, charts_of_searches),
)


def since() -> datetime:
    return timezone.now() - timedelta(days=DAYS)


def milliseconds_by_stage(begin: datetime) -> list[tuple[str, float]]:
    """Return the milliseconds per page of each stage, over the latest documents; longest first."""
    read = Document.objects.sources().filter(indexed_at__gte=begin, page_count__gt=0).order_by("-indexed_at")
    rows = list(read.values_list("stage_seconds", "page_count")[:LAST_READ])
    pages = sum(count for _, count in rows) or 1
    spent: Counter[str] = Counter()
    for stages, _ in rows:
        spent.update(stages)
    return [(stage, 1000 * seconds / pages) for stage, seconds in spent.most_common()]


def slowest_searches(begin: datetime) -> list[SearchQuery]:
    return list(SearchQuery.objects.filter(created_at__gte=begin).order_by("-milliseconds")[:SLOWEST])


def pages_a_day(begin: datetime) -> list[tuple[str, float]]:
    rows = (
        Document.objects.sources()
        .filter(indexed_at__gte=begin)
        .annotate(day=TruncDate("indexed_at"))
        .order_by("day")
    )
    return by_day(rows.values_list("day").annotate(Sum("page_count")))


def searches_a_day(begin: datetime) -> list[tuple[str, float]]:
    rows = (
        SearchQuery.objects.filter(created_at__gte=begin)
        .annotate(day=TruncDate("created_at"))
        .order_by("day")
    )
    return by_day(rows.values_list("day").annotate(Avg("milliseconds")))


def by_day(rows: Iterable[tuple[date, float]]) -> list[tuple[str, float]]:
    return [(date_format(day, "MONTH_DAY_FORMAT"), number) for day, number in rows]


def counted(rows: object, field: str) -> list[tuple[str, float]]:
    found = rows.order_by().values_list(field).annotate(count=Count("pk")).order_by("-count")  # type: ignore[attr-defined]
    return [(name or "–", count) for name, count in found]


def linked(values: list[tuple[str, float]], parameter: str) -> list[tuple[str, float]]:
    """Replace each name by a link to its documents in the admin's list."""
    return [
        (
            link_to_list(Document, name.replace("_", " "), **{parameter: name, "deleted_at__isnull": True}),
            number,
        )
        for name, number in values
    ]


def used(answers: object, name: str, together: type[Avg] | type[Sum]) -> list[tuple[str, float]]:
    number = Cast(KeyTextTransform(name, "usage"), FloatField())
    rows = answers.alias(number=number).filter(number__isnull=False)  # type: ignore[attr-defined]
    found = rows.order_by().values_list("provider").annotate(total=together(F("number"))).order_by("-total")
    return [(provider or "–", total) for provider, total in found]


def signed_in(request: HttpRequest) -> User:
    assert isinstance(request.user, User)  # ``staff_member_required`` lets nobody else through
    return request.user


@staff_member_required
def dashboard(request: HttpRequest) -> HttpResponse:
    user = signed_in(request)
    may_see_documents = user.has_perm("documents.view_document")
    may_see_searches = user.has_perm(VIEW_SEARCHES)
    context = admin.site.each_context(request) | {
        "title": "Dashboard",
        "charts": charts(user),
        "queue": queue() if may_see_documents else None,
        "may_see_errors": user.has_perm("django_q.view_failure"),
        "may_see_searches": may_see_searches,
        "slowest": slowest_searches(since()) if may_see_searches else [],
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
