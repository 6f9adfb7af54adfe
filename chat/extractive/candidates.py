"""What the passages offer as an answer: sentences and table rows, each weighed against the question."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from chat.claim_spans import sentences
from chat.extractive.asked import YEAR, Asked, TermWeights
from chat.extractive.lineitems import LineItem, statement_of
from chat.extractive.meaning import nearness_of_meaning
from chat.extractive.orders import gives_orders
from chat.extractive.rows_by_label import label_excess
from chat.prompting import Passage
from documents.pdf.structure import Cell, TableRow
from retrieval.analysis import terms_of

HAS_DIGIT = re.compile(r"\d")
LONGEST_SENTENCE = 700  # characters; what is longer is a list that lost its line ends
FEWEST_WORDS = 5
MOST_COLUMNS = 4
NAMED_ROW = 1.3  # what a row of words gains when the question names what it speaks of
READ_FOR_MEANING = 150  # candidates
MEANING = 0.2  # what meaning weighs beside words; more of it cites fewer right pages
NUMBER = re.compile(r"\d[\d.,]*")
BULLET = re.compile(r"^[^\w\s$€£¥(]\s+")
FOOTNOTE = re.compile(r"\(\d{1,2}\)|\(?[*†‡]\)?")
LONGEST_SAID_HEAD = 45  # characters; a longer head is several that ran together
LONGEST_HEAD = 18  # characters: "December 31, 2018" is kept
BOILERPLATE = re.compile(
    r"^we have audited|forward[- ]looking|please refer to|incorporated (herein )?by reference|^date:|/s/|"
    r"reconciliations? of (these|non)|should (be read|not be (viewed|considered))|cautionary|caption(ed)? “|"
    r"are (unable|not able) to reconcile|^exhibit\b|\bsee (note|item|part)\b.{0,40}$",
    re.I,
)
PART_OF_YEAR = re.compile(r"month|quarter|week|%|change|percent|segment", re.I)


@dataclass(frozen=True, slots=True)
class Candidate:
    """One line of an extractive answer.

    Attributes:
        text: what is shown: a sentence word for word, or a row with its heads.
        quote: the words to light; '' lets the verifier find the values of ``text``.
        score: higher is better; comparable within one question.
        coverage: 0..1, the share of the question it speaks of.
        item: the line of the accounts it stands for.
    """

    passage: Passage
    text: str
    quote: str
    score: float
    coverage: float
    item: LineItem | None = None


def candidates(asked: Asked, passages: Sequence[Passage]) -> list[Candidate]:
    """All sentences and rows, best first."""
    own = {passage.alias: asked.heard_in(terms_of(passage.unit.text)) for passage in passages}
    weights = TermWeights(list(own.values()))
    found: list[Candidate] = []
    for passage in passages:
        if passage.unit.table is not None:
            found += row_candidates(asked, passage, passage.unit.table, weights)
        elif passage.unit.type not in ("heading",):
            found += sentence_candidates(asked, passage, own[passage.alias], weights)
    return by_meaning(asked, sorted(found, key=lambda candidate: -candidate.score))


def by_meaning(asked: Asked, ranked: Sequence[Candidate]) -> list[Candidate]:
    """The best candidates, those nearer to the question in meaning lifted; line items are sure without."""
    head, rest = ranked[:READ_FOR_MEANING], ranked[READ_FOR_MEANING:]
    near = nearness_of_meaning(asked.text, [candidate.text for candidate in head])
    lifted = [
        candidate
        if candidate.item
        else replace(candidate, score=candidate.score * (1 - MEANING + 2 * MEANING * cosine))
        for candidate, cosine in zip(head, near, strict=True)
    ]
    return [*sorted(lifted, key=lambda candidate: -candidate.score), *rest]


def sentence_candidates(
    asked: Asked, passage: Passage, own: frozenset[str], weights: TermWeights
) -> Iterator[Candidate]:
    """The sentences of a paragraph, list item, caption or footnote."""
    context = asked.heard_in(terms_of(" ".join([*passage.unit.section_path[-2:], passage.heading[:120]])))
    for span in sentences(passage.unit.text):
        text = BULLET.sub("", " ".join(passage.unit.text[span.start : span.end].split()))
        if gives_orders(text):
            return  # what follows an order belongs to it
        if len(text.split()) < FEWEST_WORDS or len(text) > LONGEST_SENTENCE:
            continue
        said = asked.heard_in(terms_of(text))
        covered = weights.coverage(asked.terms, (said, 1.0), (own, 0.5), (context, 0.3))
        score = covered * nearness(passage) * fits(asked, text)
        yield Candidate(
            passage, text, text, score, weights.coverage(asked.terms, (said, 1.0), (context, 0.4))
        )


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
    best = max(
        ((item_score(asked, item, passage, row, values), item) for item in asked.items if names(item, label)),
        key=lambda scored: scored[0],
        default=(0.0, None),
    )
    if best[1] is not None and not asked.wants_prose:
        yield Candidate(passage, text, quote, best[0] + 0.3 + covered, 1.0, best[1])
    else:
        yield Candidate(passage, text, quote, plain, covered)


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
    statement = statement_of(passage.heading)
    score = 0.5 if statement == item.statement else 0.0
    score += 0.3 if statement in asked.statements else 0.0
    score += 0.2 if statement is None and statement_of(row.caption) == item.statement else 0.0
    score += 0.3 / (1 + label_excess(item, label_of(row)) / 12)
    if asked.years:
        score += 0.3 * len(asked.years & {value.year for value in values}) / len(asked.years)
    return score + 0.15 * nearness(passage)


@dataclass(frozen=True, slots=True)
class Value:
    """A cell that holds a value, its column head, and the year in the head ('' when none)."""

    cell: Cell
    head: str
    year: str


def label_of(row: TableRow) -> str:
    """The row's own words: its first cell, when that is no value."""
    first = next((cell for cell in row.cells if cell.text.strip()), None)
    return "" if first is None or is_value(first.text) else " ".join(first.text.split())


