"""Scanned pages are recognised in the background, page by page, after a document is searchable."""

from __future__ import annotations

import threading
import uuid
from typing import Any

import pymupdf
import pytest
from django.contrib.auth.models import User
from django.core.files.base import ContentFile
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from chat.answers.message_presenters import shown_message
from chat.answers.question_commands import ask, start_conversation
from chat.answers.write_answer import AnswerContext, write_answer
from chat.models import Message
from documents import tasks
from documents.files.uploads import store_upload
from documents.ingestion import pipeline, recognition
from documents.ingestion.leases import LostLease, acquire_for_recognition
from documents.ingestion.pipeline import cancel, ingest_again, ingest_document
from documents.ingestion.recognition import next_to_recognise, prioritise_pages, recognise_document
from documents.ingestion.source_files import replace_file
from documents.models import Document
from documents.models.content import MOST_TRIES
from documents.models.document import ranges
from documents.tasks import recover
from pdf.failures import FailureCode, ParseFailure, recognition_failure
from pdf.sandbox.messages import PageNotRecognised
from retrieval.models import ChunkVector
from tests.drawing import draw_pdf

pytestmark = pytest.mark.django_db
SENTENCES = ["The bridge was closed for repair.", "The tunnel is 4,310 metres long.", "The ferry runs daily."]


def scan(*lines: str, before: str = "This page has letters of its own.", after: str = "") -> bytes:
    """A page of text where there is ``before``, a picture of each line, a page of text ``after``."""
    document = pymupdf.open()
    if before:
        document.new_page().insert_text((72, 100), before)
    for line in lines:
        drawn = pymupdf.open()
        if line:
            drawn.new_page().insert_text((72, 100), line, fontsize=14)
        else:
            drawn.new_page()
        document.new_page().insert_image((0, 0, 595, 842), pixmap=drawn[0].get_pixmap(dpi=150))
    if after:
        document.new_page().insert_text((72, 100), after)
    return bytes(document.tobytes())


def store_and_ingest(owner: User, pdf: bytes) -> Document:
    document = store_upload(owner, ContentFile(pdf), "scan.pdf", queued=False)
    assert ingest_document(document.pk)
    document.refresh_from_db()
    return document


def words_of(document: Document, number: int) -> str:
    return " ".join(document.pages.get(number=number).text.split())


def test_pages_with_text_answer_before_the_others_are_read(alice: User) -> None:
    document = store_and_ingest(alice, scan(*SENTENCES))
    assert document.status == Document.Status.RECOGNISING
    assert (document.pages_read, document.pages_waiting) == (1, 3)
    assert document.failed_pages == []
    assert Document.objects.searchable().filter(pk=document.pk).exists()
    assert recognise_document(document.pk)
    document.refresh_from_db()
    assert (document.status, document.pages_waiting, document.failed_pages) == (Document.Status.READY, 0, [])
    assert [words_of(document, number) for number in (2, 3, 4)] == SENTENCES
    assert document.text_layer


def test_a_scan_without_any_text_is_no_failure_while_it_waits(alice: User) -> None:
    document = store_and_ingest(alice, scan(SENTENCES[0], before=""))
    assert (document.status, document.failure_code) == (Document.Status.RECOGNISING, "")
    assert not Document.objects.searchable().filter(pk=document.pk).exists()
    recognise_document(document.pk)
    document.refresh_from_db()
    assert document.status == Document.Status.READY
    assert Document.objects.searchable().filter(pk=document.pk).exists()


def test_a_file_of_blank_pages_has_no_text(alice: User) -> None:
    document = store_and_ingest(alice, scan("", before=""))
    recognise_document(document.pk)
    document.refresh_from_db()
    assert (document.status, document.failure_code) == (Document.Status.FAILED, FailureCode.NO_TEXT)


