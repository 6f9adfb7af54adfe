"""Documents added by URL: a worker downloads them, or records why it could not."""

from __future__ import annotations

from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client

from documents.files.uploads import store_address
from documents.files.url_fetch import FetchRefused
from documents.ingestion.pipeline import ingest_again, ingest_document
from documents.models import ApiToken, Document
from tests.conftest import Ingest
from tests.documents.files.conftest import fetched_document
from tests.drawing import draw_pdf
from tests.scripted_server import Answer, ScriptedServer


def test_an_address_becomes_a_document_like_an_uploaded_one(alice: User, server: ScriptedServer) -> None:
    pdf = draw_pdf("Revenue was 4,711.")
    server.script["/Annual_report.pdf"] = Answer(body=pdf)
    report = fetched_document(alice, server.url + "/Annual_report.pdf")
    assert (report.status, report.title, report.size) == (Document.Status.READY, "Annual report", len(pdf))
    assert report.file.read() == pdf
    assert "4,711" in report.pages.get().text


def test_what_does_not_arrive_says_why_and_can_be_tried_again(alice: User, server: ScriptedServer) -> None:
    server.script["/a.pdf"] = [Answer(503), Answer(body=draw_pdf("At last."))]
    report = fetched_document(alice, server.url + "/a.pdf")
    assert (report.status, report.failure_code) == (Document.Status.FAILED, "internal")
    assert "did not send the file" in report.failure_message
    assert ingest_again(report)
    ingest_document(report.pk)
    report.refresh_from_db()
    assert report.status == Document.Status.READY


@pytest.mark.parametrize(
    ("body", "code"), [(b"<html>no PDF</html>", "not_a_pdf"), (b"%PDF-" + b"x" * 9000, "too_large")]
)
def test_only_pdfs_of_the_accepted_size_are_kept(
    alice: User, server: ScriptedServer, settings: Any, body: bytes, code: str
) -> None:
    settings.UPLOAD_MAX_BYTES = 5000
    server.script["/a.pdf"] = Answer(body=body)
    report = fetched_document(alice, server.url + "/a.pdf")
    assert (report.failure_code, bool(report.file)) == (code, False)


def test_a_document_that_is_there_already_is_not_kept_twice(
    alice: User, server: ScriptedServer, ingested: Ingest
) -> None:
    pdf = draw_pdf("Only once.")
    ingested(alice, pdf=pdf, name="First.pdf")
    server.script["/second.pdf"] = Answer(body=pdf)
    second = fetched_document(alice, server.url + "/second.pdf")
    assert "You already have this document: “First”" in second.failure_message


def test_an_address_of_this_machine_is_not_fetched(alice: User) -> None:
    report = fetched_document(alice, "http://localhost:9/a.pdf")
    assert report.status == Document.Status.FAILED
    assert "cannot be reached" in report.failure_message


@pytest.mark.parametrize(
    "url",
    [
        "http://127.0.0.1:9/",
        "http://[::1]/a.pdf",
        "file:///etc/passwd",
        "ftp://example.org/a.pdf",
        "no address",
        "http://",
    ],
)
def test_what_is_no_web_address_is_refused_at_once(alice: User, url: str) -> None:
    with pytest.raises(FetchRefused):
        store_address(alice, url)
    assert not Document.objects.exists()


def test_the_api_answers_at_once_and_a_worker_fetches(
    client: Client, alice: User, server: ScriptedServer
) -> None:
    server.script["/report.pdf"] = Answer(body=draw_pdf("Revenue was 4,711."))
    _, key = ApiToken.objects.issue(alice, "script", ["write"])
    sent = {"url": server.url + "/report.pdf"}
    answer = client.post(
        "/api/documents/", sent, "application/json", headers={"Authorization": f"Bearer {key}"}
    )
    assert (answer.status_code, answer.json()["status"]) == (201, "uploaded")
    assert answer.json()["source_url"] == sent["url"]
    assert not server.asked, "the request does not wait for another server"
    ingest_document(answer.json()["id"])
    assert Document.objects.get().status == Document.Status.READY
