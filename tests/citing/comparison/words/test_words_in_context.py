"""Claims read with what stands around a unit: a heading's period, the line over a list, a table's scale."""

from __future__ import annotations

import time

import pytest

from citing.batch import Case, check
from citing.claims import VERIFIED, Claim, SourceUnit
from citing.verdict import verify_among
from pdf.structure import Cell, TableRow

QUARTER = (
    "Fourth quarter of fiscal 2022\n"
    "Net sales increased 18.2% to $3.2 billion compared to $2.7 billion in the fourth quarter of fiscal 2021."
)
PAIRS = "Foreign exchange impacted net sales by $17 million and $23 million in 2018 and 2019, respectively."
CASH = (
    "As of May 31, 2020, the amount of cash held by our foreign subsidiaries was $2.8 billion, as compared "
    "to $1.4 billion as of May 31, 2019."
)
COSTS = (
    "Sales were $5 million in 2022, compared with $4 million in 2021, while costs were $3 million, compared "
    "with $2 million a year earlier."
)


@pytest.mark.parametrize(
    ("claim", "verified"),
    [
        (
            "Net sales rose 18.2% to $3.2 billion in the fourth quarter of fiscal 2022, compared to $2.7 "
            "billion in the fourth quarter of fiscal 2021.",
            True,
        ),
        ("Net sales were $2.7 billion in the fourth quarter of fiscal 2022.", False),
        ("Net sales increased 18.2% to $3.2 billion in fiscal 2022.", False),
        ("Net sales increased 18.2% to $3.2 billion in the third quarter of fiscal 2022.", False),
    ],
)
def test_a_statement_is_of_the_period_of_its_heading(claim: str, verified: bool) -> None:
    assert check(Case(claim, passage=QUARTER, lang="en")).verified is verified


@pytest.mark.parametrize(
    ("claim", "page", "verified"),
    [
        ("Foreign exchange impacted net sales by $23 million in 2019.", PAIRS, True),
        ("Foreign exchange impacted net sales by $17 million in 2019.", PAIRS, False),
        ("As of May 31, 2020, cash held by our foreign subsidiaries was $2.8 billion.", CASH, True),
        ("As of May 31, 2019, cash held by our foreign subsidiaries was $2.8 billion.", CASH, False),
        ("Sales were $5 million in 2022, compared with $4 million in 2021.", COSTS, True),
        ("Sales were $5 million in 2022, compared with $2 million a year earlier.", COSTS, False),
        ("Sales were $4 million, compared with $2 million a year earlier.", COSTS, False),
    ],
)
def test_an_amount_belongs_to_its_date_and_to_what_it_is_compared_with(
    claim: str, page: str, verified: bool
) -> None:
    assert check(Case(claim, passage=page, lang="en")).verified is verified


@pytest.mark.parametrize(
    ("claim", "page"),
    [
        ("The shares were represented in person.", "The shares were represented in person or by proxy."),
        ("Tarn maintained, in all respects, control.", "Tarn maintained, in all material respects, control."),
        ("Tarn booked a gain on the sale of its mill.", "Harrow booked a gain on the sale of Tarn's mill."),
        ("The group sold its mill in May.", "The group sold Tarn's mill in May."),
        ("Cox is its present head.", "Cox will lead the mill; Lund, its present head, will leave in May."),
        ("Cox, its head, will leave.", "Cox will lead the mill, and Lund, its head, will leave."),
        ("Cox, its head, will leave.", "Cox will lead the mill while Lund, its head, will leave."),
    ],
)
def test_what_would_widen_the_statement_is_not_left_out(claim: str, page: str) -> None:
    assert not check(Case(claim, passage=page, lang="en")).verified


@pytest.mark.parametrize(
    ("language", "claim", "page"),
    [
        (
            "nl",
            "De heer Bos volgt mevrouw Jansen op.",
            "Bestuur. Mevrouw Jansen wordt benoemd; zij volgt de heer Bos op.",
        ),
        ("de", "Frau Bos löst Frau Jansen ab.", "Vorstand. Frau Jansen wird gewählt; sie löst Frau Bos ab."),
    ],
)
def test_who_follows_a_pronoun_and_its_verb_is_no_subject(language: str, claim: str, page: str) -> None:
    assert not check(Case(claim, passage=page, lang=language)).verified


