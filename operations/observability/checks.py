"""Django system checks: database version and connections, confinement, OCR languages."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.checks import CheckMessage, Error, Info, Tags, Warning, register
from django.db import DatabaseError, connections

from operations.postgres.base import most_connections
from pdf.sandbox.confinement import TESSDATA, weaknesses

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
    """Check that the server accepts the connections of one web process, its workers and a few commands."""
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
