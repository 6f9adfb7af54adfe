"""A claim that says one cell by the names of its row, its groups and its column."""

import time

import pytest

from citing.batch import Case, check
from citing.comparison.words.rivals import amounts_exchanged_in_brackets

TABLE = """Results (in millions)
| | 2023 | 2022 |
| --- | --- | --- |
| Net revenue | | |
| Snacks North America | 5,583 | 4,839 |
| Total | 17,846 | 16,200 |
| Operating profit | | |
| Snacks North America | 1,599 | 1,296 |
| Total | 2,629 | 5,267 |
"""


@pytest.mark.parametrize(
    ("claim", "verified"),
    [
        ("Total operating profit was 2,629 million in 2023.", True),
        ("Total operating profit was 17,846 million in 2023.", False),
        ("Total operating profit was 5,267 million in 2023.", False),
        ("Total operating profit exceeded 2,629 million in 2023.", False),
        ("Net revenue of Snacks North America amounted to 4,839 million in 2022.", True),
        ("Net revenue of Snacks North America amounted to 1,296 million in 2022.", False),
    ],
)
def test_a_cell_is_named_by_its_group_too(claim: str, verified: bool) -> None:
    assert check(Case(claim=claim, passage=TABLE)).verified is verified


def test_amounts_in_brackets_belong_to_the_name_before_them() -> None:
    page = "Majorities of Republicans (71%) and Democrats (53%) say there are plenty of jobs."
    exchanged = "Majorities of Democrats (71%) and Republicans (53%) say there are plenty of jobs."
    assert check(Case(claim=page, passage=page)).verified
    assert amounts_exchanged_in_brackets(exchanged, page)
    assert not check(Case(claim=exchanged, passage=page)).verified


def test_a_list_of_foreign_names_does_not_tell_the_language_of_a_row() -> None:
    names = "".join(f"| Sul {n} S. de R.L. de C.V. e Filhos | Panama |\n" for n in range(12))
    table = (
        f"| Entity Name | Place of Formation |\n| --- | --- |\n{names}| Example Finance Ltd. | Bermuda |\n"
    )
    claim = "The place of formation of Example Finance Ltd. is Bermuda."
    assert check(Case(claim=claim, passage=table)).verified


def test_a_long_word_and_a_long_cell_end_in_time() -> None:
    """Expressions with two ways to read a stretch would take hours here."""
    assert not amounts_exchanged_in_brackets("A (71%) and B (53%)", "x" * 200_000)
    cell = f"1{'-' * 5000}words"
    table = f"| Item | 2023 |\n| --- | --- |\n| Snacks | 2.2 |\n| Drinks | {cell} |"
    assert not check(Case(claim="Snacks were 2.5 in 2023.", passage=table)).verified