def test_a_definition_in_brackets_divides_no_statement() -> None:
    page = (
        'In our opinion, Tarn Inc. (the "Company") maintained, in all material respects, effective control.'
    )
    claim = "Tarn maintained, in all material respects, effective control."
    assert check(Case(claim, passage=page, lang="en", title="Tarn 2020 10K")).verified


FATES = """Decisions
| Item | Reason for the decision |
| Alpha | Users asked for a quick way back to the list |
| Beta | Users did not find the button in the menu bar |"""


@pytest.mark.parametrize(
    ("claim", "verified"),
    [
        ("For “Beta”, the reason for the decision is users did not find the button in the menu bar.", True),
        ("For “Alpha”, the reason for the decision is users did not find the button in the menu bar.", False),
        ("For “Beta”, the reason is not: users did not find the button in the menu bar.", False),
    ],
)
def test_the_words_of_a_cell_are_said_of_its_row(claim: str, verified: bool) -> None:
    assert check(Case(claim, passage=FATES, lang="en")).verified is verified


INCOME = "| Item | 2022 | 2021 |\n| Operating income | $17,329 | $15,100 |\n| Net income | 8,000 | 7,000 |"


@pytest.mark.parametrize(
    ("claim", "verdict"),
    [
        ("Operating income was $17,329 million in 2022.", "found"),
        ("Operating income was $17.3 billion in 2022.", "found"),
        ("Operating income was $17,929 million in 2022.", "unsupported"),
    ],
)
def test_a_scale_that_the_page_does_not_state_is_unknown(claim: str, verdict: str) -> None:
    assert check(Case(claim, passage=INCOME, lang="en")).verdict == verdict


def _steps() -> list[SourceUnit]:
    lines = [
        ("prose", "To remove the shelf track:"),
        ("list", "1. Lift both sides of the track slightly."),
        ("prose", "To replace the shelf track:"),
        ("list", "1. Guide the hooks into the support slots on the back wall."),
        ("list", "2. Push the track backward and down."),
    ]
    found, start = [], 0
    for number, (kind, text) in enumerate(lines):
        found.append(SourceUnit(f"u{number}", "d", 1, text, start, (), kind, language="en"))  # type: ignore[arg-type]
        start += len(text) + 1
    return found


@pytest.mark.parametrize(
    ("claim", "verified"),
    [
        (
            "When replacing the shelf track, guide the hooks into the support slots on the back wall, then "
            "push the track backward and down.",
            True,
        ),
        ("To remove the shelf track, push the track backward and down.", False),
        (
            "When replacing the shelf track, push the track backward and down, then guide the hooks into the "
            "support slots on the back wall.",
            False,
        ),
        (
            "When replacing the shelf track, guide the hooks into the support slots on the back wall, then "
            "lift both sides of the track slightly.",
            False,
        ),
    ],
)
def test_steps_are_those_of_their_purpose_in_their_order(claim: str, verified: bool) -> None:
    found = verify_among(Claim(claim), _steps())
    assert (found.verdict in VERIFIED) is verified


def test_a_cell_with_a_space_in_its_number_is_read() -> None:
    cells = (
        Cell(0, "PER", None, False, 0, 3),
        Cell(1, "2 000", None, False, 4, 9),
        Cell(2, "10", None, False, 10, 12),
    )
    row = TableRow(0, 1, cells, head_rows=("Substance", "to air (kg)", "to water (kg)"))
    unit = SourceUnit("u", "d", 1, "PER\t2 000\t10", 0, (), "table", table=row, language="en")
    assert verify_among(Claim("PER has 2,000 kg to air."), [unit]).verdict in VERIFIED
    assert verify_among(Claim("PER has 2,000 kg to water."), [unit]).verdict not in VERIFIED


def test_many_single_letters_and_appositions_end_in_time() -> None:
    """Each letter asks for the word before it, each apposition for the name before its name."""
    started = time.process_time()
    check(Case("B is the x.", passage="A, the x, " * 8000, lang="en"))
    check(Case("Cox is its head, " * 150, passage="Anna Lund, its head, " * 4000, lang="en"))
    assert time.process_time() - started < 10
