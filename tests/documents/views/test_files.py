from __future__ import annotations

import pytest
from django.contrib.auth.models import User
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from documents.models import Document
from tests.conftest import Ingest


@pytest.fixture
def report(alice: User, ingested: Ingest) -> Document:
    return ingested(alice, "The quick brown fox jumps over the lazy dog.")


@pytest.fixture
def browser(alice: User, client: Client) -> Client:
    client.force_login(alice)
    return client


def file_of(report: Document) -> str:
    return reverse("document-file", args=[report.pk])


def test_the_owner_gets_the_whole_file_as_a_pdf(browser: Client, report: Document) -> None:
    response = browser.get(file_of(report))
    assert response.content == report.file.read()
    assert response["Content-Type"] == "application/pdf"
    assert response["X-Content-Type-Options"] == "nosniff"
    assert response["Accept-Ranges"] == "bytes"
    assert "public" not in response["Cache-Control"]


def test_a_range_of_the_file_is_sent_alone(browser: Client, report: Document) -> None:
    response = browser.get(file_of(report), headers={"Range": "bytes=10-19"})
    assert response.status_code == 206
    assert response.content == report.file.read()[10:20]
    assert response["Content-Range"] == f"bytes 10-19/{report.size}"


def test_a_range_outside_the_file_is_refused(browser: Client, report: Document) -> None:
    response = browser.get(file_of(report), headers={"Range": f"bytes={report.size}-"})
    assert response.status_code == 416
    assert response["Content-Range"] == f"bytes */{report.size}"


def test_a_range_of_another_version_gets_the_whole_file(browser: Client, report: Document) -> None:
    response = browser.get(file_of(report), headers={"Range": "bytes=0-9", "If-Range": '"another"'})
    assert response.status_code == 200
    assert len(response.content) == report.size


def test_a_file_that_has_not_changed_is_not_sent_again(browser: Client, report: Document) -> None:
    etag = browser.get(file_of(report))["ETag"]
    assert browser.get(file_of(report), headers={"If-None-Match": etag}).status_code == 304


def test_a_title_cannot_break_the_download_header(browser: Client, report: Document) -> None:
    Document.objects.filter(pk=report.pk).update(title='a"; evil="b\r\nX-Evil: 1')
    response = browser.get(file_of(report) + "?download")
    assert response["Content-Disposition"].startswith("attachment;")
    assert "X-Evil" not in response.headers


@pytest.mark.parametrize(
    "name", ["document", "document-file", "document-thumbnail", "document-highlight", "document-contents"]
)
def test_another_user_gets_404_and_a_stranger_the_sign_in(
    name: str, report: Document, bob: User, client: Client
) -> None:
    url = reverse(name, args=[report.pk])
    assert client.get(url).status_code == 302
    client.force_login(bob)
    assert client.get(url).status_code == 404


def test_the_picture_of_a_card_is_kept_and_read_without_the_long_texts(
    browser: Client, report: Document
) -> None:
    address = reverse("document-thumbnail", args=[report.pk])
    assert browser.get(address)["Cache-Control"] == "private, max-age=3600"
    with CaptureQueriesContext(connection) as queries:
        response = browser.get(f"{address}?v={report.sha256[:8]}")
    assert response["Cache-Control"] == "private, max-age=604800, immutable"
    assert len(queries) == 3  # session, user, document
    assert "outline" not in queries[2]["sql"]


def test_a_page_that_cannot_be_drawn_has_a_blank_picture(browser: Client, alice: User) -> None:
    lost = Document.objects.create(owner=alice, title="Lost", status="ready", page_count=1)
    response = browser.get(reverse("document-thumbnail", args=[lost.pk]))
    assert (response.status_code, response["Content-Type"]) == (200, "image/svg+xml")
    assert "no-store" in response["Cache-Control"]
