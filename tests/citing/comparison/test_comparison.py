"""Comparisons in words, of two amounts of a sentence: "more often with A than with B"."""

from __future__ import annotations

import pytest

from citing.batch import Case, check
from citing.claims import CONTRADICTED
from tests.citing.verdicts import cases_in

CASES = cases_in("compared.jsonl")


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["claim"])
def test_a_comparison_is_computed_from_the_amounts_of_what_it_compares(case: dict[str, str]) -> None:
    found = check(Case(case["claim"], "", passage=case["passage"], lang=case["lang"]))
    assert found.verified == case["verified"]


@pytest.mark.parametrize(
    ("passage", "claim", "reason"),
    [
        (
            "Burnout was reported by 41% of night workers and 23% of day workers.",
            "Day workers reported burnout more often than night workers.",
            "The claim says more often; computed from the page: 23% < 41%.",
        ),
        (
            "Revenue was $12.4 million in 2022 and $10.1 million in 2021.",
            "Revenue fell between 2021 and 2022.",
            "The claim says fell; computed from the page: $10.1 million → $12.4 million.",
        ),
    ],
)
def test_a_comparison_turned_round_says_what_the_page_computes(passage: str, claim: str, reason: str) -> None:
    found = check(Case(claim, "", passage=passage, lang="en"))
    assert (found.verdict, found.reason) == ("unsupported", reason)


def test_a_larger_share_of_men_does_not_make_them_more() -> None:
    passage = "Of the respondents, 62% of men and 48% of women owned a car."
    found = check(Case("More men than women owned a car.", "", passage=passage, lang="en"))
    assert not found.verified
    assert found.verdict not in CONTRADICTED
