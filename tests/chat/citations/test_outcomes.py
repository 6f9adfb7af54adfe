"""Readers see one of three words, and both sides of a difference."""

from __future__ import annotations

import pytest
from django.utils import translation

from chat.models import Citation
from citing.claims import Claim, outcome_of
from citing.verdict import verify
from tests.citing.test_verdict import unit


def test_both_sides_of_a_difference_are_said() -> None:
    found = verify(Claim("The daily dose is 5 mg for adults."), unit("The daily dose is 5 g for adults."))
    assert found.difference == ("5 mg", "5 g")
    citation = Citation(verdict=found.verdict, difference=list(found.difference))
    assert citation.outcome_text == "differs (claim: 5 mg · page: 5 g)"
    with translation.override("de"):
        assert citation.outcome_text == "weicht ab (Aussage: 5 mg · Seite: 5 g)"


@pytest.mark.parametrize("verdict", Citation.Verdict.values)
def test_each_verdict_has_one_of_three_words(verdict: str) -> None:
    assert outcome_of(verdict) in Citation.Outcome.values
    assert Citation(verdict=verdict).outcome_label == outcome_of(verdict)


def test_what_is_verified_has_no_difference() -> None:
    found = verify(Claim("The daily dose is 5 g for adults."), unit("The daily dose is 5 g for adults."))
    assert found.difference is None
    assert outcome_of("") == Citation(verdict="").outcome_text == ""
