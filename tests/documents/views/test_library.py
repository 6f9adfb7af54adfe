from __future__ import annotations

import re
import uuid
from collections import Counter
from unittest.mock import patch

import pytest
from django.contrib.auth.models import User
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import _trans
from pytest_django import DjangoAssertNumQueries
from pytest_django.asserts import assertInHTML

from documents.models import Collection, Document, Share, Tag
from documents.tasks import GIVEN_UP, recover_from
from tests.conftest import Ingest
from tests.drawing import draw_pdf

LIBRARY = "/"


@pytest.fixture
def browser(alice: User, client: Client) -> Client:
    client.force_login(alice)
    return client


def many_documents(owner: User, number: int) -> None:
    tag = Tag.objects.create(owner=owner, name=f"tag {number}")
    rows = Document.objects.bulk_create(
        Document(owner=owner, title=f"Report {index}", status="ready", sha256=f"{number}-{index}")
        for index in range(number)
    )
    tag.documents.set(rows)


def titles(browser: Client, query: str = "") -> list[str]:
    return [document.title for document in browser.get(LIBRARY + query).context["page"]]


def test_an_empty_library_says_what_to_do(browser: Client) -> None:
    assert "Your library is empty" in browser.get(LIBRARY).content.decode()


def test_cards_of_the_same_title_are_told_apart_by_their_files(browser: Client, alice: User) -> None:
    for name in ("v1.pdf", "v2.pdf"):
        Document.objects.create(owner=alice, title="Lease", original_name=name, sha256=name)
    page = browser.get(LIBRARY).content.decode()
    assert "Lease (v1.pdf)</a>" in page and "Lease (v2.pdf)</a>" in page


def test_the_number_of_queries_does_not_grow_with_the_library(
    browser: Client, alice: User, django_assert_max_num_queries: DjangoAssertNumQueries
) -> None:
    for number in (3, 40):
        many_documents(alice, number)
        with django_assert_max_num_queries(10):
            browser.get(LIBRARY)


def further(browser: Client, query: str) -> tuple[list[str], str]:
    """The titles of the cards that follow, and the page."""
    response = browser.get(reverse("documents-further") + query)
    return [document.title for document in response.context["documents"]], response.content.decode()


def test_the_cards_that_follow_come_with_the_address_of_those_after_them(
    browser: Client, alice: User, django_assert_max_num_queries: DjangoAssertNumQueries
) -> None:
    many_documents(alice, 120)
    expected = titles(browser, "?order=title&page=2")
    with django_assert_max_num_queries(6):
        shown, page = further(browser, "?order=title&start=48")
    assert shown == expected
    assert 'hx-get="/documents/further/?order=title"' in page
    assert 'href="/?order=title&amp;page=3"' in page
    shown, page = further(browser, "?order=title&start=96")
    assert len(shown) == 24
    assert "documents-further" not in page


def test_pictures_of_cards_that_follow_come_after_the_cards_after_them(browser: Client, alice: User) -> None:
    many_documents(alice, 60)
    Document.objects.update(file="report.pdf", page_count=1)
    _titles, page = further(browser, "?start=48")
    assert page.count('fetchpriority="low"') == page.count("<img") == 12
    assert 'fetchpriority="low"' not in browser.get(LIBRARY).content.decode()


def test_none_is_repeated_or_left_out_where_documents_came_or_went(browser: Client, alice: User) -> None:
    many_documents(alice, 60)
    first = titles(browser, "?order=title")
    Document.objects.filter(title__in=first[:5]).update(deleted_at=timezone.now())
    shown, _page = further(browser, f"?order=title&start={len(first) - 5}")
    assert sorted({*first, *shown}) == sorted(f"Report {number}" for number in range(60))
    assert not {*first} & {*shown}


@pytest.mark.parametrize("start", ["", "-1", "²", "9" * 40, "x"])
def test_a_start_that_makes_no_sense_is_the_first_card(browser: Client, alice: User, start: str) -> None:
    many_documents(alice, 2)
    assert len(further(browser, f"?start={start}")[0]) == 2


def test_nobody_scrolls_to_the_documents_of_others(client: Client, alice: User, bob: User) -> None:
    many_documents(alice, 60)
    client.force_login(bob)
    assert further(client, "?start=0")[0] == []


def test_what_all_cards_say_is_translated_once(browser: Client, alice: User) -> None:
    many_documents(alice, 40)
    with patch.object(_trans, "gettext", wraps=_trans.gettext) as translated:
        browser.get(LIBRARY)
    said = Counter(call.args[0] for call in translated.call_args_list)
    assert said["Details and sharing"] == said["Open"] == 1


