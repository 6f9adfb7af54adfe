"""The admin's dashboard: what came in, what failed, how claims fare, what providers cost; charts as SVG."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta

from django.contrib import admin
from django.contrib.admin.views.decorators import staff_member_required
from django.db.models import Avg, Count, F, FloatField, Sum
from django.db.models.fields.json import KeyTextTransform
from django.db.models.functions import Cast, TruncDate
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils import timezone
from django_q.models import Failure, OrmQ, Success

from chat.models import Citation, Message
from documents.models import Document
from retrieval.models import SearchQuery

DAYS = 14
WIDTH = 320.0  # of the longest bar, in the SVG's units


@dataclass(frozen=True, slots=True)
class Bar:
    """One row of a chart; ``width`` is in the SVG's units, ``y`` the row's top."""

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
    """Horizontal bars, the largest as long as ``WIDTH``."""
    most = max((value for _, value in values), default=0) or 1
    return Chart(
        title,
        tuple(
            Bar(label, f"{value:,.0f}{unit}", WIDTH * value / most, 22.0 * row)
            for row, (label, value) in enumerate(values)
        ),
    )


def charts() -> list[Chart]:
    """Eight queries, however much there is."""
    since = timezone.now() - timedelta(days=DAYS)
    answers = Message.objects.filter(role=Message.Role.ASSISTANT, created_at__gte=since)
    return [
        chart("Pages read a day", pages_a_day(since)),
        chart("Documents by state", counted(Document.objects.filter(deleted_at=None), "status")),
        chart("Failures by reason", counted(Document.objects.exclude(failure_code=""), "failure_code")),
        chart("Citations by verdict", counted(Citation.objects.filter(created_at__gte=since), "verdict")),
        chart("Answers by provider", counted(answers, "provider")),
        chart("Seconds an answer takes, by provider", used(answers, "seconds", Avg), " s"),
        chart("Tokens used, by provider", used(answers, "output_tokens", Sum)),
        chart("Milliseconds a search takes, by day", searches_a_day(since), " ms"),
    ]


def pages_a_day(since: object) -> list[tuple[str, float]]:
    rows = (
        Document.objects.filter(indexed_at__gte=since).annotate(day=TruncDate("indexed_at")).order_by("day")
    )
    return [(f"{day:%d %b}", pages) for day, pages in rows.values_list("day").annotate(Sum("page_count"))]


def searches_a_day(since: object) -> list[tuple[str, float]]:
    rows = (
        SearchQuery.objects.filter(created_at__gte=since)
        .annotate(day=TruncDate("created_at"))
        .order_by("day")
    )
    return [(f"{day:%d %b}", taken) for day, taken in rows.values_list("day").annotate(Avg("milliseconds"))]


def counted(rows: object, field: str) -> list[tuple[str, float]]:
    found = rows.order_by().values_list(field).annotate(count=Count("pk")).order_by("-count")  # type: ignore[attr-defined]
    return [(name or "–", count) for name, count in found]


def used(answers: object, name: str, together: type[Avg] | type[Sum]) -> list[tuple[str, float]]:
    number = Cast(KeyTextTransform(name, "usage"), FloatField())
    rows = answers.alias(number=number).filter(number__isnull=False)  # type: ignore[attr-defined]
    found = rows.order_by().values_list("provider").annotate(total=together(F("number"))).order_by("-total")
    return [(provider or "–", total) for provider, total in found]


@dataclass(frozen=True, slots=True)
class Queue:
    """How the workers fare: what waits, what is in work, what ended last and how."""

    waiting: int
    working: list[Document]
    tickets: int
    last_success: Success | None
    last_failure: Failure | None


def queue() -> Queue:
    documents = Document.objects.filter(deleted_at=None)
    return Queue(
        documents.filter(status=Document.Status.UPLOADED).count(),
        list(documents.filter(lease__isnull=False).order_by("started_at")[:20]),
        OrmQ.objects.count(),
        Success.objects.order_by("-stopped").first(),
        Failure.objects.order_by("-stopped").first(),
    )


@staff_member_required
def dashboard(request: HttpRequest) -> HttpResponse:
    context = admin.site.each_context(request) | {
        "title": "Dashboard",
        "charts": charts(),
        "queue": queue(),
        "now": timezone.now(),
    }
    return render(request, "admin/dashboard.html", context)
