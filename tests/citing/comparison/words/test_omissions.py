"""Claims without a word that changes the meaning: "too small to", "critics said", "outside", "rarely"."""

from __future__ import annotations

import pytest

from citing.batch import Case, check
from citing.claims import CONTRADICTED
from tests.citing.verdicts import cases_in

CASES = cases_in("left_out.jsonl")


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["claim"])
def test_what_the_page_hedges_denies_or_narrows_is_not_verified_without_it(case: dict[str, str]) -> None:
    found = check(Case(case["claim"], "", passage=case["passage"], lang=case["lang"]))
    assert found.verified == case["verified"]


@pytest.mark.parametrize(
    ("passage", "claim"),
    [
        (
            "Der Vorstand beschloss, das Werk zu schließen bis Ende März.",
            "Der Vorstand beschloss die Schließung des Werks bis Ende März.",
        ),
        (
            "Es gelang der Firma, die Kosten zu senken und den Gewinn zu steigern.",
            "Die Firma senkte die Kosten und steigerte den Gewinn.",
        ),
    ],
)
def test_the_zu_of_an_infinitive_says_no_excess(passage: str, claim: str) -> None:
    assert check(Case(claim, "", passage=passage, lang="de")).verdict not in CONTRADICTED
