from __future__ import annotations

import signal
import threading
import uuid
from collections.abc import Iterator
from datetime import timedelta

import pytest
from django.conf import settings
from django.contrib.auth.models import User
from django.core.files.base import ContentFile
from django.db import OperationalError, connection
from django.utils import timezone
from django_q.models import OrmQ

from documents.failures import IngestionFailure
from documents.files.uploads import store_upload
from documents.ingestion import leases, pipeline
from documents.ingestion.pipeline import ingest, ingest_again, ingest_document
from documents.ingestion.queue import next_in_turn
from documents.library import delete_document
from documents.models import CitationUnit, Document, FailureCode, Page, RetrievalChunk
from documents.signals import document_parsed
from documents.tasks import GIVEN_UP, ingest_next, recover_from, sweep
from tests.conftest import Ingest
from tests.drawing import draw_pdf

pytestmark = pytest.mark.django_db
TEXT = "# Findings\n\nThe bridge was closed in 2019.\n\nIt opened again after repairs worth £2,400,000."


@pytest.fixture
def waiting(alice: User) -> Document:
    return store_upload(alice, ContentFile(draw_pdf(TEXT)), "bridge.pdf", queued=False)


@pytest.fixture
def indexing() -> Iterator[list]:
    """Receivers put in the list run when a document has been stored, in place of the real indexing."""
    receivers: list = []
    before, document_parsed.receivers = document_parsed.receivers, []
    document_parsed.sender_receivers_cache.clear()

    def call(document: Document, **_: object) -> None:
        for receiver in receivers:
            receiver(document)

    document_parsed.connect(call)
    yield receivers
    document_parsed.receivers = before
    document_parsed.sender_receivers_cache.clear()


def content_of(document: Document) -> list[list[tuple]]:
    """All rows of a document's content, without the serial keys of pages."""
    fields = [
        [field.attname for field in model._meta.concrete_fields if field.attname != "id" or model is not Page]
        for model in (Page, RetrievalChunk, CitationUnit)
    ]
    rows = (document.pages, document.chunks, document.units)
    return [list(row.order_by("pk").values_list(*names)) for row, names in zip(rows, fields, strict=True)]


def test_a_pdf_becomes_ready_with_units_that_stand_in_the_page_text(alice: User, ingested: Ingest) -> None:
    document = ingested(alice, TEXT, "Second page.")
    assert document.status == Document.Status.READY
    assert document.page_count == 2
    assert document.unit_count == document.units.count() >= 3
    texts = {page.number: page.text for page in document.pages.all()}
    for unit in document.units.all():
        assert unit.content == texts[unit.page_number][unit.char_start : unit.char_end]
        assert unit.chunk_id is not None


def test_reading_a_document_again_gives_the_same_rows(alice: User, ingested: Ingest) -> None:
    document = ingested(alice, TEXT)
    before = content_of(document)
    assert ingest_again(document)
    assert ingest_document(document.pk)
    assert content_of(document) == before


@pytest.mark.parametrize(
    ("pdf", "code"),
    [
        (b"%PDF-1.7\nnothing of the kind", FailureCode.DAMAGED),
        (draw_pdf("x", encryption=4, user_pw="secret", owner_pw="secret"), FailureCode.PASSWORD_PROTECTED),
        (draw_pdf(""), FailureCode.NO_TEXT),
    ],
    ids=["damaged", "password", "blank"],
)
def test_a_bad_file_fails_with_a_reason_and_can_be_tried_again(
    alice: User, ingested: Ingest, pdf: bytes, code: FailureCode
) -> None:
    document = ingested(alice, pdf=pdf)
    assert (document.status, document.failure_code) == (Document.Status.FAILED, code)
    assert document.failure_message == code.label
    assert ingest_again(document)
    document.refresh_from_db()
    assert (document.status, document.failure_code) == (Document.Status.UPLOADED, "")


def test_a_document_in_work_is_not_taken_twice(waiting: Document) -> None:
    assert leases.acquire(waiting.pk)
    assert leases.acquire(waiting.pk) is None
    assert not ingest_document(waiting.pk)
    assert not ingest_again(waiting)


