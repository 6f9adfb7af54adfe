"""Cache headers, secrets in logs, and values that no view reads: U+0000, numbers of any length."""

from __future__ import annotations

import io
import logging
import re
from typing import Any
from urllib.parse import quote
from uuid import uuid4

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.urls import get_resolver

from chat.models import AnswerShare, Conversation, Message
from chat.models.conversation import token_of
from operations.observability.logs import WithoutSecrets, configuration, masked, routes
from tests.api_clients import client_of
from tests.conftest import Ingest
from text.numbers import whole_number

PRIVATE = "private, no-store"


@pytest.fixture
def answer(alice: User) -> Message:
    conversation = Conversation.objects.create(owner=alice, title="Owls")
    Message.objects.create(conversation=conversation, position=0, role="user", content="What of owls?")
    return Message.objects.create(
        conversation=conversation, position=1, role="assistant", content="Owls hoot.", status="complete"
    )


def test_pages_exports_and_answers_of_the_api_are_never_stored(
    alice: User, answer: Message, ingested: Ingest
) -> None:
    """S7."""
    document = ingested(alice, "Owls hoot at night.")
    page = Client()
    page.force_login(alice)
    pages = [
        *("/", "/search/", "/search/?q=owls", "/conversations/", "/notes/", "/account/", "/shares/"),
        f"/documents/{document.pk}/",
        f"/documents/{document.pk}/details/",
        f"/documents/{document.pk}/tables/0/",
        f"/conversations/{answer.conversation_id}/",
        *(f"/chat/messages/{answer.pk}/export.{form}" for form in ("txt", "md", "html", "docx")),
        f"/chat/messages/{answer.pk}/stream/",
        "/nowhere/",
    ]
    for path in pages:
        said = page.get(path).headers["Cache-Control"]
        assert "private" in said and "no-store" in said, path
    for path in ("documents/", f"documents/{document.pk}/", "collections/", "tokens/", "nothing/", "jobs/"):
        assert client_of(alice).get(f"/api/{path}").headers["Cache-Control"] == PRIVATE, path
    assert Client().get("/").headers["Cache-Control"] == PRIVATE, "also what sends to the sign-in"


def test_files_are_private_and_keep_their_etag(alice: User, ingested: Ingest) -> None:
    document = ingested(alice, "Owls hoot at night.")
    page = Client()
    page.force_login(alice)
    for path in ("file", "file?download"):
        response = page.get(f"/documents/{document.pk}/{path}")
        assert response.headers["ETag"] and "private" in response.headers["Cache-Control"]
        assert "no-store" not in response.headers["Cache-Control"]
    assert "public" in page.get("/icons.svg").headers["Cache-Control"], "the same for everybody"


def test_logs_hold_no_token_of_a_link_and_no_key(answer: Message, caplog: Any) -> None:
    """S21: in our own lines, in Django's, and in a server's access log."""
    token = token_of(AnswerShare.objects.create(message=answer))
    AnswerShare.objects.update(revoked_at="2020-01-01T00:00:00Z")
    written = io.StringIO()
    made = dict(configuration("INFO", as_json=False)["formatters"]["event"])
    handler = logging.StreamHandler(written)
    handler.setFormatter(made.pop("()")(**made))
    django = logging.getLogger("django.request")
    django.addHandler(handler)
    try:
        Client().get(f"/chat/shared/{token}/")
        logging.getLogger("django.request").warning("key %s", "pin_" + "x" * 43)
    finally:
        django.removeHandler(handler)
    assert "/chat/shared/…/" in written.getvalue()
    assert token not in written.getvalue() and "xxxx" not in written.getvalue()


def test_a_foreign_host_costs_the_log_one_line(client: Client, caplog: Any) -> None:
    assert client.get("/", headers={"host": "evil.example"}).status_code == 400
    (record,) = [record for record in caplog.records if record.name.endswith("DisallowedHost")]
    assert "evil.example" in record.getMessage() and record.exc_info is None


def test_a_servers_access_log_masks_links() -> None:
    access = logging.getLogger("uvicorn.access")
    assert any(isinstance(found, WithoutSecrets) for found in access.filters)
    record = access.makeRecord(
        "uvicorn.access", logging.INFO, __file__, 1, '%s - "%s %s HTTP/%s" %d',
        ("127.0.0.1:5", "GET", "/chat/shared/abc:def/123.png?x=1", "1.1", 200), None,
    )  # fmt: skip
    assert access.filter(record)
    assert record.getMessage() == '127.0.0.1:5 - "GET /chat/shared/…/123.png?x=1 HTTP/1.1" 200'


