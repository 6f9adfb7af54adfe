"""Tokens, scopes, rate limits, idempotency and errors of the API."""

from __future__ import annotations

import threading
from datetime import timedelta
from typing import Any

import psycopg
import pytest
from django.contrib.auth.models import User
from django.core.files.uploadedfile import SimpleUploadedFile
from django.db import connection
from django.test import Client
from django.urls import reverse
from django.utils import timezone
from rest_framework.test import APIClient

from documents.api.common import callers, idempotency
from documents.models import ApiToken, Document, IdempotencyKey, RateCount, Tag
from tests.api_clients import client_of
from tests.drawing import draw_pdf


def test_a_token_is_shown_once_and_stored_hashed(alice: User, client: Client) -> None:
    client.force_login(alice)
    body = {"name": "script", "scopes": ["ask", "read"]}
    refused = client.post("/api/tokens/", body, content_type="application/json")
    assert refused.status_code == 403 and "/account/confirm/" in refused.json()["message"]
    client.post("/account/confirm/", {"password": "correct horse"})
    made = client.post("/api/tokens/", body, content_type="application/json").json()
    assert made["key"].startswith("pin_") and made["scopes"] == ["ask", "read"]
    stored = ApiToken.objects.get(pk=made["id"])
    assert made["key"] not in str(vars(stored)) and len(stored.digest) == 64
    assert "key" not in client.get(f"/api/tokens/{made['id']}/").json()
    called = APIClient().get("/api/documents/", headers={"Authorization": f"Bearer {made['key']}"})
    assert called.status_code == 200
    stored.refresh_from_db()
    assert stored.last_used_at is not None


def test_a_token_that_ended_or_was_revoked_or_made_up_is_refused(alice: User) -> None:
    client = client_of(alice)
    token = ApiToken.objects.get()
    ApiToken.objects.update(expires_at=timezone.now() - timedelta(seconds=1))
    refused = client.get("/api/documents/")
    assert refused.status_code == 401 and refused["WWW-Authenticate"].startswith("Bearer")
    ApiToken.objects.update(expires_at=None)
    assert client.get("/api/documents/").status_code == 200
    assert client.delete(f"/api/tokens/{token.pk}/").status_code == 204
    assert client.get("/api/documents/").status_code == 401
    User.objects.filter(pk=alice.pk).update(is_active=False)
    assert client_of(alice).get("/api/documents/").status_code == 401


def test_a_token_does_only_what_its_scopes_say(alice: User) -> None:
    reads, writes, asks = (client_of(alice, scope) for scope in ("read", "write", "ask"))
    body = {"name": "x"}
    assert reads.get("/api/tags/").status_code == 200
    assert reads.post("/api/tags/", body, format="json").status_code == 403
    assert writes.post("/api/reports/", {"question": "x"}, format="json").status_code == 403  # a model writes
    assert writes.post("/api/tags/", body, format="json").status_code == 201
    assert writes.get("/api/tags/").status_code == 403
    assert asks.get("/api/documents/").status_code == 403
    assert reads.post("/api/search/", {"query": "words"}, format="json").status_code == 200
    refused = client_of(alice).post("/api/tokens/", {"name": "more", "scopes": ["read"]}, format="json")
    assert refused.status_code == 403, "a stolen token cannot make another that outlives it"


def test_without_credentials_nothing_is_told(db: None) -> None:
    for path in ("/api/documents/", "/api/tokens/", "/api/jobs/", "/api/notes/"):
        answer = APIClient().get(path)
        assert (answer.status_code, answer.json()["code"]) == (401, "not_authenticated")


def test_a_session_needs_the_csrf_token(alice: User) -> None:
    browser = Client(enforce_csrf_checks=True)
    browser.force_login(alice)
    assert browser.post("/api/tags/", {"name": "x"}, content_type="application/json").status_code == 403
    assert not Tag.objects.exists()


@pytest.mark.parametrize(
    ("method", "path", "status", "code"),
    [
        ("get", "/api/documents/00000000-0000-0000-0000-000000000000/", 404, "not_found"),
        ("get", "/api/no/such/path/", 404, "not_found"),
        ("post", "/api/no/such/path/", 404, "not_found"),
        ("get", "/api/documents/?cursor=nonsense", 404, "not_found"),
        ("get", "/api/documents/?cursor=cD1ub25zZW5zZQ==", 400, "invalid"),
        ("get", "/api/documents/?limit=0", 400, "invalid"),
        ("get", "/api/documents/?limit=501", 400, "invalid"),
        ("get", "/api/documents/?ordering=owner__password", 400, "invalid"),
        ("get", "/api/documents/?status=nonsense", 400, "invalid"),
        ("post", "/api/tags/", 400, "invalid"),
        ("put", "/api/tags/", 405, "method_not_allowed"),
    ],
)
def test_every_error_has_one_shape(alice: User, method: str, path: str, status: int, code: str) -> None:
    answer = getattr(client_of(alice), method)(path, **({"format": "json"} if method != "get" else {}))
    assert answer.status_code == status
    assert answer["Content-Type"] == "application/json"
    assert answer.json()["code"] == code and answer.json()["message"]
    assert set(answer.json()) <= {"code", "message", "fields"}


def test_too_many_calls_are_told_when_to_come_back(alice: User, settings: Any) -> None:
    settings.RATES = settings.RATES | {"api": "3/h"}
    client = client_of(alice)
    answers = [client.get("/api/tags/") for _ in range(5)]
    assert [answer.status_code for answer in answers] == [200, 200, 200, 429, 429]
    assert answers[-1].json()["code"] == "throttled"
    assert 1 <= int(answers[-1]["Retry-After"]) <= 3600
    assert client_of(alice).get("/api/tags/").status_code == 200, "another token has its own count"