def test_the_attempt_is_counted_before_work_starts_and_two_are_enough(waiting: Document) -> None:
    for _ in range(2):
        assert leases.acquire(waiting.pk)
        assert recover_from(leases.holder())
    waiting.refresh_from_db()
    assert (waiting.status, waiting.failure_code) == (Document.Status.FAILED, FailureCode.INTERNAL)
    assert waiting.failure_message == GIVEN_UP
    assert leases.acquire(waiting.pk) is None


def test_a_silent_workers_document_is_put_back_by_the_sweep(waiting: Document) -> None:
    lease = leases.acquire(waiting.pk)
    assert lease
    assert sweep().resumed == 0
    lease.row.update(lease_expires_at=timezone.now())
    assert sweep().resumed == 1
    assert ingest_next() == str(waiting.pk)
    waiting.refresh_from_db()
    assert waiting.status == Document.Status.READY


def test_a_document_stored_without_a_ticket_is_found_by_the_sweep(waiting: Document) -> None:
    assert sweep().tickets == 1
    assert sweep().tickets == 0, "the ticket is in the queue now"


def test_tickets_of_a_killed_cluster_are_swept_once_there_is_no_work(waiting: Document) -> None:
    """django-q2 locks a ticket until the moment at which it would hand it out again."""
    sweep()
    until_retried = timezone.now() + timedelta(seconds=settings.Q_CLUSTER["retry"])
    OrmQ.objects.update(lock=until_retried - timedelta(minutes=2))
    sweep()
    assert OrmQ.objects.exists(), "a document waits: the ticket may be in a worker's hands"
    Document.objects.update(status=Document.Status.READY)
    OrmQ.objects.update(lock=until_retried)
    sweep()
    assert OrmQ.objects.exists(), "it was fetched just now"
    OrmQ.objects.update(lock=until_retried - timedelta(minutes=2))
    sweep()
    assert not OrmQ.objects.exists()


def test_the_bin_is_emptied_when_its_time_is_up(waiting: Document, tmp_path) -> None:
    now = timezone.now()
    Document.objects.update(deleted_at=now - timedelta(days=6))
    assert sweep().removed == 0
    Document.objects.update(deleted_at=now - timedelta(days=8))
    assert sweep().removed == 1
    assert not Document.objects.exists()


def test_a_worker_that_was_given_up_writes_nothing(waiting: Document) -> None:
    old = leases.acquire(waiting.pk)
    assert old
    recover_from(leases.holder())
    new = leases.acquire(waiting.pk)
    assert new
    ingest(old)
    waiting.refresh_from_db()
    assert (waiting.lease, waiting.unit_count) == (new.token, 0)


def test_a_document_deleted_while_it_is_indexed_does_not_come_back(
    waiting: Document, indexing: list, tmp_path, django_capture_on_commit_callbacks
) -> None:
    indexing.append(delete_document)
    with django_capture_on_commit_callbacks(execute=True):
        ingest_document(waiting.pk)
    for model in (Document, Page, CitationUnit, RetrievalChunk):
        assert not model.objects.exists()
    assert not [path for path in (tmp_path / "media").rglob("*") if path.is_file()]


@pytest.mark.parametrize(
    ("code", "answers"), [(FailureCode.INTERNAL, False), (FailureCode.EMBEDDING_FAILED, True)]
)
def test_a_document_that_could_not_be_indexed_is_never_half_ready(
    waiting: Document, indexing: list, code: FailureCode, answers: bool
) -> None:
    """If only embedding failed, the document is marked as failed but found by its words."""

    def fail(document: Document) -> None:
        raise IngestionFailure(code)

    indexing.append(fail)
    ingest_document(waiting.pk)
    waiting.refresh_from_db()
    assert (waiting.status, waiting.failure_code) == (Document.Status.FAILED, code)
    assert Document.objects.searchable().exists() == answers


def test_an_unexpected_error_says_nothing_of_its_inside(waiting: Document, indexing: list) -> None:
    def fail(document: Document) -> None:
        raise RuntimeError("/secret/path SELECT * FROM auth_user")

    indexing.append(fail)
    ingest_document(waiting.pk)
    waiting.refresh_from_db()
    assert waiting.failure_code == FailureCode.INTERNAL
    assert waiting.failure_message == FailureCode.INTERNAL.label


