from __future__ import annotations

import time
from collections.abc import Iterator

import psycopg
import pytest
from django.db import connection

from operations.postgres import base as module
from operations.postgres.base import ConnectionPool

pytestmark = pytest.mark.django_db

HERE = ("default", "pincite")


@pytest.fixture
def kept() -> Iterator[ConnectionPool]:
    connections = ConnectionPool()
    connections.begin()
    yield connections
    connections.end()


def connect() -> psycopg.Connection:
    return psycopg.connect(**connection.get_connection_params(), autocommit=True)


def test_who_comes_next_gets_the_connection_that_came_back_last(kept: ConnectionPool) -> None:
    first, second = connect(), connect()
    assert kept.put(HERE, first)
    assert kept.put(HERE, second)
    assert kept.take(HERE) is second
    assert kept.take(HERE) is first
    assert kept.take(HERE) is None
    first.close()
    second.close()


def test_another_database_gets_another_connection(kept: ConnectionPool) -> None:
    with connect() as one:
        kept.put(HERE, one)
        assert kept.take(("default", "postgres")) is None
        assert kept.take(HERE) is one


def test_a_connection_that_the_server_has_ended_is_not_given_out(kept: ConnectionPool) -> None:
    ended = connect()
    pid = ended.info.backend_pid
    assert kept.put(HERE, ended)
    with connect() as other:
        other.execute("SELECT pg_terminate_backend(%s, 5000)", [pid])
    assert kept.take(HERE) is None
    assert ended.closed


def test_one_in_the_middle_of_a_transaction_is_not_kept(kept: ConnectionPool) -> None:
    with connect() as busy:
        busy.execute("BEGIN")
        assert not kept.put(HERE, busy)
    assert not kept.put(HERE, busy)  # nor one that is closed


def test_one_that_nobody_used_for_long_goes(kept: ConnectionPool, monkeypatch: pytest.MonkeyPatch) -> None:
    old, new = connect(), connect()
    kept.put(HERE, old)
    moment = time.monotonic() + module.LONGEST_SECONDS
    monkeypatch.setattr(module.time, "monotonic", lambda: moment)
    kept.put(HERE, new)
    assert old.closed
    assert kept.take(HERE) is new
    new.close()


def test_no_more_are_kept_than_a_web_server_needs(
    kept: ConnectionPool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "MOST", 1)
    with connect() as one, connect() as another:
        assert kept.put(HERE, one)
        assert kept.put(HERE, another), "in the place of one of another kind, which may wait for long"
        assert one.closed
        assert kept.take(HERE) is another


def test_at_the_end_all_are_closed(kept: ConnectionPool) -> None:
    one = connect()
    kept.put(HERE, one)
    kept.end()
    assert one.closed


def test_commands_and_forked_processes_keep_none(
    kept: ConnectionPool, monkeypatch: pytest.MonkeyPatch
) -> None:
    with connect() as free:
        assert not ConnectionPool().put(HERE, free)
        kept.put(HERE, free)
        monkeypatch.setattr(module.os, "getpid", lambda: -1)  # as a forked child sees it
        assert kept.take(HERE) is None
        monkeypatch.undo()
        assert kept.take(HERE) is free