def test_what_was_read_keeps_its_ids_and_vectors_when_pages_come(alice: User) -> None:
    document = store_and_ingest(alice, scan(SENTENCES[0], after="The last page has letters as well."))
    units = {unit.content: unit.pk for unit in document.units.all()}
    vectors = dict(ChunkVector.objects.filter(document=document).values_list("chunk", "pk"))
    recognise_document(document.pk)
    now = {unit.content: unit.pk for unit in document.units.order_by("position")}
    assert list(now) == [
        "This page has letters of its own.",
        SENTENCES[0],
        "The last page has letters as well.",
    ]
    assert {content: now[content] for content in units} == units
    after = dict(ChunkVector.objects.filter(document=document).values_list("chunk", "pk"))
    kept = vectors.keys() & after.keys()
    assert all(after[chunk] == vectors[chunk] for chunk in kept)
    assert set(document.chunks.values_list("pk", flat=True)) == after.keys()


@pytest.mark.slow
def test_the_document_is_the_same_however_its_pages_came(alice: User, bob: User) -> None:
    pdf = scan(*SENTENCES, after="An end.")
    at_once, page_by_page = store_and_ingest(alice, pdf), store_and_ingest(bob, pdf)
    recognise_document(at_once.pk)
    while recognise_document(page_by_page.pk, yields_after(1)):
        pass
    for rows in ("units", "chunks"):
        one, other = (list(getattr(document, rows).all()) for document in (at_once, page_by_page))
        assert [row.content for row in one] == [row.content for row in other]
    page_by_page.refresh_from_db()
    assert page_by_page.status == Document.Status.READY


def yields_after(pages: int) -> recognition.Yields:
    """Yields once so many pages were answered."""
    asked = iter([False] + [False] * (pages - 1) + [True] * 100)
    return lambda: next(asked)


def test_a_page_somebody_looks_at_comes_first_and_is_taken_up_at_once(alice: User) -> None:
    document = store_and_ingest(alice, scan(*SENTENCES))
    prioritise_pages(document, 3, ahead=0)
    assert recognise_document(document.pk, yields_after(1))
    document.refresh_from_db()
    assert words_of(document, 3) == SENTENCES[1]
    assert (document.pages_read, document.status) == (2, Document.Status.RECOGNISING)


def test_a_document_somebody_looks_at_comes_before_an_older_one(alice: User) -> None:
    older, newer = store_and_ingest(alice, scan(SENTENCES[0])), store_and_ingest(alice, scan(SENTENCES[1]))
    assert next_to_recognise() == older.pk
    prioritise_pages(newer, 1)
    assert next_to_recognise() == newer.pk


def test_documents_that_wait_to_be_ingested_go_first(alice: User) -> None:
    store_and_ingest(alice, scan(SENTENCES[0]))
    waiting = store_upload(alice, ContentFile(draw_pdf("New.")), "new.pdf", queued=False)
    assert tasks.recognise_next() == str(waiting.pk)


@pytest.mark.slow
def test_a_page_that_fails_is_tried_again_and_then_says_why(alice: User, monkeypatch: Any) -> None:
    document = store_and_ingest(alice, scan(*SENTENCES[:2]))
    real = recognition.recognise_pages

    def failing(path: Any, numbers: Any, **more: Any) -> Any:
        if numbers and numbers[0] == 2:
            yield PageNotRecognised(2, FailureCode.TOO_MUCH_MEMORY)
            numbers = numbers[1:]
        yield from real(path, [number for number in numbers if number != 2], **more)

    monkeypatch.setattr(recognition, "recognise_pages", failing)
    recognise_document(document.pk)
    document.refresh_from_db()
    assert document.status == Document.Status.READY
    assert document.failed_pages == [[2, recognition_failure(FailureCode.TOO_MUCH_MEMORY)]]
    assert document.pages.get(number=2).tries == MOST_TRIES
    assert words_of(document, 3) == SENTENCES[1]

    monkeypatch.setattr(recognition, "recognise_pages", real)
    assert ingest_again(document)
    ingest_document(document.pk)
    recognise_document(document.pk)
    document.refresh_from_db()
    assert (document.failed_pages, words_of(document, 2)) == ([], SENTENCES[0])


