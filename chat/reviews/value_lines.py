"""Numbers, amounts and dates that a document may give for a column's question, best first, without a model.

Every value of every row and sentence of the best pages is a candidate. It scores by what its row is called,
the year and period its column is of, and the page it stands on: where a question names neither a part of the
year nor a part of the whole, values of quarters and of segments come after those of the year and the group.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from functools import cache, lru_cache
from itertools import chain
from typing import Any
from uuid import uuid4

from chat.answers.answer_builder import AnswerBuilder
from chat.answers.context import AnswerSources
from chat.answers.without_model.answer import bullet, holding, with_years
from chat.answers.without_model.lines import (
    PER_UNIT,
    AnswerLine,
    CellValue,
    distinct_terms,
    head_of,
    is_value,
    lines_of,
    measured,
    one_line,
    row_line,
)
from chat.answers.without_model.question import (
    YEAR,
    PlaceKind,
    QuestionFeatures,
    analyse,
    place_words,
    words_of,
)
from chat.answers.without_model.ranking import RankedPage, item_match, rank, relevance, terms_over
from chat.models import Citation, ReviewCell, ReviewColumn
from chat.reviews.typed_values import FilledCell, TypedValue, as_json, fits
from domains.items import Item, items_asked
from text.measures import Measure
from text.quantities import Quantity, quantities_in

State, Kind = ReviewCell.State, ReviewColumn.Kind
MOST_PAGES, MOST_LINES = 12, 40  # pages looked through, and lines of each
LABELLED = 0.25  # of ``item_match``: a row that a pack knows by another name than the question's
WEIGHTS = {
    "item": 3.0,  # the row is an item that a pack says the question needs
    "label": 1.5,  # share of the question's terms in the row's label, or in the sentence
    "over": 0.5,  # … in the headings and column heads too
    "extra": -0.7,  # share of the label's terms that the question does not have
    "page": 0.5,  # probability of the page, as a share of the best
    "near": 1.5,  # in a sentence: how near the question's words stand to the value
    "scale": 0.3,  # its table says what it counts in
    "part_of_year": -1.0,
    "period": 1.5,  # … and the part that the question names
    "part": -1.2,  # of a segment, a division, an affiliate
    "breakdown": -0.8,  # the row has several values of its year, and the column is not their total
    "dated": 0.4,  # the column says of which year it is
    "whole": 0.3,  # of the group; a total
    "change": -2.0,  # the column holds differences or shares
    "other_year": -2.0,
    "newest": 0.4,  # the question names no year, and no value at hand is of a later one
}
MOST_NEAR = 3  # passages shown where nothing is stated
MOST_TRIED = 8  # values that are put to the verifier
SAME = 0.05  # two different values with scores so near are both meant, or neither


YEAR_DIGITS = re.compile(r"\b(?:19|20)\d\d\b")
PART_OF_NAME = re.compile(r"(?:\w[-–]|[^\W\d_])$")
NAMED_BY = re.compile(r"[-–]\w|[A-Za-z]")
WORD = re.compile(r"[\w-]+")
FAR = 60  # characters
LONGEST_TITLE = 90  # characters of a page's first line that is a title
PLACES: tuple[PlaceKind, ...] = ("page", "slide", "figure", "table", "section", "requirement")
NEGATIVE = re.compile(r"[$€£¥₹]? ?\(.*\)")


@dataclass(frozen=True, slots=True)
class ValueLine:
    """A line narrowed to one value; ``year`` of its column, 0 where none is printed over it."""

    line: AnswerLine
    value: TypedValue
    score: float
    year: int = 0


def quantity(column: ReviewColumn, found: AnswerSources) -> FilledCell:
    """A number, an amount or a date, without a model: the best value that its page bears out.

    Where nothing is directly on the question it is not stated; where two values fit alike it is unclear.
    """
    languages = list(dict.fromkeys(passage.unit.language for passage in found.passages))
    question = analyse(column.question, languages)
    lines = lines_of(question, found.passages)
    pages = rank(question, lines, found.passages, found.notes.packs)
    is_direct = bool(pages) and relevance(question, pages, found.notes).is_direct
    values = value_lines(column, question, pages, found.notes.packs) if is_direct else []
    held = held_values(values, found)
    if not held:
        near = [line for page in pages[:MOST_NEAR] for line in page.lines[:1]]
        return FilledCell(State.NOT_STATED, citations=cited(list(holding(near, found.passages)), found))
    citations = cited([line for _, line in held], found)
    if len({size_of(one.value.value) for one, _ in held}) > 1:
        return FilledCell(State.UNCLEAR, text="\n".join(line.text for _, line in held), citations=citations)
    first = held[0][0].value
    return FilledCell(State.FOUND, first.value, first.text, citations)


def held_values(values: Sequence[ValueLine], found: AnswerSources) -> list[tuple[ValueLine, AnswerLine]]:
    """The best value that its page bears out, and those that score alike, each as the line that says it."""
    held: list[tuple[ValueLine, AnswerLine]] = []
    for one in values[:MOST_TRIED]:
        if held and one.score < held[0][0].score - SAME:
            break
        held += [(one, line) for line in holding([one.line], found.passages)]
    return held


def size_of(value: Any) -> str:
    """A value for comparison: an amount without its sign, for statements print costs either way."""
    return str(abs(value["number"])) if isinstance(value, dict) else str(value)


def cited(lines: Sequence[AnswerLine], found: AnswerSources) -> list[Citation]:
    """Each line cited and checked as it is in an answer."""
    draft = AnswerBuilder(uuid4(), found.sources, {})
    for line in lines:
        for _ in chain(draft.write(bullet(line.text)), draft.cite(line.unit, line.quote), draft.write("\n")):
            pass
    return draft.citations


def value_lines(
    column: ReviewColumn, question: QuestionFeatures, pages: Sequence[RankedPage], packs: Sequence[str] = ()
) -> list[ValueLine]:
    """The values of the pages that fit the column, best first."""
    items = items_asked(question.text, packs)[:1]  # the others are what it may be computed from
    found: list[ValueLine] = []
    for page in pages[:MOST_PAGES]:
        share = page.probability / (pages[0].probability or 1.0)
        for line in page.lines[:MOST_LINES]:
            values = values_of(column, question, items, with_years(question, line))
            found += [replace(one, score=one.score + WEIGHTS["page"] * share) for one in values]
    newest = 0 if question.years else max((one.year for one in found), default=0)
    found = [
        replace(one, score=one.score + WEIGHTS["newest"]) if newest and one.year == newest else one
        for one in found
    ]
    return sorted(found, key=lambda one: -one.score)


def values_of(
    column: ReviewColumn, question: QuestionFeatures, items: Sequence[Item], line: AnswerLine
) -> Iterator[ValueLine]:
    """The values of one line: of a row those of the year asked for, else of its latest year."""
    if not line.values:
        yield from said_values(column, question, line)
        return
    if not is_about(question, items, line):
        return
    read = [
        (value, typed)
        for value in row_values(line)
        if (typed := cell_value(column, question, line, value)) is not None
    ]  # fmt: skip
    latest = max((year_of(value) for value, _ in read), default=0)
    whole_years = [
        value for value, _ in read if not has_word("part_of_year", value.head, question, line.language)
    ]
    for value, typed in read:
        if not question.years and year_of(value) != latest:
            continue
        single = replace(
            row_line(replace(line, values=(value,)), line.measure), quote=one_line(value.cell.text)
        )
        year = year_of(value)
        score = score_of(question, items, line, value.head, frozenset({year} - {0}))
        is_whole = has_word("whole", value.head, question, line.language)
        several = not is_whole and sum(year_of(other) == year for other in whole_years) > 1
        score += WEIGHTS["breakdown"] * several + WEIGHTS["dated"] * bool(year)
        yield ValueLine(single, typed, score, year)


def said_values(column: ReviewColumn, question: QuestionFeatures, line: AnswerLine) -> Iterator[ValueLine]:
    """The values of a sentence; the nearer one stands to the question's words, the better."""
    asked = set(question.terms)
    if len(asked & line.terms) < min(2, len(asked)):
        return
    named = {quantity.value for quantity in quantities_in(question.text, line.language)}
    fitting = [
        quantity
        for quantity in quantities_in(line.text, line.language)
        if quantity.value not in named
        and fits(column, quantity, line.text)
        and (quantity.unit or quantity.dimension or is_count(quantity, line))
    ]
    if "count" in question.kinds and not column.unit:
        fitting = [quantity for quantity in fitting if not quantity.dimension]  # no share of what is counted
    if not fitting:
        return
    years = frozenset(map(int, YEAR_DIGITS.findall(line.text)))
    score = score_of(question, (), line, "", years)
    places = term_places(question, line)
    for quantity in fitting:
        value = TypedValue(as_json(column, quantity), line.text[quantity.start : quantity.end].strip())
        near = WEIGHTS["near"] * nearness(question, quantity, places)
        yield ValueLine(line, value, score + near, max(years, default=0))


