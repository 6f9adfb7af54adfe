from __future__ import annotations

import asyncio
from collections.abc import MutableMapping
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.db import OperationalError
from django.test import Client

from documents.ingestion.queue import forget_worker, record_heartbeat
from operations.http.admission import admission
from operations.observability import health
from operations.observability.health import check_database, check_pgvector, check_postgresql

pytestmark = pytest.mark.django_db


def test_the_process_says_it_answers(client: Client) -> None:
    assert client.get("/healthz").json() == {"status": "ok"}


@pytest.mark.parametrize(("method", "body"), [("GET", b'{"status": "ok"}'), ("HEAD", b"")])
def test_that_it_answers_is_said_while_every_thread_is_busy(method: str, body: bytes) -> None:
    """The process itself answers, without the application, which needs a thread."""

    async def busy(*_: object) -> None:
        raise AssertionError("the application was asked")

    said: list[MutableMapping[str, Any]] = []

    async def ask() -> None:
        async def receive() -> MutableMapping[str, Any]:
            return {"type": "http.request"}

        async def send(message: MutableMapping[str, Any]) -> None:
            said.append(message)

        scope = {
            "type": "http",
            "path": "/healthz",
            "method": method,
            "headers": [],
            "client": ("192.0.2.1", 1),
        }
        await admission(busy)(scope, receive, send)

    asyncio.run(ask())
    assert [message.get("status", message.get("body")) for message in said] == [200, body]


def test_ready_names_each_part_and_needs_a_beating_queue(client: Client) -> None:
    parts = {"database": "ok", "pgvector": "ok", "storage": "ok"}
    answer = client.get("/readyz")
    assert (answer.status_code, answer.json()) == (503, {"status": "failing", "queue": "failing", **parts})
    record_heartbeat(restarts=0)
    answer = client.get("/readyz")
    assert (answer.status_code, answer.json()) == (200, {"status": "ok", "queue": "ok", **parts})
    forget_worker()
    assert client.get("/readyz").status_code == 503


def test_however_often_anybody_asks_a_file_is_written_once_a_minute(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    written: list[str] = []
    monkeypatch.setattr(health, "_storage_was_well", (float("-inf"), True))
    monkeypatch.setattr(health, "write_probe", lambda: written.append("probe") or True)
    for _ in range(20):
        assert client.get("/readyz").json()["storage"] == "ok"
    assert written == ["probe"]


def test_a_storage_that_cannot_be_written_is_looked_at_again_sooner(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full() -> bool:
        raise OSError("no room")

    monkeypatch.setattr(health, "_storage_was_well", (float("-inf"), True))
    monkeypatch.setattr(health, "write_probe", full)
    assert client.get("/readyz").json()["storage"] == "failing"
    monkeypatch.setattr(health, "write_probe", lambda: True)
    assert client.get("/readyz").json()["storage"] == "failing"
    monkeypatch.setattr(health, "STORAGE_FAILING_SECONDS", 0)
    assert client.get("/readyz").json()["storage"] == "ok"


def test_metrics_are_for_staff_and_for_who_has_the_token(client: Client, alice: User, settings) -> None:
    assert client.get("/metrics").status_code == 404
    settings.METRICS_TOKEN = "scrape"
    for wrong in ("Bearer wrong", "Bearer é", "é", "Basic c2NyYXBl"):
        answer = client.get("/metrics", headers={"authorization": wrong})
        assert (answer.status_code, answer["WWW-Authenticate"]) == (401, "Bearer")
    answer = client.get("/metrics", headers={"authorization": "Bearer scrape"})
    assert b"pincite_oldest_waiting_seconds 0.0" in answer.content
    settings.METRICS_TOKEN = ""
    assert client.get("/metrics", headers={"authorization": "Bearer "}).status_code == 404


def test_every_answer_carries_the_requests_id(client: Client) -> None:
    assert len(client.get("/healthz")["X-Request-ID"]) == 32
    assert (
        client.get("/healthz", headers={"x-request-id": "from-the-proxy"})["X-Request-ID"] == "from-the-proxy"
    )
    assert client.get("/healthz", headers={"x-request-id": "<b>\r\n"})["X-Request-ID"].isalnum()


def test_the_policy_allows_nothing_unsafe(client: Client) -> None:
    policy = client.get("/healthz")["Content-Security-Policy"]
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy


@pytest.fixture
def broken(client: Client, monkeypatch: pytest.MonkeyPatch):
    """Makes the admin's login page raise."""

    def breaking(error: Exception) -> Client:
        def fail(*arguments: object, **options: object) -> None:
            raise error

        monkeypatch.setattr("django.contrib.auth.views.LoginView.dispatch", fail)
        client.raise_request_exception = False
        return client

    return breaking


def test_an_error_page_gives_the_id_and_nothing_of_the_inside(broken) -> None:
    answer = broken(RuntimeError("secret")).get("/admin/login/", headers={"accept": "text/html"})
    assert answer.status_code == 500
    assert answer["X-Request-ID"].encode() in answer.content
    assert b"secret" not in answer.content


@pytest.mark.parametrize(("chosen", "scheme"), [("dark", "dark"), ("", "light dark")])
def test_an_error_page_has_the_theme_that_was_chosen(client: Client, chosen: str, scheme: str) -> None:
    client.cookies["theme"] = chosen
    page = client.get("/documents/none/", headers={"accept": "text/html"}).content.decode()
    assert f'<meta name="color-scheme" content="{scheme}">' in page


def test_while_the_database_is_away_the_answer_is_503_with_retry_after(broken) -> None:
    answer = broken(OperationalError("server closed the connection")).get("/admin/login/")
    assert (answer.status_code, answer["Retry-After"]) == (503, "5")
    assert b"database does not answer" in answer.content


def test_guessing_passwords_is_stopped_whatever_address_is_claimed(
    client: Client, alice: User, settings
) -> None:
    def guess(password: str, number: int) -> int:
        form = {"username": "alice", "password": password}
        return client.post("/admin/login/", form, headers={"x-forwarded-for": f"10.0.0.{number}"}).status_code

    answers = [guess("wrong", number) for number in range(settings.AXES_FAILURE_LIMIT)]
    assert answers[:-1] == [200] * (settings.AXES_FAILURE_LIMIT - 1)
    answer = client.post("/admin/login/", {"username": "alice", "password": "correct horse"})
    assert (answer.status_code, answer["Retry-After"]) == (429, "900")


def test_the_check_names_what_the_database_lacks() -> None:
    assert check_database("default") == []
    assert [message.id for message in check_pgvector(None)] == ["pincite.E003"]
    assert [message.id for message in check_pgvector("0.7.4")] == ["pincite.E004"]
    assert check_pgvector("0.8.1") == []
    assert [message.id for message in check_postgresql(14)] == ["pincite.E002"]