def test_collections_and_tags_are_listed_by_name_with_their_numbers(
    browser: Client, alice: User, bob: User
) -> None:
    rows = [Document.objects.create(owner=alice, title=name, status="failed") for name in ("One", "Two")]
    theirs = Document.objects.create(owner=bob, title="Not Alice's")
    for name in ("Reports", "Audits", "Letters"):
        Collection.objects.create(owner=alice, name=name).documents.set(rows[: len(name) - 5])
        Tag.objects.create(owner=alice, name=name.lower()).documents.set(rows[: len(name) - 6])
    Collection.objects.get(name="Audits").documents.add(theirs)
    sidebar = browser.get(LIBRARY).context["sidebar"]
    collections = [("Audits", 1), ("Letters", 2), ("Reports", 2)]
    assert [(row.name, row.number) for row in sidebar.collections] == collections
    assert [(row.name, row.number) for row in sidebar.tags] == [("audits", 0), ("letters", 1), ("reports", 1)]
    for row in sidebar.collections:
        page = browser.get(f"{LIBRARY}?collection={row.pk}").context["page"]
        assert page.paginator.count == len(page) == row.number
    assert browser.get(f"{LIBRARY}?state=failed").context["page"].paginator.count == 2
    assert browser.get(f"{LIBRARY}?state=ready").context["page"].paginator.count == 0


def test_the_library_can_be_searched_filtered_and_ordered(browser: Client, alice: User) -> None:
    for title, status in (("Banana", "ready"), ("Apple pie", "failed"), ("Cherry", "parsing")):
        Document.objects.create(owner=alice, title=title, status=status)
    assert titles(browser, "?order=title") == ["Apple pie", "Banana", "Cherry"]
    assert titles(browser, "?q=pie+apple") == ["Apple pie"]
    assert titles(browser, "?state=working") == ["Cherry"]


@pytest.mark.parametrize(
    "query", ["?order=nonsense", "?tag=nonsense", "?page=99", "?state=x", "?collection="]
)
def test_a_query_that_makes_no_sense_shows_the_whole_library(
    browser: Client, alice: User, query: str
) -> None:
    many_documents(alice, 2)
    assert len(titles(browser, query)) == 2


def test_the_heading_names_what_is_shown(browser: Client, alice: User) -> None:
    tag = Tag.objects.create(owner=alice, name="Fruit")
    for query, heading in (("", "Library"), ("?state=failed", "Failed"), (f"?tag={tag.pk}", "Fruit")):
        page = browser.get(LIBRARY + query).content.decode()
        assertInHTML(f'<h1 id="library-title">{heading}</h1>', page)


def test_nobody_sees_the_documents_of_others(client: Client, alice: User, bob: User) -> None:
    many_documents(alice, 2)
    client.force_login(bob)
    assert titles(client) == []


def test_an_upload_answers_the_card_of_the_new_document(browser: Client, alice: User) -> None:
    file = SimpleUploadedFile("My_report.pdf", draw_pdf("Hello"))
    response = browser.post(reverse("document-upload"), {"file": file})
    assert response.status_code == 201
    assert "My report" in response.content.decode()
    assert Document.objects.get().owner == alice


def test_a_refused_upload_says_why(browser: Client) -> None:
    response = browser.post(reverse("document-upload"), {"file": SimpleUploadedFile("a.pdf", b"<html>")})
    assert response.status_code == 422
    assert "not a PDF" in response.content.decode()


def test_a_second_copy_leads_to_the_first(browser: Client, alice: User, ingested: Ingest) -> None:
    pdf = draw_pdf("Only once")
    first = ingested(alice, pdf=pdf)
    response = browser.post(reverse("document-upload"), {"file": SimpleUploadedFile("b.pdf", pdf)})
    assert response["X-Existing"] == reverse("document", args=[first.pk])


def test_a_deleted_document_can_be_brought_back(browser: Client, alice: User, ingested: Ingest) -> None:
    document = ingested(alice, "Here today")
    browser.post(reverse("document-delete", args=[document.pk]))
    assert titles(browser) == []
    browser.post(reverse("document-restore", args=[document.pk]))
    assert len(titles(browser)) == 1


def test_a_deleted_document_does_not_come_back_beside_a_new_copy(
    browser: Client, alice: User, ingested: Ingest
) -> None:
    pdf = draw_pdf("Twice")
    document = ingested(alice, pdf=pdf)
    browser.post(reverse("document-delete", args=[document.pk]))
    ingested(alice, pdf=pdf)
    assert browser.post(reverse("document-restore", args=[document.pk])).status_code == 409


def test_the_page_asks_for_its_numbers_anew_when_a_file_was_taken(browser: Client, alice: User) -> None:
    file = SimpleUploadedFile("harbour.pdf", draw_pdf("Harbour"))
    answer = browser.post(reverse("document-upload"), {"file": file})
    assert (answer.status_code, answer.headers["HX-Trigger"]) == (201, "librarychanged")
    assert "<small" in browser.get(LIBRARY).content.decode().split("state=working")[1].split("</a>")[0]


