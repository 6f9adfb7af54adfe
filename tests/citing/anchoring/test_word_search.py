"""Find in a document: what typed words match, and where the reader and the API say they are."""

from __future__ import annotations

import time

import pytest
from django.contrib.auth.models import User
from django.test import Client

from citing.anchoring.page_text import fold
from citing.anchoring.word_search import InvalidPattern, WordQuery, matches_on
from tests.api_clients import client_of
from tests.conftest import Ingest
from tests.pdf.extract.test_right_to_left_bidi import WIDTH, Glyphs


def found(text: str, words: str, whole: bool = False, regex: bool = False) -> list[str]:
    return [text[start:end] for start, end in matches_on(fold(text), WordQuery(words, whole, regex))]


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


@pytest.mark.parametrize(
    ("text", "words", "whole", "matches"),
    [
        ("الاِختراق والاختراق واختراق", "اختراق", False, ["اِختراق", "اختراق", "اختراق"]),
        ("بند الاِختراق والاختراق", "الاختراق", True, ["الاِختراق"]),  # the other begins with 'and'
        ("أمان وامان وآمان، أمان", "امان", True, ["أمان", "أمان"]),
        ("الصفحة ١٢ من ١٢٣", "12", True, ["١٢"]),
        ("الأمــن والأمن", "الأمن", False, ["الأمــن", "الأمن"]),  # stretched
        ("שָׁלוֹם ושלום, שלום־עולם", "שלום", False, ["שָׁלוֹם", "שלום", "שלום"]),
        ("שָׁלוֹם ושלום, שלום־עולם", "שלום", True, ["שָׁלוֹם", "שלום"]),
    ],
)
def test_words_from_right_to_left_are_found_without_their_points(
    text: str, words: str, whole: bool, matches: list[str]
) -> None:
    assert found(text, words, whole=whole) == matches


@pytest.mark.parametrize(
    ("line", "words", "whole", "letters"),
    [
        ("شبكة الاختراق", "الاختراق", True, (0, 8)),  # the second word, on the left
        ("شبكة الاختراق", "شبكه", True, (9, 13)),
        ("شبكة الاختراق", "اختراق", False, (0, 6)),  # without the article, which is on its right
        ("שלום לעולם", "עולם", False, (0, 4)),
        ("שלום לעולם", "שלום", True, (6, 10)),
    ],
)
def test_the_box_of_a_match_from_right_to_left_is_on_its_letters(
    line: str,
    words: str,
    whole: bool,
    letters: tuple[int, int],
    alice: User,
    client: Client,
    ingested: Ingest,
) -> None:
    """``letters`` are counted from the left of the line, where each is 6 pt wide."""
    glyphs = Glyphs()
    glyphs.draw(60, line[::-1])
    document = ingested(alice, pdf=glyphs.pdf())
    client.force_login(alice)
    query = {"q": words, "page": 1, **({"whole": 1} if whole else {})}
    ((box,),) = client.get(f"/documents/{document.pk}/find/", query).json()["matches"]
    first, last = letters
    assert box[0] * 400 == pytest.approx(60 + first * WIDTH, abs=0.7)
    assert box[2] * 400 == pytest.approx(60 + last * WIDTH, abs=0.7)


@pytest.mark.parametrize(
    ("text", "pattern", "matches"),
    [
        ("pumps P-101 and p-7", r"P-\d+", ["P-101", "p-7"]),
        ("Crème brûlée, creme", r"\bcreme\b", ["Crème", "creme"]),
        ("Crème brûlée, creme", r"crè\w+", ["Crème", "creme"]),
        ("net\nsales and net sales", "net sales", ["net\nsales", "net sales"]),
        ("First.\nSecond.", r"^\w+\.$", ["First.", "Second."]),
        ("valve (old), valve", r"valve \(old\)", ["valve (old)"]),
        ("a-b a_b", r"a[\w-]b", ["a-b", "a_b"]),
        ("Größe 12, Maß 7", r"\p{L}+ (?:12|7)", ["Größe 12", "Maß 7"]),
        ("الاِختراق والاختراق", r"ا\w+راق", ["الاِختراق", "الاختراق"]),
        ("الصفحة ١٢", r"\d+", ["١٢"]),
        ("cabbage", "x*", []),  # a match has characters
        ("anything", " ", []),
    ],
)
def test_a_regular_expression_sees_the_page_line_by_line(text: str, pattern: str, matches: list[str]) -> None:
    assert found(text, pattern, regex=True) == matches


