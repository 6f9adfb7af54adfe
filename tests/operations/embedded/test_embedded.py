"""The embedded server: its memory, and its messages when it cannot start."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

import psutil
import pytest
from django.conf import settings
from django.db import connection

from operations.embedded import server


def test_initdb_that_fails_says_why(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(server, "INITDB_OPTIONS", (*server.INITDB_OPTIONS, "--locale=xx_YY"))
    with (
        tempfile.TemporaryDirectory(prefix="pincite-") as folder,  # one that PostgreSQL's user can reach
        pytest.raises(server.ServerUnavailable, match=r"initdb failed\. initdb: error: invalid locale name"),
    ):
        server.start(Path(folder) / "postgres")


@pytest.mark.parametrize(
    ("output", "said"),
    [
        (b"", ""),
        (b"LOG:  starting\nFATAL:  no room\nLOG:  shutting down\n", "FATAL:  no room"),
        (b"ERROR:  of a query long ago\n" + b"LOG:  checkpoint\n" * 9, "LOG:  checkpoint"),
        (b"LOG:  starting\nLOG:  \xff\n", "LOG:  \N{REPLACEMENT CHARACTER}"),
    ],
)
def test_the_last_error_is_what_is_told(output: bytes, said: str) -> None:
    assert server.last_error(output) == said


@pytest.mark.django_db
@pytest.mark.skipif(bool(settings.DATABASE_URL), reason="the database is another's")
def test_the_database_has_its_share_of_the_memory() -> None:
    with connection.cursor() as cursor:
        cursor.execute("SELECT setting::bigint * 8192 FROM pg_settings WHERE name = 'shared_buffers'")
        (held,) = cursor.fetchone()
    assert 128 * 2**20 <= held <= max(128 * 2**20, psutil.virtual_memory().total / 8)


@pytest.mark.django_db
@pytest.mark.skipif(bool(settings.DATABASE_URL), reason="the database is another's")
def test_what_a_worker_asks_has_its_priority_in_the_database_too(monkeypatch: pytest.MonkeyPatch) -> None:
    usual = os.nice(0)
    monkeypatch.setattr(os, "nice", lambda _: usual + 3)
    with connection.get_new_connection(connection.get_connection_params()) as made:
        assert psutil.Process(made.info.backend_pid).nice() == usual + 3
