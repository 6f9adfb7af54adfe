"""Connections are limited per kind of work; a request that finds none waits its turn."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest
from django.db import OperationalError, connection
from django.test import RequestFactory

from documents.ingestion.leases import is_unavailable
from operations.http import admission
from operations.http.admission import AddressLimit, KnownCredentials, credential, kind_of
from operations.http.errors import server_error
from operations.postgres import base as module
from operations.postgres.base import (
    ConnectionKind,
    ConnectionLimit,
    NoConnectionFree,
    connection_limits,
    connection_pool,
    current_kind,
    most_connections,
)


def test_who_came_first_is_served_first() -> None:
    lane, served = ConnectionLimit(1), []
    lane.enter(1)

    def wait(number: int) -> None:
        lane.enter(20)
        served.append(number)
        lane.leave()

    waiting = []
    for number in range(5):
        waiting.append(threading.Thread(target=wait, args=(number,)))
        waiting[-1].start()
        while len(lane.waiting) <= number:
            time.sleep(0.001)
    lane.leave()
    for thread in waiting:
        thread.join(20)
    assert served == list(range(5))
    assert lane.taken == 0


def test_who_waits_too_long_is_told_so_and_gets_out_of_the_queue() -> None:
    lane = ConnectionLimit(1)
    lane.enter(1)
    with pytest.raises(NoConnectionFree, match="no connection became free"):
        lane.enter(0.01)
    assert not lane.waiting
    lane.leave()
    lane.enter(0.01)


@pytest.fixture
def bounded(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(module, "WAIT_SECONDS", 0.05)
    connection_limits.begin(4)
    yield
    connection_limits.end()


@pytest.mark.django_db(transaction=True)
def test_strangers_who_take_all_their_connections_leave_those_of_others(bounded: None) -> None:
    done, holding = threading.Event(), threading.Barrier(3)

    def hold() -> None:
        current_kind.set(ConnectionKind.ANONYMOUS)
        connection.ensure_connection()
        holding.wait(20)
        done.wait(20)
        connection.close()

    def asks(kind: ConnectionKind) -> str:
        current_kind.set(kind)
        try:
            with connection.cursor() as cursor:
                cursor.execute("SELECT 1")
            return "served"
        except Exception as error:
            return type(error).__name__
        finally:
            connection.close()

    threads = [threading.Thread(target=hold) for _ in range(2)]
    for thread in threads:
        thread.start()
    holding.wait(20)
    with ThreadPoolExecutor(5) as pool:
        found = dict(zip(ConnectionKind, pool.map(asks, ConnectionKind), strict=True))
    done.set()
    for thread in threads:
        thread.join(20)
    assert found.pop(ConnectionKind.ANONYMOUS) == "OperationalError"
    assert set(found.values()) == {"served"}
    assert all(lane.taken == 0 for lane in connection_limits.limits.values())


@pytest.mark.django_db(transaction=True)
def test_statements_of_requests_have_a_time_limit_and_those_of_other_work_have_none(
    bounded: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "STATEMENT_SECONDS", 1)
    connection_pool.begin()  # whose connections are reused by their kind

    def limit_of(kind: ConnectionKind) -> str:
        current_kind.set(kind)
        try:
            with connection.cursor() as cursor:
                cursor.execute("SHOW statement_timeout")
                return str(cursor.fetchone()[0])
        finally:
            connection.close()

    def sleep() -> int:
        current_kind.set(ConnectionKind.REQUEST)
        try:
            with connection.cursor() as cursor:
                cursor.execute("SELECT pg_sleep(60)")
        except OperationalError:
            return server_error(RequestFactory().get("/api/documents/")).status_code
        finally:
            connection.close()
        return 200

    with ThreadPoolExecutor(1) as pool:
        kinds = [ConnectionKind.REQUEST, ConnectionKind.BACKGROUND, ConnectionKind.ANONYMOUS] * 2
        limits = list(pool.map(limit_of, kinds))
        status = pool.submit(sleep).result()
    connection_pool.end()
    assert limits == ["1s", "0", "1s"] * 2
    assert status == 422


def test_who_gets_no_connection_is_asked_to_come_again() -> None:
    request = RequestFactory().get("/api/documents/")
    try:
        raise OperationalError("none") from NoConnectionFree("none")
    except OperationalError:
        response = server_error(request)
    assert response.status_code == 503
    assert int(response["Retry-After"]) > 0


def test_a_credential_counts_as_known_once_it_was_signed_in() -> None:
    known = KnownCredentials()
    digest = credential([(b"cookie", b"theme=dark; sessionid=abc")])
    assert digest == credential([(b"cookie", b"sessionid=abc")]) != b""
    assert credential([(b"cookie", b"theme=dark")]) == b""
    assert kind_of("/library/", digest in known) == ConnectionKind.ANONYMOUS
    known.add(digest)
    assert kind_of("/library/", digest in known) == ConnectionKind.REQUEST
    assert kind_of("/admin/documents/", digest in known) == ConnectionKind.ADMIN
    assert kind_of("/admin/", False) == ConnectionKind.ANONYMOUS
    assert kind_of("/healthz", False) == ConnectionKind.HEALTH


def test_an_address_has_so_many_requests_in_a_window(monkeypatch: pytest.MonkeyPatch) -> None:
    limit = AddressLimit()
    assert [limit.take("192.0.2.1", "3/min") for _ in range(3)] == [0, 0, 0]
    assert 0 < limit.take("192.0.2.1", "3/min") <= 60
    assert limit.take("192.0.2.2", "3/min") == 0
    later = time.monotonic() + 61
    monkeypatch.setattr(admission.time, "monotonic", lambda: later)
    assert limit.take("192.0.2.1", "3/min") == 0


def test_what_a_web_process_may_take_is_known() -> None:
    assert most_connections(20) < 50


@pytest.mark.django_db(transaction=True)
def test_a_lost_node_of_citus_is_an_outage() -> None:
    """Citus says so with a code for internal errors; the statement is one of ours."""
    lost = "RAISE EXCEPTION 'failure on connection marked as essential: node:5432' USING ERRCODE = 'XX000'"
    with pytest.raises(OperationalError, match="essential") as raised, connection.cursor() as cursor:
        cursor.execute(f"DO $$ BEGIN {lost}; END $$")
    assert is_unavailable(raised.value)