def test_a_regular_expression_may_be_kept_to_whole_words() -> None:
    assert found("art, start, arts", "a.t", regex=True) == ["art", "art", "art"]
    assert found("art, start, arts", "a.t", whole=True, regex=True) == ["art"]


@pytest.mark.parametrize("pattern", ["(a*)*b", "(a|aa)+$b", "(a+)+(a+)+(a+)+b", "(?:a?){200}a{200}b"])
def test_no_regular_expression_takes_more_than_linear_time(pattern: str) -> None:
    begun = time.process_time()
    assert found("a" * 50_000, pattern, regex=True) == []
    assert time.process_time() - begun < 5


@pytest.mark.parametrize("pattern", ["(", r"(a)\1", "(?=a)", "a{1001}", "((a{100}){100}){100}", "a)(b", "*"])
def test_what_is_no_regular_expression_or_too_large_is_refused(pattern: str) -> None:
    with pytest.raises(InvalidPattern):
        found("a", pattern, regex=True)


def test_the_counts_come_in_parts_from_the_page_that_is_shown(
    alice: User, client: Client, ingested: Ingest, monkeypatch: pytest.MonkeyPatch
) -> None:
    document = ingested(alice, "One valve.", "Two valves, one valve.", "A pump.", "A valve.")
    url = f"/documents/{document.pk}/find/"
    client.force_login(alice)
    monkeypatch.setattr("chat.views.reader.PART_SECONDS", -1.0)  # one page a part
    part = client.get(url, {"q": "valve", "from": 3}).json()
    assert (part["pages"], part["rest"], part["more"]) == ([], 4, False)
    pages = []
    while part["rest"]:
        part = client.get(url, {"q": "valve", "from": 3, "on": part["rest"], "found": len(pages)}).json()
        pages += part["pages"]
        assert part["first"][0] == part["pages"][0][0]
    assert pages == [[4, 1], [1, 1], [2, 2]]
    assert part["more"] is False


def test_a_search_ends_at_the_most_matches_that_are_counted(
    alice: User, client: Client, ingested: Ingest, monkeypatch: pytest.MonkeyPatch
) -> None:
    document = ingested(alice, "One valve.", "Two valves, one valve.", "A valve.")
    monkeypatch.setattr("chat.views.reader.MOST_MATCHES", 4)
    client.force_login(alice)
    part = client.get(f"/documents/{document.pk}/find/", {"q": "valve", "found": 2}).json()
    assert (part["pages"], part["more"], part["rest"]) == ([[1, 1], [2, 2]], True, None)


def test_the_reader_and_the_api_take_regular_expressions(
    alice: User, client: Client, ingested: Ingest
) -> None:
    document = ingested(alice, "Pump P-101.", "Pump P-7 and valve V-8.")
    client.force_login(alice)
    url = f"/documents/{document.pk}/find/"
    assert client.get(url, {"q": r"[PV]-\d+", "regex": "1"}).json()["pages"] == [[1, 1], [2, 2]]
    assert len(client.get(url, {"q": r"[PV]-\d+", "regex": "1", "page": 2}).json()["matches"]) == 2
    for fields in ({}, {"page": 2}):
        refused = client.get(url, {"q": "(", "regex": "1", **fields}).json()
        assert ("missing )" in refused["invalid"], refused["pages"], refused["matches"]) == (True, [], [])
    api = client_of(alice, "read")
    said = api.get(f"/api{url}", {"q": r"[PV]-\d+", "regex": True, "page": 2}).json()
    assert (said["count"], len(said["matches"])) == (3, 2)
    assert api.get(f"/api{url}", {"q": "*", "regex": True}).status_code == 400


def test_matches_are_counted_by_page_and_boxed_on_the_page_that_is_asked_for(
    alice: User, bob: User, client: Client, ingested: Ingest
) -> None:
    """Helvetica of 11 pt from x = 72 pt; 'late' follows 'Trans'."""
    document = ingested(alice, "Translate this.\nA plate.", "Nothing of it.", "Late, later, latest.")
    url = f"/documents/{document.pk}/find/"
    client.force_login(alice)
    assert client.get(url, {"q": "LATE"}).json() == {
        "pages": [[1, 2], [3, 3]],
        "more": False,
        "rest": None,
        "read": True,
    }
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
