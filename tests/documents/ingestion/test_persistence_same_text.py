"""Documents whose files differ and whose text does not: found among those a person may read."""

from __future__ import annotations

import re

import pymupdf
import pytest
from django.contrib.auth.models import User
from django.core.files.base import ContentFile
from django.test import Client
from django.urls import reverse

from documents.files.uploads import store_upload
from documents.ingestion.persistence import text_digest
from documents.ingestion.pipeline import ingest_document
from documents.ingestion.recognition import recognise_document
from documents.ingestion.source_files import replace_file
from documents.library import move_to_trash
from documents.models import Collection, Document, Share
from tests.conftest import Ingest
from tests.documents.ingestion.test_recognition import scan
from tests.documents.ingestion.test_source_files_versions import replace_with
from tests.drawing import draw_pdf

PAGES = (
    "The northern division sold 4,711 million litres of milk in the year that ended in March.",
    "The southern division sold nothing, since its only dairy burnt down on the second of April.",
)


def saved_again(pdf: bytes, title: str = "Saved again") -> bytes:
    """Return the same pages with other metadata, other compression and another id."""
    with pymupdf.open(stream=pdf) as file:
        file.set_metadata({"title": title, "producer": "Another printer"})
        return bytes(file.tobytes(garbage=4, deflate=True))


def same(user: User, document: Document) -> list[str]:
    row = Document.objects.visible_to(user).with_same_text(user).get(pk=document.pk)
    return [other["id"] for other in row.same_text]


@pytest.fixture
def browser(alice: User, client: Client) -> Client:
    client.force_login(alice)
    return client


def test_a_file_saved_again_is_shown_as_the_same_text(alice: User, ingested: Ingest, browser: Client) -> None:
    report = ingested(alice, *PAGES, name="Report.pdf")
    copy = ingested(alice, name="Report (1).pdf", pdf=saved_again(draw_pdf(*PAGES)))
    other = ingested(alice, PAGES[0], "It burnt down again.", name="Next year.pdf")
    assert report.sha256 != copy.sha256 and report.text_digest == copy.text_digest
    assert same(alice, report) == [str(copy.pk)] and same(alice, copy) == [str(report.pk)]
    assert same(alice, other) == []
    library = browser.get("/").content.decode()
    assert library.count("Same text as") == 2
    for page in ("document-details", "document-contents"):
        shown = browser.get(reverse(page, args=[copy.pk])).content.decode()
        assert "Same text as" in shown and str(report.pk) in shown
        assert "Same text as" not in browser.get(reverse(page, args=[other.pk])).content.decode()
    assert browser.get(f"/api/documents/{copy.pk}/").json()["same_text"] == [str(report.pk)]
    listed = {row["id"]: row["same_text"] for row in browser.get("/api/documents/").json()["results"]}
    assert listed == {str(report.pk): [str(copy.pk)], str(copy.pk): [str(report.pk)], str(other.pk): []}


def test_a_search_shows_a_passage_of_two_copies_once(
    alice: User, bob: User, ingested: Ingest, browser: Client
) -> None:
    ingested(alice, *PAGES, name="Report.pdf")
    ingested(alice, name="Report (1).pdf", pdf=saved_again(draw_pdf(*PAGES)))
    ingested(bob, name="Secret name.pdf", pdf=saved_again(draw_pdf(*PAGES), title="Secret"))
    ingested(alice, PAGES[0], "It burnt down again.", name="Next year.pdf")
    shown = browser.get("/search/?q=northern+division").content.decode()
    hits = re.findall(r'<li class="hit">.*?</li>', shown, re.DOTALL)
    assert [("Same text in" in hit, hit.count("Saved again")) for hit in hits] == [(True, 1), (False, 0)]
    assert "Secret" not in shown


def test_nobody_learns_that_another_has_the_same_text(
    alice: User, bob: User, ingested: Ingest, browser: Client
) -> None:
    own = ingested(alice, *PAGES, name="Report.pdf")
    theirs = ingested(bob, name="Secret name.pdf", pdf=saved_again(draw_pdf(*PAGES)))
    assert own.text_digest == theirs.text_digest
    assert same(alice, own) == [] == same(bob, theirs)
    for path in ("/", reverse("document-details", args=[own.pk]), "/api/documents/"):
        shown = browser.get(path).content.decode()
        assert "Secret name" not in shown and str(theirs.pk) not in shown
    collection = Collection.objects.create(owner=bob, name="Shared")
    theirs.collections.add(collection)
    Share.objects.create(collection=collection, user=alice)
    assert same(alice, own) == [str(theirs.pk)] and same(bob, theirs) == []


def test_a_document_in_the_bin_or_with_a_new_version_is_no_longer_the_same(
    alice: User, ingested: Ingest
) -> None:
    report = ingested(alice, *PAGES)
    copies = [ingested(alice, pdf=saved_again(draw_pdf(*PAGES), title)) for title in ("One", "Two")]
    move_to_trash(copies[0])
    assert same(alice, report) == [str(copies[1].pk)]
    replace_with(copies[1], *PAGES, "A third page.")
    assert same(alice, report) == []


def test_the_previous_text_counts_until_a_new_version_is_parsed(alice: User, ingested: Ingest) -> None:
    report, copy = ingested(alice, *PAGES), ingested(alice, pdf=saved_again(draw_pdf(*PAGES)))
    replace_file(copy, ContentFile(draw_pdf("Another text. " * 20)), "")
    assert same(alice, report) == [str(copy.pk)]


def test_short_texts_and_unread_pages_are_the_same_as_nothing(alice: User, ingested: Ingest) -> None:
    short = ingested(alice, "This page is left blank.")
    copy = ingested(alice, pdf=saved_again(draw_pdf("This page is left blank.")))
    assert (short.text_digest, copy.text_digest) == ("", "")
    assert same(alice, short) == []


def test_what_writers_of_pdfs_change_is_no_part_of_the_text() -> None:
    line = "An office file of the first rank. " * 4
    written = "An of\N{SOFT HYPHEN}fice  \N{LATIN SMALL LIGATURE FI}le of the\nfirst rank. " * 4
    plain = text_digest([line, "Its end."])
    assert len(plain) == 32
    assert plain == text_digest([f"{written}Its end."])
    assert plain != text_digest([line, "Its ends."])
    assert text_digest([]) == text_digest([" " * 500]) == ""


@pytest.mark.slow
def test_scans_are_compared_once_their_words_are_recognised(alice: User) -> None:
    pdf = scan(*PAGES)
    rows = [store_upload(alice, ContentFile(file), "s.pdf", queued=False) for file in (pdf, saved_again(pdf))]
    for row in rows:
        ingest_document(row.pk)
    assert set(Document.objects.values_list("text_digest", flat=True)) == {""}
    for row in rows:
        recognise_document(row.pk)
    assert same(alice, rows[0]) == [str(rows[1].pk)]