EVENTS = """Table 5. Adverse events, n (%)
| | Drug 10 mg | Drug 20 mg | Placebo |
| --- | --- | --- | --- |
| | (N = 250) | (N = 248) | (N = 252) |
| Headache | 35 (14.0) | 42 (16.9) | 33 (13.1) |
| Somnolence | 15 (6.0) | 31 (12.5) | 6 (2.4) |
"""
RATES = """Table 4. Unemployment rate by age (percent, not seasonally adjusted)
| | Q3 2023 | | Q3 2024 | |
| --- | --- | --- | --- | --- |
| | 15–24 | 25–64 | 15–24 | 25–64 |
| **Women** | | | | |
| Coastal region | 14.1 | 5.2 | 12.6 | 5.4 |
| **Men** | | | | |
| Coastal region | 15.8 | 4.7 | 16.5 | 4.7 |
"""
SEGMENTS = """Segments
| (In millions) | 2023 | 2022 | Percentage change |
| --- | --- | --- | --- |
| Revenue | | | |
| Cloud | $ 87,907 | $ 74,965 | 17% |
| Total | $ 211,915 | $ 198,270 | 7% |
| Operating income | | | |
| Cloud | $ 37,884 | $ 33,203 | 14% |
| Total | $ 88,523 | $ 93,383 | (5)% |
"""
COVERAGE = """Key metrics
| | 2023 | 2022 |
| --- | --- | --- |
| Ratios (%) | | |
| Liquidity coverage ratio (LCR) | 152 | 158 |
| Stable funding | 119 | 117 |
"""
SMOKERS = """Characteristics of the participants at the start of the trial
| Characteristic | Drug (N=248) | Placebo (N=125) |
| --- | --- | --- |
| Smoking status — no. (%) | | |
| Former smoker | 97 (39.1) | 51 (40.8) |
| Current smoker | 33 (13.3) | 17 (13.6) |
"""
AGES = """Unemployment rates (percent)
| Sex and age (in years) | 2023 | 2024 |
| --- | --- | --- |
| **Men** | 3.7 | 4.0 |
| 16 to 24 | 9.1 | 9.4 |
| 25 to 54 | 3.2 | 3.6 |
| **Women** | 3.3 | 3.6 |
| 16 to 24 | 7.3 | 8.3 |
| 25 to 54 | 3.0 | 3.4 |
"""
MUSEUMS = """Fréquentation des musées (en milliers d'entrées)
| | 2022 | 2023 |
| --- | --- | --- |
| Musées nationaux | | |
| Entrées payantes | 2 050 | 2 296 |
| Musées municipaux | | |
| Entrées payantes | 720 | 756 |
"""
BLEEDING = """Outcomes
| | Drug | | Placebo | |
| --- | --- | --- | --- | --- |
| Outcome | Events | % of patients | Events | % of patients |
| Stroke | 31 | 2.6 | 44 | 3.7 |
| Major bleeding | 52 | 4.3 | 49 | 4.1 |
"""
PAID = """Cash flows (US$ million)
| | 2023 | 2022 |
| --- | --- | --- |
| Profit before tax | 1,146 | 982 |
| Dividends paid | (310) | (295) |
"""

TRIAL = """Table 2. Outcomes
| Outcome, n (%) | Drug (N = 611) | Standard care (N = 605) | Hazard ratio (95% CI) | P value |
| --- | --- | --- | --- | --- |
| Heart failure | 88 (14.4) | 119 (19.7) | 0.71 (0.54–0.94) | 0.02 |
| Cardiovascular death | 29 (4.7) | 34 (5.6) | 0.84 (0.51–1.38) | 0.49 |
"""
FAILURE = "Heart failure: {} on the drug and {} on standard care (HR 0.71; 95% CI {}–0.94; P = {})"
BASELINE = """Table 1. Baseline characteristics
| Characteristic | Drug (N = 214) | Placebo (N = 209) |
| --- | --- | --- |
| Age, years, mean (SD) | 61.3 (9.8) | 60.7 (10.2) |
| Body-mass index, median (IQR) | 28.4 (25.1–31.9) | 27.9 (24.8–31.5) |
"""
DOSES = """Table 3. Dose by renal function
| Creatinine clearance (mL/min) | Mild infection | Severe infection | Interval |
| --- | --- | --- | --- |
| > 50 | 500 mg | 1,000 mg | every 8 hours |
| 30–50 | 500 mg | 750 mg | every 12 hours |
| 10–29 | 250 mg | 500 mg | every 24 hours |
"""
SALES = """Results ($ in millions)
| | 2024 | 2023 | Change |
| --- | --- | --- | --- |
| Net sales | 851.1 | 678.9 | 25.4% |
| Travel | 601.6 | 815.8 | (26.3)% |
"""
RESULT_DE = """Konzern-Gewinn- und Verlustrechnung
| | 2024 | 2023 |
| --- | --- | --- |
| Umsatzerlöse (Mio. €) | 812,4 | 790,1 |
| Ergebnis je Aktie (€) | 3,42 | 3,51 |
"""