def test_every_address_with_a_token_is_masked_by_its_parameter() -> None:
    """F6: addresses of embedded readers stood in the log; only those of shared answers were masked."""
    found = {route for route in routes(get_resolver()) if re.search(r"<(?:\w+:)?token>", route)}
    assert len(found) == 5
    for route in found:
        address = re.sub(r"<uuid:\w+>", str(uuid4()), re.sub(r"<(?:\w+:)?token>", "abc:Sig-nature_1", route))
        for text in (f"Not Found: {address}", f'"GET {quote(address)}?page=2 HTTP/1.1" 404'):
            shown = str(masked(text))
            assert "Sig-nature" not in shown and "…" in shown, shown
    assert masked("/documents/abc:Sig-nature_1/") == "/documents/abc:Sig-nature_1/"
    assert "whsec" not in str(masked("secret whsec_" + "a" * 44))


NUL = "\0"
LONG = "9" * 5000


@pytest.mark.parametrize("path", ["/", "/search/", "/conversations/", "/notes/", "/reviews/", "/account/"])
@pytest.mark.parametrize("name", ["q", "sort", "status", "collection", "page", "cursor", "start", "next"])
def test_nul_in_an_address_is_refused(alice: User, client: Client, path: str, name: str) -> None:
    """F10: twelve pages answered 500 with a traceback."""
    client.force_login(alice)
    assert client.get(path, {name: f"a{NUL}b"}).status_code == 400
    assert client.get(f"{path}%00").status_code == 400


def test_nul_in_forms_and_json_is_refused(alice: User, client: Client) -> None:
    client.force_login(alice)
    for path in (
        "/account/webhooks/add/",
        "/papers/add/",
        "/conversations/",
        "/language/",
        "/account/password/",
    ):
        assert client.post(path, {"url": f"a{NUL}b"}).status_code in (400, 404, 405), path
    for body in ({"name": f"a{NUL}b"}, {f"a{NUL}": 1}, {"settings": {"deep": [f"{NUL}"]}}):
        answer = client.post("/api/collections/", body, content_type="application/json")
        assert answer.status_code == 400, body


def test_numbers_of_any_length_are_answered(alice: User, client: Client, ingested: Ingest) -> None:
    """F10: 5,000 digits in a range, a page, a number of days or a limit caused 500."""
    document = ingested(alice, "Acme sold 1,577 red anvils in 2018.")
    client.force_login(alice)
    file = f"/documents/{document.pk}/file"
    assert client.get(file, headers={"Range": f"bytes=0-{LONG}"}).status_code == 206
    assert client.get(file, headers={"Range": f"bytes={LONG}-"}).status_code == 416
    assert client.get(file, headers={"Range": f"bytes=-{LONG}"}).status_code == 206
    for path in (
        f"/documents/{document.pk}/passages/?page={LONG}",
        f"/documents/{document.pk}/?page={LONG}",
        f"/search/?q=anvils+on+page+{LONG}",
        f"/search/?q=anvils+page:{LONG}-{LONG}",
        f"/search/?q=anvils+year:{LONG}",
        f"/api/documents/?limit={LONG}",
        f"/api/documents/{document.pk}/pages/{LONG}/",
        f"/?start={LONG}",
    ):
        assert client.get(path).status_code < 500, path[:60]


@pytest.mark.parametrize("number", ["--5", "-5", "٣", LONG])
def test_a_search_setting_that_is_no_number_is_refused(alice: User, client: Client, number: str) -> None:
    """F10 elsewhere: "--5" caused 500."""
    client.force_login(alice)
    asked = client.post("/chat/ask/", {"question": "Why?", "search_panel": "1", "top_k": number})
    assert 400 <= asked.status_code < 500


@pytest.mark.parametrize(
    ("text", "number"),
    [("7", 7), ("007", 7), ("0", 0), ("", None), ("-1", None), ("1.5", None), ("٣", None), (LONG, None)],
)
def test_a_number_that_a_stranger_wrote_is_bounded(text: str, number: int | None) -> None:
    assert whole_number(text, 10**6) == number


def test_programs_that_call_without_tls_are_refused_and_people_are_redirected(
    client: Client, settings
) -> None:
    settings.SECURE_SSL_REDIRECT = True
    for path in ("/api/documents/", "/v1/models", "/mcp"):
        assert client.get(path).status_code == 403
    assert client.get("/account/sign-in/").headers["Location"].startswith("https://")
    assert client.get("/healthz").status_code == 200
