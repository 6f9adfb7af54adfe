"""Near spellings of words that no passage has."""

from __future__ import annotations

import pytest
from django.contrib.auth.models import User
from django.test import Client

import retrieval.query.spelling
from documents.models import Document
from retrieval.query.scope import Scope
from retrieval.results import SearchOptions
from retrieval.search import search
from tests.retrieval.conftest import written

pytestmark = pytest.mark.django_db


@pytest.fixture
def streaming(alice: User) -> Document:
    return written(
        alice,
        "Streaming services",
        ("# Companies", "Netflix charges its subscribers each month; the subscription ends on request."),
        ("# Others", "Another company has no subscribers."),
    )


def respelt(user: User, query: str) -> str:
    return search(query, Scope(user), SearchOptions(spelling=True)).respelt


@pytest.mark.parametrize(
    ("query", "meant"),
    [
        ("Neflix", "Netflix"),
        ("what does Netfilx charge", "what does Netflix charge"),
        ("subcsribers", "subscribers"),
        ("subscripiton", "subscription"),  # of a misspelt ending no stem is known
        ("requset", "request"),
        ("Neflix*", ""),  # the beginning of a word
        ("requires", ""),  # not "request", though their stems are near
        ("Netflix subscribers", ""),
        ("subscriber", ""),  # another form of a word that is there
        ("volcano", ""),  # nothing is near
        ("Netf", ""),  # too short
        ("café?", ""),
        ("12345 $%&", ""),
    ],
)
def test_a_word_that_no_passage_has_is_offered_as_it_is_printed(
    alice: User, streaming: Document, query: str, meant: str
) -> None:
    assert respelt(alice, query) == meant


def test_words_of_others_documents_are_not_offered(streaming: Document, bob: User) -> None:
    written(bob, "Rivers", ("# Rivers", "The river flows to the sea."))
    assert not respelt(bob, "Neflix")


def test_words_of_a_large_library_come_from_the_statistics(
    alice: User, streaming: Document, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(retrieval.query.spelling, "EXACT_UP_TO", 0)
    known = retrieval.query.spelling.document_frequencies()
    monkeypatch.setattr(
        retrieval.query.spelling, "document_frequencies", lambda: type(known)({"netflix": 0.1}, 0.1)
    )
    assert respelt(alice, "Neflix") == "Netflix"


def test_the_search_page_and_the_api_offer_it(alice: User, streaming: Document, client: Client) -> None:
    client.force_login(alice)
    page = client.get("/search/", {"q": "Neflix", "type": "prose"}).content.decode()
    assert "Did you mean Netflix?" in page
    assert 'href="?q=Netflix&amp;type=prose"' in page
    found = client.post("/api/search/", {"query": "Neflix"}, content_type="application/json").json()
    assert found["respelt"] == "Netflix"
