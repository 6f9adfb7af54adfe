"""Reading from a replica: a real standby of the tests' own server, made by pg_basebackup, that streams."""

from __future__ import annotations

import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.db import connection, connections
from django.test import Client
from django.test.utils import CaptureQueriesContext

from documents.library import move_to_trash
from documents.models import Collection, Document
from operations.embedded import server
from operations.postgres import replicas
from operations.postgres.base import HAS_CITUS
from tests.conftest import Ingest

pytestmark = pytest.mark.django_db(transaction=True)
SECONDS = 30.0


class Standby:
    """A streaming standby in a folder of its own, reached by its Unix socket."""

    def __init__(self, folder: Path) -> None:
        self.data = folder / "standby"
        self.data.mkdir(mode=0o700)
        server.open_to(server.unprivileged_user(), self.data)
        primary = server.socket_folder(Path(connection.settings_dict["HOST"]))
        backup = [f"{server.BINARIES}/pg_basebackup", "--host", str(primary), "--username", "postgres"]
        more = ["--checkpoint", "fast", "--wal-method", "stream", "--write-recovery-conf", "--pgdata"]
        command = [*backup, *more, str(self.data)]
        who = server.as_user(server.unprivileged_user())
        for _ in range(2):  # beside other tests the server may remove a segment before it is sent
            done = subprocess.run(command, capture_output=True, text=True, cwd="/", check=False, **who)
            if done.returncode == 0:
                break
        assert done.returncode == 0, done.stderr
        for left in ("log", ".s.PGSQL.5432.lock"):  # the primary's, whose socket lies beside its data
            (self.data / left).unlink(missing_ok=True)
        self.start()

    def start(self) -> None:
        options = f"--options=-k {self.data} -c listen_addresses='' -c shared_buffers=32MB"
        server.pg_ctl(self.data, "start", "--wait", f"--log={self.data}/log", options)

    def stop(self) -> None:
        server.pg_ctl(self.data, "stop", "--wait", "--mode=immediate")

    def pause(self, function: str) -> None:
        with connections["replica1"].cursor() as cursor:
            cursor.execute(f"SELECT {function}()")


@pytest.fixture
def standby(django_db_blocker: Any) -> Iterator[Standby]:
    with connection.cursor() as cursor:
        cursor.execute(HAS_CITUS)
        if cursor.fetchone()[0]:
            pytest.skip("needs one server of the tests' own, not a cluster")
        cursor.execute(f'ALTER DATABASE "{connection.settings_dict["NAME"]}" SET synchronous_commit = on')
    connection.close()
    # Another run of pytest closes the folders of `tmp_path`, which hold this one's, to PostgreSQL's user.
    folder = tempfile.TemporaryDirectory(prefix="replica-")
    made = Standby(Path(folder.name))
    settings_dict = {**connection.settings_dict, "ENGINE": "operations.postgres", "HOST": str(made.data)}
    connections.databases["replica1"] = {**settings_dict, "OPTIONS": {"connect_timeout": 2}}
    replicas._left_out.clear()
    with django_db_blocker.unblock():  # Django's tests know of no other database
        yield made
    connections["replica1"].close()
    del connections["replica1"]
    del connections.databases["replica1"]
    made.stop()
    folder.cleanup()
    with connection.cursor() as cursor:
        cursor.execute(f'ALTER DATABASE "{connection.settings_dict["NAME"]}" RESET synchronous_commit')
    connection.close()


def asked_of_replica(call: Callable[[], object]) -> int:
    """Statements that the call sent to the replica."""
    with CaptureQueriesContext(connections["replica1"]) as sent:
        call()
    return len(sent)


def asked_once_it_has_caught_up(call: Callable[[], object]) -> int:
    """Statements sent to the replica by the first of some calls that reads there.

    Other tests write to the same server, so the replica may lag for a moment and be left out.
    """
    deadline = time.monotonic() + SECONDS
    while not (sent := asked_of_replica(call)) and time.monotonic() < deadline:
        time.sleep(0.1)
        replicas._left_out.clear()
    return sent


def test_pages_and_search_are_read_from_the_replica_and_who_wrote_reads_it_at_once(
    standby: Standby, alice: User, ingested: Ingest, client: Client
) -> None:
    document = ingested(alice, "# Tides\n\nThe harbour wall is forty metres long.")
    client.force_login(alice)
    assert asked_once_it_has_caught_up(lambda: client.get(f"/api/documents/{document.pk}/")) >= 2
    body = {"query": "how long is the harbour wall"}
    found = []
    assert (
        asked_once_it_has_caught_up(
            lambda: found.append(client.post("/api/search/", body, content_type="application/json"))
        )
        >= 3
    )
    assert "forty metres" in found[0].content.decode()
    for number in range(20):
        made = client.post("/api/collections/", {"name": f"Shelf {number}"}, content_type="application/json")
        assert made.status_code == 201
        names = [entry["name"] for entry in client.get("/api/collections/").json()["results"]]
        assert f"Shelf {number}" in names
    assert asked_once_it_has_caught_up(lambda: client.get("/api/collections/"))


@pytest.mark.slow
def test_a_replica_that_lags_or_is_dead_is_left_out_and_taken_again(
    standby: Standby, alice: User, ingested: Ingest, client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(replicas, "LEFT_OUT_SECONDS", 0.5)
    document = ingested(alice, "The pier was closed in 2019.")
    address = f"/api/documents/{document.pk}/"
    client.force_login(alice)
    assert client.get(address).status_code == 200

    standby.pause("pg_wal_replay_pause")
    move_to_trash(document)
    assert client.get(address).status_code == 404, "it reads what the replica has not replayed"
    assert "replica1" in replicas._left_out

    standby.pause("pg_wal_replay_resume")
    time.sleep(0.6)
    assert asked_of_replica(lambda: client.get(address)) >= 2

    standby.stop()
    Collection.objects.create(owner=alice, name="Written without it")
    for _ in range(3):  # the first finds its connection dead
        names = [entry["name"] for entry in client.get("/api/collections/").json()["results"]]
        assert names == ["Written without it"]

    standby.start()
    time.sleep(0.6)
    deadline = time.monotonic() + SECONDS
    while not asked_of_replica(lambda: client.get("/api/collections/")) and time.monotonic() < deadline:
        time.sleep(0.2)
    assert asked_of_replica(lambda: client.get("/api/collections/")) >= 2


def test_what_changes_something_asks_no_replica(standby: Standby, alice: User, client: Client) -> None:
    client.force_login(alice)
    post = lambda: client.post("/api/collections/", {"name": "A"}, content_type="application/json")  # noqa: E731
    assert asked_of_replica(post) == 0
    assert not Document.objects.exists()