def values_of(row: TableRow, asked: Asked) -> list[Value]:
    """The row's values; only the columns of the years asked for, unless years are to be compared."""
    found = [
        Value(cell, *short_head(head_of(row, cell)))
        for cell in row.cells[1:]
        if cell.text.strip() and HAS_DIGIT.search(cell.text)
    ]
    wanted = [value for value in found if value.year in asked.years]
    if asked.compares and len(wanted) == 1:
        return found[:MOST_COLUMNS]
    return (wanted or found)[:MOST_COLUMNS]


def head_of(row: TableRow, cell: Cell) -> str:
    """The head of the cell's column; '' when it has none."""
    return " ".join(row.head_rows[cell.column].split()) if cell.column < len(row.head_rows) else ""


def short_head(head: str) -> tuple[str, str]:
    """A column head and its year; a long head that only dates the column is its year alone."""
    head = " ".join(FOOTNOTE.sub("", head).split())
    years = YEAR.findall(head)
    year = years[0] if years else ""
    tells_more = len(set(years)) != 1 or len(head) <= LONGEST_HEAD or PART_OF_YEAR.search(head)
    return (head if tells_more else year), year


def is_value(text: str) -> bool:
    letters = sum(map(str.isalpha, text))
    return letters < 3 and bool(HAS_DIGIT.search(text))


def row_text(label: str, values: Sequence[Value]) -> str:
    """``Purchases of property, plant and equipment, 2018: (1,577)``; several columns joined by semicolons."""
    cells = [f"{value.head}: {value.cell.text}" if value.head else value.cell.text for value in values]
    label = label.rstrip(" :.…")
    return f"{label}, {'; '.join(cells)}" if values[0].head else f"{label}: {'; '.join(cells)}"
