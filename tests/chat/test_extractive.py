"""The answerer that needs no key: which lines it says, and how."""

from __future__ import annotations

from dataclasses import replace

import pytest

from chat.claims import SourceUnit
from chat.extractive.answer import extractive_answer
from chat.extractive.asked import read_question
from chat.extractive.lineitems import items_asked, statement_of, statements_asked
from chat.extractive.markdown import escaped
from chat.extractive.row_lines import short_head
from chat.followups import carried_over
from chat.naming import names_in, strangers
from chat.prompting import Passage, Turn
from chat.providers.base import Delta, NativeCitation, TextDelta
from documents.pdf.geometry import Rect
from documents.pdf.structure import Cell, TableRow, Word
from retrieval.analysis import terms_of

CASH_FLOWS = "Acme Company\nConsolidated Statement of Cash Flows\nYears ended December 31"
TITLE = "Acme 2018 10-K"
HEADS = ("(Millions)", "2018", "2017", "2016")


def row(
    alias: str, *cells: str, page: int = 60, heading: str = CASH_FLOWS, heads: tuple[str, ...] = HEADS
) -> Passage:
    placed = tuple(Cell(column, text, Rect(0, 0, 1, 1)) for column, text in enumerate(cells) if text)
    table = TableRow(index=1, row=int(alias[1:]), cells=placed, head_rows=heads)
    unit = SourceUnit(alias, "d1", page, "\t".join(cells), 0, (), "table", (), table, TITLE)
    return Passage(alias, unit, rank=1, heading=heading)


def prose(alias: str, text: str, page: int = 5, section: str = "Overview") -> Passage:
    unit = SourceUnit(alias, "d1", page, text, 0, (), "prose", (section,), None, TITLE)
    return Passage(alias, unit, rank=2)


STATEMENT = [
    row("u1", "Net income", "$ 5,363", "$ 4,869", "$ 5,058"),
    row("u2", "Purchases of property, plant and equipment (PP&E)", "(1,577)", "(1,373)", "(1,420)"),
    row("u3", "Proceeds from sale of PP&E and other assets", "262", "49", "58"),
    row("u4", "Dividends paid to shareholders", "(3,193)", "(2,803)", "(2,678)"),
]
TALK = [
    prose("u5", "The company employs about 93,000 people in its five business segments around the world."),
    prose("u6", "Capital spending supports investments in growth programs and is funded from operations."),
    prose(
        "u7", "The board declared that the headquarters would move from Saint Paul to Springfield in 2019."
    ),
]


def said(question: str, passages: list[Passage]) -> tuple[list[str], list[NativeCitation]]:
    """The answer's lines (headings and bullets), and its citations."""
    deltas: list[Delta] = list(extractive_answer(question, passages))
    text = "".join(delta.text for delta in deltas if isinstance(delta, TextDelta))
    return [line for line in text.splitlines() if line], [d for d in deltas if isinstance(d, NativeCitation)]


def test_a_row_is_said_with_its_heads_for_the_year_asked_and_its_value_is_lit() -> None:
    lines, citations = said("What is the FY2018 capital expenditure amount for Acme?", STATEMENT + TALK)
    assert lines[0] == "#### Consolidated Statement of Cash Flows"  # of the only document there is
    assert lines[1] == "- Purchases of property, plant and equipment (PP&E), 2018: (1,577)"
    assert citations[0] == NativeCitation("u2", "(1,577)")


def test_a_section_called_as_its_document_gets_no_empty_heading() -> None:
    lines, _ = said("How many people does Acme employ?", [prose("u5", TALK[0].unit.text, section=TITLE)])
    assert lines[0].startswith("- The company employs about 93,000 people")


def test_several_years_are_said_in_one_line() -> None:
    lines, citations = said("How did Acme's capex develop from 2016 to 2018?", STATEMENT)
    assert "2018: (1,577); 2017: (1,373); 2016: (1,420)" in lines[1]
    assert citations[0] == NativeCitation("u2", "")


def test_a_ratio_is_answered_with_the_lines_it_is_made_of() -> None:
    lines, _ = said("What is Acme's dividend payout ratio in 2018?", STATEMENT)
    assert any("Dividends paid to shareholders, 2018: (3,193)" in line for line in lines)
    assert any("Net income, 2018: $ 5,363" in line for line in lines)


def test_the_statement_itself_comes_before_a_table_that_repeats_its_line() -> None:
    again = row(
        "u9", "Purchases of property, plant and equipment (PP&E)", "(1,577)", page=46, heading="Liquidity"
    )
    _, citations = said("What was capex in 2018?", [again, *STATEMENT])
    assert citations[0].alias == "u2"