@pytest.mark.parametrize(
    ("table", "claim", "verified"),
    [
        (TRIAL, "Heart failure: 88 patients (14.4%) and 119 (19.7%) on standard care (HR 0.71)", False),
        (TRIAL, FAILURE.format("88 (14.4%)", "119 (19.7%)", "0.54", "0.02"), True),
        (TRIAL, FAILURE.format("119 (19.7%)", "88 (14.4%)", "0.54", "0.02"), False),
        (TRIAL, FAILURE.format("88 (14.4%)", "119 (19.7%)", "0.51", "0.02"), False),
        (TRIAL, FAILURE.format("88 (14.4%)", "119 (19.7%)", "0.54", "0.49"), False),
        (TRIAL, "The hazard ratio for heart failure was 0.71 (95% CI, 0.54 to 0.94).", True),
        (TRIAL, "The hazard ratio for heart failure was 0.54.", False),
        (TRIAL, "The odds ratio for heart failure was 0.71 (95% CI, 0.54 to 0.94).", False),
        (
            BASELINE,
            "Mean age was 61.3 years (SD 9.8) with the drug and 60.7 years (SD 10.2) with placebo.",
            True,
        ),
        (
            BASELINE,
            "Mean age was 61.3 years (SD 10.2) with the drug and 60.7 years (SD 9.8) with placebo.",
            False,
        ),
        (BASELINE, "Mean age was 9.8 years with the drug.", False),
        (BASELINE, "Median body-mass index was 28.4 (IQR 25.1–31.9) with the drug.", True),
        (BASELINE, "Median body-mass index was 27.9 (IQR 25.1–31.9) with the drug.", False),
        (DOSES, "At 30–50 mL/min the dose in severe infection is 750 mg every 12 hours.", True),
        (DOSES, "At 30–50 mL/min the dose in severe infection is 750 mg every 24 hours.", False),
        (DOSES, "At 30–50 mL/min the dose in mild infection is 750 mg every 12 hours.", False),
        (DOSES, "At 30–50 mL/min the dose in severe infection is 750 mg once daily.", False),
        (SALES, "Net sales were $851.1 million in 2024, compared with $678.9 million a year earlier.", True),
        (
            SALES,
            "Net sales were $851.1 million in 2024, compared with $678.9 million two years earlier.",
            False,
        ),
        (SALES, "Net sales were $678.9 million in 2024, compared with $851.1 million a year earlier.", False),
        (SALES, "Net sales: $851.1 million, up 25.4%", True),
        (SALES, "Net sales: $678.9 million, up 25.4%", False),  # of the year before
        (SALES, "Net sales: $851.1 million, down 25.4%", False),
        (SALES, "Travel was $601.6 million, 26.3% lower than a year earlier.", True),
        (SALES, "Travel was $601.6 million, 26.3% higher than a year earlier.", False),
        (SALES, "Travel was $815.8 million, 26.3% lower than a year earlier.", False),
        (SALES, "Travel fell by 26.3% to $601.6 million in 2024 from $815.8 million in 2023.", True),
        (SALES, "Travel fell by 26.3% to $815.8 million in 2024 from $601.6 million in 2023.", False),
        (SALES, "Travel fell in 2024 by 26.3% to $601.6 million.", True),
        (SALES, "Travel fell in 2023 by 26.3% to $815.8 million.", False),
        (SALES, "Travel fell to 26.3% in 2024.", False),
        (SALES, "Net sales missed $851.1 million in 2024.", False),
        (SALES, "Net sales excluded $851.1 million in 2024.", False),
        (RESULT_DE, "Ergebnis je Aktie: 3,42 € nach 3,51 € im Vorjahr", True),
        (RESULT_DE, "Ergebnis je Aktie: 3,51 € nach 3,42 € im Vorjahr", False),
    ],
)
def test_an_estimate_its_spread_and_a_year_before_are_of_their_cells(
    table: str, claim: str, verified: bool
) -> None:
    language = "de" if table is RESULT_DE else "en"
    assert check(Case(claim=claim, passage=table, lang=language)).verified is verified


