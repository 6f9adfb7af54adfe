"""Hits of the API have all that a client needs to show and cite them; invalid requests are refused."""

from __future__ import annotations

from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client

from documents.models import CitationUnit, Document, Page, RetrievalChunk
from retrieval.query.scope import Scope
from retrieval.results import SearchOptions
from retrieval.search import NOTHING_CLOSE, NOTHING_MATCHES, search
from tests.api_clients import client_of
from tests.conftest import Ingest
from tests.retrieval.conftest import Library, written

pytestmark = pytest.mark.usefixtures("one_library")


def found(alice: User, **body: Any) -> dict[str, Any]:
    answer = client_of(alice).post("/api/search/", body, format="json")
    assert answer.status_code == 200, answer.content
    return answer.json()  # type: ignore[no-any-return]


def test_a_hit_holds_its_units_with_text_offsets_lines_and_boxes(alice: User, ingested: Ingest) -> None:
    document = ingested(alice, "The orchard gave 412 crates.\n\nPears keep until spring.", name="pears.pdf")
    hit = found(alice, query="crates of the orchard")["hits"][0]
    assert hit["file_name"] == "pears.pdf"
    unit = next(unit for unit in hit["units"] if "412" in unit["content"])
    page = Page.objects.get(document=document, number=unit["page_number"])
    assert page.text[unit["char_start"] : unit["char_end"]] == unit["content"]
    assert unit["lines"][0] >= 1 and unit["unit_type"] == "prose"
    assert abs(unit["region"]["bbox"]["x0"] - 72) < 1, "drawn at x = 72 pt"
    assert [unit["id"] for unit in hit["units"]] == [
        str(pk) for pk in RetrievalChunk.objects.get(pk=hit["chunk"]).unit_ids
    ]
    assert {rank["list"] for rank in hit["why"]} == {"question", "meaning of question"}
    assert 0 < hit["similarity"] <= 1


def test_a_hit_names_the_chunks_beside_it(alice: User, library: Library) -> None:
    hit = found(alice, query="Nike dividends paid", documents=[str(library.nike.pk)])["hits"][0]
    beside = {chunk.index: str(chunk.pk) for chunk in library.nike.chunks.all()}
    assert hit["previous_chunk"] == beside.get(hit["index"] - 1)
    assert hit["next_chunk"] == beside.get(hit["index"] + 1)


def test_hits_cost_a_bounded_number_of_statements(
    alice: User, library: Library, django_assert_max_num_queries: Any
) -> None:
    client = client_of(alice)
    with django_assert_max_num_queries(24):
        client.post("/api/search/", {"query": "company report cash", "limit": 20}, format="json")


def test_nonsense_is_said_to_be_nothing_close(alice: User, library: Library) -> None:
    assert found(alice, query="qwxyzzy flurbo")["message"] in (
        NOTHING_CLOSE,
        "Nothing found. Try other words, or fewer filters.",
    )
    assert found(alice, query="Nike dividends")["message"] == ""


def test_a_threshold_drops_what_is_only_a_little_similar(alice: User, library: Library) -> None:
    by_words_off = frozenset({"keyword"})
    everything = search("dividends", Scope(alice), SearchOptions(threshold=0, off=by_words_off))  # type: ignore[arg-type]
    close = search("dividends", Scope(alice), SearchOptions(threshold=0.99, off=by_words_off))  # type: ignore[arg-type]
    assert everything.hits and not close.hits
    assert not found(alice, query="dividends", off=["keyword"], rag_config={"threshold": 0.99})["hits"]


def test_a_filter_that_leaves_nothing_says_so(alice: User, library: Library) -> None:
    assert found(alice, query="dividends", languages=["xx"])["message"] == NOTHING_MATCHES


def test_an_unknown_kind_is_an_error(alice: User, library: Library) -> None:
    answer = client_of(alice).post("/api/search/", {"query": "x", "chunk_types": ["poem"]}, format="json")
    assert answer.status_code == 400


def test_a_row_in_a_passage_of_another_kind_is_within_the_filter_s_reach(alice: User) -> None:
    document = written(alice, "notes", ("Long prose about the tide. " * 20, "x = moon.height(now)"))
    unit = document.units.get(content__startswith="x =")
    CitationUnit.objects.filter(pk=unit.pk).update(unit_type="code")
    assert unit.chunk.chunk_type != "code"
    hits = search("moon height", Scope(alice, chunk_types=("code",))).hits
    assert [hit.chunk_id for hit in hits] == [unit.chunk_id]


def test_kinds_may_be_called_as_other_systems_call_them(alice: User, library: Library) -> None:
    by_ours = found(alice, query="dividends", chunk_types=["prose", "abstract"])["hits"]
    by_theirs = found(alice, query="dividends", chunk_types=["text"])["hits"]
    assert by_theirs and [hit["chunk"] for hit in by_theirs] == [hit["chunk"] for hit in by_ours]
    assert not found(alice, query="dividends", chunk_types=["media"])["hits"]


def test_a_paper_s_hit_leads_to_its_references_and_to_papers_that_cite_it(
    alice: User, library: Library, client: Client
) -> None:
    client.force_login(alice)
    path = f"/documents/{library.nike.pk}/papers/?of=citing"
    Document.objects.filter(pk=library.nike.pk).update(kind="pdf", doi="")
    assert path not in client.get("/search/?q=Nike+dividends").content.decode()
    Document.objects.filter(pk=library.nike.pk).update(doi="10.5555/nike")
    assert path in client.get("/search/?q=Nike+dividends").content.decode()
    assert path in client.get(f"/documents/{library.nike.pk}/menu/").content.decode()
