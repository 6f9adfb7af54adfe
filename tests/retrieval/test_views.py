"""The search page: addresses that can be shared, escaped text, a private history."""

from __future__ import annotations

import io
import json
import re
from typing import get_args
from urllib.parse import quote
from uuid import UUID

import pytest
from django.contrib.auth.models import User
from django.core.management import call_command
from django.test import Client
from django.urls import reverse
from PIL import Image

from agents import evidence
from agents.evidence import Agent
from agents.results import Addresses
from chat.answers.context import find_context
from documents.files.page_pictures import STRONG
from documents.models import CitationUnit, Collection, Document, RetrievalChunk
from documents.models.document import language_name
from documents.models.security import TokenScope
from operations.http.errors import LONGEST_VALUE
from retrieval.models import SavedSearch, SearchQuery
from retrieval.query.scope import Scope
from retrieval.ranking.hits import distinct_titles
from retrieval.results import FullTextLevel
from retrieval.search import search
from retrieval.templatetags.search import limited_to
from tests.api_clients import client_of
from tests.conftest import Ingest
from tests.retrieval.conftest import BAD, Library, written

pytestmark = pytest.mark.usefixtures("one_library")


@pytest.fixture
def page(client: Client, alice: User) -> Client:
    client.force_login(alice)
    return client


def test_a_search_is_its_url(page: Client, library: Library) -> None:
    text = page.get("/search/?q=Nike+dividends").content.decode()
    assert f"/documents/{library.nike.pk}/?page=2&amp;unit=" in text
    assert "<mark>Dividends</mark>" in text
    only_amcor = page.get(f"/search/?q=dividends&document={library.amcor.pk}").content.decode()
    assert f"/documents/{library.nike.pk}/?page" not in only_amcor


def test_hits_and_copied_quotes_name_the_printed_page_and_its_lines(page: Client, library: Library) -> None:
    library.nike.pages.filter(number=2).update(label="31")
    unit = library.nike.units.filter(page_number=2, content__contains="ividends").first()
    assert unit
    line = unit.line_start - library.nike.pages.get(number=2).first_line + 1
    assert f"p. 31 (2 in the file), line {line}" in page.get("/search/?q=Nike+dividends").content.decode()
    words = " ".join(unit.content.split()[:4])
    copied = page.get(reverse("document-quoted", args=[library.nike.pk]), {"page": 2, "q": words})
    assert f"“{words}” ({library.nike.title}" in (text := copied.content.decode())
    assert f"p. 31 (2 in the file), line {line}" in text
    asked = {"query": "Nike dividends", "documents": [str(library.nike.pk)]}
    hits = client_of(library.nike.owner).post("/api/search/", asked, format="json").json()["hits"]
    hit = next(hit for hit in hits if hit["page"] == 2)
    assert hit["page_label"] == "31" and hit["lines_on_page"][0] >= 1
    assert {unit["page_label"] for unit in hit["units"] if unit["page_number"] == 2} == {"31"}


def test_an_empty_library_leads_to_adding_a_document(client: Client, bob: User) -> None:
    client.force_login(bob)
    text = client.get("/search/?q=dividends").content.decode()
    assert re.search(r'<a class="button" href="/">.*Add a document</a>', text)
    assert "Save this search" not in text
    assert "Add a document" not in client.get("/search/?q=dividends&year=1999").content.decode()


def test_a_search_in_a_collection_names_it_and_leads_out_of_it(
    page: Client, alice: User, bob: User, library: Library
) -> None:
    collection = Collection.objects.create(owner=alice, name="Dividends, by year")
    collection.documents.add(library.nike)
    for address in ("/search/?", "/search/?q=dividends&"):
        text = page.get(f"{address}collection={collection.pk}").content.decode()
        assert f"?collection={collection.pk}" in text and "Dividends, by year" in text
        way_out = re.search(r'<a href="\?([^"]*)">Search the whole library</a>', text)
        assert way_out and "collection" not in way_out[1]
    foreign = Collection.objects.create(owner=bob, name="Secret plans")
    assert "Secret plans" not in page.get(f"/search/?collection={foreign.pk}").content.decode()


