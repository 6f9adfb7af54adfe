"""What a writer puts around a statement is taken off before it is compared, by the rules' own examples."""

from __future__ import annotations

import pytest

from citing.batch import Case, check
from citing.claims import VERIFIED
from citing.comparison.words.framing import RULES, Framing


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.name)
def test_a_rule_makes_its_example_true_and_leaves_what_looks_alike(rule: Framing) -> None:
    claim, page = rule.holds
    assert check(Case(claim, passage=page, lang="en", title=rule.title)).verdict in VERIFIED
    claim, page = rule.stays
    assert check(Case(claim, passage=page, lang="en", title=rule.title)).verdict not in VERIFIED


@pytest.mark.parametrize(
    ("claim", "page", "lang"),
    [
        ("Laut Geschäftsbericht stieg der Umsatz um 6,8 %.", "Der Umsatz stieg um 6,8 %.", "de"),
        ("Selon le rapport annuel, le parc ferme à 18 heures.", "Le parc ferme à 18 heures.", "fr"),
        ("Según el contrato, la renta es de 500 euros.", "La renta es de 500 euros.", "es"),
        (
            "The paper reports that 40 % of the reefs recovered.",
            "We found that 40 % of the reefs recovered.",
            "en",
        ),
        ("As shown in Table 3, the dam holds 4 million litres.", "The dam holds 4 million litres.", "en"),
        ("Output was 8.4 kt in 2021-22.", "Output was 8.4 kt in 2021/22.", "en"),
        ("FY2023 revenue was $5 million.", "Revenue was $5 million in fiscal 2023.", "en"),
    ],
)
def test_frames_of_several_languages_claim_nothing(claim: str, page: str, lang: str) -> None:
    assert check(Case(claim, passage=page, lang=lang)).verdict in VERIFIED


@pytest.mark.parametrize(
    ("claim", "page"),
    [
        ("According to the Harrow report, the dam was closed.", "The dam was closed."),  # whose report?
        ("According to the 2019 report, the dam was closed.", "The dam was closed."),
        ("Output was 8.4 kt in 2022/23.", "Output was 8.4 kt in 2021/22."),
    ],
)
def test_a_frame_with_a_name_or_year_that_the_page_lacks_stays(claim: str, page: str) -> None:
    assert check(Case(claim, passage=page, lang="en")).verdict not in VERIFIED
