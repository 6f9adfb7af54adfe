"""Find in a document: what typed words match, and where the reader and the API say they are."""

from __future__ import annotations

import pytest
from django.contrib.auth.models import User
from django.test import Client

from chat.citations.anchoring.page_sources import WordQuery, matches_on
from chat.citations.anchoring.page_text import fold
from tests.api_clients import client_of
from tests.conftest import Ingest


def found(text: str, words: str, whole: bool = False) -> list[str]:
    return [text[start:end] for start, end in matches_on(fold(text), WordQuery(words, whole))]


@pytest.mark.parametrize(
    ("text", "words", "matches"),
    [
        ("The valve, the VALVES and a bivalve.", "valve", ["valve", "VALVE", "valve"]),
        ("Crème brûlée or creme brulee", "crème brulee", ["Crème brûlée", "creme brulee"]),
        ("the con-\nsequence of a consequence", "consequence", ["con-\nsequence", "consequence"]),
        ("a long-term and a long term plan", "long term", ["long-term", "long term"]),
        ("an e-mail, an email", "e-mail", ["e-mail", "email"]),
        ("first line\nsecond line", "line second", ["line\nsecond"]),
        ("the income; what comes in comes late", "in come", ["in come"]),
        ("no me at or meat", "meat", ["meat"]),
        ("pages 10–12 of 1012", "1012", ["1012"]),
        ("pages 10–12 of 1012", "10-12", ["10–12"]),
        ("pages 10 12 of 1012", "10 12", ["10 12"]),
        ("cost $ 32,765 or $32,765", "$ 32,765", ["$ 32,765", "$32,765"]),
        ("the „old“ rule", 'the "old" rule', ["the „old“ rule"]),
        ("بند الاِختراق والاختراق", "الاختراق", ["الاِختراق", "الاختراق"]),
        ("כתב העת וכתב", "כתב", ["כתב", "כתב"]),
        ("安全な\nパスワード", "なパス", ["な\nパス"]),
        ("全角１２３と半角123", "123", ["１２３", "123"]),
        ("aaaa", "aa", ["aa", "aa"]),
        ("anything", "", []),
        ("anything – at all", "–", []),
    ],
)
def test_words_are_found_as_they_are_printed(text: str, words: str, matches: list[str]) -> None:
    assert found(text, words) == matches


def test_whole_words_are_parts_of_no_other() -> None:
    assert found("art, start, arts; art's (art)", "art", whole=True) == ["art", "art", "art"]
    assert found("les œuvres", "uvres", whole=True) == []
    assert found("安全なパスワード", "安全", whole=True) == ["安全"]  # written without spaces


def test_matches_are_counted_by_page_and_boxed_on_the_page_that_is_asked_for(
    alice: User, bob: User, client: Client, ingested: Ingest
) -> None:
    """Helvetica of 11 pt from x = 72 pt; 'late' follows 'Trans'."""
    document = ingested(alice, "Translate this.\nA plate.", "Nothing of it.", "Late, later, latest.")
    url = f"/documents/{document.pk}/find/"
    client.force_login(alice)
    assert client.get(url, {"q": "LATE"}).json() == {"pages": [[1, 2], [3, 3]], "more": False, "read": True}
    assert client.get(url, {"q": "late", "whole": "1"}).json()["pages"] == [[3, 1]]
    first, second = client.get(url, {"q": "late", "page": 1}).json()["matches"]
    width, height = document.pages.get(number=1).frame.display_size
    (box,) = first
    assert 72 < box[0] * width < box[2] * width < 150
    assert box[1] * height < 90 < box[3] * height
    assert len(second) == 1
    assert client.get(url, {"q": "late", "page": 9}).json() == {"matches": []}
    assert client.get(url, {"q": "late", "from": 2}).json()["first"][0] == 3
    assert client.get(url, {"q": "late", "from": 4}).json()["first"] == [1, [first, second]]
    assert "first" not in client.get(url, {"q": "nowhere", "from": 1}).json()
    assert client.get(url).json()["pages"] == []
    client.force_login(bob)
    assert client.get(url, {"q": "late"}).status_code == 404


def test_a_document_is_searched_with_one_query_once_its_pages_are_in_memory(
    alice: User, client: Client, ingested: Ingest, django_assert_num_queries: pytest.FixtureRequest
) -> None:
    document = ingested(alice, "One valve.", "Two valves.")
    client.force_login(alice)
    url = f"/documents/{document.pk}/find/"
    client.get(url)
    with django_assert_num_queries(4):  # type: ignore[operator]  # session, user, document, state of its pages
        client.get(url, {"q": "valve"})


def test_the_api_finds_words_and_their_regions(alice: User, bob: User, ingested: Ingest) -> None:
    document = ingested(alice, "The brake line holds.", "Brakes and brake lines.")
    url = f"/api/documents/{document.pk}/find/"
    said = client_of(alice, "read").get(url, {"q": "brake", "page": 2}).json()
    assert (said["count"], said["more"]) == (3, False)
    assert said["pages"] == [{"page": 1, "count": 1}, {"page": 2, "count": 2}]
    assert [region["page"] for region in said["matches"]] == [2, 2]
    assert client_of(alice).get(url).json()["count"] == 0
    assert client_of(bob).get(url, {"q": "brake"}).status_code == 404