def test_a_sentence_is_said_word_for_word() -> None:
    lines, citations = said("How many people does the company employ?", TALK)
    assert (
        lines[1]
        == "- The company employs about 93,000 people in its five business segments around the world."
    )
    assert citations[0].quote == TALK[0].unit.text


def test_a_heading_that_would_only_repeat_the_documents_title_is_left_out() -> None:
    told = "The company employs about 93,000 people."
    lines, _ = said("How many people does the company employ?", [prose("u5", told, section="Acme 2018 10-K")])
    assert lines == [f"- {told}"]


def test_what_nobody_speaks_of_is_not_answered() -> None:
    lines, citations = said("Which vaccine against malaria was approved for children?", STATEMENT + TALK)
    assert lines[0] == "The documents do not say. Nearest:" and len(citations) <= 2


def test_a_question_about_somebody_else_is_not_answered_with_numbers_of_this_company() -> None:
    lines, _ = said("What were the capital expenditures of Globex Industries in 2018?", STATEMENT + TALK)
    assert lines[0] == "The documents do not say. Nearest:"


def test_without_passages_the_answer_is_that_there_is_none() -> None:
    assert said("Anything?", []) == (["The documents do not say."], [])


def test_at_most_six_lines_and_no_line_twice() -> None:
    many = [
        prose(f"u{n}", f"The company employs {n},000 people in business segment number {n}.")
        for n in range(20, 60)
    ]
    lines, citations = said("How many people does the company employ?", many + many)
    assert 3 <= len(citations) <= 6 and len(set(lines)) == len(lines)


@pytest.mark.parametrize(
    ("question", "items"),
    [
        ("What was capex?", ["capital expenditures"]),
        ("What is the year end net PPNE?", ["property, plant and equipment"]),
        ("How much did 3M spend on purchases of property, plant and equipment?", ["capital expenditures"]),
        ("How much was invested in new PP&E?", ["capital expenditures"]),
        (
            "What share of PP&E were additions to property and equipment?",
            ["property, plant and equipment", "capital expenditures"],
        ),
        ("What is the inventory turnover?", ["cost of sales", "inventory"]),
        ("What is the working capital?", ["current assets", "current liabilities"]),
        ("What is the fixed asset turnover ratio?", ["revenue", "property, plant and equipment"]),
        ("Who is the new chief executive?", []),
    ],
)
def test_the_lines_a_question_needs_are_named(question: str, items: list[str]) -> None:
    assert [item.name for item in items_asked(question)] == items


def test_statements_are_known_by_a_title_of_their_own_and_not_by_a_mention() -> None:
    assert statement_of(CASH_FLOWS) == "cash"
    assert statement_of("Consolidated Balance Sheets (in millions)") == "balance"
    assert statement_of("Notes to the Consolidated Balance Sheet") is None
    mention = "Amounts in the Consolidated Statement of Cash Flows exclude the effects of acquisitions. " * 3
    assert statement_of(mention) is None
    assert statements_asked("Use the P&L statement and the balance sheet") == {"income", "balance"}


def test_spans_of_years_are_read_whole() -> None:
    assert read_question("the FY2017 - FY2019 average").years == {"2017", "2018", "2019"}
    assert read_question("in FY21 and 2022").years == {"2021", "2022"}


def test_a_year_that_is_compared_is_said_beside_the_others_of_its_row() -> None:
    heads = ("", "Q4 2022", "Q4 2023", "2022", "2023", "2021", "2020")
    sales = row("u1", "Net sales", "3,909", "3,673", "14,544", "14,694", "12,861", "12,468", heads=heads)
    lines, _ = said("What were net sales in 2023, and how did they change?", [sales])
    assert lines[-1] == "- Net sales, Q4 2022: 3,909; Q4 2023: 3,673; 2022: 14,544; 2023: 14,694"
    lines, _ = said("What were net sales in 2023?", [sales])
    assert lines[-1] == "- Net sales, Q4 2023: 3,673; 2023: 14,694"


def test_long_column_heads_are_cut_to_the_year_unless_they_tell_a_part_of_it() -> None:
    assert short_head("For the Years Ended December 31, 2019") == ("2019", "2019")
    assert short_head("December 31, 2018") == ("December 31, 2018", "2018")
    assert short_head("Three Months Ended June 30, 2023")[0] == "Three Months Ended June 30, 2023"


def test_markdown_in_documents_stays_text() -> None:
    assert escaped("R&D * and _x_ <b> [a](http://b) `c`") == r"R&D \* and \_x\_ \<b> \[a](http://b) \`c\`"
    assert escaped("1. First") == r"\1. First" or escaped("# Head") == r"\# Head"


def test_names_nobody_speaks_of_are_strangers() -> None:
    assert strangers("What did Globex pay to Initech?", [frozenset({"acm", "pay"})]) == ["Globex", "Initech"]
    assert strangers("What did Acme pay to Initech?", [frozenset({"acm", "pay"})]) == []
    assert strangers("What did JNJ pay?", [frozenset({"pay"})]) == []