def test_the_page_says_what_a_search_was_limited_to(page: Client, library: Library) -> None:
    text = page.get("/search/?q=company+risk+page:3").content.decode()
    assert "Limited to page 3<" in text
    assert "Limited to pages 2–<" in page.get("/search/?q=company+risk+page:2-").content.decode()
    assert limited_to({"authors": "Rowe", "year_from": "2015", "year_to": "2019"}) == (
        "years 2015–2019, author Rowe"
    )


def test_a_search_is_saved_under_a_name_and_deleted(page: Client, alice: User, library: Library) -> None:
    text = page.get("/search/?q=dividends+year:2019&author=knight&page=2").content.decode()
    assert 'value="q=dividends+year%3A2019&amp;author=knight"' in text
    sent = {"query": "q=dividends&author=knight&page=2", "name": "Knight's dividends"}
    assert page.post("/search/save/", sent)["Location"] == "/search/?q=dividends&author=knight"
    page.post("/search/save/", sent | {"query": "q=dividends"})
    saved = SavedSearch.objects.get()  # of one name there is one
    start = page.get("/search/").content.decode()
    assert "Knight&#x27;s dividends" in start and 'href="/search/?q=dividends"' in start
    assert page.post("/search/save/", {"query": "author=knight"}).status_code == 404
    page.post(f"/search/saved/{saved.pk}/forget/")
    assert not SavedSearch.objects.exists()


def test_saved_searches_are_their_users_alone(page: Client, client: Client, alice: User, bob: User) -> None:
    hers = client_of(alice).post(
        "/api/saved-searches/", {"name": "Tides", "query": "q=tides&year=1998"}, format="json"
    )
    assert hers.status_code == 201
    refused = client_of(alice).post("/api/saved-searches/", {"name": "x", "query": "year=1"}, format="json")
    assert refused.status_code == 400
    listed = client_of(alice).get("/api/saved-searches/").json()["results"]
    assert [(one["name"], one["query"]) for one in listed] == [("Tides", "q=tides&year=1998")]
    url = f"/api/saved-searches/{listed[0]['id']}/"
    assert client_of(bob).get(url).status_code == 404
    assert client_of(bob).get("/api/saved-searches/").json()["results"] == []
    assert client_of(alice).delete(url).status_code == 204


def test_a_chosen_filter_is_marked_and_its_link_takes_it_back(page: Client, library: Library) -> None:
    open_link = f'<a href="?q=dividends&amp;document={library.amcor.pk}"'
    assert f"{open_link}>" in page.get("/search/?q=dividends").content.decode()
    chosen = page.get(f"/search/?q=dividends&document={library.amcor.pk}").content.decode()
    assert '<a href="?q=dividends" aria-current="true"' in chosen


def test_a_result_shows_the_page_with_its_words_lit(page: Client, alice: User, ingested: Ingest) -> None:
    document = ingested(alice, "# Findings\n\nGoodwill was impaired by 17 million.")
    (unit,) = document.units.filter(content__contains="Goodwill")
    address = reverse("search-picture", args=[unit.pk])
    assert address in page.get("/search/?q=goodwill").content.decode()
    answer = page.get(address)
    assert answer["Content-Type"] == "image/png"
    picture = Image.open(io.BytesIO(answer.content)).convert("RGB")
    assert STRONG in {colour for _, colour in picture.getcolors(1 << 24) or ()}


def test_passages_that_are_only_near_in_meaning_are_not_passed_off_as_found(
    page: Client, library: Library
) -> None:
    near = "No passage contains these words. Nearest in meaning:"
    assert near in page.get("/search/?q=shareholders").content.decode()
    nothing = page.get("/search/?q=zzzqqq").content.decode()
    assert near not in nothing and "Nothing found" in nothing
    assert near not in page.get("/search/?q=dividends").content.decode()


