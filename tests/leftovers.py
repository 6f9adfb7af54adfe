"""What a test file may leave behind for the next one in its process: rows, files, settings, processes."""

from __future__ import annotations

import os
import signal
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path

import psutil
from django.conf import settings
from django.core.cache import caches
from django.db import connection
from django.utils import timezone, translation

from pdf.sandbox import client

Rows = dict[str, int]

ROOT = Path(settings.BASE_DIR)
SECONDS = 3  # in which processes that were told to stop end
OF_TESTS = {"DATABASES"}  # settings that pytest-django changes when it makes the database
OF_DATABASE = "operations.embedded.server"  # stops PostgreSQL after the last process
SIGNALS = signal.valid_signals() - {signal.SIGALRM}  # pytest-timeout's
TABLES = """
    SELECT format('SELECT %L, count(*) FROM %I', relname, relname) FROM pg_class
    WHERE relkind = 'r' AND relnamespace = current_schema()::regnamespace
"""


def count_rows() -> Rows:
    """Return the number of rows of each table."""
    with connection.cursor() as cursor:
        cursor.execute(TABLES)
        cursor.execute(" UNION ALL ".join(query for (query,) in cursor.fetchall()))
        return dict(cursor.fetchall())


def values() -> dict[str, object]:
    """Return settings, environment and other values of this process by their names."""
    found: dict[str, object] = {
        "working directory": Path.cwd(),
        "language": translation.get_language(),
        "time zone": timezone.get_current_timezone_name(),
    }
    found |= {
        f"settings.{name}": str(getattr(settings, name))
        for name in dir(settings)
        if name.isupper() and name not in OF_TESTS
    }
    found |= {f"${name}": value for name, value in os.environ.items() if name != "PYTEST_CURRENT_TEST"}
    found |= {f"handler of signal {number}": signal.getsignal(number) for number in SIGNALS}
    return found


def things() -> set[str]:
    """Return files, cache entries and child processes."""
    folders = [settings.MEDIA_ROOT, tempfile.gettempdir()]
    found = {str(path) for folder in folders for path in Path(folder).rglob("*")}
    found |= {str(path) for path in ROOT.iterdir() if path.name[0] not in "._"}  # not those of checks
    found |= {f"cache entry {key}" for key in getattr(caches["default"], "_cache", {})}
    waiting = {process.pid for _, process in client._kept}  # readers of PDFs, for the next one
    for child in psutil.Process().children():
        if child.pid not in waiting and child.is_running() and child.status() != psutil.STATUS_ZOMBIE:
            command = " ".join(child.cmdline())[:200]
            if OF_DATABASE not in command:
                found.add(f"process {child.pid}: {command}")
    return found


def new_things(before: set[str]) -> set[str]:
    """Return what is there in addition, after the time that it may take to end."""
    end = time.monotonic() + SECONDS
    while (new := things() - before) and time.monotonic() < end:
        time.sleep(0.05)
    return new


def changed_tables(rows: Rows) -> list[str]:
    """Return the tables whose number of rows is another one now, and update ``rows``."""
    now = count_rows()
    changed = differences(rows, now)
    rows.clear()
    rows.update(now)
    return [f"rows of {line}" for line in changed]


def differences(before: Mapping[str, object], after: Mapping[str, object]) -> list[str]:
    """Return the names whose values differ, with both values."""
    names = sorted(name for name in before.keys() | after.keys() if before.get(name) != after.get(name))
    return [f"{name}: {after.get(name)}, before: {before.get(name)}" for name in names]