def test_an_ordinal_is_no_name() -> None:
    assert names_in("How many stores did Ulta have at the end of the 4th quarter?") == ["Ulta"]
    assert names_in("Is 3M older than the 3rd Bank of the Rhine?") == ["3M", "3rd Bank", "Rhine"]


@pytest.mark.parametrize(
    ("question", "standalone"),
    [
        ("What about 2017?", "What about 2017? (Acme capital expenditure)"),
        ("And dividends?", "And dividends? (Acme 2018 capital expenditure)"),
        ("Which pension plans changed?", "Which pension plans changed? (Acme 2018)"),
        ("Which five business segments does the company have in the world today?", None),
    ],
)
def test_a_follow_up_takes_up_what_it_leans_on(question: str, standalone: str | None) -> None:
    history = [Turn("user", "What was the capital expenditure of Acme in 2018?"), Turn("assistant", "1,577.")]
    assert carried_over(question, history) == (standalone or question)


@pytest.mark.parametrize(
    ("question", "beyond"),
    [
        ("What is the FY2018 capital expenditure amount, by the cash flow statement?", False),
        ("Is growth in adjusted EPS expected to accelerate in FY2023?", True),
        ("What were net sales of the fourth quarter?", True),
        ("What were net sales in Q2 of 2022?", True),
    ],
)
def test_what_a_years_statements_do_not_say_is_known(question: str, beyond: bool) -> None:
    assert read_question(question).beyond_statements == beyond


def test_a_statements_line_stands_alone_unless_more_was_asked_than_it_says() -> None:
    plain, _ = said("What was capex in 2018?", STATEMENT + TALK)
    assert sum(line.startswith("- ") for line in plain) == 1
    more, _ = said("What is the expected capex of 2018?", STATEMENT + TALK)
    assert sum(line.startswith("- ") for line in more) > 3


ELSEWHERE = [
    prose("u8", "The company sells its products around the world and won several awards for design."),
    prose("u9", "The cup holders of the company are made of polymer and are sold to makers of cars."),
]


@pytest.mark.parametrize(
    "question",
    [
        "Who won the 1998 World Cup?",
        "How do I bake sourdough bread?",
        "asdf qwer zxcv",
        "What was Netflix's FY2018 revenue?",
        "Which moons of Jupiter did Galileo discover?",
    ],
)
def test_what_a_filing_cannot_hold_is_not_answered_but_its_nearest_words_are_shown(question: str) -> None:
    passages = STATEMENT + TALK + ELSEWHERE
    lines, citations = said(question, passages)
    assert lines[0] == "The documents do not say. Nearest:"
    assert 1 <= len(citations) <= 2
    texts = [" ".join(p.unit.text.split()) for p in passages]
    assert all(not c.quote or any(c.quote in text for text in texts) for c in citations)


def test_a_possessive_ends_a_name_and_its_fiscal_year_is_none() -> None:
    assert (
        strangers("What was Acme Anvils' and Lockheed Martin's FY2020 margin?", texts("Lockheed Martin"))
        == []
    )


def test_the_words_of_a_name_must_stand_together() -> None:
    assert strangers("Who won the World Cup?", texts("the world", "a cup")) == ["World Cup"]
    assert strangers("Who won the World Cup?", texts("the cup of the world")) == []


def texts(*said_in: str) -> list[frozenset[str]]:
    return [frozenset(terms_of(text)) for text in said_in]


def test_a_row_of_words_is_said_when_the_question_names_what_it_speaks_of() -> None:
    heads = ("Verdict", "What it means", "What you see")
    glossary = [
        row("u1", "exact", "The words stand on the page as quoted.", "a plain number", heads=heads),
        row("u2", "moved", "The words stand in another passage now.", "an arrow", heads=heads),
        row("u3", "Key", "j", heads=heads),
    ]
    lines, citations = said("What does the verdict moved mean?", glossary + TALK)
    assert lines[1] == "- moved: The words stand in another passage now; an arrow"
    assert citations[0].alias == "u2"
    assert not any("Key" in line for line in lines)


def placed(
    alias: str, y: float, *cells: str, heads: tuple[str, ...] = HEADS, header: bool = False
) -> Passage:
    """A row whose words stand on the page, 100 points a column."""
    text, words, laid = "\t".join(cells), [], []
    at = int(alias[1:]) * 1000
    start = at
    for column, cell in enumerate(cells):
        rect = Rect(60 + 100 * column, y, 60 + 100 * column + 6 * len(cell), y + 10)
        words.append(Word(at, at + len(cell), *rect))
        laid.append(Cell(column, cell, rect, header, at, at + len(cell)))
        at += len(cell) + 1
    table = TableRow(1, int(alias[1:]), tuple(laid), header=header, head_rows=() if header else heads)
    unit = SourceUnit(alias, "d1", 60, text, start, tuple(words), "table", (), table, TITLE)
    return Passage(alias, unit, rank=1, heading="Consolidated Statement of Income\nYears ended December 31")