def is_count(quantity: Quantity, line: AnswerLine) -> bool:
    """Whether a bare number counts or measures: not “Table 6”, “1)”, “GPT-4”, “4-hop”, “one of them”."""
    before, after = line.text[: quantity.start], line.text[quantity.end :]
    printed = line.text[quantity.start : quantity.end]
    if quantity.value == 1 and not any(map(str.isdigit, printed)):
        return False
    if PART_OF_NAME.search(before) or NAMED_BY.match(after) or (after.startswith(")") and len(printed) < 3):
        return False
    return not place_before(line.language).search(before)


@cache
def place_before(language: str) -> re.Pattern[str]:
    """Matches a word that numbers places (“Table”, “Fig.”) at the end of a text."""
    words = sorted({word for kind in PLACES for word in place_words(language, kind)}, key=len, reverse=True)
    return re.compile(rf"(?<!\w)(?:{'|'.join(map(re.escape, words))})\s*$", re.IGNORECASE)


def term_places(question: QuestionFeatures, line: AnswerLine) -> dict[str, list[tuple[int, int]]]:
    """Where the question's terms stand in the line."""
    found: dict[str, list[tuple[int, int]]] = {}
    for match in WORD.finditer(line.text):
        for term in distinct_terms(match[0], line.language) & set(question.terms):
            found.setdefault(term, []).append(match.span())
    return found


