"""Whether an answer is direct, what its pages lack of the question, and how many lines each page gives."""

from __future__ import annotations

import re

import pytest

from chat.answers.without_model.lines import AnswerLine
from chat.answers.without_model.question import analyse, name_pattern
from chat.answers.without_model.ranking import RankedPage, worth_citing
from tests.chat.answers.builders import answered, headed, on_one_page, prose, row

FERRIES = [
    prose("u1", "The Astrid carries 400 passengers between Bergen and Stavanger every day in summer.", 1),
    prose("u2", "The Solveig was built in 1987 by a yard in Gdansk and was sold to Estonia.", 2),
]


@pytest.mark.parametrize(
    ("name", "text", "holds"),
    [
        ("Newspaper", "Readers of news-\npapers answered first.", True),
        ("Thinkpad", "Think about the pad.", False),
        ("Republicans", "One Republican voted.", True),
        ("CFCs", "A CFC harms ozone.", True),
        ("TV", "activity", False),
        ("RAM", "una rama de la obra", False),
        ("API", "Two APIs are open.", True),
        ("Wave IV", "Wave I, Wave II and Wave III", False),
        ("Wave IV", "in wave IV, too", True),
        ("9.0", "Version 19.05", False),
        ("700,000", "more than 700,000 readers", True),
    ],
)
def test_a_name_is_found_with_other_endings_and_line_ends(name: str, text: str, holds: bool) -> None:
    assert bool(re.search(name_pattern(name), text, re.I)) == holds


def test_a_name_that_the_cited_pages_do_not_hold_makes_an_answer_indirect() -> None:
    lines, citations = answered(
        "How many passengers does the Solveig carry every day in summer?", FERRIES[:1]
    )
    assert lines[0].startswith("No direct answer found.")
    assert lines[0].endswith("The closest passages do not mention “Solveig”.") and citations
    lines, _ = answered("How many passengers does the Astrid carry every day in summer?", FERRIES)
    assert lines[0].startswith("- The Astrid carries 400 passengers")


def test_names_are_capitals_abbreviations_and_numbers_but_not_remarks_on_the_form() -> None:
    assert analyse("Which TV of Globex has 1,200 dots? Round your answer to 250 digits.").names == (
        "TV", "Globex", "1,200")  # fmt: skip
    assert analyse("What was FY2021 profit in Q4, in USD?").names == ()
    assert analyse("Welche CDN nutzt die Seite 12?").names == ("CDN",)


def test_a_numeral_belongs_to_the_name_before_it_and_a_question_mark_upside_down_opens_a_sentence() -> None:
    assert analyse("How many boats sailed in Heat IV?").names == ("Heat IV",)
    assert analyse("¿Todavía navega el barco de Bergen?").names == ("Bergen",)


@pytest.mark.parametrize(
    ("question", "said"),
    [
        ("How many rowers does the club have?", "We had about 7,300 rowers in the club's two houses."),
        ("How many kinds of boats are there?", "The club keeps three kinds of boats."),
        ("Wie viele Ruderer hat der Verein?", "Der Verein hat 310 Ruderer."),
    ],
)
def test_a_number_that_counts_what_is_asked_comes_before_others(question: str, said: str) -> None:
    language = "de" if question.startswith("Wie") else "en"
    other = "Rowers, Ruderer of the club, of the Verein, and kinds of boats: fees rose by 12% in 40 weeks."
    lines, _ = answered(question, [prose("u1", f"{other} {said}", language=language)])
    assert lines[0] == f"- {said}"


def test_a_row_of_other_years_gives_way_to_one_of_the_year_asked_for() -> None:
    other = row("u1", "Total ticket sales", "$ 910", heads=("", "2029"), page=1)
    asked = row("u2", "Ticket sales", "$ 1,240", heads=("", "2031"), page=2)
    _, citations = answered("What were the total ticket sales in 2031?", [other, asked])
    assert [citation.alias for citation in citations] == ["u2"]


