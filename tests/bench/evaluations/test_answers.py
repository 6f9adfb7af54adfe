"""Scores of answers to questions with known pages and values."""

from __future__ import annotations

import pytest

from bench.evaluations.answers import AnsweredQuestion, EvaluatedAnswer, SaidValues, says_right, scores_of


def outcome(
    text: str, *pages: int, answer: str = "12 mg", said: tuple[str, ...] = (), question: str = "The dose?"
) -> EvaluatedAnswer:
    known = AnsweredQuestion(question=question, doc_name="leaflet", evidence=(), answer=answer)
    return EvaluatedAnswer(known, frozenset({3}), pages, ("exact",) * len(pages), text, 10.0, said)


@pytest.mark.parametrize(
    ("answer", "said", "question", "right"),
    [
        ("12 mg", "Dose: 12 mg", "The dose?", True),
        ("12 mg", "Dose: 12 g", "The dose?", False),
        ("$1577.00", "Purchases, 2018: ($1,577 million)", "Capital expenditure (in USD millions)?", True),
        ("$1577.00", "Purchases, 2018: $1,577", "Capital expenditure (in USD millions)?", False),
        ("$44.5 billion", "Revenues: $44,538 million", "Revenue?", True),
        ("$45.5 billion", "Revenues: $44,538 million", "Revenue?", False),
        ("Larkfield", "Supplier: Larkfield Ltd", "Who?", True),
    ],
)
def test_a_value_is_right_within_its_rounding_and_with_its_scale(
    answer: str, said: str, question: str, right: bool
) -> None:
    assert says_right(outcome("", 3, answer=answer, said=(said,), question=question)) == right


@pytest.mark.django_db
def test_passages_under_a_refusal_are_shown_not_cited() -> None:
    refused = outcome("No direct answer found.", 3)
    scores = scores_of([refused])
    assert (scores.cited, scores.first, scores.shown, scores.shown_first) == (0, 0, 1, 1)


@pytest.mark.django_db
def test_scores_are_shares_of_questions_and_of_citations() -> None:
    scores = scores_of(
        [outcome("The dose is 12 mg.", 3, 4, said=("The dose: 12 mg",)), outcome("It is low.", 5)]
    )
    assert (scores.questions, scores.cited, scores.first) == (2, 0.5, 0.5)
    assert (scores.precision, scores.verified) == (round(1 / 3, 4), 1.0)
    assert scores.values == SaidValues(asked=2, said=1, right=1)
    assert scores.citations == 1.5
