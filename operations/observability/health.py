"""/healthz: the process responds. /readyz: so do its dependencies. /metrics: for Prometheus."""

from __future__ import annotations

import secrets
import time
import uuid
from collections.abc import Callable, Iterator

from django.conf import settings
from django.core.files.base import ContentFile
from django.core.files.storage import default_storage
from django.db import DatabaseError, connection
from django.db.models import Count, Min
from django.http import Http404, HttpRequest, HttpResponse, JsonResponse
from django.utils import timezone
from django.views.decorators.http import require_safe
from django_prometheus.exports import ExportToDjangoView
from prometheus_client import REGISTRY
from prometheus_client.core import GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from documents.ingestion.queue import is_any_worker_alive, waiting
from documents.models import Document
from operations.observability.checks import check_database

STORAGE_SECONDS, STORAGE_FAILING_SECONDS = 60.0, 5.0
_storage_was_well = (float("-inf"), True)  # time of the last check, and its result


@require_safe
def healthz(request: HttpRequest) -> HttpResponse:
    return JsonResponse({"status": "ok"})


@require_safe
def readyz(request: HttpRequest) -> HttpResponse:
    """Return 200 when all checks pass, else 503, with the result of each check by name."""
    parts = {name: is_well(check) for name, check in PARTS.items()}
    well = all(parts.values())
    results = {name: "ok" if ok else "failing" for name, ok in parts.items()}
    return JsonResponse({"status": "ok" if well else "failing", **results}, status=200 if well else 503)


def is_well(check: Callable[[], bool]) -> bool:
    try:
        return check()
    except Exception:
        return False


def database() -> bool:
    with connection.cursor() as cursor:
        cursor.execute("SELECT 1")
    return True


def pgvector() -> bool:
    return not any(message.is_serious() for message in check_database("default"))


def storage() -> bool:
    """Return whether a file can be written; tested at most once in ``STORAGE_SECONDS``."""
    global _storage_was_well
    now = time.monotonic()
    looked_at, was_well = _storage_was_well
    if now - looked_at >= (STORAGE_SECONDS if was_well else STORAGE_FAILING_SECONDS):
        _storage_was_well = (now, False)  # concurrent requests do not write, too
        _storage_was_well = (now, can_write())
    return _storage_was_well[1]


def can_write() -> bool:
    try:
        return write_probe()
    except OSError:
        return False


def write_probe() -> bool:
    name = default_storage.save(f"probes/{uuid.uuid4().hex}", ContentFile(b"ready?"))
    default_storage.delete(name)
    return True


PARTS: dict[str, Callable[[], bool]] = {
    "database": database,
    "pgvector": pgvector,
    "queue": is_any_worker_alive,
    "storage": storage,
}


@require_safe
def metrics(request: HttpRequest) -> HttpResponse:
    """Export metrics to bearers of the token and to staff; 404 for others."""
    header = request.headers.get("Authorization", "")
    if settings.METRICS_TOKEN and header:
        token = header.removeprefix("Bearer ").encode()  # bytes: compare_digest takes only ASCII strings
        if secrets.compare_digest(token, settings.METRICS_TOKEN.encode()):
            return ExportToDjangoView(request)
        return HttpResponse(status=401, headers={"WWW-Authenticate": "Bearer"})
    if not request.user.is_staff:
        raise Http404
    return ExportToDjangoView(request)


class Documents(Collector):
    def describe(self) -> list[Metric]:
        return []  # called at registration, when there may be no database yet

    def collect(self) -> Iterator[Metric]:
        try:
            documents = Document.objects.sources().filter(deleted_at=None).order_by()
            counts = list(documents.values("status").annotate(number=Count("pk")))
            oldest = waiting().aggregate(oldest=Min("created_at"))["oldest"]
        except DatabaseError:
            return
        family = GaugeMetricFamily("pincite_documents", "Documents by status", labels=["status"])
        for row in counts:
            family.add_metric([row["status"]], row["number"])
        yield family
        seconds = (timezone.now() - oldest).total_seconds() if oldest else 0
        yield GaugeMetricFamily("pincite_oldest_waiting_seconds", "Wait of the oldest document", seconds)


REGISTRY.register(Documents())