def test_uploads_have_a_rate_of_their_own(alice: User, settings: Any) -> None:
    settings.RATES = settings.RATES | {"upload": "1/h"}
    client = client_of(alice)
    files = [SimpleUploadedFile("a.pdf", draw_pdf(f"Page {number}.")) for number in range(2)]
    codes = [client.post("/api/documents/", {"file": file}).status_code for file in files]
    assert codes == [201, 429]
    assert client.get("/api/documents/").status_code == 200


@pytest.mark.django_db(transaction=True)
def test_two_hundred_callers_at_once_are_counted_one_by_one() -> None:
    allowed = []

    def call() -> None:
        allowed.extend([RateCount.take("test", 50, 3600) == 0 for _ in range(25)])
        connection.close()

    threads = [threading.Thread(target=call) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert (len(allowed), sum(allowed)) == (200, 50)


@pytest.mark.parametrize(
    "page",
    [
        *("ask-first", "report-new", "versions", "review-ask"),
        *("document-upload", "document-fetch", "paper-add", "papers-import"),
        "provider-test",
    ],
)
def test_pages_count_questions_and_uploads_as_the_api_does(
    alice: User, client: Client, settings: Any, page: str
) -> None:
    settings.RATES = settings.RATES | {"ask": "0/h", "upload": "0/h"}
    client.force_login(alice)
    refused = client.post(reverse(page, kwargs={"name": "openai"} if page == "provider-test" else {}))
    assert refused.status_code == 429 and int(refused["Retry-After"]) > 0


def test_a_window_ends(db: None, monkeypatch: pytest.MonkeyPatch) -> None:
    now = [1_000_000.0]
    monkeypatch.setattr("documents.models.security.time.time", lambda: now[0])
    assert [RateCount.take("k", 1, 100) for _ in range(2)] == [0, 100]
    now[0] += 60
    assert RateCount.take("k", 1, 100) == 40
    now[0] += 40
    assert RateCount.take("k", 1, 100) == 0
    RateCount.forget_ended()
    assert RateCount.objects.exists()
    now[0] += 2 * 86400
    RateCount.forget_ended()
    assert not RateCount.objects.exists()


def test_rates_are_read_as_people_write_them() -> None:
    assert callers.parse_rate("60/min") == (60, 60)
    assert callers.parse_rate("5/h") == (5, 3600)
    with pytest.raises(KeyError):
        callers.parse_rate("5/fortnight")


def test_an_upload_sent_again_under_its_key_is_not_done_again(alice: User) -> None:
    client, body = client_of(alice), draw_pdf("Words.")

    def send(content: bytes) -> Any:
        file = SimpleUploadedFile("a.pdf", content)
        return client.post("/api/documents/", {"file": file}, headers={"Idempotency-Key": "one"})

    first, again = send(body), send(body)
    assert (first.status_code, again.status_code) == (201, 201)
    assert first.json() == again.json() and again["Idempotency-Replayed"] == "true"
    assert Document.objects.count() == 1
    other = send(draw_pdf("Other words."))
    assert (other.status_code, other.json()["code"]) == (422, "key_reused")


def test_a_refusal_is_remembered_under_its_key_too(alice: User) -> None:
    client = client_of(alice)

    def send() -> Any:
        file = SimpleUploadedFile("a.pdf", b"not one")
        return client.post("/api/documents/", {"file": file}, headers={"Idempotency-Key": "two"})

    first, again = send(), send()
    assert (first.status_code, again.status_code) == (415, 415)
    assert first.json() == again.json()


@pytest.mark.django_db(transaction=True)
def test_a_request_under_way_is_not_begun_twice(alice: User) -> None:
    client, body = client_of(alice), draw_pdf("Words.")

    def send() -> Any:
        file = SimpleUploadedFile("a.pdf", body)
        return client.post("/api/documents/", {"file": file}, headers={"Idempotency-Key": "three"})

    send()
    IdempotencyKey.objects.update(status=None, body=None)
    with psycopg.connect(**connection.get_connection_params(), autocommit=False) as first:
        first.execute("SELECT 1 FROM documents_idempotencykey FOR UPDATE")
        answer = send()
    assert (answer.status_code, answer.json()["code"], answer["Retry-After"]) == (409, "under_way", "1")


@pytest.mark.django_db(transaction=True)
def test_a_request_whose_server_died_has_done_nothing_and_is_done_when_repeated(
    alice: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    client, body = client_of(alice), draw_pdf("Words.")
    client.raise_request_exception = False
    keep = idempotency._keep

    def die(*stored: Any) -> None:
        keep(*stored)
        connection.cursor().execute("SELECT pg_terminate_backend(pg_backend_pid())")

    def send() -> Any:
        file = SimpleUploadedFile("a.pdf", body)
        return client.post("/api/documents/", {"file": file}, headers={"Idempotency-Key": "four"})

    monkeypatch.setattr(idempotency, "_keep", die)
    assert send().status_code == 503
    assert not Document.objects.exists() and IdempotencyKey.objects.get().status is None
    monkeypatch.setattr(idempotency, "_keep", keep)
    assert [send().status_code for _ in range(2)] == [201, 201]
    assert Document.objects.count() == 1


def test_keys_of_two_people_do_not_meet(alice: User, bob: User) -> None:
    for user in (alice, bob):
        file = SimpleUploadedFile("a.pdf", draw_pdf("Words."))
        sent = client_of(user).post("/api/documents/", {"file": file}, headers={"Idempotency-Key": "same"})
        assert sent.status_code == 201
    assert Document.objects.count() == 2
