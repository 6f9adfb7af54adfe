from __future__ import annotations

import pytest
from django.contrib.auth.models import User
from django.core.files.base import ContentFile
from hypothesis import given
from hypothesis import strategies as st

from documents.files.uploads import UploadRefused, clean_name, store_upload
from documents.library import delete_document
from documents.models import Document
from tests.drawing import draw_pdf

pytestmark = pytest.mark.django_db


def refusal(owner: User, content: bytes, name: str = "a.pdf") -> UploadRefused:
    with pytest.raises(UploadRefused) as caught:
        store_upload(owner, ContentFile(content), name, queued=False)
    return caught.value


def test_a_pdf_becomes_a_waiting_document_with_a_generated_file_name(alice: User) -> None:
    document = store_upload(alice, ContentFile(draw_pdf("Hello")), "../../etc/My_report.pdf", queued=False)
    assert document.status == Document.Status.UPLOADED
    assert document.title == "My report"
    assert document.original_name == "My_report.pdf"
    assert "report" not in document.file.name
    assert document.file.read().startswith(b"%PDF-")


def test_an_empty_file_is_refused(alice: User) -> None:
    assert refusal(alice, b"").code == "empty"


def test_html_named_pdf_is_refused(alice: User) -> None:
    assert refusal(alice, b"<html>%PDF</html>").code == "not_a_pdf"


def test_a_header_after_the_first_kilobyte_is_refused(alice: User) -> None:
    assert refusal(alice, b" " * 1024 + draw_pdf("x")).code == "not_a_pdf"


def test_a_file_over_the_limit_is_refused_and_leaves_nothing(alice: User, settings, tmp_path) -> None:
    settings.UPLOAD_MAX_BYTES = 1000
    refused = refusal(alice, draw_pdf("x") + b"\0" * 1000)
    assert refused.code == "too_large"
    assert not Document.objects.exists()
    assert not list((tmp_path / "media").rglob("*.pdf"))


def test_the_same_file_twice_names_the_first_document(alice: User) -> None:
    first = store_upload(alice, ContentFile(draw_pdf("x", no_new_id=True)), "a.pdf", queued=False)
    again = first.file.open("rb").read()
    refused = refusal(alice, again, "b.pdf")
    assert (refused.code, refused.existing) == ("duplicate", first)


def test_another_owners_copy_is_not_hinted_at(alice: User, bob: User) -> None:
    pdf = draw_pdf("x")
    of_alice = store_upload(alice, ContentFile(pdf), "a.pdf", queued=False)
    of_bob = store_upload(bob, ContentFile(pdf), "a.pdf", queued=False)
    assert of_alice.pk != of_bob.pk
    assert of_alice.file.name != of_bob.file.name


def test_a_deleted_document_may_be_uploaded_again(
    alice: User, tmp_path, django_capture_on_commit_callbacks
) -> None:
    pdf = draw_pdf("x")
    document = store_upload(alice, ContentFile(pdf), "a.pdf", queued=False)
    with django_capture_on_commit_callbacks(execute=True):
        delete_document(document)
    assert not list((tmp_path / "media").rglob("*.pdf"))
    assert store_upload(alice, ContentFile(pdf), "a.pdf", queued=False).pk != document.pk


@pytest.mark.parametrize(
    ("hostile", "clean"),
    [
        ("../../etc/passwd", "passwd"),
        ("C:\\temp\\report.pdf", "report.pdf"),
        ("a\r\nSet-Cookie: x.pdf", "a Set-Cookie: x.pdf"),
        ("invoice\u202efdp.exe", "invoicefdp.exe"),
        ("..", "document.pdf"),
        ("\x00\x01", "document.pdf"),
        ("x" * 400 + ".pdf", "x" * 251 + ".pdf"),
        ("lone \ud800 surrogate.pdf", "lone ? surrogate.pdf"),
    ],
)
def test_hostile_file_names_become_harmless(hostile: str, clean: str) -> None:
    assert clean_name(hostile) == clean


@given(st.text())
def test_any_name_becomes_one_that_can_be_stored_and_shown(name: str) -> None:
    clean = clean_name(name)
    assert 0 < len(clean) <= 255
    assert clean.isprintable()
    assert "/" not in clean
    assert "\\" not in clean
