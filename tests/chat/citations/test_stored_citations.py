from __future__ import annotations

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse
from pytest_django import DjangoAssertNumQueries

from chat.citations.stored_citations import LinkTarget, highlights_at
from chat.models import Citation, Note
from chat.views.reader import READ_AHEAD
from documents.models import Document
from tests.conftest import Ingest

FIRST = "The quick brown fox jumps over the lazy dog."


@pytest.fixture
def report(alice: User, ingested: Ingest) -> Document:
    return ingested(alice, FIRST, "A second page speaks of long-term debt.")


@pytest.fixture
def browser(alice: User, client: Client) -> Client:
    client.force_login(alice)
    return client


def test_the_unit_is_pale_and_the_quoted_words_are_strong(report: Document) -> None:
    unit = report.units.get(page_number=1)
    (lit,) = highlights_at(report, LinkTarget(unit=unit.pk, quote="BROWN  fox"))
    (passage,), (words,) = lit.unit, lit.anchor
    assert passage[0] < words[0] < words[2] < passage[2]
    assert min(passage) >= 0 and max(passage) <= 1


@pytest.mark.parametrize("quote", ["long term debt", "long‐term  DEBT", "speaks of long- term debt"])
def test_words_that_are_not_verbatim_on_the_page_are_found_all_the_same(report: Document, quote: str) -> None:
    (lit,) = highlights_at(report, LinkTarget(page=2, quote=quote))
    assert lit.page == 2
    assert len(lit.anchor) == 1


def test_words_of_another_page_are_shown_where_they_stand(report: Document) -> None:
    assert [lit.page for lit in highlights_at(report, LinkTarget(page=1, quote="long-term debt"))] == [2]
    assert [lit.page for lit in highlights_at(report, LinkTarget(quote="lazy dog"))] == [1]


def test_words_that_are_nowhere_light_nothing_and_the_page_is_shown(report: Document) -> None:
    (lit,) = highlights_at(report, LinkTarget(page=2, quote="(.*) purple zebra"))
    assert (lit.page, lit.anchor) == (2, ())
    assert highlights_at(report, LinkTarget()) == []


def test_a_quote_over_a_page_break_is_lit_on_both_pages(alice: User, ingested: Ingest) -> None:
    document = ingested(
        alice, "The board expects that revenue", "will grow by seven percent in the next year."
    )
    quote = "The board expects that revenue will grow by seven percent in the next year."
    lit = highlights_at(document, LinkTarget(page=1, quote=quote))
    assert [found.page for found in lit] == [1, 2]
    assert all(found.anchor for found in lit)


def test_a_link_to_a_citation_lights_its_very_words_before_any_panel_is_open(
    browser: Client, alice: User, bob: User, report: Document
) -> None:
    browser.post(reverse("document-quote", args=[report.pk]), {"page": "1", "words": "brown fox"})
    citation = Citation.objects.get()
    path = reverse("document-highlight", args=[report.pk])
    (lit,) = browser.get(f"{path}?page=2&citation={citation.pk}").json()
    assert (lit["page"], len(lit["unit"]), len(lit["anchor"])) == (1, 1, 1)
    assert (lit["colour"], lit["verdict"]) == (1, "exact")
    Note.objects.update(owner=bob)
    (lit,) = browser.get(f"{path}?page=2&citation={citation.pk}").json()
    assert (lit["page"], lit["anchor"]) == (2, [])


def test_a_link_that_makes_no_sense_opens_the_document(
    browser: Client, report: Document, subtests: pytest.Subtests
) -> None:
    for query in ["page=x", "page=99999999999", "unit=no", "page=-1", "page=²"]:
        with subtests.test(query=query):
            assert browser.get(reverse("document", args=[report.pk]) + f"?{query}").status_code == 200
            assert (
                browser.get(reverse("document-highlight", args=[report.pk]) + f"?{query}").status_code == 200
            )


def test_a_short_file_is_asked_for_with_the_page_and_a_long_one_is_not(
    browser: Client, report: Document
) -> None:
    address = reverse("document", args=[report.pk])
    preload = (
        f'<link rel="preload" as="fetch" crossorigin href="{reverse("document-file", args=[report.pk])}">'
    )
    assert preload in browser.get(address).content.decode()
    Document.objects.filter(pk=report.pk).update(size=READ_AHEAD + 1)
    assert preload not in browser.get(address).content.decode()


def test_the_reader_asks_the_database_six_times(
    browser: Client, report: Document, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    with django_assert_num_queries(
        6
    ):  # session, user, document, where it was last read, sizes of its pages, whether the tour ended
        browser.get(reverse("document", args=[report.pk]))


def test_notes_that_link_to_a_place_are_marked_in_its_margin(
    browser: Client, alice: User, report: Document
) -> None:
    link = f"[p. 2](http://testserver/documents/{report.pk}/?page=2&q=long-term+debt)"
    note = Note.objects.create(owner=alice, title="On <debt>", content=f"> long-term debt\n\n{link}")
    page = browser.get(reverse("document-pins", args=[report.pk])).content.decode()
    assert f"?note={note.pk}" in page
    assert 'data-page="2"' in page
    assert "On &lt;debt&gt;" in page


def test_notes_of_others_are_not_marked(
    alice: User, bob: User, report: Document, client: Client, ingested: Ingest
) -> None:
    Note.objects.create(owner=alice, title="Mine", content=f"/documents/{report.pk}/?page=1&q=fox")
    client.force_login(bob)
    assert client.get(reverse("document-pins", args=[report.pk])).status_code == 404
    theirs = ingested(bob, FIRST)
    assert "Mine" not in client.get(reverse("document-pins", args=[theirs.pk])).content.decode()