def test_a_search_made_twice_is_offered_once(page: Client, library: Library) -> None:
    for query in ("dividends", "Oregon", "dividends"):
        page.get(f"/search/?q={query}")
    offered = page.get("/search/").context["recent"]
    assert [search.query for search in offered] == ["dividends", "Oregon"]


def test_a_language_is_called_by_its_name() -> None:
    assert [language_name(code) for code in ("en", "de", "pt-BR", "xx", "")] == [
        "English",
        "German",
        "Brazilian Portuguese",
        "xx",
        "",
    ]


def test_the_language_filter_says_its_name_and_sends_its_code(page: Client, library: Library) -> None:
    Document.objects.filter(pk=library.nike.pk).update(language="en")
    text = page.get("/search/?q=dividends").content.decode()
    assert "language=en" in text and re.search(r">\s*English\s*<", text)


def test_documents_that_share_a_title_are_told_apart_by_their_files() -> None:
    named = {
        "1": ("FORM 10-K", "NIKE_2019.pdf"),
        "2": ("FORM 10-K", "NIKE_2021.pdf"),
        "3": ("Trial", "x.pdf"),
    }
    assert distinct_titles(named) == {"1": "NIKE_2019.pdf", "2": "NIKE_2021.pdf", "3": "Trial"}


def test_parameters_that_make_no_sense_are_left_out(
    page: Client, library: Library, subtests: pytest.Subtests
) -> None:
    for query in [
        "",
        "q=",
        "q=x&page=zero&year=soon&document=7",
        "q=a&page=999",
        "q=%ff&type=x",
    ]:
        with subtests.test(query=query):
            assert page.get(f"/search/?{query}").status_code == 200


def test_what_comes_from_documents_and_people_is_escaped(page: Client, alice: User) -> None:
    written(alice, "<b>bold</b>", ("The dividends <script>alert(1)</script> rose.",))
    text = page.get("/search/?q=dividends+<script>alert(2)</script>").content.decode()
    assert "<script>alert" not in text
    assert "<b>bold" not in text
    assert "&lt;script&gt;" in text


def test_nobody_else_s_passages_or_searches_are_shown(
    page: Client, client: Client, library: Library, bob: User
) -> None:
    page.get("/search/?q=Nike+dividends")
    kept = SearchQuery.objects.get()
    client.force_login(bob)
    assert str(library.nike.pk) not in client.get("/search/?q=Nike+dividends").content.decode()
    assert client.post(reverse("search-forget", args=[kept.pk])).status_code == 404
    chunk = RetrievalChunk.objects.filter(document=library.nike).first()
    assert chunk is not None
    assert str(library.nike.pk) not in client.get(reverse("search-similar", args=[chunk.pk])).content.decode()
    client.post(reverse("search-forget-all"))
    assert SearchQuery.objects.filter(pk=kept.pk).exists()


def test_the_history_names_the_document_a_search_was_kept_to(page: Client, library: Library) -> None:
    page.get(f"/search/?q=dividends&document={library.nike.pk}")
    history = page.get("/search/history/").content.decode()
    assert f"Document: {library.nike.title}" in history
    assert str(library.nike.pk) not in history


def test_one_s_own_searches_are_listed_repeated_and_deleted(page: Client, library: Library) -> None:
    page.get("/search/?q=Nike+dividends")
    assert "/search/?q=Nike%20dividends" in page.get("/search/history/").content.decode()
    page.post(reverse("search-forget", args=[SearchQuery.objects.get().pk]))
    assert not SearchQuery.objects.exists()


def test_documents_of_one_title_are_told_apart_by_their_files(page: Client, library: Library) -> None:
    Document.objects.update(title="Annual report")
    Document.objects.filter(pk=library.nike.pk).update(original_name="nike.pdf")
    assert ">Annual report (nike.pdf)</a>" in page.get("/search/?q=dividends").content.decode()


