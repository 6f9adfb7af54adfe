"""Strategies that need no database: filters read from a question, decomposition, variants."""

from __future__ import annotations

import pytest
from django.contrib.auth.models import AnonymousUser

from retrieval.provider_calls import ProviderError, ScriptedModel
from retrieval.query.plan import (
    TEXTS,
    Filters,
    Reply,
    Wanted,
    derive,
    filters_of,
    hypothetical_passage,
    parts_of,
    read_filters,
    split_question,
    variants_of,
)
from retrieval.query.scope import Scope


@pytest.mark.parametrize(
    ("text", "filters"),
    [
        ("what is said on page 12?", Filters(page_from=12, page_to=12)),
        ("the risks from pages 3-9", Filters(page_from=3, page_to=9)),
        ("what does table 2 say of sales", Filters(chunk_types=("table",))),
        ("how were patients chosen in the methods section", Filters(section_types=("methods",))),
        ("What did the Results section say about mortality?", Filters(section_types=("results",))),
        ("What methods were used?", Filters(section_types=("methods",))),
        ("Show me the data from Table 2", Filters(chunk_types=("table",))),
        ("What methods of depreciation are used?", Filters()),
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
    return derive("x", [Wanted("variants", "other words", TEXTS)], ScriptedModel({"": answer}))


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
