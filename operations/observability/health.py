"""Health of an installation: /healthz, /readyz, /metrics and Django's system checks.

The system checks test the database's version and connections, the confinement of readers, and OCR languages.
"""

from __future__ import annotations

import secrets
import time
import uuid
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from django.conf import settings
from django.contrib.auth.decorators import login_not_required
from django.core.checks import CheckMessage, Error, Info, Tags, Warning, register
from django.core.files.base import ContentFile
from django.core.files.storage import default_storage
from django.db import DatabaseError, connection, connections
from django.db.models import Count, Min
from django.http import Http404, HttpRequest, HttpResponse, JsonResponse
from django.utils import timezone
from django.views.decorators.http import require_safe
from django_prometheus.exports import ExportToDjangoView
from prometheus_client import REGISTRY
from prometheus_client.core import GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from documents.ingestion.queue import is_any_worker_alive, waiting_documents
from documents.models import Document
from operations.postgres.base import most_connections
from pdf.sandbox.confinement import TESSDATA, weaknesses

STORAGE_SECONDS, STORAGE_FAILING_SECONDS = 60.0, 5.0
_storage_was_well = (float("-inf"), True)  # time of the last check, and its result


@login_not_required
@require_safe
def healthz(request: HttpRequest) -> HttpResponse:
    return JsonResponse({"status": "ok"})


@login_not_required
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
        with suppress(OSError):
            _storage_was_well = (now, write_probe())
    return _storage_was_well[1]


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


@login_not_required
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


class DocumentCollector(Collector):
    def describe(self) -> list[Metric]:
        return []  # called at registration, when there may be no database yet

    def collect(self) -> Iterator[Metric]:
        try:
            documents = Document.objects.sources().filter(deleted_at=None).order_by()
            counts = list(documents.values("status").annotate(number=Count("pk")))
            oldest = waiting_documents().aggregate(oldest=Min("created_at"))["oldest"]
        except DatabaseError:
            return
        family = GaugeMetricFamily("pincite_documents", "Documents by status", labels=["status"])
        for row in counts:
            family.add_metric([row["status"]], row["number"])
        yield family
        seconds = (timezone.now() - oldest).total_seconds() if oldest else 0
        yield GaugeMetricFamily("pincite_oldest_waiting_seconds", "Wait of the oldest document", seconds)


REGISTRY.register(DocumentCollector())


POSTGRESQL = 15
PGVECTOR = (0, 8)
OTHERS = 12  # connections of the queue's other processes, commands and a backup
REACH = "Is the server running, and is DATABASE_URL right?"
INSTALL = "Install pgvector ≥ 0.8 on that server (github.com/pgvector/pgvector), or unset DATABASE_URL."


@register(Tags.database)
def database_has_what_we_need(databases: Sequence[str] | None = None, **options: Any) -> list[CheckMessage]:
    """Check that PostgreSQL ≥ 15 with pgvector ≥ 0.8 is reachable."""
    return [message for alias in databases or [] for message in check_database(alias)]


def check_database(alias: str) -> list[CheckMessage]:
    try:
        with connections[alias].cursor() as cursor:
            cursor.execute("SELECT current_setting('server_version_num')::int / 10000")
            (version,) = cursor.fetchone()
            cursor.execute(
                "SELECT coalesce(installed_version, default_version)"
                " FROM pg_available_extensions WHERE name = 'vector'"
            )
            row = cursor.fetchone()
    except DatabaseError as error:
        return [Error(f"The database cannot be reached: {error}", hint=REACH, id="pincite.E001")]
    return [
        *check_postgresql(version),
        *check_pgvector(row[0] if row else None),
        *check_connections(alias),
    ]


def check_connections(alias: str) -> list[CheckMessage]:
    """Check that the server accepts the connections of a web process, its workers and commands."""
    with connections[alias].cursor() as cursor:
        cursor.execute(
            "SELECT current_setting('max_connections')::int"
            " - current_setting('superuser_reserved_connections')::int"
        )
        (places,) = cursor.fetchone()
    wanted = most_connections(settings.DATABASE_CONNECTIONS) + 2 * settings.Q_CLUSTER["workers"] + OTHERS
    if wanted <= places:
        return []
    return [
        Warning(
            f"PostgreSQL has {places} connections; a web process and its workers may need {wanted}.",
            hint="Lower PINCITE_DB_CONNECTIONS, or raise max_connections on the server.",
            id="pincite.W002",
        )
    ]


def check_postgresql(version: int) -> list[CheckMessage]:
    if version >= POSTGRESQL:
        return []
    return [Error(f"PostgreSQL {version} is too old: {POSTGRESQL} or newer is needed.", id="pincite.E002")]


def check_pgvector(version: str | None) -> list[CheckMessage]:
    """Check the version that is or would be installed in the database; None where the server has none."""
    if version is None:
        return [Error("The database server has no pgvector.", hint=INSTALL, id="pincite.E003")]
    if tuple(int(part) for part in version.split(".")[:2]) < PGVECTOR:
        return [Error(f"pgvector {version} is too old.", hint=INSTALL, id="pincite.E004")]
    return []


@register(Tags.security, deploy=True)
def hostile_files_are_confined(**options: Any) -> list[CheckMessage]:
    """Report missing kernel features that confine the processes which open uploaded files."""
    return [
        Warning(weakness.message, id="pincite.W001")
        if weakness.is_open
        else Info(weakness.message, id="pincite.I001")
        for weakness in weaknesses()
    ]


@register()
def tesseract_has_its_languages(**options: Any) -> list[CheckMessage]:
    """Check that the data of each language in PINCITE_TESSERACT is installed."""
    languages = [language for language in settings.PARSE_TESSERACT.split("+") if language]
    return [
        Warning(
            f"PINCITE_TESSERACT names {language}, which is not installed: its pages are not recognised.",
            hint=f"apt-get install tesseract-ocr-{language.replace('_', '-')} (data goes to {TESSDATA}).",
            id="pincite.W003",
        )
        for language in languages
        if not Path(TESSDATA, f"{language}.traineddata").exists()
    ]
