"""Words selected on a page, added to a note as live citations."""

from __future__ import annotations

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse

from chat.models import Citation, Note
from documents.models import Document
from tests.conftest import Ingest

PAGE = "The anvils of the desert weigh 1,577 tons.\n\nNobody has ever dropped one of them twice."


@pytest.fixture
def report(alice: User, ingested: Ingest) -> Document:
    return ingested(alice, PAGE)


def quote(client: Client, document: Document, words: str) -> Note:
    said = client.post(reverse("document-quote", args=[document.pk]), {"page": "1", "words": words})
    assert said.status_code == 200, said.content
    return Note.objects.get()


def test_selected_words_are_a_citation_of_their_passage(
    alice: User, client: Client, report: Document
) -> None:
    client.force_login(alice)
    note = quote(client, report, "weigh 1,577 tons")
    citation = note.citations.get()
    assert note.content == f"> weigh 1,577 tons [[cite:{citation.pk}:1]]\n"
    assert (citation.quote, citation.verdict, citation.message) == ("weigh 1,577 tons", "exact", None)
    assert citation.unit is not None and citation.rects and citation.document == report
    assert Citation.objects.visible_to(alice).get() == citation


def test_words_of_two_passages_are_cited_one_by_one_and_join_the_same_note(
    alice: User, client: Client, report: Document
) -> None:
    client.force_login(alice)
    quote(client, report, "1,577 tons")
    note = quote(client, report, "1,577 tons. Nobody has ever dropped one")
    quotes = [citation.quote for citation in note.citations.order_by("created_at", "char_start")]
    assert quotes == ["1,577 tons", "1,577 tons.", "Nobody has ever dropped one"]
    assert note.content.count("[[cite:") == 3 and note.revision == 2


def test_words_that_no_passage_holds_are_a_link_to_their_page(
    alice: User, client: Client, report: Document
) -> None:
    client.force_login(alice)
    note = quote(client, report, "purple zebras")
    assert f"> purple zebras [p. 1](/documents/{report.pk}/?page=1&q=purple+zebras)" in note.content


def test_nobody_quotes_from_a_document_they_cannot_see(bob: User, client: Client, report: Document) -> None:
    client.force_login(bob)
    path = reverse("document-quote", args=[report.pk])
    assert client.post(path, {"page": "1", "words": "anvils"}).status_code == 404
    assert not Note.objects.exists()
