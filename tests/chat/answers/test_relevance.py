"""Whether an answer is direct: what of the question its pages lack, and how lines are shared out."""

from __future__ import annotations

import re

import pytest

from chat.answers.without_model.lines import AnswerLine
from chat.answers.without_model.question import analyse
from chat.answers.without_model.ranking import RankedPage, name_pattern, worth_citing
from tests.chat.answers.builders import answered, prose

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
    assert lines[0].startswith("No direct answer found. Closest passages:")
    assert lines[0].endswith("The closest passages do not mention “Solveig”.") and citations
    lines, _ = answered("How many passengers does the Astrid carry every day in summer?", FERRIES)
    assert lines[0].startswith("- The Astrid carries 400 passengers")


def test_names_are_capitals_abbreviations_and_numbers_but_not_remarks_on_the_form() -> None:
    assert analyse("Which TV of Globex has 1,200 dots? Round your answer to 250 digits.").names == (
        "TV", "Globex", "1,200")  # fmt: skip
    assert analyse("What was FY2021 profit in Q4, in USD?").names == ()
    assert analyse("Welche CDN nutzt die Seite 12?").names == ("CDN",)


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