@pytest.mark.slow
def test_a_child_that_breaks_costs_the_page_it_was_at(alice: User, monkeypatch: Any) -> None:
    document = store_and_ingest(alice, scan(*SENTENCES[:2]))
    real = recognition.recognise_pages

    def breaking(path: Any, numbers: Any, **more: Any) -> Any:
        if 2 in numbers:
            yield from real(path, numbers[: numbers.index(2)], **more)
            raise ParseFailure(FailureCode.INTERNAL, detail="the child ended")
        yield from real(path, numbers, **more)

    monkeypatch.setattr(recognition, "recognise_pages", breaking)
    recognise_document(document.pk)
    document.refresh_from_db()
    assert document.status == Document.Status.READY
    assert [number for number, _ in document.failed_pages] == [2]


@pytest.mark.slow
def test_a_worker_that_was_killed_leaves_what_was_recognised(alice: User) -> None:
    document = store_and_ingest(alice, scan(*SENTENCES))
    lease = acquire_for_recognition(document.pk)
    assert lease is not None
    (answer, *_) = recognition.recognise_pages(document.file.path, [2])
    recognition.store_result(lease, answer)  # and here it is killed, before the page is taken up
    recover(Document.objects.filter(pk=document.pk))
    document.refresh_from_db()
    assert (document.status, document.lease) == (Document.Status.RECOGNISING, None)
    recognise_document(document.pk)
    assert [words_of(document, number) for number in (2, 3, 4)] == SENTENCES


@pytest.mark.slow
def test_a_recognition_that_kills_each_worker_is_given_up(alice: User) -> None:
    document = store_and_ingest(alice, scan(SENTENCES[0]))
    for _ in range(3):
        acquire_for_recognition(document.pk)
        recover(Document.objects.filter(pk=document.pk))
    document.refresh_from_db()
    assert document.status == Document.Status.READY
    assert document.failed_pages == [[2, recognition_failure(FailureCode.INTERNAL)]]


@pytest.mark.slow
def test_a_replaced_file_takes_no_words_of_the_old_one(alice: User) -> None:
    document = store_and_ingest(alice, scan(SENTENCES[0]))
    lease = acquire_for_recognition(document.pk)
    assert lease is not None
    (answer, *_) = recognition.recognise_pages(document.file.path, [2])
    replace_file(document, ContentFile(scan(SENTENCES[1])), "new.pdf")
    with pytest.raises(LostLease):
        recognition.store_result(lease, answer)
    ingest_document(document.pk)
    recognise_document(document.pk)
    assert words_of(document, 2) == SENTENCES[1]


def test_recognition_that_is_stopped_says_so_and_goes_on_when_asked(alice: User) -> None:
    document = store_and_ingest(alice, scan(SENTENCES[0]))
    assert cancel(document)
    document.refresh_from_db()
    assert (document.status, document.pages_waiting) == (Document.Status.READY, 0)
    assert document.failed_ranges == [("2", pipeline.STOPPED)]
    assert ingest_again(document)
    ingest_document(document.pk)
    recognise_document(document.pk)
    assert words_of(document, 2) == SENTENCES[0]


@pytest.mark.slow
def test_only_one_has_a_document_at_a_time(alice: User) -> None:
    document = store_and_ingest(alice, scan(SENTENCES[0]))
    assert acquire_for_recognition(document.pk)
    assert not recognise_document(document.pk)
    assert not recognise_document(uuid.uuid4())
    Document.objects.filter(pk=document.pk).update(lease_expires_at=timezone.now())
    assert recognise_document(document.pk)


def test_page_numbers_are_told_as_ranges() -> None:
    assert ranges([3, 1, 7, 8, 9]) == "1, 3, 7–9"
    assert ranges([]) == ""


def test_search_answers_and_the_api_say_what_is_still_to_be_read(alice: User, client: Client) -> None:
    document = store_and_ingest(alice, scan(*SENTENCES, before="Trains stop at the old station."))
    client.force_login(alice)
    found = client.post("/api/search/", {"query": "station"}, content_type="application/json").json()
    assert (len(found["hits"]), found["pages_left"]) == (1, 3)
    assert "3 pages are still being read" in client.get(reverse("search"), {"q": "station"}).content.decode()
    told = client.get(f"/api/documents/{document.pk}/status/").json()
    assert (told["status"], told["pages_read"], told["pages_waiting"]) == ("recognising", 1, 3)
    assert "1 of 4 pages read" in client.get(reverse("library")).content.decode()
    asked = ask(start_conversation(alice, [document]), "Where do trains stop?")
    assert document.pages.filter(wanted_at__isnull=False).count() == 3, "a question brings its pages forward"
    write_answer(asked.answer, AnswerContext(lambda _: None, threading.Event()))
    assert "3 pages were still being read" in shown_message(reloaded(asked.answer)).summary.text

    recognise_document(document.pk)
    found = client.post("/api/search/", {"query": "tunnel metres"}, content_type="application/json").json()
    assert (found["hits"][0]["page"], found["pages_left"]) == (3, 0)
    told = client.get(f"/api/documents/{document.pk}/status/").json()
    assert (told["status"], told["pages_read"], told["pages_waiting"]) == ("ready", 4, 0)


