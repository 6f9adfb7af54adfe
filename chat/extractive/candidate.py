"""One line an answer may say, and how well it fits the question."""

from __future__ import annotations

import re
from dataclasses import dataclass

from chat.extractive.asked import YEAR, Asked
from chat.extractive.lineitems import LineItem, Statement, statement_over
from chat.prompting import Passage
from documents.pdf.structure import Cell

FEWEST_WORDS = 5  # of a line that says something
HAS_DIGIT = re.compile(r"\d")
BOILERPLATE = re.compile(
    r"^we have audited|forward[- ]looking|please refer to|incorporated (herein )?by reference|^date:|/s/|"
    r"reconciliations? of (these|non)|should (be read|not be (viewed|considered))|cautionary|caption(ed)? “|"
    r"are (unable|not able) to reconcile|^exhibit\b|\bsee (note|item|part)\b.{0,40}$",
    re.I,
)


@dataclass(frozen=True, slots=True)
class Value:
    """A cell that holds a value, its column head, and the year in the head ('' when none)."""

    cell: Cell
    head: str
    year: str


@dataclass(frozen=True, slots=True)
class Candidate:
    """One line of an extractive answer.

    Attributes:
        text: what is shown: a sentence word for word, or a row with its heads.
        quote: the words to light; '' lets the verifier find the values of ``text``.
        score: higher is better; comparable within one question.
        coverage: 0..1, the share of the question it speaks of.
        item: the line of the accounts it stands for.
        label, values: what a row's line is made of; empty for all others.
    """

    passage: Passage
    text: str
    quote: str
    score: float
    coverage: float
    item: LineItem | None = None
    label: str = ""
    values: tuple[Value, ...] = ()


def statement_of_row(passage: Passage) -> tuple[Statement | None, str]:
    """The statement that a row of a table stands in, and the line that names it."""
    return statement_over(passage.heading, passage.heading_below)


def nearness(passage: Passage) -> float:
    """What search thought of the passage, 0.6..1."""
    return 0.6 + 0.4 / (1 + passage.rank / 5) if passage.rank else 0.65


def fits(asked: Asked, text: str) -> float:
    """Whether the text is of the kind that is asked for."""
    factor = 1.0
    if asked.wants_value and not HAS_DIGIT.search(text):
        factor *= 0.75
    if asked.years and asked.years & set(YEAR.findall(text)):
        factor *= 1.15
    if text.endswith(("?", ":")):
        factor *= 0.7
    if BOILERPLATE.search(text):
        factor *= 0.5
    return factor
