"""If PostgreSQL's log fills its disk, the server stops, and recovers by itself with all committed rows.

A real one: the log lies on a small file system that is mounted for the test.
"""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import psycopg
import pytest

from documents.failures import NO_ROOM, shortage
from operations.embedded import server
from operations.embedded.server import ServerUnavailable, socket_directory, starting_or_stopping
from tests.documents.test_failures_full_disk import Disk, small_disk

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(sys.platform != "linux" or os.geteuid() != 0, reason="only root mounts"),
]
PATIENCE = 120.0  # seconds


@pytest.fixture
def data(monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    monkeypatch.setattr(server, "RESTART_AFTER", 0.5)
    monkeypatch.setattr(server, "OPTIONS", server.OPTIONS | {"max_wal_size": "64MB", "min_wal_size": "32MB"})
    with tempfile.TemporaryDirectory(prefix="pincite-") as folder:  # one that PostgreSQL's user can reach
        data = Path(folder) / "postgres"
        server.start(data)
        server.stop(data)
        yield data
        server.stop_if_unused(data)


@pytest.fixture
def log_disk(data: Path) -> Iterator[Disk]:
    """Where PostgreSQL keeps its write-ahead log."""
    log, owner = data / "pg_wal", data.stat()
    folder = data.with_name("small")
    folder.mkdir()
    with small_disk(folder, "64m") as disk:
        moved = shutil.move(log, folder / "wal")
        for path in (folder, Path(moved), *Path(moved).rglob("*")):
            os.chown(path, owner.st_uid, owner.st_gid)
        log.symlink_to(moved)
        server.start(data)
        yield disk
        server.stop(data)


def connected(data: Path) -> closing[psycopg.Connection]:
    host = socket_directory(data)
    return closing(psycopg.connect(host=host, user="postgres", dbname="pincite", autocommit=True))


def rows(data: Path) -> list[str]:
    with connected(data) as connection:
        return [row[0] for row in connection.execute("SELECT x FROM kept")]


def write_until_it_breaks(data: Path) -> psycopg.Error:
    with connected(data) as connection, pytest.raises(psycopg.Error) as raised:
        while True:
            connection.execute("CREATE TABLE more AS SELECT repeat('x', 2000) FROM generate_series(1, 20000)")
            connection.execute("DROP TABLE more")
    return raised.value


def unavailable(data: Path) -> str:
    """Return why the server cannot be reached."""
    give_up_at = time.monotonic() + PATIENCE
    while time.monotonic() < give_up_at:
        try:
            rows(data)
        except ServerUnavailable as reason:
            if "No space left" in str(reason):
                return str(reason)
        except psycopg.OperationalError:  # it tries to recover
            time.sleep(0.2)
    raise AssertionError("it never said why")


def test_a_full_log_stops_the_server_which_says_why_and_comes_back_with_its_rows(
    data: Path, log_disk: Disk
) -> None:
    with connected(data) as connection:
        connection.execute("CREATE TABLE kept (x text)")
        connection.execute("INSERT INTO kept VALUES ('committed')")
    log_disk.fill()
    assert shortage(write_until_it_breaks(data)) == NO_ROOM
    assert "No space left on device" in unavailable(data)
    with pytest.raises(ServerUnavailable, match="in a few seconds"):
        rows(data)  # not tried again at once
    log_disk.empty()
    time.sleep(server.RESTART_AFTER)
    with starting_or_stopping(data), pytest.raises(ServerUnavailable, match="in a few seconds"):
        rows(data)  # another process is at it
    assert rows(data) == ["committed"]
