"""Claims about cells: rows named by bounds, scale, bounds a cell keeps to, costs printed as negative."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest

from citing.batch import Case, check
from citing.claims import Claim, SourceUnit, outcome_of
from citing.verdict import verify
from pdf.structure import Cell, TableRow
from tests.citing.verdicts import cases_in

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
        (AGES, "There were 13,448 women aged 65 or younger.", "found"),
        (AGES, "There were 12,410 men over 18 in 2021.", "unsupported"),
        (AGES, "There were 12,410 men under 18 in 2021.", "exact"),
        (AGES, "There were 13,448 women in 2021.", "found"),
        (AGES, "There were 9,870 women aged 65 and over.", "unsupported"),
    ],
)
def test_a_cell_is_said_with_its_row_its_scale_and_its_bound(passage: str, claim: str, verdict: str) -> None:
    assert check(Case(claim, "", passage=passage, lang="en")).verdict == verdict


INCOME = """Statement of operations (in millions)
| | 2023 | 2022 |
| Net revenue | 8,214 | 7,950 |
| Cost of revenue | (3,101) | (3,044) |
| Research and development | (1,288) | (1,310) |
| Operating loss | (310) | (270) |
| Net income (loss) | (298) | (250) |
| Net cash used in investing activities | (85) | (61) |
| Dividends paid | (61) | (55) |"""
TURNED = """Statement of operations (in millions)
| | 2023 | 2022 |
| Net income (loss) | 298 | (250) |"""
WARDS = """Hospital activity
| | Admissions | Mean stay (days) | Beds |
| Northgate | 12,480 | 4.6 | 310 |
| Riverside | 15,220 | 3.9 | 402 |"""


@pytest.mark.parametrize(
    ("passage", "claim", "verdict"),
    [
        (INCOME, "Cost of revenue rose in 2023.", "normalized"),
        (INCOME, "Cost of revenue fell in 2023.", "unsupported"),
        (INCOME, "Cost of revenue rose by $57 million in 2023.", "computed"),
        (INCOME, "Cost of revenue fell by $57 million in 2023.", "unsupported"),
        (INCOME, "Research and development expense fell by $22 million in 2023.", "computed"),
        (INCOME, "Research and development expense rose in 2023.", "unsupported"),
        (INCOME, "Research and development fell in 2023.", "found"),
        (INCOME, "Operating loss increased by $40 million in 2023.", "computed"),
        (INCOME, "Net cash used in investing activities decreased in 2023.", "unsupported"),
        (INCOME, "Dividends paid increased to $61 million in 2023.", "normalized"),
        (INCOME, "Dividends paid decreased to $61 million in 2023.", "unsupported"),
        (INCOME, "The net loss widened in 2023.", "normalized"),
        (INCOME, "The net loss narrowed in 2023.", "unsupported"),
        (INCOME, "The net loss was $298 million in 2023.", "normalized"),
        (TURNED, "The net loss was $250 million in 2022.", "normalized"),
        (TURNED, "The net loss was $298 million in 2023.", "unsupported"),
        (TURNED, "Net income was $250 million in 2022.", "found"),
        (TURNED, "Net income rose in 2023.", "normalized"),
        (TURNED, "The net loss rose in 2023.", "found"),
    ],
)
def test_a_cost_or_a_loss_printed_as_negative_rises_when_it_grows(
    passage: str, claim: str, verdict: str
) -> None:
    assert check(Case(claim, "", passage=passage, lang="en")).verdict == verdict


@pytest.mark.parametrize(
    ("claim", "verdict"),
    [
        ("The mean stay was shortest at Riverside.", "normalized"),
        ("The mean stay was shortest at Northgate.", "unsupported"),
    ],
)
def test_columns_of_other_measures_are_no_years_to_be_first_among(claim: str, verdict: str) -> None:
    assert check(Case(claim, "", passage=WARDS, lang="en")).verdict == verdict


@pytest.mark.parametrize("case", cases_in("tables.jsonl"), ids=lambda case: case["claim"])
def test_cells_are_named_and_compared_in_six_languages(case: dict[str, str]) -> None:
    found = check(Case(case["claim"], "", passage=case["passage"], lang=case["lang"]))
    assert found.verified == case["verified"]


HARBOUR = """Harbour dues (£000)
| | 2031 | 2030 |
| Dredging costs | (5,860) | (5,140) |
| Ships inspected | 640 | 588 |
| Ships detained | 33 | 46 |"""
CRANE = """Operating limits
| Parameter | Typical | Maximum | Unit |
| Height above the quay | – | 2,500 | mm |
| Noise of the motor | 54 | 63 | dB(A) |"""
WAGES = """Pay in 2031
| Quarter | Pay |
| First | Less than $20,900 |
| Fourth | Greater than $66,900 |"""
LEAKS = """Leakage (% of the water that is put into supply)
| Region | 2031 | 2030 |
| Eastmere | 17.4 | 19.1 |"""


@pytest.mark.parametrize(
    ("passage", "claim", "verdict"),
    [
        (HARBOUR, "Dredging costs rose from £5.14 million in 2030 to £5.86 million in 2031.", "normalized"),
        (HARBOUR, "Dredging costs fell from £5.86 million in 2030 to £5.14 million in 2031.", "found"),
        (HARBOUR, "33 of the 640 ships inspected in 2031 were detained.", "found"),
        (WAGES, "In 2031 the pay of the fourth quarter was greater than $66,900.", "exact"),
        (CRANE, "The crane can be set at a height above the quay of up to 2.5 m.", "found"),
        (CRANE, "The maximum noise of the motor is 63 dB(A).", "exact"),
        (CRANE, "The maximum noise of the motor is 54 dB(A).", "unsupported"),
        (LEAKS, "Leakage in Eastmere was 17.4% in 2031, down from 19.1% in 2030.", "normalized"),
        (LEAKS, "Leakage in Eastmere was 19.1% in 2031.", "unsupported"),
    ],
)
def test_a_number_that_is_a_cell_in_another_form_is_no_difference(
    passage: str, claim: str, verdict: str
) -> None:
    assert check(Case(claim, "", passage=passage, lang="en")).verdict == verdict


FLOWS = """Statement of cash flows (in millions)
| | 2023 | 2022 |
| Net cash provided by (used in) operations | 222 | (3,086) |
| Total other income (loss), net of tax | 323 | (531) |
| Total revenues from contracts with customers | 410 | 390 |
| Decrease in inventories of the group | (35) | 20 |
| Non-operating income (expense) | (300) | (1,160) |
| Leasehold improvements | 1,494 | 1,563 |
| Change of earnings | (54)% | 12% |"""


@pytest.mark.parametrize(
    ("claim", "verdict"),
    [
        ("Net cash provided by (used in) operations was 222 in 2023.", "exact"),
        ("Net cash provided by (used in) operations was (3,086) in 2022.", "exact"),
        ("Net cash provided by (used in) operations was 3,086 in 2022.", "unsupported"),
        ("Net cash used in operations was $3,086 million in 2022.", "normalized"),
        ("Net cash used in operations was $222 million in 2023.", "unsupported"),
        ("Total other income (loss), net of tax was $323 million in 2023.", "normalized"),
        ("Total other income (loss), net of tax was (531) in 2022.", "exact"),
        ("Total other income (loss), net of tax was 531 in 2022.", "found"),
        ("Total other loss, net of tax was $323 million in 2023.", "unsupported"),
        ("Total revenues from contracts with customers was 410 in 2023.", "exact"),
        ("Total revenues from contracts with customers was 390 in 2023.", "found"),
        ("Decrease in inventories of the group was (35) in 2023.", "exact"),
        ("Non-operating income (expense) was (300) in 2023.", "exact"),
        ("Non-operating income (expense) was 300 in 2023.", "unsupported"),
        ("Leasehold improvements was 1,494 in 2023.", "exact"),
        ("Leasehold improvements was 1,563 in 2023.", "found"),
        ("Change of earnings was (54)% in 2023.", "exact"),
        ("Change of earnings was 54% in 2023.", "unsupported"),
    ],
)
def test_an_alternative_in_the_brackets_of_a_label_tells_no_sign(claim: str, verdict: str) -> None:
    assert check(Case(claim, "", passage=FLOWS, lang="en")).verdict == verdict


def test_a_table_without_a_scale_counts_as_the_section_it_stands_in() -> None:
    rows = [f"{name}\t{value}" for name, value in (("Lease liabilities", 832), ("Reserves", 639))]
    heads = ("", "2020")
    units = [
        SourceUnit(
            f"d:1:{at}", "d", 1, text, at * 40, (), "table",
            ("Notes (amounts in millions)",),
            TableRow(0, at, tuple(_cells(text, at * 40)), False, heads, "As follows:"), "A report",
        )
        for at, text in enumerate(rows, 1)
    ]  # fmt: skip
    plan = SourceUnit("d:1:0", "d", 1, "The dividend was paid through our 401(k) plan.", 0, ())
    said = "Lease liabilities were $832 {} in 2020."
    assert verify(Claim(said.format("million")), units[0], [plan, units[1]]).supported
    assert not verify(Claim(said.format("thousand")), units[0], [plan, units[1]]).supported


def _cells(text: str, start: int) -> Iterator[Cell]:
    for column, match in enumerate(re.finditer(r"[^\t]+", text)):
        yield Cell(column, match[0], char_start=start + match.start(), char_end=start + match.end())


SPENT = """Statement of cash flows (in millions)
| | 2018 | 2017 |
| Purchases of property, plant and equipment | (1,577) | (1,373) |
| Proceeds from sale of property | 262 | 49 |"""
UMSATZ = """Umsatz nach Region (in Tausend Euro)
| Region | 2022 | 2023 |
| Nord | 4.310 | 4.875 |
| Süd | 3.902 | 3.640 |"""


@pytest.mark.parametrize(
    ("title", "verified"), [("3M 2018 10-K", True), ("3M_2018_10K", True), ("Acme 2018 10-K", False)]
)
def test_a_name_of_the_title_is_no_amount(title: str, verified: bool) -> None:
    row = "In 2018, 3M spent $1,577 million on property, plant and equipment."
    assert check(Case(row, "", passage=SPENT, lang="en", title=title)).verified == verified
    prose = "Sales rose. The Company spent $1,577 million on property, plant and equipment in 2018."
    assert check(Case(row, "", passage=prose, lang="en", title=title)).verified == verified


def test_a_german_claim_may_group_by_commas() -> None:
    said = "Im Norden betrug der Umsatz 2023 {} Tausend Euro."
    assert check(Case(said.format("4,875"), "", passage=UMSATZ, lang="de")).verified
    assert not check(Case(said.format("4,785"), "", passage=UMSATZ, lang="de")).verified
    assert not check(Case(said.format("48,75"), "", passage=UMSATZ, lang="de")).verified


INCOME = """Income (in millions)
| | 2018 | 2017 |
| Net sales | $ 32,765 | $ 31,657 |
| Operating income | 7,207 | 7,692 |
| Taxes | 1,637 | 2,679 |"""


@pytest.mark.parametrize(
    ("claim", "verdict"),
    [
        ("Operating income fell by 485 from 2017 to 2018.", "computed"),  # as printed, in millions
        ("Operating income fell by $485 million from 2017 to 2018.", "computed"),
        ("Operating income, 2018, 2017: 7,207 − 7,692 = −485", "computed"),
        ("Operating income, 2018, 2017: 7,207 − 7,692 = −495", "unsupported"),
        (
            "Operating income / Net sales, 2018: 7,207 / 32,765 = 22.0%",
            "computed",
        ),  # of which one has the "$"
        ("Operating income / Net sales, 2018: 7,207 / 32,765 = 24.0%", "unsupported"),
    ],
)
def test_what_a_claim_computes_is_compared_as_the_table_prints_it(claim: str, verdict: str) -> None:
    assert check(Case(claim, "", passage=INCOME, lang="en")).verdict == verdict


@pytest.mark.parametrize(("station", "verified"), [("Bern", False), ("Basel", True), ("Chur", True)])
def test_a_dash_is_the_value_of_its_column(station: str, verified: bool) -> None:
    passage = (
        "Delays\n| Station | to Bern, trains/hour | to Basel, trains/hour | to Chur, trains/hour |"
        "\n| --- | --- | --- | --- |\n| Aarau | 2 | 2 | 2 |\n| Olten | - | 4 | 4 |"
    )
    found = check(Case(f"Olten has 4 trains/hour to {station}.", passage=passage, lang="en"))
    assert found.verified == verified


@pytest.mark.parametrize(
    ("passage", "claim"),
    [
        (
            "Fees\n| | May | June |\n| Towing | 340 | 370 |\n| Berth | 120 | 125 |",
            "The towing fee rose by 30 from May to June.",
        ),
        (
            "In millions of euros\n| | Six months 2023 | Six months 2022 |\n| Revenue | 905 | 870 |\n"
            "| Costs | 610 | 600 |",
            "Revenue rose by 35 million euros from 2022 to 2023.",
        ),
    ],
)
def test_a_change_that_a_reader_computes_is_not_said_to_differ(passage: str, claim: str) -> None:
    assert outcome_of(check(Case(claim, "", passage=passage, lang="en")).verdict) != "differs"