@pytest.mark.slow
def test_pages_that_wait_are_told_also_while_those_that_were_read_are_indexed(
    alice: User, client: Client, monkeypatch: Any
) -> None:
    document = store_and_ingest(alice, scan(*SENTENCES, before="Trains stop at the old station."))
    client.force_login(alice)
    real, told = pipeline.document_parsed.send, []

    def send(sender: Any, document: Document) -> Any:
        row = Document.objects.get(pk=document.pk)
        shown = client.get(reverse("library")).content.decode()
        recognition.want_documents(Document.objects.filter(pk=document.pk))
        waiting = document.pages.exclude(awaits="")
        told.append((row.status, row.progress, recognition.pages_left(Document.objects.all())))
        assert "2 of 4 pages read" in shown
        assert waiting.filter(wanted_at__isnull=False).count() == 2, "what is asked about then comes first"
        return real(sender, document=document)

    monkeypatch.setattr(pipeline.document_parsed, "send", send)
    prioritise_pages(document, 3, ahead=0)
    recognise_document(document.pk, yields_after(1))
    assert told == [("indexing", 0.25, 2)], "progress is the share of pages read so far, from page to page"
    document.refresh_from_db()
    assert document.progress == 0.5


@pytest.mark.slow
def test_a_page_somebody_looks_at_is_not_recognised_in_the_background(alice: User, monkeypatch: Any) -> None:
    document = store_and_ingest(alice, scan(*SENTENCES))
    real, asked = recognition.recognise_pages, []

    def noted(path: Any, numbers: Any, **more: Any) -> Any:
        asked.append((tuple(numbers), more.pop("background")))
        return real(path, numbers, **more)

    monkeypatch.setattr(recognition, "recognise_pages", noted)
    prioritise_pages(document, 4)
    wanted = list(document.pages.values_list("wanted_at", flat=True))
    prioritise_pages(document, 4)
    assert list(document.pages.values_list("wanted_at", flat=True)) == wanted, "who waits asks again"
    recognise_document(document.pk, background=True)
    assert asked == [((4,), False), ((2, 3), True)]
    document.refresh_from_db()
    assert document.status == Document.Status.READY


@pytest.mark.slow
def test_the_page_somebody_looks_at_comes_before_those_after_it(alice: User, monkeypatch: Any) -> None:
    document = store_and_ingest(alice, scan(*SENTENCES * 3))
    real, asked = recognition.recognise_pages, []

    def noted(path: Any, numbers: Any, **more: Any) -> Any:
        asked.append(tuple(numbers))
        return real(path, numbers, **more)

    monkeypatch.setattr(recognition, "recognise_pages", noted)
    prioritise_pages(document, 3)
    recognise_document(document.pk, yields_after(1))
    assert asked == [(3,)]
    assert document.units.filter(page_number=3).exists(), "it is laid out before the next is recognised"


def reloaded(answer: Message) -> Message:
    return Message.objects.get(pk=answer.pk)


def test_the_reader_brings_the_page_it_shows_forward(alice: User, client: Client) -> None:
    document = store_and_ingest(alice, scan(*SENTENCES * 3))
    client.force_login(alice)
    shown = client.get(reverse("document-state", args=[document.pk]), {"page": 4}).content.decode()
    assert "1 of 10 pages read" in shown
    wanted = document.pages.filter(wanted_at__isnull=False).order_by("number")
    assert list(wanted.values_list("number", flat=True)) == [4, 5, 6, 7]
