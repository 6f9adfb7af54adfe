"""The kinds of conflict that readers are shown as a difference, by their own examples."""

from __future__ import annotations

import time

import pytest

from citing.batch import Case, Checked, check
from citing.claims import CONTRADICTED
from citing.differences import KINDS, DifferenceKind

HOSTILE_SECONDS = 2.0  # processor time: the budget is 0.2 s, reading the text comes on top


def checked(pair: tuple[str, str], lang: str = "en", quote: str = "") -> Checked:
    return check(Case(pair[0], quote, passage=pair[1], lang=lang))


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.name)
def test_a_kind_shows_its_difference_and_leaves_what_only_looks_like_one(kind: DifferenceKind) -> None:
    found = checked(kind.differs)
    assert (found.verdict, [conflict.kind for conflict in found.conflicts]) == ("unsupported", [kind.name])
    assert checked(kind.same).verdict not in CONTRADICTED


@pytest.mark.parametrize(
    ("claim", "passage", "lang"),
    [
        ("No more than 6 V may be applied.", "Do not apply more than 6 V.", "en"),
        ("The dose is no more than 1 g per day.", "The dose must not exceed 1,000 mg per day.", "en"),
        ("Visitors must be at least 20.", "Visitors must be 20 or higher in age.", "en"),
        ("The report is due not later than three days after it.", "It is due within three days.", "en"),
        ("The tenant is entitled to three months' notice.", "Notice of three months is due.", "en"),
        ("El inquilino debe pagar la renta.", "El inquilino está obligado a pagar la renta.", "es"),
        ("La moitié de l'abonnement est remboursée.", "50 % de l'abonnement sont remboursés.", "fr"),
        ("All but 2 of the 38 sites opened.", "Thirty-six of the 38 sites opened.", "en"),
        ("Income declined by $43 million.", "Income fell to $412 million from $455 million.", "en"),
        ("La tasa bajó 0,9 puntos porcentuales.", "La tasa bajó del 12,7 % al 11,8 %.", "es"),
        ("Nausea led 26 participants to withdraw.", "Of 240 participants, 26 withdrew with nausea.", "en"),
    ],
)
def test_true_claims_in_ordinary_phrasing_are_never_called_different(
    claim: str, passage: str, lang: str
) -> None:
    assert checked((claim, passage), lang).verdict not in CONTRADICTED


def test_invented_words_are_called_what_they_are() -> None:
    page = "The lease began in May. Rent is due monthly."
    found = checked(("The lease began in May.", page), quote="began on the first of May")
    assert (found.verdict in CONTRADICTED, found.reason) == (
        True,
        "These words are in none of the passages that were compared.",
    )
    elsewhere = checked(("The lease began in May.", f"{page}\n\nDogs may stay."), quote="Dogs may stay")
    assert elsewhere.verdict not in CONTRADICTED


@pytest.mark.parametrize("lead", ["Based on the passage, ", "According to the document, ", "The answer is: "])
def test_a_lead_in_that_only_names_the_source_is_no_claim(lead: str) -> None:
    page = "The committee met in Oslo in May. It rose at noon."
    assert checked((f"{lead}the committee met in Oslo in May.", page)).verified
    assert not checked((f"{lead}the committee met in Bergen in May.", page)).verified


def test_a_claim_of_a_hundred_kilobytes_is_found_without_a_comparison() -> None:
    found = checked(("The committee met and rose, " * 4000, "The committee met in Oslo."))
    assert (found.verdict, found.reason) == ("found", "This claim is too long to be compared.")


@pytest.mark.parametrize(
    ("claim", "passage", "quote"),
    [
        (
            "The price of alder in region 41 rose by 41 % to 410 euros in 2021.",
            "\n\n".join(f"The price of elm in region {k} rose by {k} % to {k}0 euros." for k in range(80)),
            "",
        ),
        ("The river and the dam of the town, " * 110, "The town and the river of the dam, " * 115, ""),
        (" and ".join(f"the elm {k}" for k in range(300)), " and ".join(f"elm {k}" for k in range(300)), ""),
        ("The fee is ((((5 euros.", "(" * 10_000 + "The fee is 5 euros" + ")" * 10_000, ""),
        (
            "Row 7 has 303 in head 4.",
            "\n".join("| " + " | ".join(f"row {k * n}" for k in range(20)) + " |" for n in range(60)),
            "",
        ),
        ("fee " * 200, "fee " * 20_000, ""),
        ("Rent is due unless " + "unless " * 500, "Rent is due unless " * 500, ""),
        ("The fee is 5 euros.", "The fee is due. " * 6000, "fee is due " * 9100),
        ("The fee of 2024 is 5 euros.", "The fee of March 2023 is 5 euros. " * 2000, ""),
        ("(" * 4000, "The fee is 5 euros.", ""),
    ],
    ids=[
        "units",
        "long",
        "ands",
        "parentheses",
        "table",
        "one word",
        "conditions",
        "quote",
        "values",
        "signs",
    ],
)
def test_a_hostile_claim_or_page_ends_within_its_processor_time(claim: str, passage: str, quote: str) -> None:
    began = time.thread_time()
    assert not checked((claim, passage), quote=quote).verified
    assert time.thread_time() - began < HOSTILE_SECONDS
