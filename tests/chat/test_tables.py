"""Claims about cells: rows named by bounds, the table's scale, bounds that a cell keeps to."""

from __future__ import annotations

import pytest

from chat.citations.verification.batch import Case, check

SALES = """Sales by region (€ thousand)
| Region | 2022 | 2023 | Change |
| North | 4,310 | 4,875 | 13.1% |
| South | 3,902 | 3,640 | (6.7%) |
| Total | 8,212 | 8,515 | 3.7% |"""
AGES = """Population by age, 2021
| Age | Men | Women |
| Under 18 | 12,410 | 11,902 |
| 18–64 | 38,220 | 39,105 |
| 65 and over | 9,870 | 13,448 |"""


@pytest.mark.parametrize(
    ("passage", "claim", "verdict"),
    [
        (SALES, "Sales in the North were €4,875 thousand in 2023.", "normalized"),
        (SALES, "Sales in the North exceeded €4 million in 2023.", "computed"),
        (SALES, "Sales in the South exceeded €4 million in 2023.", "unsupported"),
        (SALES, "Sales in the South were below €4 million in 2023.", "computed"),
        (SALES, "Sales in the South rose by 6.7% in 2023.", "unsupported"),
        (AGES, "There were 13,448 women aged 65 and over in 2021.", "exact"),
        (AGES, "There were 13,448 women aged 65 or younger.", "unsupported"),
        (AGES, "There were 12,410 men over 18 in 2021.", "unsupported"),
        (AGES, "There were 12,410 men under 18 in 2021.", "exact"),
        (AGES, "There were 13,448 women in 2021.", "found"),
        (AGES, "There were 9,870 women aged 65 and over.", "unsupported"),
    ],
)
def test_a_cell_is_said_with_its_row_its_scale_and_its_bound(passage: str, claim: str, verdict: str) -> None:
    assert check(Case(claim, "", passage=passage, lang="en")).verdict == verdict
