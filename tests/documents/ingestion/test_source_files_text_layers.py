"""Scanned documents are displayed with a text layer, and kept as uploaded."""

from __future__ import annotations

import msgspec
import pymupdf
import pytest
from django.contrib.auth.models import User
from django.core.files.base import ContentFile
from django.test import Client
from django.urls import reverse

from documents.files.uploads import store_upload
from documents.ingestion.leases import LostLease, acquire
from documents.ingestion.source_files import store_text_layer
from documents.library import delete_document
from documents.models import Document
from pdf.api import parse_file
from pdf.structure import ParsedDocument
from tests.drawing import draw_pdf

pytestmark = pytest.mark.django_db


@pytest.fixture
def scan(alice: User) -> Document:
    """A file without letters: one line of it was recognised, as ``recognised`` says."""
    return store_upload(alice, ContentFile(draw_pdf("")), "scan.pdf", queued=False)


@pytest.fixture
def recognised(tmp_path) -> ParsedDocument:
    path = tmp_path / "with_letters.pdf"
    path.write_bytes(draw_pdf("Recognised words."))
    parsed = parse_file(path)
    return msgspec.structs.replace(
        parsed, pages=tuple(msgspec.structs.replace(page, ocr=True) for page in parsed.pages)
    )


def shown(content: bytes) -> str:
    return pymupdf.open("pdf", content)[0].get_text().strip()


def test_viewers_get_the_copy_with_words_and_downloads_the_original(
    client: Client, alice: User, scan: Document, recognised: ParsedDocument
) -> None:
    lease = acquire(scan.pk)
    assert lease
    store_text_layer(lease, scan, recognised)
    client.force_login(alice)
    url = reverse("document-file", args=[scan.pk])
    viewed, downloaded = client.get(url), client.get(url, {"download": ""})
    assert shown(viewed.content) == "Recognised words."
    assert shown(downloaded.content) == ""
    assert viewed["ETag"] != downloaded["ETag"]


def test_a_document_read_anew_keeps_one_copy_and_a_deleted_one_none(
    scan: Document, recognised: ParsedDocument, django_capture_on_commit_callbacks
) -> None:
    lease = acquire(scan.pk)
    assert lease
    store_text_layer(lease, scan, recognised)
    first = Document.objects.get().text_layer
    store_text_layer(lease, Document.objects.get(), recognised)
    second = Document.objects.get().text_layer
    assert not first.storage.exists(first.name)
    assert second.storage.exists(second.name)
    with django_capture_on_commit_callbacks(execute=True):
        delete_document(scan)
    assert not second.storage.exists(second.name)


def test_a_worker_that_lost_its_lease_leaves_no_file(scan: Document, recognised: ParsedDocument) -> None:
    lease = acquire(scan.pk)
    assert lease
    Document.objects.update(lease=None)
    with pytest.raises(LostLease):
        store_text_layer(lease, scan, recognised)
    assert not scan.text_layer.storage.exists(scan.text_layer.name)


def test_a_document_with_letters_of_its_own_has_no_copy(scan: Document, recognised: ParsedDocument) -> None:
    lease = acquire(scan.pk)
    assert lease
    pages = tuple(msgspec.structs.replace(page, ocr=False) for page in recognised.pages)
    store_text_layer(lease, scan, msgspec.structs.replace(recognised, pages=pages))
    assert not Document.objects.get().text_layer
    assert Document.objects.get().shown_file == Document.objects.get().file
