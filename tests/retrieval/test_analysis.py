"""Terms: what is asked must meet what is written."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from retrieval.analysis import run_together, term_number, terms_of, terms_of_each, tokens_of


@pytest.mark.parametrize(
    ("asked", "written"),
    [
        ("10-K", "Form 10-K"),
        ("10k", "Form 10-K"),
        ("p<0.001", "significant (p < 0.001)"),
        ("1,577", "$1577.00"),
        ("long-term", "Long-term debt"),
        ("long term", "long-term debt"),
        ("FY2018", "FY18"),
        ("2018", "FY2018"),
        ("q1", "PEPSICO_2023Q1_EARNINGS"),
        ("8-K", "AMCOR_2022_8K_dated-2022-07-01"),
        ("PP&E", "Purchases of PP&E"),
        ("acquired", "acquisitions acquire acquiring"),
        ("Pfizer's", "Pfizer"),
        ("ﬁnance", "finance"),
        ("東京", "東京都"),
        ("KEYNOTE-189", "the KEYNOTE-189 trial"),
        ("المالية", "القوائم المالية"),
    ],
)
def test_what_is_asked_meets_what_is_written(asked: str, written: str) -> None:
    assert set(terms_of(asked)) & set(terms_of(written))


def test_numbers_differ_when_they_differ() -> None:
    assert set(terms_of("1,577")).isdisjoint(terms_of("1,578"))
    assert set(terms_of("0.001")).isdisjoint(terms_of("0.01"))


def test_many_texts_at_once_give_what_each_gives() -> None:
    texts = ["Net income", "", "p < 0.001", "Ünïcode ﬁnance", "of the"]
    assert terms_of_each(texts) == [terms_of(text) for text in texts]


def test_function_words_are_no_terms() -> None:
    assert terms_of("What is the of and") == []


def test_tokens_stand_where_they_say() -> None:
    text = "Net income (in millions): $ 1,577.00"
    assert [text[token.start : token.end] for token in tokens_of(text, {"1577"})] == ["1,577.00"]


def test_names_run_together_as_in_file_names() -> None:
    assert {"bestbuy", "footlocker", "americanwaterworks"} <= {
        *run_together("Best Buy"),
        *run_together("Foot Locker Inc."),
        *run_together("American Water Works"),
    }


@given(st.text(max_size=300))
def test_no_text_is_too_strange(text: str) -> None:
    for term in terms_of(text):
        assert term
        assert -(2**31) <= term_number(term) < 2**31
    for token in tokens_of(text, set(terms_of(text))):
        assert 0 <= token.start < token.end <= len(text)


@pytest.mark.parametrize("written", ["$1,577.00", "(1,577)", "1577%", "1,577;", "[1577.0]*", "€1,577,"])
def test_signs_around_an_amount_do_not_change_it(written: str) -> None:
    assert terms_of(written) == ["1577"]
