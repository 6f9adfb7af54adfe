"""Strategies that need no database: fusion, self-query, decomposition, compression, snippets."""

from __future__ import annotations

import pytest
from django.contrib.auth.models import AnonymousUser

from retrieval.provider_calls import ProviderError, ScriptedModel
from retrieval.query.plan import (
    Filters,
    Reply,
    derive,
    filters_of,
    hypothetical_passage,
    parts_of,
    read_filters,
    split_question,
    variants_of,
)
from retrieval.query.scope import Scope
from retrieval.ranking.candidate_lists import RRF_K, RankedList, fuse, interleave
from retrieval.ranking.hits import matching_sentences, snippet_of
from retrieval.results import Snippet


def test_fusion_adds_one_over_k_plus_rank() -> None:
    fused = dict(fuse([RankedList("a", [("x", 9.0), ("y", 1.0)]), RankedList("b", [("y", 0.5)])]))
    assert fused["x"] == 1 / (RRF_K + 1)
    assert fused["y"] == pytest.approx(1 / (RRF_K + 2) + 1 / (RRF_K + 1))


def test_what_two_lists_have_comes_before_what_one_has() -> None:
    order = [
        item
        for item, _ in fuse([RankedList("a", [("x", 1), ("y", 1)]), RankedList("b", [("z", 1), ("y", 1)])])
    ]
    assert order == ["y", "x", "z"]


def test_a_list_that_is_trusted_less_moves_less() -> None:
    fused = dict(fuse([RankedList("a", [("x", 1.0)]), RankedList("b", [("y", 1.0)], weight=0.5)]))
    assert fused["y"] == fused["x"] / 2


def test_parts_take_turns_and_scores_fall() -> None:
    merged = interleave([[("a", 3.0), ("b", 2.0)], [("b", 9.0), ("c", 1.0)], []])
    assert [item for item, _ in merged] == ["a", "b", "c"]
    assert [score for _, score in merged] == [9.0, 3.0, 1.0]


@pytest.mark.parametrize(
    ("text", "filters"),
    [
        ("what is said on page 12?", Filters(page_from=12, page_to=12)),
        ("the risks from pages 3-9", Filters(page_from=3, page_to=9)),
        ("what does table 2 say of sales", Filters(chunk_types=("table",))),
        ("how were patients chosen in the methods section", Filters(section_types=("methods",))),
        ("papers since 2019 on statins", Filters(year_from=2019)),
        ("articles between 2018 and 2020 on statins", Filters(year_from=2018, year_to=2020)),
        ("studies before 2010", Filters(year_to=2010)),
        ("what did Smith et al. find", Filters(authors=("Smith",))),
        ("papers by Müller et al from 2020", Filters(authors=("Müller",))),
        ("capital expenditure in FY2018 compared with 2017", Filters()),
        ("on page 99999999999", Filters()),
    ],
)
def test_filters_are_read_where_they_are_stated(text: str, filters: Filters) -> None:
    assert read_filters(text) == filters


def test_a_filter_that_the_person_set_stays() -> None:
    scope = Scope(AnonymousUser(), page_from=3)
    assert Filters(page_from=7, page_to=9).narrow(scope) == Scope(AnonymousUser(), page_from=3, page_to=9)


def reply_of(answer: str) -> Reply:
    return derive("x", {"variants": "other words"}, ScriptedModel({"": answer}))


def test_a_models_filters_are_validated() -> None:
    stated = reply_of('Sure: {"filters": {"year_from": 2019, "chunk_types": ["table"]}}')
    assert filters_of(stated) == Filters(year_from=2019, chunk_types=("table",))
    for nonsense in ('{"filters": {"year_from": "soon"}}', '{"filters": [1]}', "{}"):
        with pytest.raises(ProviderError):
            filters_of(reply_of(nonsense))


@pytest.mark.parametrize("answer", ["no json", "[1]", "", "{", "null"])
def test_a_reply_that_is_no_object_is_an_error(answer: str) -> None:
    with pytest.raises(ProviderError):
        reply_of(answer)


def test_a_key_that_makes_no_sense_costs_its_own_strategy_only() -> None:
    reply = reply_of('{"variants": ["one"], "parts": "none", "passage": 7}')
    assert variants_of(reply) == ["one"]
    for read in (parts_of, hypothetical_passage):
        with pytest.raises(ProviderError):
            read(reply)


def test_several_questions_are_searched_one_by_one() -> None:
    assert split_question("Who is the CEO? What was revenue in 2020?") == [
        "Who is the CEO?",
        "What was revenue in 2020?",
    ]
    assert split_question("Who is the CEO?") == []


def test_a_model_that_sees_one_question_makes_no_parts() -> None:
    assert parts_of(reply_of('{"parts": []}')) == []
    assert parts_of(reply_of('{"parts": ["Who is the CEO?"]}')) == []
    assert parts_of(reply_of('{"parts": ["What is a?", "What is b?"]}')) == ["What is a?", "What is b?"]


def test_variants_are_three_at_most_and_none_is_empty() -> None:
    assert variants_of(reply_of('{"variants": ["one", " ", "two", "three", "four"]}')) == [
        "one",
        "two",
        "three",
    ]


def test_the_telling_sentences_stay_in_their_order() -> None:
    text = "Goodwill rose. The weather was fine. It rained on Monday. Goodwill was impaired."
    assert matching_sentences(text, {"goodwil": 1.0}) == "Goodwill rose. … Goodwill was impaired."


def test_a_snippet_shows_the_densest_stretch_and_marks_its_words() -> None:
    text = "filler " * 200 + "net income attributable to Amcor rose " + "filler " * 200
    snippet = snippet_of(text, {"net": 1.0, "incom": 1.0, "amcor": 2.0}, size=120)
    assert len(snippet.text) <= 120
    assert [piece for piece, marked in snippet.pieces if marked] == ["net", "income", "Amcor"]


@pytest.mark.parametrize("before", range(280, 330))
def test_the_word_that_was_found_is_not_cut_off_at_the_end_of_the_snippet(before: int) -> None:
    text = ("ab " * 200)[:before] + " revenue, " + "of the acquired entities " * 20
    snippet = snippet_of(text, {"revenu": 1.0})
    assert [snippet.text[slice(*mark)] for mark in snippet.marks] == ["revenue"]


def test_a_snippets_pieces_are_its_text() -> None:
    snippet = Snippet("net income rose", ((4, 10),))
    assert snippet.pieces == [("net ", False), ("income", True), (" rose", False)]
