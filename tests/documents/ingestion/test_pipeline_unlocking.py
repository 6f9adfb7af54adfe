"""Encrypted files are decrypted with the user's password."""

from __future__ import annotations

import re

import pymupdf
import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse

from documents.ingestion.pipeline import ingest_document
from documents.models import Document, FailureCode
from tests.conftest import Ingest
from tests.drawing import draw_pdf

pytestmark = pytest.mark.django_db
PASSWORD = "s3cret of Alice"


@pytest.fixture
def locked(alice: User, ingested: Ingest) -> Document:
    pdf = draw_pdf("The vault holds 12 bars.", encryption=pymupdf.PDF_ENCRYPT_AES_256, user_pw=PASSWORD)
    document = ingested(alice, pdf=pdf)
    assert document.failure_code == FailureCode.PASSWORD_PROTECTED
    return document


@pytest.fixture
def browser(alice: User) -> Client:
    client = Client()
    client.force_login(alice)
    return client


def test_the_right_password_has_the_document_read_and_is_kept_nowhere(
    browser: Client, locked: Document
) -> None:
    before = locked.file.path
    answer = browser.post(
        reverse("document-retry", args=[locked.pk]), {"password": PASSWORD}, headers={"HX-Request": "true"}
    )
    assert answer.status_code == 200
    assert ingest_document(locked.pk)
    locked.refresh_from_db()
    assert (locked.status, locked.page_count) == (Document.Status.READY, 1)
    assert not pymupdf.open(locked.file.path).needs_pass
    assert locked.file.path != before
    assert not locked.file.storage.exists(before)
    assert PASSWORD not in str(Document.objects.filter(pk=locked.pk).values())


def test_a_wrong_password_is_told_and_changes_nothing(browser: Client, locked: Document) -> None:
    url = reverse("document-retry", args=[locked.pk])
    card = browser.post(url, {"password": "guess"}, headers={"HX-Request": "true"})
    details = browser.post(url, {"password": "guess"}, follow=True)
    for answer in (card, details):
        assert "That password is not right" in answer.content.decode()
        assert 'type="password"' in answer.content.decode()
    again = Document.objects.get(pk=locked.pk)
    assert (again.status, again.file.name) == (Document.Status.FAILED, locked.file.name)


def test_a_program_gives_the_password_when_it_has_the_document_read_again(
    browser: Client, locked: Document
) -> None:
    url = f"/api/documents/{locked.pk}/retry/"
    wrong = browser.post(url, {"password": "guess"}, content_type="application/json")
    assert wrong.status_code == 400
    right = browser.post(url, {"password": PASSWORD}, content_type="application/json")
    assert right.status_code == 202
    assert PASSWORD not in right.content.decode()


# Crypt filters (PDF 32000-1, 7.6.5): AES for embedded files, none for strings and streams.
SEALED = (
    b"trailer<</Encrypt<</Filter/Standard/V 4/R 4/Length 128/P -4/O<%b>/U<%b>"
    b"/CF<</StdCF<</CFM/AESV2/AuthEvent/EFOpen/Length 16>>>>/StmF/Identity/StrF/Identity/EFF/StdCF>>"
    b"/ID[<%b><%b>]"
) % (b"11" * 32, b"22" * 32, b"33" * 16, b"33" * 16)


def test_a_file_whose_attachments_alone_are_encrypted_is_read_and_needs_no_password_to_look_at(
    alice: User, ingested: Ingest
) -> None:
    plain = re.sub(rb"/ID\s*\[[^]]*\]", b"", draw_pdf("The tender is open to all yards."))
    document = ingested(alice, pdf=re.sub(rb"trailer\s*<<", SEALED, plain, count=1))
    assert document.status == Document.Status.READY
    stored = pymupdf.open(document.file.path)
    assert (stored.needs_pass, stored[0].get_text().strip()) == (0, "The tender is open to all yards.")
