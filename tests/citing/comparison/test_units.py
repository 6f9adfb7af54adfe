"""Claims that repeat a sentence except for one word: that word is not verified by the others."""

from __future__ import annotations

import pytest

from citing.batch import Case, check
from citing.claims import VERIFIED
from citing.comparison.cells.doubts import DOUBTS, Doubt

FACILITY = (
    "The rate is set by the Lending Bank each month. Under the Five Year Facility Agreement, the margin"
    " ranges from 0.10% to 0.225%, and the facility fee ranges from 0.07% to 0.15%."
)
RESPECTIVELY = (
    "As of June 30, 2023 and 2022, we held treasury shares at cost of $12 million and $18 million,"
    " respectively, and these shares are not included in the Consolidated Balance Sheets of the Company."
)
OPTIONS = "The options were worth $320 and $491 in 2018 and 2017, respectively, with a tax benefit of $70."
GRANTS = "These grants do not result in the issuance of stock and are considered immaterial by the board."
VESTING = "In all other cases, the units will not vest and all rights to the shares will terminate."
RISK = "If our suppliers fail, replacements may not be available to us on reasonable terms in the next years."
USE = "The Article and Section headings are for convenience only. You may not assign this Agreement in part."
DEMAND = "Volumes were 8% lower as a result of low demand and destocking more than offsetting new business."
RIVER = "Operations in Brazil were audited. The company vigorously defends its positions before the courts."


@pytest.mark.parametrize(
    ("passage", "wrong"),
    [
        (FACILITY, ("Facility Agreement", "Facility Bank")),
        (RESPECTIVELY, ("June 30", "June 10")),
        (RESPECTIVELY, ("$12", "€12")),
        (RESPECTIVELY, ("are not included", "are included")),
        (OPTIONS, ("were worth", "were not worth")),
        (GRANTS, ("are considered", "are not considered")),
        (VESTING, ("will terminate", "will not terminate")),
        (RISK, ("may not be", "must not be")),
        (DEMAND, ("more than", "less than")),
    ],
)
def test_one_other_word_is_not_verified(passage: str, wrong: tuple[str, str]) -> None:
    sentence = next(s for s in passage.split(". ") if wrong[0] in s).rstrip(".") + "."
    assert check(Case(sentence, "", passage=passage, lang="en")).verified
    claim = sentence.replace(*wrong)
    assert claim != sentence
    assert not check(Case(claim, "", passage=passage, lang="en")).verified


@pytest.mark.parametrize(
    ("passage", "claim"),
    [
        (USE, "You must not assign this Agreement in part."),
        (
            GRANTS,
            "These grants do not result in the issuance of stock, and the board considers them immaterial.",
        ),
        (RESPECTIVELY, "We held treasury shares at cost of $18 million as of June 30, 2022."),
    ],
)
def test_another_word_for_the_same_is_no_contradiction(passage: str, claim: str) -> None:
    assert check(Case(claim, "", passage=passage, lang="en")).verdict not in ("unsupported", "partial")


def test_the_difference_is_told_where_it_stands() -> None:
    passage = "The tower is old. The bridge over the Aller is 48 m long."
    claim = "The bridge over the Aller is 84 m long."
    found = check(Case(claim, "", passage=passage, lang="en"))
    assert found.verdict == "unsupported"
    (conflict,) = found.conflicts
    assert claim[slice(*conflict.claim_span)] == conflict.claim == "84 m"
    assert passage[slice(*conflict.source_span)] == conflict.source == "48 m"


@pytest.mark.parametrize(
    ("passage", "claim", "verdict"),
    [
        ("Members may not vote by proxy.", "Members must not vote by proxy.", "found"),
        ("Note: Amounts may not sum due to rounding.", "Amounts must not sum due to rounding.", "found"),
        ("We may not realise the savings this year.", "We must not realise the savings this year.",
         "found"),
    ],
)  # fmt: skip
def test_may_not_is_must_not_where_the_passage_prescribes(passage: str, claim: str, verdict: str) -> None:
    assert check(Case(claim, "", passage=passage, lang="en")).verdict == verdict


def test_a_name_of_the_title_stands_for_the_company_without_its_article() -> None:
    said = [RIVER.split(". ")[1].replace("The company", name) for name in ("Brazil", "The Brazil")]
    found = [check(Case(claim, "", passage=RIVER, lang="en", title="Brazil 2023")) for claim in said]
    assert found[0].verdict not in ("unsupported", "partial")
    assert not found[1].verified


def test_a_sentence_beside_its_like_is_compared_with_itself() -> None:
    said = "In the last year lots of {} did not make the big firm rich."
    lines = [said.format(what) for what in ("owls", "bats")]
    for line in lines:
        claim = line.replace("did not", "didn't")
        assert check(Case(claim, "", passage=" ".join(lines), lang="en")).verified


def test_each_sentence_of_a_claim_is_compared() -> None:
    passage = "The Lending Bank is in Oslo. " + FACILITY
    claim = "The Lending Bank is in Oslo. " + FACILITY.split(". ")[1]
    assert check(Case(claim, "", passage=passage, lang="en")).verified
    found = check(Case(claim.replace("Facility Agreement", "Facility Bank"), "", passage=passage, lang="en"))
    assert found.reason == "Not compared: “Bank” with “Agreement” on the page."


@pytest.mark.parametrize("doubt", DOUBTS, ids=lambda doubt: doubt.name)
def test_a_doubt_leaves_its_open_example_unjudged(doubt: Doubt) -> None:
    claim, passage = doubt.judged
    assert check(Case(claim, passage=passage, lang="en")).verdict in VERIFIED
    claim, passage = doubt.open
    assert check(Case(claim, passage=passage, lang="en")).verdict not in VERIFIED
