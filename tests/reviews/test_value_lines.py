"""Which value of a document a column gets, from tables and sentences drawn with known columns."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pymupdf
import pytest
from django.contrib.auth.models import User

from chat.answers.without_model.evidence import find_evidence
from chat.answers.without_model.question import analyse
from chat.answers.without_model.value_lines import values_of
from chat.providers.registry import provider_named
from citing.claims import VERIFIED
from retrieval.query.scope import Scope
from reviews.column_sets import templates
from reviews.fill_queue import FilledCell, answered
from reviews.models import ReviewCell, ReviewColumn
from reviews.question_columns import columns_for
from reviews.typed_values import Evidence, normalised, typed_value
from reviews.without_model import ColumnEvidence, asked_by, is_rival
from reviews.without_model import text as text_cell
from tests.conftest import Ingest
from tests.drawing import draw_pdf
from tests.reviews.truths.financebench_cells import cells as financebench_cells
from text.quantities import quantities_in

State = ReviewCell.State
ROWS = [
    ("", "Three months", "Year ended", "Year ended"),
    ("", "ended 2031", "2031", "2030"),
    ("Ticket sales", "$ 310", "$ 1,240", "$ 1,105"),
    ("Fuel costs", "(96)", "(402)", "(377)"),
    ("Operating result", "$ (12)", "$ (45)", "$ 61"),
    ("Diluted result of a share", "$ (0.12)", "$ (0.44)", "$ 0.59"),
    ("Ships and crews", "4,100", "4,350", "4,020"),
    ("Captain pension costs", "$ 2", "$ 9", "$ 8"),
    ("Captain pensions", "2", "9", "8"),
    ("Other result, net", "$ 1", "$ 14", "$ 3"),
]
SEGMENT = [
    ("", "2031", "2030"),
    ("Ticket sales", "$ 88", "$ 79"),
    ("Fuel costs", "(20)", "(18)"),
]
PROSE = (
    "# Survey of anglers",
    "Table 4 lists the lakes that were visited by anglers.",
    "We interviewed 2,480 anglers between May 1-7, 2031 at 35 lakes.",
    "Of the anglers, 64% came by train.",
    "The licence costs HK$250 a year for each angler.",
)


def draw_tables(*tables: tuple[str, list[tuple[str, ...]]]) -> bytes:
    """One page a table: its title, then its rows with ruled lines between them."""
    document = pymupdf.open()
    for title, rows in tables:
        page = document.new_page()
        page.insert_text((72, 80), title, fontsize=14, fontname="hebo")
        page.insert_text((72, 100), "(in millions)", fontsize=10)
        for line, row in enumerate(rows):
            y = 130 + 20 * line
            page.draw_line((72, y + 6), (540, y + 6))
            for x, text in zip((72, 250, 350, 450), row, strict=False):
                page.insert_text((x, y), text, fontsize=10)
    return bytes(document.tobytes())


def ask(user: User, document: Any, question: str, kind: str = "money", unit: str = "") -> FilledCell:
    column = ReviewColumn(title="Asked", question=question, kind=kind, unit=unit)
    return answered(column, document, user, provider_named("extractive"))


@pytest.fixture
def accounts(alice: User, ingested: Ingest) -> Any:
    pdf = draw_tables(
        ("Segment information: harbour ferries", SEGMENT),
        ("Consolidated statement of income", ROWS),
    )
    return ingested(alice, pdf=pdf, name="accounts.pdf")


@pytest.mark.parametrize(
    ("question", "number"),
    [
        ("What were the ticket sales?", 1_240_000_000),  # of the year and the group, not of three months
        ("What were the ticket sales in 2030?", 1_105_000_000),
        ("What was the operating result?", -45_000_000),  # in brackets
        ("What were the ticket sales of the three months ended 2031?", 310_000_000),
    ],
)
def test_a_row_gives_the_value_of_the_year_and_the_group_unless_asked_otherwise(
    alice: User, accounts: Any, question: str, number: int
) -> None:
    found = ask(alice, accounts, question)
    assert (found.state, found.value) == (State.FOUND, {"number": number, "currency": "USD"})
    cited = found.citations[0]
    assert cited.page_number == 2 and cited.verdict in VERIFIED


INTERIM = [
    ("", "Three months", "Six months", "Six months"),
    ("", "ended 2031", "ended 2031", "ended 2030"),
    ("Ticket sales", "$ 310", "$ 640", "$ 585"),
    ("Fuel costs", "(96)", "(198)", "(177)"),
]
PAID = [
    ("", "Six months", "Six months", ""),
    ("", "ended 2031", "ended 2030", ""),
    ("Cash paid for ships", "$ (71)", "$ (64)", ""),
]


def test_the_values_of_an_interim_report_are_of_one_period_and_say_it(alice: User, ingested: Ingest) -> None:
    """A quarter's sales do not stand beside six months' payments; the one quarter asked for does."""
    pdf = draw_tables(
        ("Consolidated statement of income", INTERIM), ("Consolidated statement of cash flows", PAID)
    )
    interim = ingested(alice, pdf=pdf, name="interim.pdf")
    sales, paid = (
        ask(alice, interim, f"What {asked}?")
        for asked in ("were the ticket sales", "was the cash paid for ships")
    )
    assert sales.value == {"number": 640_000_000, "currency": "USD", "period": "six months"}
    assert paid.value == {"number": -71_000_000, "currency": "USD", "period": "six months"}
    assert normalised(sales.value, sales.text) == "640,000,000 USD, six months"
    quarter = ask(alice, interim, "What were the ticket sales of the three months ended 2031?")
    assert quarter.value == {"number": 310_000_000, "currency": "USD"}


HALF = [
    ("", "H1 2031", "Q2 2031", "Q1 2031"),
    ("Ticket sales", "$ 801", "$ 412", "$ 389"),
]


@pytest.mark.parametrize("kind", ["money", "number"])
def test_a_quarter_is_told_from_the_half_year_beside_it_however_it_is_written(
    alice: User, ingested: Ingest, kind: str
) -> None:
    pdf = draw_tables(("Statement of income, second quarter 2031", HALF))
    report = ingested(alice, pdf=pdf, name="half.pdf")
    asked = ("the second quarter of 2031", "Q1 2031")
    found = [ask(alice, report, f"What were the ticket sales in {period}?", kind) for period in asked]
    assert [cell.value and cell.value["number"] for cell in found] == [412_000_000, 389_000_000]
    assert ask(alice, report, "How many tickets were sold in Q1 2031?", "number").value is None


def test_a_cell_without_a_sign_takes_the_currency_of_its_table(alice: User, accounts: Any) -> None:
    found = ask(alice, accounts, "What were the fuel costs in 2030?")
    assert found.value == {"number": -377_000_000, "currency": "USD"}


def test_a_rate_or_a_count_takes_no_scale_of_its_table(alice: User, accounts: Any) -> None:
    rate = ask(alice, accounts, "What was the diluted result per share?")
    assert (rate.value, rate.text) == ({"number": -0.44, "currency": "USD"}, "($0.44)")
    count = ask(alice, accounts, "How many ships and crews were there?", "number")
    assert (count.value, count.text) == ({"number": 4350, "unit": ""}, "4,350")


def test_an_amount_is_no_count_and_a_known_item_no_row_of_another_name(alice: User, accounts: Any) -> None:
    assert ask(alice, accounts, "How many captains does the company employ?", "number").value is None
    assert ask(alice, accounts, "What is the number of captains?", "number").value is None
    finance = ask(alice, accounts, "What was the operating income?")
    assert finance.value != {"number": 14_000_000, "currency": "USD"}


@pytest.fixture
def survey(alice: User, ingested: Ingest) -> Any:
    return ingested(alice, pdf=draw_pdf("\n".join(PROSE)), name="survey.pdf")


@pytest.mark.parametrize(("unit", "value"), [("", 30), ("days", 30), ("h", 720)])
def test_days_are_counted_as_an_amount_of_time(alice: User, ingested: Ingest, unit: str, value: int) -> None:
    terms = ingested(alice, "The customer pays each invoice for 12 anvils within 30 days of receipt.")
    found = ask(alice, terms, "Within how many days must the customer pay an invoice?", "number", unit)
    assert (found.value["number"], found.text) == (value, "30 days")


def test_a_period_in_months_is_within_a_bound_in_days_and_a_frequency_has_many_words(
    alice: User, ingested: Ingest
) -> None:
    terms = ingested(
        alice,
        "The tenant may end the lease by giving three months' notice.\nThe salary is GBP 31,250 a year.",
    )
    (bounded,) = columns_for("In how many contracts is the notice period longer than 30 days?")
    found = ask(alice, terms, bounded.question, bounded.kind, bounded.unit)
    assert (found.value["number"], found.text) == (91, "three months")
    salary = ask(alice, terms, "What is the annual salary?", "money")
    assert salary.value == {"number": 31_250, "currency": "GBP"}


def test_of_a_question_for_a_thing_a_line_without_it_is_no_answer(alice: User, ingested: Ingest) -> None:
    paper = ingested(alice, "We use the entire FOLIO set for evaluation, which has 204 examples.")
    assert ask(alice, paper, "Which solver is used for FOLIO?", "text").value is None


def test_a_count_is_no_table_number_date_or_share(alice: User, survey: Any) -> None:
    assert ask(alice, survey, "How many anglers were interviewed?", "number").value == {
        "number": 2480,
        "unit": "",
    }
    assert ask(alice, survey, "Which share of the anglers came by train?", "number", "%").value == {
        "number": 64,
        "unit": "%",
    }


def test_a_dollar_of_hong_kong_is_none_of_the_united_states(alice: User, survey: Any) -> None:
    found = ask(alice, survey, "How much does the licence of an angler cost?")
    assert found.value == {"number": 250, "currency": "HKD"}
    signs = {"S$5": "SGD", "A$5": "AUD", "US$5": "USD", "$5": "USD"}
    assert {text: quantities_in(text, "en")[0].unit for text in signs} == signs


def test_two_amounts_under_the_same_names_leave_a_cell_unclear(alice: User, ingested: Ingest) -> None:
    island = [SEGMENT[0], ("Ticket sales", "$ 61", "$ 55")]
    pdf = draw_tables(("The ferries", SEGMENT), ("The island", island))
    segments = ingested(alice, pdf=pdf, name="segments.pdf")
    assert ask(alice, segments, "What were the ticket sales in 2031?").state == State.UNCLEAR


CLUB = (
    "# Rowing club of the harbour",
    "As of May 31, 2031, the club had a highly skilled crew made up of approximately 9,200 rowers.",
    "At May 31, 2031, 120 of our rowers were on short contracts.",
    "The club employed 125 full-time, part-time and seasonal trainers at the end of the year.",
    "Bait costs were $743 million, $742 million and $711 million in 2031, 2030 and 2029, respectively.",
    "Other costs of the fiscal year 2031 were $4 million.",
    "During 2031, we welcomed more than 310 sailors, despite the storm.",
    "As of May 31, 2031, the club counted 1,140 sailors.",
)
CONTENTS = [
    ("Rowers", "3"),
    ("Oars", "5"),
    ("Seats", "8"),
    ("Harbours", "12"),
    ("Storms", "12"),
    ("Bait", "31"),
]


WORKFORCE = [
    ("", "Net sales", "Employees as of", "Employees as of"),
    ("", "2031", "May 31, 2031", "May 31, 2030"),
    ("United States", "$ 12,840", "36,700", "35,500"),
    ("Asia Pacific", "$ 10,254", "17,930", "17,100"),
    ("Total", "$ 32,765", "93,516", "91,536"),
]


def test_a_total_under_a_head_that_names_what_is_counted_is_found(alice: User, ingested: Ingest) -> None:
    filing = ingested(alice, pdf=draw_tables(("Workforce by region", WORKFORCE)), name="filing.pdf")
    found = ask(alice, filing, "How many employees does the company have?", "number")
    assert found.value == {"number": 93516, "unit": ""}


def test_a_value_is_found_only_where_its_sentence_says_all_that_is_asked(
    alice: User, ingested: Ingest
) -> None:
    club = ingested(alice, pdf=draw_pdf("\n".join(CLUB)), name="club.pdf")

    def found(question: str, kind: str = "number") -> tuple[str, Any]:
        cell = ask(alice, club, question, kind)
        return cell.state, cell.value and cell.value["number"]

    assert found("How many rowers does each company have?") == (State.FOUND, 9200)  # 120 are a part
    assert found("Number of trainers?") == (State.FOUND, 125)
    assert found("How many sailors are there?") == (State.UNCLEAR, None)  # those welcomed are fewer
    bait = "What did bait cost the company in the latest fiscal year?"
    assert found(bait, "money") == (State.FOUND, 743_000_000)
    assert found("What did bait cost in 2029?", "money") == (State.FOUND, 711_000_000)
    assert found("What did lanterns cost the company in the latest fiscal year?", "money")[1] is None


def test_a_page_number_of_a_table_of_contents_is_no_value(alice: User, ingested: Ingest) -> None:
    listed = ingested(alice, pdf=draw_tables(("In this book", CONTENTS)), name="contents.pdf")
    assert ask(alice, listed, "How many rowers are there?", "number").state != State.FOUND


BOATHOUSE = (
    "# Lease of the boathouse",
    "The lessor may end the lease at once if the fee of two seasons or a rent for two months is unpaid.",
    "The deposit is three monthly rents.",
    "The agreement of the two valuers is 0.63 for the pier (872 planks in total).",
    "ROW-LIST (Lake, 2030) names rowers of the north. We use the test part, which has 231 grown members.",
    "Rowers are four times the percentage of the crew that they were before.",
    "Who rowed here was presented with a cup by the old members of the club.",
)


def test_words_of_a_value_or_in_brackets_after_it_do_not_answer(alice: User, ingested: Ingest) -> None:
    lease = ingested(alice, pdf=draw_pdf("\n".join(BOATHOUSE)), name="lease.pdf")
    # neither “two months” nor the “three” of “three monthly rents”
    assert ask(alice, lease, "Monthly rent", "number").state != State.FOUND
    agreement = ask(alice, lease, "What is the agreement of the valuers for the pier?", "number")
    assert agreement.value and agreement.value["number"] == 0.63
    rowers = ask(alice, lease, "How many members does the ROW-LIST test part have?", "number")
    assert rowers.value and rowers.value["number"] == 231  # the paragraph's opening names them
    assert ask(alice, lease, "What percentage of the crew are rowers?", "number", "%").state != State.FOUND
    assert ask(alice, lease, "Who is the presenter?", "text").state != State.FOUND  # one word, and no name


def test_a_count_of_a_part_among_others_is_unclear_and_a_document_s_own_column_is_meant(
    alice: User, ingested: Ingest
) -> None:
    boats = [("", "2031"), ("Number of river boats", "212"), ("Number of lake boats", "1,363")]
    harbours = [
        ("", "Oarlist", "Sculldata", "Paddlebase"),
        ("Number of harbours", "1,225", "117,854", "87,026"),
    ]
    drawn = draw_tables(("Oarlist: the harbours of the north", harbours), ("Boats", boats))
    listed = ingested(alice, pdf=drawn, name="Oarlist.pdf")
    assert ask(alice, listed, "How many boats are there?", "number").state == State.UNCLEAR
    own = ask(alice, listed, "How many harbours does the list contain?", "number")
    assert (own.state, own.text) == (State.FOUND, "1,225 million")


def test_a_table_measures_no_count_and_a_total_that_is_asked_for_is_its_row(
    alice: User, ingested: Ingest
) -> None:
    halls = [
        ("", "Leased square", "Owned square"),
        ("", "footage", "footage"),
        ("Boat halls", "20,072", "662"),
    ]
    sales = [("", "2031", "2030"), ("Net sales", "$ 519", "$ 510"), ("Total revenues", "$ 523", "$ 514")]
    group = "The ferry company and subsidiaries: consolidated statement of income"
    drawn = draw_tables(
        ("Properties", halls),
        (group, sales),
        ("Harbour segment", [sales[0], ("Total revenues", "$ 77", "$ 66")]),
    )
    report = ingested(alice, pdf=drawn, name="halls.pdf")
    assert ask(alice, report, "How many boat halls are there?", "number").state != State.FOUND
    for question in ("What was the total net sales or revenue?", "What were the total revenues?"):
        assert ask(alice, report, question).value == {"number": 523_000_000, "currency": "USD"}


MANUAL = (
    "# Rowing machine",
    "Model name: Harbour 7",
    "The maker tested 26 oars and nearly 50 seats of the rowing machine.",
    "The rowing machine has an average pull of 4.2 kg and a maximum pull of 11 kg.",
    "The wear of the seat is 0.63 for the first test and 0.72 for the salt water test.",
    "Renting the machine costs 3 USD, resulting in a weekly fee of 21 USD2.",
    "The machine was shown to 310 members from Feb. 1 to 7, 2031.",
    "The harbour office pays 8% of the price to the rowers' fund; the club pays 5%.",
    "Among all rowers, 38% call themselves beginners, while 31% are racers.",
    "Views about the government differ among rowers, and a third approve of the tax law.",
    "# The warranty does not pay for",
    "1. Replacing broken oars.",
    "2. Cleaning the rowing machine.",
)


def test_of_a_sentence_s_values_the_one_is_meant_that_the_question_names(
    alice: User, ingested: Ingest
) -> None:
    manual = ingested(alice, pdf=draw_pdf("\n".join(MANUAL)), name="manual.pdf")

    def number(question: str, kind: str = "number", unit: str = "") -> Any:
        found = ask(alice, manual, question, kind, unit)
        assert found.value, found
        return found.value["number"]

    assert number("How many oars of the rowing machine were tested?") == 26
    assert number("How many seats of the rowing machine were tested?") == 50
    assert number("What is the maximum pull of the rowing machine?", unit="kg") == 11
    assert number("What is the average pull of the rowing machine?", unit="kg") == 4.2
    assert number("What is the wear of the seat in the salt water test?") == 0.72
    assert number("What is the weekly fee of the machine?", "money") == 21  # behind it a footnote
    assert number("How many members saw the machine?") == 310  # “Feb.” ends no sentence
    said = ask(alice, manual, "What is the model name?", "text")
    assert (said.state, said.text) == (State.FOUND, "Model name: Harbour 7")
    paid = ask(alice, manual, "Does the warranty pay for replacing broken oars?", "boolean")
    assert (paid.state, paid.text) == (State.FOUND, "No")  # an item goes on from what stands over its list
    law = ask(alice, manual, "Which law governs the rental of the machine?", "text")
    assert law.state == State.UNCLEAR  # a line has “law” and “government”
    assert ask(alice, manual, "What is the governing law?", "text").state == State.NOT_STATED
    share = "What share of the price does the harbour office pay to the rowers' fund?"
    assert number(share, unit="%") == 8  # the other clause is complete in itself
    assert number("What share of rowers call themselves beginners?", unit="%") == 38


LEASE = (
    "# BOAT LEASE AGREEMENT",
    "This agreement is made this 7th day of April, 2031 by and between Harbour Ltd and St. Mary Club.",
    "Witnesseth: in consideration of the fees set forth herein the parties hereto agree.",
    "The term of this agreement is for a period of five (5) years from the effective date.",
    "Either party may end it in writing. The other party shall not assign this agreement.",
    "During the term of this agreement the Club shall indemnify the Owner for any breach of this clause.",
    "This agreement shall be governed by and construed in accordance with the laws of Norway.",
    "The Club may renew this agreement by giving notice sixty days before its end.",
    "The Club may end this agreement by giving three months' notice in writing.",
    "Neither party limits its liability for injury caused by negligence.",
    "The total liability of the Owner shall not exceed the fees of one year.",
)


def test_a_contract_s_clauses_are_known_by_what_they_say(alice: User, ingested: Ingest) -> None:
    lease = ingested(alice, pdf=draw_pdf("\n".join(LEASE)), name="lease.pdf")
    columns = {column["title"]: column for column in templates()["contract"]["columns"]}

    def said(title: str) -> FilledCell:
        return ask(alice, lease, columns[title]["question"], columns[title]["kind"])

    assert said("Parties").text.endswith("by and between Harbour Ltd and St. Mary Club.")
    assert said("Effective date").value == "2031-04-07"
    assert "five (5) years" in said("Term").text
    assert "Norway" in said("Governing law").text
    assert "sixty days" in said("Renewal").text

    def clause(question: str) -> str:
        return ask(alice, lease, question, "text").text

    assert clause("What is the notice period for termination?").startswith("The Club may end this")
    assert clause("What is the liability cap?").startswith("The total liability")
    assert clause("What is the governing law?").endswith("the laws of Norway.")


def test_what_holds_no_value_of_the_kind_is_not_stated(alice: User, survey: Any) -> None:
    found = ask(alice, survey, "On what date did the anglers pay their licence fee?", "date")
    assert (found.state, found.value, found.text) == (State.NOT_STATED, None, "")


def test_the_truths_are_whole(corpus: Path) -> None:
    made = list(financebench_cells(corpus / "financebench" / "questions.jsonl"))
    assert len(made) > 300 and sum(cell["value"] is None for cell in made) == 45
    kinds = set(ReviewColumn.Kind.values)
    for name, count in (("general", 60), ("agreement", 14), ("report", 12)):
        lines = (Path(__file__).parent / "truths" / f"{name}_cells.jsonl").read_text().splitlines()
        read = [json.loads(line) for line in lines]
        assert len(read) == count and {cell["column"]["kind"] for cell in read} <= kinds
        folder = corpus / ("financebench" if name == "agreement" else "general") / "pdfs"
        assert all((folder / f"{cell['document']}.pdf").exists() for cell in read)


def test_what_a_document_does_not_say_of_the_question_is_not_found(alice: User, ingested: Ingest) -> None:
    text = (
        "# Report of the harbour 2031",
        "We evaluate the boats on two datasets of the coast guard.",
        "The crew was given 700,000 shares transferred to us from employees.",
        "Neither the master nor the mate receives any pay for service on the harbour board.",
        "There are 16 Employee Resource Groups after a net addition of about 300 employees.",
    )
    report = ingested(alice, "\n".join(text), name="report.pdf")
    more = ask(alice, report, "Is this said: evaluate more than five datasets?", "boolean")
    assert (more.state, more.value) == (State.FOUND, False)  # numbers are compared, not words
    few = ask(alice, report, "Are the boats evaluated on at least two datasets?", "boolean")
    assert (few.state, few.value, few.text) == (State.FOUND, True, "Yes")
    ratio = ask(alice, report, "Is the hazard ratio below 0.8?", "boolean")
    assert ratio.state != State.FOUND
    said = ask(alice, report, "Does the crew evaluate the fuel of the boats every week?", "boolean")
    assert said.state != State.FOUND  # a line has two of its words
    staff = ask(alice, report, "How many employees were there?", "number")
    assert staff.state != State.FOUND  # only shares, groups and those added are counted
    paid = ask(alice, report, "Does the master receive pay for service on the harbour board?", "boolean")
    assert (paid.state, paid.value) == (State.FOUND, False)
    undated = [("", "Total", "1 year"), ("Capital expenditure obligations", "$ 357", "$ 357")]
    filing = ["Total assets", "Total liabilities", "Net income", "Net sales", "Operating income"]
    filing += ["Income taxes", "Accounts receivable", "Common stock", "Earnings per share", "GAAP"]
    sums = [
        ("", "2031"),
        ("Notes due 2028", "$ 39"),
        *((label, f"$ {at}") for at, label in enumerate(filing, start=40)),
    ]
    drawn = draw_tables(("Balance sheet", sums), ("Obligations at 31 May 2031", undated))
    table = ingested(alice, pdf=drawn, name="table.pdf")
    assert ask(alice, table, "What is the capital expenditure?").state == State.FOUND
    assert ask(alice, table, "What is the capital expenditure 2028?").state != State.FOUND


PANEL = (
    "For this survey we asked 2,596 anglers in May 2031.",
    "# Methods",
    "The answers come from 2,596 anglers of our panel.",
    "In all three years together 17,161 anglers were invited to join.",
    "# Instruments",
    "The charter of the club is dated as of April 28, 2016.",
    "The charter of the lake is dated as of June 13, 2019.",
    "The second charter of the lake is dated as of June 13, 2019.",
)


@pytest.fixture
def panel(alice: User, ingested: Ingest) -> Any:
    return ingested(alice, pdf=draw_pdf("\n".join(PANEL)), name="panel.pdf")


def evidence_of(user: User, document: Any, column: ReviewColumn) -> ColumnEvidence:
    return ColumnEvidence.at(column, find_evidence(column.question, Scope(user, document_ids=(document.pk,))))


def alike_values(user: User, document: Any, question: str, kind: str) -> tuple[ColumnEvidence, Any]:
    """Return the values of a column by their text, as if all scored alike."""
    column = ReviewColumn(question=question, kind=kind)
    evidence = evidence_of(user, document, column)
    return evidence, [
        replace(one, score=1.0) for one in values_of(asked_by(column, evidence), evidence.pages)
    ]


def test_a_number_that_is_printed_less_often_is_no_rival_of_the_best(alice: User, panel: Any) -> None:
    evidence, values = alike_values(alice, panel, "How many anglers are there?", "number")
    best, other = (next(one for one in values if one.text == text) for text in ("2,596", "17,161"))
    assert not is_rival(other, best, values, evidence.question)
    assert is_rival(best, other, values, evidence.question)
    assert is_rival(other, best, [best, other], evidence.question)


def test_a_date_of_another_year_is_no_rival_of_one_of_the_year_asked_for(alice: User, panel: Any) -> None:
    evidence, values = alike_values(alice, panel, "What is the date of the 2016 charter?", "date")
    best, other = (next(one for one in values if year in one.text) for year in ("2016", "2019"))
    assert not is_rival(other, best, values, evidence.question)
    assert is_rival(other, best, values, analyse("What is the date of the charter?"))


@pytest.mark.parametrize(
    ("line", "state"),
    [
        ("Availability shall be at least 99.5% in each month.", State.FOUND),
        ("Availability was 99.5% in May.", State.NOT_STATED),
    ],
)
def test_what_is_at_least_so_much_has_that_minimum(
    alice: User, ingested: Ingest, line: str, state: State
) -> None:
    terms = ingested(alice, pdf=draw_pdf(f"# Service levels\n{line}\nCredits are paid on request."))
    assert ask(alice, terms, "What is the minimum availability?", "number").state == state


def test_a_choice_may_be_in_the_quoted_cell_beside_the_sentence() -> None:
    column = ReviewColumn(question="Which panel?", kind="choice", choices=["IPS", "VA"])
    cell = Evidence(
        "• Optional for bonding", "• LED backlight, IPS technology • Optional for bonding", "en", ""
    )
    found = typed_value(column, [cell])
    assert found and found.value == "IPS"


def test_the_own_facts_of_a_document_are_read_without_its_pages(alice: User, panel: Any) -> None:
    column = ReviewColumn(question="Which company is this?", kind="text")
    evidence = evidence_of(alice, panel, column)
    assert text_cell(column, evidence).state == State.NOT_STATED
    assert "ranked" not in vars(evidence)
