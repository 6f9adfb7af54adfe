"""The rows of tables as lines of an answer: each value under its head, of the years that are asked for."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from chat.extractive.asked import PART_OF_YEAR, YEAR, Asked, TermWeights
from chat.extractive.candidate import (
    FEWEST_WORDS,
    HAS_DIGIT,
    Candidate,
    Value,
    fits,
    nearness,
    statement_of_row,
)
from chat.extractive.lineitems import LineItem, statement_of
from chat.extractive.orders import gives_orders
from chat.extractive.rows_by_label import label_excess
from chat.prompting import Passage
from documents.pdf.structure import Cell, TableRow
from retrieval.analysis import terms_of

MOST_COLUMNS = 4
NAMED_ROW = 1.3  # what a row of words gains when the question names what it speaks of
NUMBER = re.compile(r"\d[\d.,]*")
FOOTNOTE = re.compile(r"\(\d{1,2}\)|\(?[*†‡]\)?")
LONGEST_SAID_HEAD = 45  # characters; a longer head is several that ran together
LONGEST_HEAD = 18  # characters: "December 31, 2018" is kept
TELLS_MORE = re.compile(r"month|quarter|week|%|change|percent|segment", re.I)
OTHER_PERIOD = 0.85  # what a row of quarters keeps of its score where a year is asked for


def row_candidates(
    asked: Asked, passage: Passage, row: TableRow, weights: TermWeights
) -> Iterator[Candidate]:
    """A table row, once for the best line item it is, else as it stands."""
    label, values = label_of(row), values_of(row, asked)
    if row.header or not label or gives_orders(passage.unit.text):
        return
    if not values:
        yield from wordy_row_candidates(asked, passage, row, label, weights)
        return
    text, quote = said_row(passage, label, values)
    said = asked.heard_in(terms_of(label))
    around = asked.heard_in(
        terms_of(" ".join([row.caption, *passage.unit.section_path[-2:], passage.heading]))
    )
    covered = weights.coverage(asked.terms, (said, 1.0), (around, 0.5))
    plain = covered * nearness(passage) * (0.85 if asked.wants_prose else 1.0)
    plain *= 1.1 if asked.years and all(value.year in asked.years for value in values) else 1.0
    plain *= OTHER_PERIOD if is_of_other_period(asked, values) else 1.0
    best = max(
        ((item_score(asked, item, passage, row, values), item) for item in asked.items if names(item, label)),
        key=lambda scored: scored[0],
        default=(0.0, None),
    )
    if best[1] is not None and not asked.wants_prose:
        yield Candidate(passage, text, quote, best[0] + 0.3 + covered, 1.0, best[1], label, tuple(values))
    else:
        yield Candidate(passage, text, quote, plain, covered, None, label, tuple(values))


def wordy_row_candidates(
    asked: Asked, passage: Passage, row: TableRow, label: str, weights: TermWeights
) -> Iterator[Candidate]:
    """A row that says something in words, as a glossary does; its label is what it speaks of."""
    cells = [" ".join(cell.text.split()) for cell in row.cells[1:] if is_wordy(cell.text)]
    spoken_of = terms_of(label)
    named = bool(spoken_of) and asked.terms.issuperset(spoken_of)
    if not any(named or len(cell.split()) >= FEWEST_WORDS for cell in cells):
        return
    said = asked.heard_in(terms_of(" ".join(cell.text for cell in row.cells)))
    heads = " ".join([*row.head_rows, row.caption, *passage.unit.section_path[-2:]])
    around = asked.heard_in(terms_of(heads))
    covered = weights.coverage(asked.terms, (said, 1.0), (around, 0.6))
    score = covered * nearness(passage) * fits(asked, passage.unit.text)
    told = "; ".join([*(cell.rstrip(" .;") for cell in cells[:-1]), cells[-1]])
    yield Candidate(
        passage, f"{label.rstrip(' :')}: {told}", "", score * (NAMED_ROW if named else 1), covered
    )


def is_wordy(text: str) -> bool:
    return bool(text.strip()) and not is_value(text)


def said_row(passage: Passage, label: str, values: Sequence[Value]) -> tuple[str, str]:
    """The row as a line, and the words to light; a row that was parsed badly is said as it stands."""
    if len(NUMBER.findall(label)) > 1 or any(len(value.head) > LONGEST_SAID_HEAD for value in values):
        plain = " ".join(passage.unit.text.split())
        return plain, plain
    return row_text(label, values), values[0].cell.text if len(values) == 1 else ""


def names(item: LineItem, label: str) -> bool:
    return bool(item.label.search(label))


def item_score(
    asked: Asked, item: LineItem, passage: Passage, row: TableRow, values: Sequence[Value]
) -> float:
    """How surely this row is the line item asked for: right statement, plain label, years asked for."""
    statement, _ = statement_of_row(passage)
    score = 0.5 if statement == item.statement else 0.0
    score += 0.3 if statement in asked.statements else 0.0
    score += 0.2 if statement is None and statement_of(row.caption) == item.statement else 0.0
    score += 0.3 / (1 + label_excess(item, label_of(row)) / 12)
    if asked.years:
        score += 0.3 * len(asked.years & {value.year for value in values}) / len(asked.years)
    if is_of_other_period(asked, values):
        score -= 0.3
    return score + 0.15 * nearness(passage)


def label_of(row: TableRow) -> str:
    """The row's own words: its first cell, when that is no value."""
    first = next((cell for cell in row.cells if cell.text.strip()), None)
    return "" if first is None or is_value(first.text) else " ".join(first.text.split())