def test_the_number_of_statements_of_a_page_is_bounded(
    page: Client, library: Library, django_assert_max_num_queries: object
) -> None:
    with django_assert_max_num_queries(18):  # type: ignore[operator]
        page.get("/search/?q=dividends")


def test_a_visitor_is_sent_to_the_door(client: Client, db: None) -> None:
    assert client.get("/search/?q=x").status_code == 302


def test_the_page_answers_whatever_is_typed(page: Client, library: Library) -> None:
    for query in BAD:
        typed = quote(query.encode("utf-8", "surrogatepass"))
        answer = page.get(f"/search/?q={typed}")
        if "\0" in query or len(query) > LONGEST_VALUE:
            assert answer.status_code == (400 if "\0" in query else 414)
            continue
        assert answer.status_code == 200, ascii(query[:20])
        shown = answer.context.get("shown")
        assert shown is None or shown.hits or shown.result.message, ascii(query[:20])
        assert "<script>alert" not in answer.content.decode()


def test_the_api_answers_whatever_is_asked(page: Client, library: Library, subtests: pytest.Subtests) -> None:
    for level in [*get_args(FullTextLevel), "media"]:
        with subtests.test(level=level):
            for query in BAD:
                body = json.dumps({"query": query, "fts_level": level})  # a lone surrogate as \ud800
                answer = page.post(reverse("api:search"), body, content_type="application/json")
                assert answer.status_code in (200, 400), ascii(query[:20])
                found = answer.json()
                told = found["hits"] or found["message"] if answer.status_code == 200 else found
                assert told, ascii(query[:20])


# --- Everywhere the same ---------------------------------------------------------------

ASKED = [
    "What dividends did Nike pay?",
    "dividends paid",
    '"Dividends paid" Amcor',
    "statements of cash flows -Nike",
    "pack* of Amcor",
    "Where is the company based?",
    "p < 0.001",
    "What stands on page 3?",
]


def test_page_api_command_agents_and_answers_find_the_same(
    page: Client, alice: User, library: Library, capsys: pytest.CaptureFixture[str]
) -> None:
    for query in ASKED:
        hits = search(query, Scope(alice)).hits
        chunks = [str(hit.chunk_id) for hit in hits]
        assert chunks
        assert chunks_on_the_page(page, query) == chunks, query
        answered = page.post(reverse("api:search"), {"query": query}, content_type="application/json")
        assert [hit["chunk"] for hit in answered.json()["hits"]] == chunks, query
        capsys.readouterr()
        call_command("search", query, "--owner", alice.username, "--json")
        printed = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
        assert [line["chunk"] for line in printed] == chunks, query
        agent = Agent(alice, frozenset({TokenScope.READ}), Addresses("https://pincite.example"))
        passages = evidence.search(agent, query, limit=10).passages
        assert [passage.unit for passage in passages] == [str(hit.best_unit_ids[0]) for hit in hits], query
        assert chunks_of_an_answer(alice, query)[: len(chunks)] == chunks, query


def chunks_on_the_page(page: Client, query: str) -> list[str]:
    similar = reverse("search-similar", args=[UUID(int=0)]).replace(str(UUID(int=0)), "([0-9a-f-]+)")
    shown = page.get("/search/", {"q": query}).content.decode()
    return list(dict.fromkeys(re.findall(similar, shown)))


def chunks_of_an_answer(user: User, query: str) -> list[str]:
    """The chunks of the passages that an answer is written from, best first."""
    passages = find_context(query, Scope(user), 1000, 100_000).passages
    of_unit = dict(CitationUnit.objects.values_list("pk", "chunk_id"))
    return list(dict.fromkeys(str(of_unit[UUID(passage.unit.id)]) for passage in passages))