def test_a_worker_told_to_stop_as_it_takes_a_document_puts_it_back(
    waiting: Document, monkeypatch: pytest.MonkeyPatch
) -> None:
    def take_then_stop(document_id: uuid.UUID) -> leases.Lease | None:
        lease = leases.acquire(document_id)
        signal.raise_signal(signal.SIGTERM)
        return lease

    monkeypatch.setattr(pipeline, "acquire", take_then_stop)
    with pytest.raises(SystemExit):
        ingest_document(waiting.pk)
    waiting.refresh_from_db()
    assert (waiting.status, waiting.attempts, waiting.lease) == (Document.Status.UPLOADED, 0, None)
    monkeypatch.undo()
    assert ingest_document(waiting.pk)


def test_only_what_is_wrong_with_us_is_logged_as_an_error(
    alice: User, waiting: Document, indexing: list, ingested: Ingest, caplog: pytest.LogCaptureFixture
) -> None:
    ingested(alice, pdf=b"%PDF-1.7 and no more")

    def deleted_meanwhile(document: Document) -> None:
        document.delete()
        raise FileNotFoundError(document.file.name)

    indexing.append(deleted_meanwhile)
    ingest_document(waiting.pk)
    assert not [record for record in caplog.records if record.levelname == "ERROR"]
    indexing[:] = [lambda document: 1 / 0]
    ingested(alice, TEXT)
    assert [record.message for record in caplog.records if record.levelname == "ERROR"] == ["failed"]


def test_a_full_disk_is_said_to_be_full(waiting: Document, indexing: list) -> None:
    def fail(document: Document) -> None:
        raise OSError(28, "No space left on device")

    indexing.append(fail)
    ingest_document(waiting.pk)
    waiting.refresh_from_db()
    assert waiting.failure_code == FailureCode.INTERNAL
    assert "disk is full" in waiting.failure_message


@pytest.mark.django_db(transaction=True)
def test_a_database_that_went_away_costs_the_document_no_attempt(waiting: Document, indexing: list) -> None:
    def lose_connection(document: Document) -> None:
        raise OperationalError("server closed the connection unexpectedly")

    indexing.append(lose_connection)
    lease = leases.acquire(waiting.pk)
    assert lease
    ingest(lease)
    waiting.refresh_from_db()
    assert (waiting.status, waiting.attempts, waiting.lease) == (Document.Status.UPLOADED, 0, None)


def test_nobody_waits_behind_somebody_elses_many_files(alice: User, bob: User) -> None:
    def upload(owner: User, text: str) -> Document:
        return store_upload(owner, ContentFile(draw_pdf(text)), "a.pdf", queued=False)

    of_alice = [upload(alice, f"Alice {number}") for number in range(5)]
    of_bob = upload(bob, "Bob")
    order = []
    while (chosen := next_in_turn()) is not None:
        order.append(chosen)
        assert leases.acquire(chosen)
    assert order[0] == of_alice[0].pk
    assert order[1] == of_bob.pk
    assert order[2:] == [document.pk for document in of_alice[1:]]


def test_a_file_does_not_wait_behind_a_list_of_papers(alice: User) -> None:
    papers = [Document.objects.create(owner=alice, title=f"Paper {n}", kind="paper") for n in range(3)]
    file = store_upload(alice, ContentFile(draw_pdf("New.")), "new.pdf", queued=False)
    order = []
    while (chosen := next_in_turn()) is not None:
        order.append(chosen)
        assert leases.acquire(chosen)
    assert order == [file.pk, *(paper.pk for paper in papers)]


def test_what_was_never_read_goes_before_what_is_read_again(alice: User, bob: User, ingested: Ingest) -> None:
    again, third = ingested(bob, "Read before."), ingested(alice, "Read before, too.")
    for document in (again, third):
        assert ingest_again(document)
    new = store_upload(alice, ContentFile(draw_pdf("New.")), "new.pdf", queued=False)
    order = []
    while (chosen := next_in_turn()) is not None:
        order.append(chosen)
        assert leases.acquire(chosen)
    assert order == [new.pk, again.pk, third.pk]


@pytest.mark.django_db(transaction=True)
def test_the_same_ticket_fifty_times_at_once_is_worked_on_once(waiting: Document, indexing: list) -> None:
    bills: list[Document] = []
    indexing.append(bills.append)

    def deliver() -> None:
        ingest_document(waiting.pk)
        connection.close()

    threads = [threading.Thread(target=deliver) for _ in range(50)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    waiting.refresh_from_db()
    assert waiting.status == Document.Status.READY
    assert len(bills) == 1
    assert waiting.units.count() == waiting.unit_count