def values_of(row: TableRow, asked: Asked) -> list[Value]:
    """The row's values; only the columns of the years asked for, unless one is to be compared with others."""
    found = [
        Value(cell, *short_head(head_of(row, cell)))
        for cell in row.cells[1:]
        if cell.text.strip() and HAS_DIGIT.search(cell.text)
    ]
    wanted = [value for value in found if value.year in asked.years]
    if asked.compares and len({value.year for value in wanted}) == 1:
        others = [value for value in found if value not in wanted]
        kept = [*wanted, *others][:MOST_COLUMNS]
        return [value for value in found if value in kept]
    return (wanted or found)[:MOST_COLUMNS]


def is_of_other_period(asked: Asked, values: Sequence[Value]) -> bool:
    """Whether all values are those of quarters or of some months, where a year is asked for."""
    asks_for_year = bool(asked.years) and not asked.part_of_year
    return asks_for_year and all(PART_OF_YEAR.search(value.head) for value in values)


def head_of(row: TableRow, cell: Cell) -> str:
    """The head of the cell's column; '' when it has none."""
    return " ".join(row.head_rows[cell.column].split()) if cell.column < len(row.head_rows) else ""


def short_head(head: str) -> tuple[str, str]:
    """A column head and its year; a long head that only dates the column is its year alone."""
    head = " ".join(FOOTNOTE.sub("", head).split())
    years = YEAR.findall(head)
    year = years[0] if years else ""
    tells_more = len(set(years)) != 1 or len(head) <= LONGEST_HEAD or TELLS_MORE.search(head)
    return (head if tells_more else year), year


def is_value(text: str) -> bool:
    letters = sum(map(str.isalpha, text))
    return letters < 3 and bool(HAS_DIGIT.search(text))


def row_text(label: str, values: Sequence[Value]) -> str:
    """``Purchases of property, plant and equipment, 2018: (1,577)``; several columns joined by semicolons."""
    cells = [f"{value.head}: {value.cell.text}" if value.head else value.cell.text for value in values]
    label = label.rstrip(" :.…")
    return f"{label}, {'; '.join(cells)}" if values[0].head else f"{label}: {'; '.join(cells)}"