def nearness(
    question: QuestionFeatures, quantity: Quantity, places: Mapping[str, Sequence[tuple[int, int]]]
) -> float:
    """0..1: how near the question's terms stand. A count stands before its noun, a measure after."""
    after, before = (1, 2) if "count" in question.kinds else (2, 1)
    gaps = [
        min((start - quantity.end) * after if start >= quantity.end else max(0, quantity.start - end) * before
            for start, end in places[term])
        for term in question.terms
        if term in places
    ]  # fmt: skip
    farthest = FAR * (len(question.terms) - len(gaps)) + sum(min(gap, FAR) for gap in gaps)
    return 1 - farthest / (FAR * (len(question.terms) or 1))


def year_of(value: CellValue) -> int:
    return max(map(int, YEAR_DIGITS.findall(value.head)), default=0)


def is_about(question: QuestionFeatures, items: Sequence[Item], line: AnswerLine) -> bool:
    """Whether a row's label, with the heads over it, has two of the question's terms, or is its item."""
    asked, label = set(question.terms), set(line.label_terms)
    both = asked & (label | terms_over(line))
    return bool(asked & label and len(both) >= min(2, len(asked))) or item_match(items, line) >= LABELLED


def row_values(line: AnswerLine) -> list[CellValue]:
    """All values of the row, not only those an answer would say."""
    row = line.unit.table
    assert row is not None
    return [CellValue(cell, head_of(row, cell)) for cell in row.cells[1:] if is_value(cell.text)]


def cell_value(
    column: ReviewColumn, question: QuestionFeatures, line: AnswerLine, value: CellValue
) -> TypedValue | None:
    """The cell as a value of the column: in its table's scale and currency, negative in brackets."""
    text = one_line(value.cell.text)
    quantities = quantities_in(text.replace("(", "").replace(")", ""), line.language)
    if len(quantities) != 1:
        return None
    quantity, factor = quantities[0], Decimal(1)
    if column.kind == Kind.MONEY:
        if "%" in value.head or "%" in text or bool(PER_UNIT.search(question.text)) != is_rate(line, value):
            return None
        factor = Decimal(1) if is_rate(line, value) or quantity.scale != 1 else scale_of(line)
        quantity = replace(quantity, value=quantity.value * factor, scale=quantity.scale * factor)
        if quantity.dimension == "" and (currency := currency_of(line)):
            quantity = replace(quantity, dimension="money", unit=currency)
    if not fits(column, replace(quantity, start=1), text):
        return None
    if NEGATIVE.fullmatch(text) and quantity.value > 0:
        quantity = replace(quantity, value=-quantity.value, base=-quantity.base)
    return TypedValue(as_json(column, quantity), measured(text, Measure(factor), line.language))


