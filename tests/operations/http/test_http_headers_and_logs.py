"""Cache headers, and secrets in logs."""

from __future__ import annotations

import io
import logging
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client

from chat.models import AnswerShare, Conversation, Message
from chat.models.conversation import token_of
from operations.observability.logs import WithoutSecrets, configuration
from tests.api_clients import client_of
from tests.conftest import Ingest

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


def test_a_servers_access_log_masks_links() -> None:
    access = logging.getLogger("uvicorn.access")
    assert any(isinstance(found, WithoutSecrets) for found in access.filters)
    record = access.makeRecord(
        "uvicorn.access", logging.INFO, __file__, 1, '%s - "%s %s HTTP/%s" %d',
        ("127.0.0.1:5", "GET", "/chat/shared/abc:def/123.png?x=1", "1.1", 200), None,
    )  # fmt: skip
    assert access.filter(record)
    assert record.getMessage() == '127.0.0.1:5 - "GET /chat/shared/…/123.png?x=1 HTTP/1.1" 200'