@pytest.mark.parametrize(
    ("table", "claim", "verified"),
    [
        (SMOKERS, "13.3% of the participants on the drug were current smokers.", True),
        (SMOKERS, "33% of the participants on the drug were current smokers.", False),
        (AGES, "Women, 25 to 54: 3.0% in 2023, compared with 3.4% in 2024", True),
        (AGES, "Men, 25 to 54: 3.0% in 2023, compared with 3.4% in 2024", False),
        (
            MUSEUMS,
            "Musées municipaux, entrées payantes : 720 milliers en 2022 et 756 milliers en 2023.",
            True,
        ),
        (
            MUSEUMS,
            "Musées nationaux, entrées payantes : 720 milliers en 2022 et 756 milliers en 2023.",
            False,
        ),
        (BLEEDING, "Stroke: 31 events (2.6%) with the drug, compared with 44 (3.7%) with placebo", True),
        (BLEEDING, "Stroke: 31 events (3.7%) with the drug, compared with 44 (2.6%) with placebo", False),
        (BLEEDING, "Stroke: 44 events (3.7%) with the drug, compared with 31 (2.6%) with placebo", False),
        (EVENTS, "Headache: 10 mg – 35 (14.0%); 20 mg – 42 (16.9%); placebo – 33 (13.1%).", True),
        (EVENTS, "Headache: 10 mg – 42 (16.9%); 20 mg – 35 (14.0%); placebo – 33 (13.1%).", False),
        (PAID, "Dividends paid: $310 million (2022: $295 million)", True),
        (PAID, "Dividends paid: $295 million (2022: $310 million)", False),
        (PAID, "Dividends paid were $310 million in 2023, compared with $295 million in 2022.", True),
        (PAID, "Dividends paid were $295 million in 2023, compared with $310 million in 2022.", False),
        (EVENTS, "Somnolence: 15 (6.0%) on 10 mg, 31 (12.5%) on 20 mg and 6 (2.4%) on placebo.", True),
        (EVENTS, "Somnolence: 31 (12.5%) on 10 mg, 15 (6.0%) on 20 mg and 6 (2.4%) on placebo.", False),
        (EVENTS, "Somnolence: 15 (12.5%) on 10 mg, 31 (6.0%) on 20 mg and 6 (2.4%) on placebo.", False),
        (EVENTS, "On 10 mg, 35 patients (14.0%) had headache and 15 (6.0%) somnolence.", True),
        (EVENTS, "On 10 mg, 35 patients (14.0%) had headache and 31 (12.5%) somnolence.", False),
        (RATES, "For women aged 15–24 in the coastal region: 14.1% in Q3 2023, 12.6% in Q3 2024.", True),
        (RATES, "For men aged 15–24 in the coastal region: 14.1% in Q3 2023, 12.6% in Q3 2024.", False),
        (RATES, "For women aged 15–24 in the coastal region: 12.6% in Q3 2023, 14.1% in Q3 2024.", False),
        (RATES, "In the coastal region it was 14.1% in Q3 2023, compared with 12.6% in Q3 2024.", False),
        (SEGMENTS, "Total revenue (2023): $211.9 billion, up 7%", True),
        (SEGMENTS, "Total revenue (2023): $211.9 billion, down 7%", False),
        (SEGMENTS, "Total operating income (2023): $88.5 billion, down 5%", True),
        (SEGMENTS, "Total operating income (2023): $88.5 billion, up 5%", False),
        (SEGMENTS, "Total operating income (2023): $88.5 billion, up 7%", False),
        (COVERAGE, "The LCR was 152% in 2023, compared with 158% in 2022.", True),
        (COVERAGE, "The LCR was 158% in 2023, compared with 152% in 2022.", False),
        (COVERAGE, "Stable funding was 119% in 2023, compared with 152% in 2022.", False),
    ],
)
def test_each_amount_stands_beside_the_names_of_its_cell(table: str, claim: str, verified: bool) -> None:
    assert check(Case(claim=claim, passage=table)).verified is verified


def test_a_share_that_the_row_prints_is_not_computed() -> None:
    claim = "Major bleeding was more frequent with the drug than with placebo (4.3% against 4.1%)."
    assert check(Case(claim=claim, passage=BLEEDING)).verdict not in ("unsupported", "partial")


def test_many_amounts_that_two_cells_have_end_in_time() -> None:
    """No choice gives each of thirty amounts a cell of its own, and there are 2^30 choices."""
    table = "| Item | 2023 | 2022 |\n| --- | --- | --- |\n| Tea | 5 | 5 |\n| Milk | 9 | 8 |"
    claim = "Tea was " + " and ".join(["5"] * 30)
    started = time.process_time()
    check(Case(claim=claim, passage=table))
    assert time.process_time() - started < 5