def is_rate(line: AnswerLine, value: CellValue) -> bool:
    """Whether a cell says how much there is of something for one of another: a price, earnings per share.

    A small number with decimals among thousands or millions is one, whatever its row is called.
    """
    text = value.cell.text
    is_small = "." in text and "," not in text and scale_of(line) in (1_000, 1_000_000)
    return is_small or bool(PER_UNIT.search(line.label) or PER_UNIT.search(value.head))


def scale_of(line: AnswerLine) -> Decimal:
    return line.measure.scale if line.measure else Decimal(1)


def currency_of(line: AnswerLine) -> str:
    """The only currency printed in the row's table; else on its page."""
    row = line.unit.table
    own = [unit.text for unit in line.passage.around if row and unit.table and unit.table.index == row.index]
    if line.measure and line.measure.currency:
        return line.measure.currency
    heads = [*row.head_rows, row.caption] if row else []
    for texts in ((line.unit.text, *heads, *own), [unit.text for unit in line.passage.around]):
        found = currencies_in("\n".join(texts))
        if len(found) == 1:
            return next(iter(found))
    return ""


@lru_cache(maxsize=512)
def currencies_in(text: str) -> frozenset[str]:
    named = {code for sign, code in SIGNS.items() if sign in text}
    return frozenset(named | set(CODES.findall(text)))


SIGNS = {"$": "USD", "€": "EUR", "£": "GBP", "¥": "JPY", "₹": "INR", "₩": "KRW"}
CODES = re.compile(r"\b(?:USD|EUR|GBP|JPY|CNY|CHF|SEK|NOK|DKK|INR|CAD|AUD)\b")


def score_of(
    question: QuestionFeatures, items: Sequence[Item], line: AnswerLine, head: str, years: frozenset[int]
) -> float:
    """The weighted features of one value, but for those that need the others."""
    asked, own = set(question.terms), set(line.label_terms or line.terms)
    label = {term for term in own if not YEAR.fullmatch(term)}
    wanted = len(asked) or 1
    table, language = line.unit.table, line.language
    over = " ".join([head, *line.unit.section_path[-1:], table.caption if table else "", title_of(line)])
    features = {
        "item": item_match(items, line) if line.values else 0.0,
        "label": len(asked & label) / wanted,
        "over": len(asked & (label | terms_over(line))) / wanted,
        "extra": len(label - asked) / (len(label) or 1),
        "scale": line.measure is not None or not line.values,
        "part_of_year": has_word("part_of_year", over, question, language),
        "period": names_both("part_of_year", head, question, language),
        "part": has_word("part", over, question, language),
        "whole": has_word("whole", f"{over} {line.label}", question, language),
        "change": has_word("change", head, question, language),
        "other_year": bool(question.years) and years.isdisjoint(years_asked(question)),
    }
    return sum(WEIGHTS[name] * value for name, value in features.items())


def years_asked(question: QuestionFeatures) -> set[int]:
    """“2018” and “FY2018”; of “FY18” the century is not known."""
    return {int(year[-4:]) for year in question.years if year[-4:].isdigit()}


def title_of(line: AnswerLine) -> str:
    """The first line of the page, where that is a title."""
    first = line.passage.heading.partition("\n")[0]
    return first if len(first) <= LONGEST_TITLE else ""


def names_both(name: str, text: str, question: QuestionFeatures, language: str) -> bool:
    """Whether text and question have the same one of the language's words of that name."""
    words = words_of(language, "columns").get(name, ())
    return any(starts(word, text.casefold()) and starts(word, question.text.casefold()) for word in words)


def has_word(name: str, text: str, question: QuestionFeatures, language: str) -> bool:
    """Whether the text has one of the language's words of that name which the question does not have."""
    words = words_of(language, "columns").get(name, ())
    return any(starts(word, text.casefold()) and not starts(word, question.text.casefold()) for word in words)


@lru_cache(maxsize=65536)
def starts(word: str, text: str) -> bool:
    """Whether some word of the text starts so; in scripts without blanks, whether it stands there."""
    return (
        re.search(rf"(?<![^\W_]){re.escape(word)}" if word.isascii() else re.escape(word), text) is not None
    )