def test_a_list_of_references_is_said_only_where_it_is_asked_for_or_nothing_else_is_there() -> None:
    title = prose("u1", "Adler, B. Methods of measuring the tide with a rowing boat. 1907.", 9, "References")
    said = prose("u2", "The tide is measured with a rowing boat at noon.", 2, "Methods")
    question = "With which methods is the tide measured from a rowing boat?"
    assert [c.alias for c in answered(question, [title, said])[1]] == ["u2"]
    assert [c.alias for c in answered(question, [title])[1]] == ["u1"]
    asked = "Which of the references is on measuring the tide with a rowing boat?"
    assert "u1" in [c.alias for c in answered(asked, [title, said])[1]]


def test_numbers_and_months_may_stand_on_another_cited_page_than_the_best() -> None:
    pages = [
        prose("u1", "In the first 100 minutes of the fire, the crew of the Astrid closed all doors.", 1),
        prose("u2", "In the first 250 minutes of the fire, the crew of the Astrid left the ship.", 2),
    ]
    question = "What did the crew of the Astrid do in the first 100 minutes and in the first 250 minutes?"
    lines, citations = answered(question, pages)
    assert len(citations) == 2 and not lines[0].startswith("No direct answer")


def page(number: int, probability: float) -> RankedPage:
    line = AnswerLine(prose(f"u{number}", "A line.", number), "A line.", "")
    return RankedPage(("d", number), probability, (line,), {})


@pytest.mark.parametrize(
    ("probabilities", "cited"),
    [
        ((0.97, 0.02, 0.01), [1]),
        ((0.5, 0.2, 0.15, 0.12), [1, 2, 3]),
        ((0.5, 0.4, 0.05), [1, 2]),
        ((0.2, 0.1, 0.01), [1, 2]),
    ],
)
def test_pages_are_cited_by_their_probability(probabilities: tuple[float, ...], cited: list[int]) -> None:
    pages = [page(number, chance) for number, chance in enumerate(probabilities, 1)]
    assert [shown.number[1] for shown in worth_citing(pages)] == cited


LOGS = on_one_page(
    prose("u1", "Security logs are kept and protected from changes.", 1),
    prose("u2", "A penetration test is done each year by 3 people.", 1),
    prose("u3", "The Heartbleed bug was made public by two teams.", 1),
    row("u4", "Penetration test of a day", "✓", "12", heads=("Requirement", "L1", "CWE")),
)


@pytest.mark.parametrize(
    "question",
    [
        "For how many months are security logs kept?",  # no length of time is there
        "In which year was the Heartbleed bug made public?",
        "How much does a penetration test cost a day?",
    ],
)
def test_a_passage_without_the_kind_of_answer_is_only_the_closest(question: str) -> None:
    lines, citations = answered(question, LOGS)
    assert lines[0].startswith("No direct answer") and citations


def test_the_documents_own_name_tells_no_line_from_another() -> None:
    page = on_one_page(
        prose("u1", "The Tarn Fund of Tarn matches what employees give to schools.", 1, title="Tarn 2021"),
        prose("u2", "At the end of May we had approximately 73,300 employees.", 1, title="Tarn 2021"),
    )
    assert answered("How many employees does Tarn have?", page)[1][0].alias == "u2"


def test_an_entry_of_a_table_of_contents_is_no_passage() -> None:
    heads = ("Item", "Page")
    page = [
        *headed(heads, row("u1", "Risk of storms at sea", "12", heads=heads)),
        prose("u2", "Storms at sea ........ 14", 1),
        prose("u3", "Storms are the main risk at sea.", 14),
    ]
    assert [c.alias for c in answered("What is the risk at sea in storms?", page)[1]] == ["u3"]
    shown = {c.alias for c in answered("On which page is the risk of storms?", page)[1]}
    assert shown & {"u1", "u2"}
