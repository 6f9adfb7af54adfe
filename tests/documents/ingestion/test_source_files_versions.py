"""Replaced files and cancelled ingestions: what is kept, what is deleted, what a worker may write."""

from __future__ import annotations

import pytest
from django.contrib.auth.models import User
from django.core.files.base import ContentFile

from documents.files.uploads import UploadRefused, store_upload
from documents.ingestion.leases import LostLease, acquire
from documents.ingestion.pipeline import cancel, ingest_document
from documents.ingestion.source_files import replace_file
from documents.models import Collection, Document, Job, PreviousVersion, Tag
from documents.tasks import recover
from tests.conftest import Ingest
from tests.drawing import draw_pdf


def replace_with(document: Document, *pages: str, name: str = "") -> Document:
    replace_file(document, ContentFile(draw_pdf(*pages)), name)
    ingest_document(document.pk)
    document.refresh_from_db()
    return document


def test_a_new_version_keeps_the_document_and_what_hangs_on_it(
    alice: User, ingested: Ingest, tmp_path, django_capture_on_commit_callbacks
) -> None:
    report = ingested(alice, "Revenue was 4,711.", name="Report_2019.pdf")
    report.tags.add(Tag.objects.create(owner=alice, name="accounts"))
    report.collections.add(Collection.objects.create(owner=alice, name="Reports"))
    before = report.file.name
    with django_capture_on_commit_callbacks(execute=True):
        again = replace_with(report, "Revenue was 5,822.", "A second page.", name="Report_2020.pdf")
    assert (again.pk, again.title, again.status) == (report.pk, report.title, Document.Status.READY)
    assert (again.page_count, again.original_name) == (2, "Report_2020.pdf")
    assert "5,822" in again.pages.get(number=1).text
    assert (again.tags.count(), again.collections.count()) == (1, 1)
    assert not (tmp_path / "media" / before).exists()


def test_a_version_of_another_kind_is_made_a_pdf(alice: User, ingested: Ingest) -> None:
    report = ingested(alice, "Revenue was 4,711.")
    replace_file(report, ContentFile(b"# Revenue\n\nIt was 5,822 in the end.\n"), "new.md")
    ingest_document(report.pk)
    report.refresh_from_db()
    assert report.original.read().startswith(b"# Revenue")
    assert "5,822" in report.pages.get().text


def test_a_version_that_cannot_be_read_leaves_the_document_as_it_was_and_says_so(
    alice: User, ingested: Ingest, django_capture_on_commit_callbacks
) -> None:
    report = ingested(alice, "Revenue was 4,711.", name="Report_2019.pdf")
    before = (report.file.name, report.sha256, report.indexed_at, report.page_count)
    with django_capture_on_commit_callbacks(execute=True):
        replace_file(report, ContentFile(b"%PDF-1.7 and nothing else"), "Report_2020.pdf")
        assert not Document.objects.searchable().filter(pk=report.pk).exists()
        refused = Document.objects.get(pk=report.pk).file
        ingest_document(report.pk)
    report.refresh_from_db()
    assert report.status == Document.Status.READY and report.original_name == "Report_2019.pdf"
    assert (report.file.name, report.sha256, report.indexed_at, report.page_count) == before
    assert report.file.read().startswith(b"%PDF-") and not refused.storage.exists(refused.name)
    assert "4,711" in report.pages.get().text and report.units.exists()
    assert report.failure_message.startswith("The new version could not be read")
    assert "damaged" in report.failure_message
    again = replace_with(report, "Revenue was 5,822.")
    assert (again.status, again.failure_message) == (Document.Status.READY, "")
    assert not PreviousVersion.objects.exists()


def test_a_new_version_that_is_cancelled_or_given_up_leaves_the_old_one(
    alice: User, ingested: Ingest
) -> None:
    report = ingested(alice, "Revenue was 4,711.")
    name = report.file.name
    replace_file(report, ContentFile(draw_pdf("Revenue was 5,822.")))
    replace_file(report, ContentFile(draw_pdf("Revenue was 6,933.")))  # before the first was processed
    assert cancel(report)
    report.refresh_from_db()
    assert (report.status, report.file.name) == (Document.Status.READY, name)
    assert Job.objects.filter(document=report).latest("created_at").outcome == Job.Outcome.CANCELLED
    replace_file(report, ContentFile(draw_pdf("Revenue was 5,822.")))
    assert acquire(report.pk) is not None
    Document.objects.filter(pk=report.pk).update(attempts=99)
    assert recover(Document.objects.filter(pk=report.pk)) == (0, 1)
    report.refresh_from_db()
    assert (report.status, report.file.name) == (Document.Status.READY, name)
    assert "could not be read" in report.failure_message


def test_a_version_that_is_refused_changes_nothing(alice: User, ingested: Ingest) -> None:
    report, other = ingested(alice, "Revenue was 4,711."), draw_pdf("Something else.", no_new_id=True)
    ingested(alice, pdf=other)
    for content in (b"<html>", other):
        with pytest.raises(UploadRefused):
            replace_file(report, ContentFile(content))
    report.refresh_from_db()
    assert report.status == Document.Status.READY
    assert report.file.read().startswith(b"%PDF-")


def test_a_worker_that_reads_the_old_version_stores_nothing_more(alice: User) -> None:
    report = store_upload(alice, ContentFile(draw_pdf("Old.")), "a.pdf", queued=False)
    lease = acquire(report.pk)
    replace_file(report, ContentFile(draw_pdf("New.")))
    assert lease is not None
    with pytest.raises(LostLease):
        lease.update(progress=0.5)


def test_a_cancelled_document_says_so_and_can_be_tried_again(alice: User) -> None:
    report = store_upload(alice, ContentFile(draw_pdf("Some words.")), "a.pdf", queued=False)
    lease = acquire(report.pk)
    assert cancel(report)
    assert not cancel(report)
    report.refresh_from_db()
    assert report.status == Document.Status.FAILED
    assert "Cancelled" in report.failure_message
    assert lease is not None
    assert not lease.row.exists()


def test_a_cancelled_second_reading_leaves_the_first(alice: User, ingested: Ingest) -> None:
    report = ingested(alice, "Revenue was 4,711.")
    Document.objects.filter(pk=report.pk).update(status=Document.Status.PARSING)
    assert cancel(report)
    report.refresh_from_db()
    assert report.status == Document.Status.READY
