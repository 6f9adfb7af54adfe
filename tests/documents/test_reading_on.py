"""A long scan is ready in time with the pages there was time for; the others are named, and read later."""

from __future__ import annotations

import pymupdf
import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse

from documents.ingestion import ingest_document
from documents.models import Document
from documents.page_ranges import ranges
from documents.pdf.failures import NOT_YET_RECOGNISED
from tests.conftest import Ingest

pytestmark = pytest.mark.django_db


def scan() -> bytes:
    """A page of text, then two pictures of a line."""
    document = pymupdf.open()
    document.new_page().insert_text((72, 100), "This page has letters of its own.")
    for number in (2, 3):
        drawn = pymupdf.open()
        drawn.new_page().insert_text((72, 100), f"Bridge number {number}", fontsize=14)
        document.new_page().insert_image((0, 0, 595, 842), pixmap=drawn[0].get_pixmap(dpi=150))
    return bytes(document.tobytes())


@pytest.fixture
def unread(alice: User, ingested: Ingest, settings: object) -> Document:
    settings.PARSE_OCR_FIRST_SECONDS = 0.0  # type: ignore[attr-defined]
    return ingested(alice, pdf=scan())


def test_pages_without_their_time_are_named_and_the_others_answer(unread: Document) -> None:
    assert unread.status == Document.Status.READY
    assert unread.unread_pages == [2, 3]
    assert unread.failed_ranges == [("2–3", NOT_YET_RECOGNISED)]
    assert unread.unit_count == 1


def test_a_person_has_the_remaining_pages_read(alice: User, unread: Document) -> None:
    client = Client()
    client.force_login(alice)
    details = client.get(reverse("document-details", args=[unread.pk])).content.decode()
    assert "Read the remaining pages" in details
    assert "2–3" in details
    client.post(reverse("document-retry", args=[unread.pk]))
    assert ingest_document(unread.pk)
    unread.refresh_from_db()
    assert (unread.status, unread.unread_pages) == (Document.Status.READY, [])
    assert "Bridge" in unread.pages.get(number=3).text
    recognised = unread.pages.exclude(recognised=b"").values_list("number", flat=True)
    assert list(recognised) == [2, 3], "kept, so that no later reading recognises them again"


def test_page_numbers_are_told_as_ranges() -> None:
    assert ranges([3, 1, 7, 8, 9]) == "1, 3, 7–9"
    assert ranges([]) == ""
