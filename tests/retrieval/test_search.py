"""Search finds the right passage, only in visible documents, for any input and despite failing services."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

import pytest
from django.contrib.auth.models import User
from django.db import connection
from django.test.utils import CaptureQueriesContext

import retrieval.search
from documents.models import CitationUnit, Document, RetrievalChunk, Tag
from retrieval.embeddings.base import HashingEmbedder, Vectors
from retrieval.index.document_index import index_words
from retrieval.models import SearchQuery
from retrieval.provider_calls import ProviderError, Schema, ScriptedModel
from retrieval.query.plan import field_words
from retrieval.query.scope import Scope
from retrieval.ranking.features import read_candidates
from retrieval.ranking.hits import FoundCandidates, unit_at
from retrieval.results import (
    STRATEGIES,
    FullTextLevel,
    SearchOptions,
    SearchRecord,
    SearchResult,
    Snippet,
    StrategyName,
)
from retrieval.search import (
    NO_PHRASE,
    NOTHING_ASKED,
    NOTHING_BUT_FIELDS,
    NOTHING_INDEXED,
    NOTHING_MATCHES,
    NOTHING_TELLING,
    UNKNOWN_FIELD,
    more_like,
    search,
)
from retrieval.templatetags.search import limited_to
from tests.retrieval.conftest import BAD, NIKE, Library, written

pytestmark = pytest.mark.usefixtures("one_library")


def places(result: SearchResult) -> list[tuple[str, int]]:
    return [(hit.document_title.split()[0], hit.page) for hit in result.hits]


def report(result: SearchResult, name: str) -> object:
    return next(report for report in result.strategies if report.name == name)


# --- What is found ---------------------------------------------------------------


def test_the_name_in_the_question_says_which_report(alice: User, library: Library) -> None:
    for name, document in (("Nike", library.nike), ("Amcor", library.amcor)):
        hit = search(f"What did {name} pay in dividends?", Scope(alice)).hits[0]
        assert (hit.document_id, hit.page) == (document.pk, 2)


def test_the_year_of_a_report_is_that_of_its_name_not_of_its_making(alice: User) -> None:
    """The report of 2018 comes out in 2019, and compares with 2017."""
    pages = ("# Annual report", "Revenue of {0} was 5,000, of the year before 4,000.", "Compared: {1}.")
    for year in (2017, 2018, 2019):
        lines = tuple(line.format(year, year - 1) for line in pages)
        document = written(alice, f"ACME_{year}_10K", lines)
        Document.objects.filter(pk=document.pk).update(year=year + 1)
        index_words(Document.objects.get(pk=document.pk))
    for year in (2017, 2018, 2019):
        assert places(search(f"Acme revenue in FY{year}", Scope(alice)))[0] == (f"ACME_{year}_10K", 1)


def test_capital_expenditure_finds_purchases_of_property(alice: User) -> None:
    of_the_field = (
        "# Notes",
        "The balance sheet and the statements of cash flows follow generally accepted accounting principles.",
        "Total assets, total liabilities, net income, operating income, income taxes, earnings per share,",
        "common stock and the fiscal year are defined in Form 10-K.",
    )
    scope = Scope(alice, document_ids=(written(alice, "shoemaker", *NIKE, of_the_field).pk,))
    assert search("How much was the capex?", scope).hits[0].page == 2


def test_exact_terms_are_found(alice: User, library: Library, subtests: pytest.Subtests) -> None:
    for exact, page in [("10-K", 3), ("1,332", 2), ("1332", 2), ('"currency moves may hurt"', 3)]:
        with subtests.test(exact=exact, page=page):
            assert search(exact, Scope(alice, document_ids=(library.nike.pk,))).hits[0].page == page


def test_exact_terms_find_their_document(alice: User, library: Library, subtests: pytest.Subtests) -> None:
    for exact in ["KEYNOTE-189", "p<0.001", "p < 0.001", "pembrolizumab"]:
        with subtests.test(exact=exact):
            assert search(exact, Scope(alice)).hits[0].document_id == library.trial.pk


def test_a_hits_units_are_those_of_its_page_in_reading_order(alice: User, library: Library) -> None:
    hit = search("Nike dividends paid", Scope(alice)).hits[0]
    units = CitationUnit.objects.in_bulk(hit.passage_unit_ids)
    positions = [units[pk].position for pk in hit.passage_unit_ids]
    assert positions == sorted(positions)
    assert {units[pk].page_number for pk in hit.unit_ids} == {hit.page}
    assert set(hit.unit_ids) <= set(hit.passage_unit_ids)
    assert "Dividends" in units[hit.best_unit_ids[0]].content


def test_a_hit_says_why_and_marks_its_words(alice: User, library: Library) -> None:
    hit = search("Nike dividends paid", Scope(alice)).hits[0]
    assert {rank.list for rank in hit.why} == {"question", "meaning of question"}
    assert "Dividends" in [piece for piece, marked in hit.snippet.pieces if marked]


def test_the_unit_of_a_snippet_has_its_first_marked_word(
    alice: User, library: Library, subtests: pytest.Subtests
) -> None:
    for query in ["Nike dividends paid", "cash flows operating", "company based", "survival"]:
        with subtests.test(query=query):
            first_words = []
            for hit in search(query, Scope(alice)).hits:
                shown = CitationUnit.objects.get(pk=hit.snippet_unit_id)
                assert shown.page_number == hit.page
                words = [piece for piece, marked in hit.snippet.pieces if marked]
                first_words += [(words[0], shown.content)] if words else []
            assert first_words
            assert [word for word, content in first_words if word not in content] == []


def test_without_excerpts_the_same_hits_come_without_their_texts(alice: User, library: Library) -> None:
    told = search("Nike dividends paid", Scope(alice)).hits
    bare = search("Nike dividends paid", Scope(alice), SearchOptions(excerpts=False)).hits
    assert [(hit.chunk_id, hit.score, hit.best_unit_ids, hit.unit_ids) for hit in bare] == [
        (hit.chunk_id, hit.score, hit.best_unit_ids, hit.unit_ids) for hit in told
    ]
    assert all(hit.snippet.text and hit.passage for hit in told)
    assert not any(hit.snippet.text or hit.passage for hit in bare)


def test_a_snippets_unit_is_found_where_its_marks_begin() -> None:
    contents = ["Nothing of it.", "Sales grew.", "Dividends grew."]
    snippet = Snippet("grew.\nDividends grew.", ((6, 15),), start=21)
    assert unit_at(snippet, contents, [0, 1, 2]) == 2
    assert unit_at(Snippet("grew", ((0, 4),), start=6), contents, [1, 2]) == 1
    assert unit_at(Snippet("Nothing of it."), contents, [0, 1]) == 0


def test_pages_of_results_join_without_gap_or_repetition(
    alice: User, library: Library, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(retrieval.search, "RERANKED", 3)  # the chunk boundary is on the second page
    whole = search("annual report cash company", Scope(alice), SearchOptions(limit=6))
    parts = [
        hit.chunk_id
        for offset in (0, 2, 4)
        for hit in search(
            "annual report cash company", Scope(alice), SearchOptions(limit=2, offset=offset)
        ).hits
    ]
    assert parts == [hit.chunk_id for hit in whole.hits]


def test_several_questions_in_one_find_both_answers(alice: User, library: Library) -> None:
    result = search("Where is Nike based? What did Amcor pay in dividends?", Scope(alice))
    assert {derived.by for derived in result.derived} == {"decomposition"}
    found = {(hit.document_id, hit.page) for hit in result.hits[:3]}
    assert {(library.nike.pk, 1), (library.amcor.pk, 2)} <= found


WORDS_ALONE: frozenset[StrategyName] = frozenset({"vector", "rerank"})


def by_words(user: User, query: str, level: FullTextLevel) -> list[tuple[str, int]]:
    return places(search(query, Scope(user), SearchOptions(fts_level=level, off=WORDS_ALONE)))


def test_full_text_of_documents_adds_up_what_stands_on_different_pages(alice: User) -> None:
    filler = "Nothing of interest was written down on this occasion."
    sold, mined = ("# Trade", "Beryl was sold.", filler), ("# Mines", "Zircon was mined.", filler)
    written(alice, "scattered", (filler,), mined, sold)
    written(alice, "many", (filler,), ("# Mines", "Zircon zircon zircon.", filler))
    written(alice, "more", (filler,), ("# Trade", "Beryl beryl beryl.", filler))
    assert by_words(alice, "zircon beryl", "chunk")[0] != ("scattered", 2)
    by_document = [title for title, _ in by_words(alice, "zircon beryl", "document")]
    assert by_document[0] == "scattered"
    assert len(by_document) == 3, "one passage of each"


def test_full_text_of_units_wants_the_words_in_one_sentence(alice: User) -> None:
    filler = ("The weather was fine.", "Nobody came to the fair.")
    apart = ("Zircon zircon was mined.", *filler, "Beryl beryl was sold.")
    written(alice, "stones", ("# One", *apart), ("# Two", "Zircon and beryl were sold.", *filler * 2))
    assert by_words(alice, "zircon beryl", "chunk")[0] == ("stones", 1)
    assert by_words(alice, "zircon beryl", "unit")[0] == ("stones", 2)


def test_more_like_this_leaves_the_passage_itself_out(alice: User, library: Library) -> None:
    chunk = RetrievalChunk.objects.filter(document=library.nike, content__contains="Dividends").first()
    assert chunk is not None
    result = more_like(chunk.pk, Scope(alice))
    assert chunk.pk not in {hit.chunk_id for hit in result.hits}
    assert result.hits[0].document_id == library.amcor.pk
    assert result.hits[0].page == 2


# --- Filters -----------------------------------------------------------------------


def test_filters_combine(alice: User, library: Library) -> None:
    Document.objects.filter(pk=library.nike.pk).update(year=2019, authors=["Phil Knight"], language="en")
    wide = Scope(alice)
    assert {hit.document_id for hit in search("cash", replace(wide, year_from=2019, year_to=2019)).hits} == {
        library.nike.pk
    }
    assert {hit.document_id for hit in search("cash", replace(wide, authors=("knight",))).hits} == {
        library.nike.pk
    }
    assert {hit.page for hit in search("company cash risk", replace(wide, page_from=2, page_to=2)).hits} == {
        2
    }
    assert not search("cash", replace(wide, authors=("knight",), year_from=2020)).hits
    assert search("cash", replace(wide, document_ids=())).message == NOTHING_INDEXED


def test_a_section_filter_keeps_only_what_stands_under_it(alice: User, library: Library) -> None:
    result = search("company results currency", Scope(alice, sections=("risk factors",)))
    assert places(result)
    assert {page for _, page in places(result)} == {3}


def test_a_place_of_the_question_adds_a_list_and_filters_nothing(alice: User, library: Library) -> None:
    result = search("what does Nike say on page 3", Scope(alice))
    assert result.hits[0].page == 3 and {hit.page for hit in result.hits} > {3}
    assert "stated place" in {rank.list for rank in result.hits[0].why} and not result.filters


def test_a_year_of_the_question_filters_and_is_said(alice: User, library: Library) -> None:
    Document.objects.filter(pk=library.nike.pk).update(year=2019)
    result = search("what do reports since 2019 say of cash", Scope(alice))
    assert {hit.document_id for hit in result.hits} == {library.nike.pk}
    assert result.filters == {"year_from": "2019"}


def test_field_words_narrow_the_search_and_are_no_words_of_it(alice: User, library: Library) -> None:
    Document.objects.filter(pk=library.nike.pk).update(year=2019, authors=["Phil Knight"])
    result = search('cash author:"phil knight" year:2018-2020', Scope(alice))
    assert {hit.document_id for hit in result.hits} == {library.nike.pk}
    assert result.filters == {"authors": "phil knight", "year_from": "2018", "year_to": "2020"}
    assert {hit.page for hit in search("page:3 company risk", Scope(alice)).hits} == {3}
    assert not search("cash author:nobody", Scope(alice)).hits  # never dropped
    tag = Tag.objects.create(owner=alice, name="draft")
    tag.documents.add(library.nike)
    for without in ("-author:knight", "-tag:draft"):
        result = search(f"cash {without}", Scope(alice))
        assert result.hits and library.nike.pk not in {hit.document_id for hit in result.hits}
    assert limited_to(search("cash -author:knight", Scope(alice)).filters) == "without author knight"
    assert not search("cash -language:en", Scope(alice)).hits
    alone = search("author:knight", Scope(alice))
    assert (alone.message, alone.total) == (NOTHING_BUT_FIELDS, 1)
    assert [(hit.document_id, hit.index) for hit in alone.hits] == [(library.nike.pk, 0)]
    assert search("author:nobody", Scope(alice)).message == NOTHING_MATCHES


def test_a_misspelt_field_is_said_to_be_none(alice: User, library: Library) -> None:
    assert search("cash autor:knight", Scope(alice)).message == UNKNOWN_FIELD
    assert not search("cash note:knight http://a.example", Scope(alice)).message


@pytest.mark.parametrize(
    ("text", "rest", "stated"),
    [
        ("tides year:1998", "tides", {"year_from": 1998, "year_to": 1998}),
        ("year:1998- tides", "tides", {"year_from": 1998}),
        ("tides page:..9", "tides", {"page_to": 9}),
        ("tides page:cover", "tides page:cover", {}),
        ("tides year:-", "tides year:-", {}),
        ("see http://a.example/author:x", "see http://a.example/author:x", {}),
        ("-page:3 tides", "-page:3 tides", {}),
        (
            'tides -author:"Ida Rowe" -Language:DE',
            "tides",
            {"without_authors": ("Ida Rowe",), "without_languages": ("de",)},
        ),
        ("Tag:Law tag:sea tides", "tides", {"tags": ("Law", "sea")}),
        ('type:Table author:"Ida Rowe"', "", {"chunk_types": ("table",), "authors": ("Ida Rowe",)}),
    ],
)
def test_field_words_are_read(text: str, rest: str, stated: dict[str, object]) -> None:
    left, filters = field_words(text)
    assert (left, filters.stated) == (rest, stated)


def test_quoted_words_stay_together_where_some_passage_has_them_so(alice: User) -> None:
    north = ("# North", "The harbour light was lit at dusk.")
    written(alice, "Lights", north, ("# South", "The light over the old harbour went out."))
    assert {hit.page for hit in search('"harbour light"', Scope(alice)).hits} == {1}
    listed = search('old harbour light: answer like ["harbour light", "dusk"]', Scope(alice))
    assert {hit.page for hit in listed.hits} == {1, 2}, "values that show how to answer quote nothing"
    asked = search('In which section under "harbour light" did the old light go out?', Scope(alice))
    assert [hit.page for hit in asked.hits] == [1, 2], "a question quotes a heading to say where to look"
    assert asked.hits[0].score > asked.hits[1].score and asked.total == 2
    second = search(asked.query, Scope(alice), SearchOptions(limit=1, offset=1))
    assert [hit.page for hit in second.hits] == [2] and not second.message
    loose = search('"light harbour storm"', Scope(alice))
    assert loose.hits and loose.message == NO_PHRASE


def test_quoted_words_have_no_other_words_between_them(alice: User) -> None:
    north = ("# North", "The harbour masters met at dusk.")
    written(alice, "Ports", north, ("# South", "The harbours and their masters are old."))
    assert {hit.page for hit in search('"harbour master"', Scope(alice)).hits} == {1}
    assert {hit.page for hit in search('"harbours and their masters"', Scope(alice)).hits} == {2}
    assert {hit.page for hit in search('"harbours of their masters"', Scope(alice)).hits} != {2}


def test_a_question_may_quote_with_its_own_asking_word(alice: User) -> None:
    fog = "Fog makes ferries late."
    written(alice, "Ports", ("# North", "Late ferries and fog."), ("# South", fog))
    assert next(iter(search('Which slide says "what makes ferries late"?', Scope(alice)).hits)).page == 2
    assert {hit.page for hit in search('"what makes ferries late"', Scope(alice)).hits} == {2}


def test_a_filter_of_the_question_that_leaves_nothing_is_dropped(alice: User, library: Library) -> None:
    result = search("Nike dividends in reports since 2077", Scope(alice))
    assert result.hits
    assert "ignored" in report(result, "self_query").reason


def test_facets_count_what_was_found(alice: User, library: Library) -> None:
    result = search("dividends paid", Scope(alice), SearchOptions(facets=True))
    documents = next(facet for facet in result.facets if facet.name == "document")
    assert sum(value.count for value in documents.values) == result.total


# --- Rights --------------------------------------------------------------------------


def test_nobody_finds_what_is_another_s(bob: User, library: Library) -> None:
    assert search("Nike dividends", Scope(bob)).message == NOTHING_INDEXED
    assert not search("Nike", Scope(bob, document_ids=(library.nike.pk,))).hits
    chunk = RetrievalChunk.objects.filter(document=library.nike).first()
    assert chunk is not None
    assert not more_like(chunk.pk, Scope(bob)).hits


def test_a_document_in_the_bin_is_not_found(alice: User, library: Library) -> None:
    Document.objects.filter(pk=library.nike.pk).update(deleted_at="2026-01-01T00:00Z")
    assert library.nike.pk not in {hit.document_id for hit in search("Nike dividends", Scope(alice)).hits}


OF_DOCUMENTS = (
    "retrieval_chunkvector",
    "retrieval_indexed",
    "documents_",
)


def test_every_statement_about_documents_asks_who_may_see_them(
    alice: User, library: Library, subtests: pytest.Subtests
) -> None:
    for filters in [{}, {"chunk_types": ("prose",)}, {"page_from": 1}, {"sections": ("risk",)}]:
        with subtests.test(filters=filters):
            scope = Scope(alice, **filters)  # type: ignore[arg-type]
            with CaptureQueriesContext(connection) as captured:
                search("dividends paid by Nike", scope, SearchOptions(facets=True))
            about = [
                query["sql"] for query in captured if any(table in query["sql"] for table in OF_DOCUMENTS)
            ]
            assert len(about) >= 5
            for sql in about:
                assert f'"owner_id" = {alice.pk}' in sql
                assert '"deleted_at" IS NULL' in sql


def test_the_number_of_statements_does_not_grow(alice: User, library: Library) -> None:
    def statements() -> int:
        with CaptureQueriesContext(connection) as captured:
            search("dividends paid", Scope(alice))
        return len(captured)

    statements()  # reads the connected models once
    before = statements()
    for number in range(3):
        written(alice, f"more {number}", (f"Dividends paid were {number}.", "More text."))
    assert min(statements(), statements()) == before <= 8, "the models may be read once more meanwhile"


# --- Bad input -------------------------------------------------------------------------


def test_whatever_is_typed_gets_an_answer_or_a_message(
    alice: User, library: Library, subtests: pytest.Subtests
) -> None:
    for query in BAD:
        with subtests.test(query=ascii(query[:20])):
            result = search(query, Scope(alice), SearchOptions(record=SearchRecord(), facets=True))
            assert result.hits or result.message


def test_messages_say_what_is_wrong(alice: User, library: Library) -> None:
    assert search(" ", Scope(alice)).message == NOTHING_ASKED
    assert search("what is the of", Scope(alice)).message == NOTHING_TELLING


# --- Strategies ----------------------------------------------------------------------------


def test_each_strategy_can_be_switched_off(alice: User, library: Library, subtests: pytest.Subtests) -> None:
    for name in STRATEGIES:
        with subtests.test(name=name):
            result = search("Nike dividends? Nike base?", Scope(alice), SearchOptions(off=frozenset({name})))  # type: ignore[arg-type]
            assert result.hits
            assert (report(result, name).ran, report(result, name).reason) == (False, "switched off")


def test_what_needs_a_model_says_that_there_is_none(alice: User, library: Library) -> None:
    result = search("Nike dividends", Scope(alice))
    assert "no language model" in report(result, "hyde").reason
    assert "no language model" in report(result, "multi_query").reason


def test_a_models_variants_and_invented_answer_are_searched_too(alice: User, library: Library) -> None:
    reply = {"variants": ["footwear maker", "shoe company", "sneakers"], "passage": "Nike", "parts": []}
    model = ScriptedModel({"trainers": json.dumps(reply)})
    result = search("trainers", Scope(alice), language_model=model)
    assert [query.text for query in result.derived] == ["footwear maker", "shoe company", "sneakers", "Nike"]
    assert result.hits[0].document_id == library.nike.pk
    assert report(result, "multi_query").ran and report(result, "hyde").ran
    assert len(model.prompts) == 1, "one call for all strategies"


def test_a_model_is_not_asked_for_what_is_switched_off(
    alice: User, library: Library, settings: object
) -> None:
    settings.SEARCH_OFF = ["hyde", "decomposition"]  # type: ignore[attr-defined]
    model = ScriptedModel({"": '{"variants": [], "filters": {}}'})
    result = search("Nike", Scope(alice), SearchOptions(off=frozenset({"multi_query"})), language_model=model)
    assert '"filters"' in model.prompts[0]
    assert not any(f'"{key}"' in model.prompts[0] for key in ("variants", "parts", "passage"))
    assert report(result, "hyde").reason == "switched off"


@dataclass
class Hanging:
    """Answers when the test is over."""

    over: threading.Event = field(default_factory=threading.Event)

    def complete(self, prompt: str, schema: Schema | None = None) -> str:
        self.over.wait(60)
        return ""


class Refusing:
    def complete(self, prompt: str, schema: Schema | None = None) -> str:
        raise ProviderError("The model refused.", permanent=True)


def test_a_model_that_hangs_costs_its_strategies_and_little_time(
    alice: User, library: Library, settings: object
) -> None:
    settings.SEARCH_PROVIDER_SECONDS = 1  # type: ignore[attr-defined]
    model, start = Hanging(), time.perf_counter()
    result = search("Nike dividends", Scope(alice), language_model=model)
    model.over.set()
    assert time.perf_counter() - start < 30, "it hangs for 60"
    assert result.hits[0].document_id == library.nike.pk
    assert "No answer within" in report(result, "hyde").reason


def test_a_model_that_refuses_costs_its_strategies_only(alice: User, library: Library) -> None:
    result = search("Nike dividends", Scope(alice), language_model=Refusing())
    assert result.hits[0].document_id == library.nike.pk
    assert report(result, "multi_query").reason == "The model refused."


class WrongLength(HashingEmbedder):
    def embed(self, texts: object, *, query: bool = False) -> Vectors:
        raise ProviderError("The embedding service returned vectors of length 3, not 256.", permanent=True)


def test_without_embeddings_words_still_answer(
    alice: User, library: Library, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(retrieval.search, "embedder_of", lambda space: WrongLength())
    result = search("Nike dividends", Scope(alice))
    assert result.hits[0].document_id == library.nike.pk
    assert "length 3" in report(result, "vector").reason


@dataclass
class ScriptedReranker:
    score: Callable[[str], float]
    local: bool = True

    def relevance(self, query: str, passages: Sequence[str]) -> list[float]:
        return list(map(self.score, passages))


def test_a_reranker_moves_and_its_failure_does_not_hurt(alice: User, library: Library) -> None:
    by_length = ScriptedReranker(lambda text: float(len(text)))
    lengths = [len(hit.passage) for hit in search("dividends paid", Scope(alice), reranker=by_length).hits]
    assert len(lengths) > 1 and lengths == sorted(lengths, reverse=True)

    def fail(text: str) -> float:
        raise ProviderError("Down.")

    broken = search("Nike dividends", Scope(alice), reranker=ScriptedReranker(fail))
    assert broken.hits[0].document_id == library.nike.pk
    assert (report(broken, "rerank").ran, report(broken, "rerank").reason) == (True, "Down.")


# --- History ---------------------------------------------------------------------------------


def test_a_search_is_kept_for_its_user_alone(alice: User, bob: User, library: Library) -> None:
    search("Nike dividends? Amcor base?", Scope(alice), SearchOptions(record=SearchRecord()))
    kept = SearchQuery.objects.visible_to(alice).get()
    assert kept.query == "Nike dividends? Amcor base?"
    assert kept.hit_count > 0 and kept.milliseconds > 0
    assert {entry["name"] for entry in kept.strategies} >= {"keyword", "vector", "rerank"}
    assert [entry["by"] for entry in kept.derived] == ["decomposition", "decomposition"]
    assert not SearchQuery.objects.visible_to(bob)


# --- Places that a question names ---------------------------------------------------------------


def test_a_page_that_the_question_names_comes_first_and_says_why(alice: User, library: Library) -> None:
    scope = Scope(alice, document_ids=(library.nike.pk,))
    hit = search("what is said in page 3 of it", scope).hits[0]
    assert hit.page == 3
    assert "named page" in {rank.list for rank in hit.why}


def test_what_a_label_heads_comes_before_what_refers_to_it(alice: User) -> None:
    written(
        alice,
        "Pump manual",
        ("# Overview", "The pump of Figure 2 and the pump housing are shown later; see the pump."),
        ("# Parts", "Figure 2: Pump housing with seal."),
    )
    assert search("What does Figure 2 show of the pump?", Scope(alice)).hits[0].page == 2


def test_a_figure_that_the_question_counts_is_found_among_much_of_its_subject(alice: User) -> None:
    speaks = [f"Owls hunt mice and voles at night in forest number {at}." for at in range(120)]
    pages = [tuple(speaks[at : at + 2]) for at in range(0, 120, 2)]
    pages[40] = ("Figure 1: Wings seen from below.",)
    scope = Scope(alice, document_ids=(written(alice, "owls", *pages).pk,))
    best = search("In the first figure, which mice and voles do owls hunt at night?", scope).hits[0]
    assert best.page == 41


def test_a_page_is_found_by_the_number_printed_on_it(alice: User) -> None:
    lines = [(f"Courses of faculty {at}.", "Apply by May.") for at in range(1, 7)]
    document = written(alice, "brochure", *lines)
    for page in document.pages.all():
        printed = f"Prospectus {2 * page.number + 10}"
        page.furniture = [{"text": printed, "rects": [], "char_start": 0, "char_end": 0}]
        page.save(update_fields=["furniture"])
    scope = Scope(alice, document_ids=(document.pk,))
    assert search("By when do I apply on page 16?", scope).hits[0].page == 3


def test_an_embedding_model_is_not_asked_about_languages_it_was_not_made_for(alice: User) -> None:
    document = written(alice, "Rules", ("# Bins", "Empty the bins each Friday."))
    scope = Scope(alice).compiled()
    assert scope is not None
    key = RetrievalChunk.objects.get(document=document).pk
    found = FoundCandidates([], [], read_candidates(scope, [key]), {}, {}, languages=frozenset({"en"}))
    german = replace(found, candidates={key: replace(found.candidates[key], language="de-AT")})
    assert found.is_understood(key) and not german.is_understood(key)
    assert replace(german, languages=frozenset()).is_understood(key), "a model of no known language"