def test_the_sidebar_counts_what_is_read_and_failed_and_is_asked_for_anew_when_reading_ends(
    browser: Client, alice: User, bob: User
) -> None:
    reading = Document.objects.create(owner=alice, title="Reading", status="parsing")
    Document.objects.create(owner=bob, title="Not hers", status="failed")
    cards = f"{reverse('document-cards')}?id={reading.pk}"
    assert "HX-Trigger" not in browser.get(cards).headers
    sidebar = browser.get(LIBRARY).context["sidebar"]
    assert (sidebar.working, sidebar.failed) == (1, 0)
    Document.objects.filter(pk=reading.pk).update(status="failed")
    assert browser.get(cards).headers["HX-Trigger"] == "librarychanged"
    states = browser.get(LIBRARY).content.decode().split('id="states"')[1].split("</nav>")[0]
    assert re.search(r'state=failed".*<small[^>]*>1</small>', states)


@pytest.mark.parametrize("page", ["/?as=grid", "/?as=list", "details"])
def test_a_document_that_was_given_up_says_so_and_is_tried_again_where_it_says_so(
    browser: Client, alice: User, ingested: Ingest, page: str
) -> None:
    document = ingested(alice, "Cut off")
    failed = {"status": Document.Status.PARSING, "attempts": 2, "lease_holder": "gone", "lease": uuid.uuid4()}
    Document.objects.update(**failed)
    recover_from("gone")
    url = reverse("document-details", args=[document.pk]) if page == "details" else page
    again = reverse("document-retry", args=[document.pk])
    body = browser.get(url).content.decode()
    assert GIVEN_UP in body
    form = re.search(
        rf'(?s)<form (method="post" action|hx-post)="{again}">.*?Try again</button></form>', body
    )
    assert form
    browser.post(again, headers={"HX-Request": "true"} if "hx-post" in form[0] else {})
    document.refresh_from_db()
    assert (document.status, document.failure_message) == (Document.Status.UPLOADED, "")


@pytest.mark.parametrize("name", ["document-delete", "document-restore", "document-retry", "document-rename"])
def test_another_user_can_change_nothing(name: str, client: Client, alice: User, bob: User) -> None:
    document = Document.objects.create(owner=alice, title="Mine", status="ready")
    client.force_login(bob)
    assert client.post(reverse(name, args=[document.pk]), {"title": "Yours"}).status_code == 404
    document.refresh_from_db()
    assert (document.title, document.deleted_at, document.status) == ("Mine", None, "ready")


def test_the_menu_of_a_card_offers_what_its_reader_may_do(
    browser: Client, alice: User, bob: User, charlie: User
) -> None:
    document = Document.objects.create(owner=alice, title="Mine", status="ready", file="mine.pdf")
    Share.objects.create(document=document, user=bob)
    menu = reverse("document-menu", args=[document.pk])
    offered = browser.get(menu).content.decode()
    assert all(action in offered for action in ("Tag", "Rename", "Download PDF", "Re-process", "Delete"))
    browser.force_login(bob)
    offered = browser.get(menu).content.decode()
    assert "Tag" in offered and "Download PDF" in offered
    assert not any(action in offered for action in ("Rename", "collection", "Re-process", "Delete"))
    browser.force_login(charlie)
    assert browser.get(menu).status_code == 404


def test_a_title_from_a_document_is_escaped(browser: Client, alice: User) -> None:
    Document.objects.create(owner=alice, title="<script>alert(1)</script>", status="ready")
    page = browser.get(LIBRARY).content.decode()
    assert "<script>alert" not in page
    assert "&lt;script&gt;alert" in page


def test_an_address_becomes_a_card_or_a_reason(browser: Client) -> None:
    card = browser.post(reverse("document-fetch"), {"url": "https://example.org/Annual_report.pdf"})
    assert card.status_code == 201
    assert "Annual report" in card.content.decode()
    refused = browser.post(reverse("document-fetch"), {"url": "file:///etc/passwd"})
    assert (refused.status_code, Document.objects.count()) == (422, 1)


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"status": "uploaded"}, "Waiting"),
        ({"status": "parsing", "source_url": "https://example.org/a.pdf"}, "Downloading"),
        ({"status": "parsing", "original": "a.docx"}, "Converting to PDF"),
        ({"status": "parsing", "file": "a.pdf", "progress": 0.25, "page_count": 80}, "Page 20 of 80 read"),
        (
            {"status": "indexing", "file": "a.pdf", "progress": 0.5, "chunk_count": 8},
            "4 of 8 passages indexed",
        ),
    ],
)
def test_a_card_says_how_far_its_document_is(
    browser: Client, alice: User, fields: dict[str, object], words: str
) -> None:
    Document.objects.create(owner=alice, title="At work", **fields)
    assert words in " ".join(browser.get(LIBRARY).content.decode().split())


def test_what_was_uploaded_is_only_ever_a_download(browser: Client, ingested: Ingest, alice: User) -> None:
    file = SimpleUploadedFile("page.html", b"<h1>Owls</h1><script>alert(1)</script>")
    browser.post(reverse("document-upload"), {"file": file})
    response = browser.get(reverse("document-original", args=[Document.objects.get().pk]))
    assert response["Content-Type"] == "application/octet-stream"
    assert response["Content-Disposition"] == 'attachment; filename="page.html"'
    pdf = ingested(alice, "Words.")
    assert browser.get(reverse("document-original", args=[pdf.pk])).status_code == 404