def page_of(*rows: Passage) -> list[Passage]:
    units = [row.unit for row in rows]
    return [replace(row, around=[unit for unit in units if unit is not row.unit]) for row in rows]


def test_a_row_that_stands_under_another_year_than_its_table_was_read_with_is_not_said() -> None:
    rows = page_of(
        placed("u1", 100, "(Millions)", "2018", "2017", header=True),
        placed("u2", 120, "Net sales", "$ 32,765", "$ 31,657", heads=("(Millions)", "2018", "2017")),
        placed("u3", 200, "(Millions)", "2017", "2016", header=True),
        placed("u4", 220, "Net sales", "$ 31,650", "$ 30,109", heads=("(Millions)", "2018", "2017")),
    )
    lines, citations = said("What were the net sales in 2018?", rows + TALK)
    assert lines[1] == "- Net sales, 2018: $ 32,765"
    assert all(citation.alias != "u4" for citation in citations)


def test_a_value_under_a_head_that_the_page_does_not_have_is_left_out_and_the_others_stay() -> None:
    heads = ("", "2018", "2017", "2015")
    rows = page_of(
        placed("u1", 100, "(Millions)", "2018", "2017", "2016", header=True),
        placed("u2", 120, "Net sales", "$ 32,765", "$ 31,657", "$ 30,109", heads=heads),
    )
    lines, _ = said("How did net sales change?", rows)
    assert lines[1] == "- Net sales, 2018: $ 32,765; 2017: $ 31,657"


def test_a_row_under_heads_that_were_read_wrong_is_said_as_it_stands() -> None:
    heads = ("", "2016", "2015")
    rows = page_of(
        placed("u1", 100, "(Millions)", "2018", "2017", header=True),
        placed("u2", 120, "Net sales", "$ 3,226", "$ 10,208", heads=heads),
    )
    lines, citations = said("How did net sales change?", rows)
    assert lines[1] == "- Net sales $ 3,226 $ 10,208"
    assert citations[0].quote == "Net sales $ 3,226 $ 10,208"


def test_a_row_of_the_statement_needs_no_other_row_of_the_same_item() -> None:
    other = row("u9", "Net income", "$ 711", "$ 702", "$ 690", heading="Segment information")
    income = row(
        "u1", "Net income", "$ 5,363", "$ 4,869", "$ 5,058", heading="Consolidated Statement of Income"
    )
    lines, _ = said("What was the net income in 2018?", [income, other, *TALK])
    assert "- Net income, 2018: $ 5,363" in lines
    assert not any("711" in line for line in lines)


@pytest.mark.parametrize(
    ("question", "prose"),
    [
        ("What were net sales in fiscal 2023, and how did they change?", False),
        ("What were Amcor's total net sales?", False),
        ("What are the company’s total current liabilities at year end?", False),
        ("What were 2022 capital expenditures", False),
        ("How did Amcor's net sales change in 2023?", False),
        ("How does inventory turnover affect cash?", True),
        ("How did the company grow net sales?", True),
        ("What were the drivers of net sales in 2023?", True),
        ("What drove net sales?", True),
        ("What are the debt covenants?", True),
        ("What are the main products?", True),
        ("What were inventory valuation methods?", True),
    ],
)
def test_a_question_that_begins_with_a_line_of_the_accounts_asks_for_its_values(
    question: str, prose: bool
) -> None:
    assert read_question(question).wants_prose == prose


@pytest.mark.parametrize(
    ("question", "first"),
    [
        ("What was the adjusted EBITDA in FY 2023?", "2,018"),
        ("What was the adjusted EBITDA in the fourth quarter of fiscal 2023?", "540"),
        ("What was adjusted EBITDA for FY2023Q4?", "540"),
    ],
)
def test_where_a_year_is_asked_for_its_row_comes_before_that_of_a_quarter(question: str, first: str) -> None:
    quarter = row(
        "u1",
        "Adjusted EBITDA",
        "609",
        "540",
        heads=("", "Three Months Ended 2022", "Three Months Ended 2023"),
    )
    year = row(
        "u2",
        "Adjusted EBITDA",
        "2,117",
        "2,018",
        heads=("", "Twelve Months Ended 2022", "Twelve Months Ended 2023"),
    )
    lines, _ = said(question, [quarter, year])
    assert next(line for line in lines if line.startswith("- ")).endswith(f"2023: {first}")
