"""Claims that leave out a word that turns a meaning: "too small to", "critics said", "outside", "rarely"."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from chat.citations.claims import CONTRADICTED
from chat.citations.verification.batch import Case, check

CASES = [
    json.loads(line)
    for line in (Path(__file__).parent / "verdicts" / "left_out.jsonl")
    .read_text(encoding="utf-8")
    .splitlines()
]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["claim"])
def test_what_the_page_hedges_denies_or_narrows_is_not_verified_without_it(case: dict[str, str]) -> None:
    found = check(Case(case["claim"], "", passage=case["passage"], lang=case["lang"]))
    assert found.verified == case["verified"]


@pytest.mark.parametrize(
    ("lang", "passage", "claim"),
    [
        (
            "de",
            "Die Anzahlung ist zu leisten innerhalb von drei Tagen nach der Bestellung.",
            "Die Anzahlung muss innerhalb von drei Tagen nach der Bestellung geleistet werden.",
        ),
        (
            "fr",
            "Les ventes ont augmenté de 5 % par rapport à 2020.",
            "Les ventes ont augmenté de 5 %.",
        ),
    ],
)
def test_the_same_small_words_elsewhere_turn_nothing(lang: str, passage: str, claim: str) -> None:
    assert check(Case(claim, "", passage=passage, lang=lang)).verdict not in CONTRADICTED
