"""Scores of answers to questions with known pages and values."""

from __future__ import annotations

from decimal import Decimal

import pytest

from chat.evaluations import AnsweredQuestion, EvaluatedAnswer, amounts_in, claims_value, scores_of


def outcome(text: str, *pages: int, answer: str = "12 mg") -> EvaluatedAnswer:
    known = AnsweredQuestion(question="What is the dose?", doc_name="leaflet", evidence=(), answer=answer)
    return EvaluatedAnswer(known, frozenset({3}), pages, ("exact",) * len(pages), text, 10.0)


def test_amounts_are_compared_without_their_sign_and_years_are_none() -> None:
    assert amounts_in("In 2019 it fell by -4.5 %, on 3 May 2020 by 7") == {Decimal("4.5"), Decimal(7)}


def test_a_value_in_a_heading_is_no_claim() -> None:
    assert claims_value(outcome("The dose is 12 mg."))
    assert not claims_value(outcome("# The dose: 12 mg\nIt is low."))


@pytest.mark.django_db
def test_scores_are_shares_of_questions_and_of_citations() -> None:
    scores = scores_of([outcome("The dose is 12 mg.", 3, 4), outcome("It is low.", 5)])
    assert (scores.questions, scores.cited, scores.first) == (2, 0.5, 0.5)
    assert (scores.precision, scores.verified, scores.values) == (round(1 / 3, 4), 1.0, 0.5)
    assert scores.citations == 1.5
