"""Find and score values (numbers, amounts, dates) of rows and sentences for a column, without a model.

A row's values score by the row's label and by the year and period of their columns. Where a question names
neither a part of the year nor a segment, values of quarters and segments rank below those of the year and
the group. A sentence's values score by the words of the question near them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from functools import cache, lru_cache

from chat.answers.without_model.lines import (
    PER_UNIT,
    AnswerLine,
    CellValue,
    distinct_terms,
    head_of,
    is_value,
    measured,
    row_line,
    terms_over,
)
from chat.answers.without_model.question import (
    PlaceKind,
    QuestionFeatures,
    aggregates_in,
    counted_terms,
    place_words,
    words_of,
)
from chat.answers.without_model.ranking import item_match
from domains.items import Item
from reviews.models import ReviewColumn
from reviews.typed_values import TypedValue, as_json, fits
from text.measures import Measure
from text.numbers import YEAR
from text.quantities import Quantity, quantities_in
from text.terms import one_line, terms_of
from text.units import CURRENCY_CODES, CURRENCY_SYMBOLS

Kind = ReviewColumn.Kind
LABELLED = 0.25  # of ``item_match``: a row whose label is a synonym in a pack
WEIGHTS = {
    "item": 3.0,  # the row is an item that a pack lists for the question
    "label": 1.5,  # share of the question's terms in the row's label, or in the sentence
    "over": 0.5,  # … in the headings and column heads too
    "extra": -0.7,  # share of the label's terms that the question does not have
    "page": 0.5,  # probability of the page, as a share of the best
    "near": 1.5,  # in a sentence: how near the question's words are to the value
    "bound": 1.5,  # … share of them that belong to this value alone
    "counted": 1.0,  # … the value counts what the question counts
    "statistic": 2.0,  # … it is the statistic asked for (average, maximum); less for another
    "scale": 0.3,  # its table states its scale
    "part_of_year": -1.0,
    "period": 1.5,  # … and the part that the question names
    "part": -1.8,  # of a segment, a division, an affiliate
    "breakdown": -0.8,  # the row has several values of its year, and the column is not their total
    "dated": 0.4,  # the column names its year
    "whole": 0.3,  # of the group; a total
    "change": -2.0,  # the column holds differences or shares
    "other_year": -2.0,
    "again": 0.15,  # for each other line with the value
    "newest": 0.4,  # the question names no year, and no value is of a later one
}
PART_OF_NAME = re.compile(r"(?:\w[-–]|[^\W\d_])$")
NAMED_BY = re.compile(r"[-–]\w|[A-Za-z]|\([a-z]\)")
WORD = re.compile(r"[\w-]+")
FOOTNOTED = re.compile(rf"(?<=\d )({'|'.join(CURRENCY_CODES)})\d(?!\d)")
LABELLED_BY = re.compile(r"([^\d,;:]{1,60}): ?$")
COUNTED_BY = re.compile(r"[^,;:()\d]{0,40}")
FAR = 60  # characters
PLACES: tuple[PlaceKind, ...] = ("page", "slide", "figure", "table", "section", "requirement")
LONGEST_TITLE = 90  # characters of a page's first line that is a title
NEGATIVE = re.compile(r"[$€£¥₹]? ?\(.*\)")


@dataclass(frozen=True, slots=True)
class ValueLine:
    """A line with one of its values; ``year`` is that of its column, 0 if unknown."""

    line: AnswerLine
    value: TypedValue
    score: float
    year: int = 0

    @property
    def amount(self) -> float:
        """Return an amount of money without its sign; 0 for other values."""
        value = self.value.value
        return abs(value["number"]) if isinstance(value, dict) and "currency" in value else 0


def row_values_of(
    column: ReviewColumn, question: QuestionFeatures, items: Sequence[Item], line: AnswerLine
) -> Iterator[ValueLine]:
    """Yield the values of a row: of the question's years, else of the row's latest year."""
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


def year_of(value: CellValue) -> int:
    return max(map(int, YEAR.findall(value.head)), default=0)


def is_about(question: QuestionFeatures, items: Sequence[Item], line: AnswerLine) -> bool:
    """Return whether a row is the question's item, or its label and heads have two of its terms.

    Where a pack knows the item, a row with another label must have all of the question's terms.
    """
    if item_match(items, line) >= LABELLED:
        return True
    asked, label = set(question.terms), set(line.label_terms)
    if items:
        return asked <= label
    return bool(asked & label) and len(asked & (label | terms_over(line))) >= min(2, len(asked))


def row_values(line: AnswerLine) -> list[CellValue]:
    """Return all values of the row, including those that an answer would leave out."""
    row = line.unit.table
    assert row is not None
    return [CellValue(cell, head_of(row, cell)) for cell in row.cells[1:] if is_value(cell.text)]


def cell_value(
    column: ReviewColumn, question: QuestionFeatures, line: AnswerLine, value: CellValue
) -> TypedValue | None:
    """Return the cell as a value of the column: in its table's scale and currency, negative in brackets."""
    text = one_line(value.cell.text)
    quantities = quantities_in(text.replace("(", "").replace(")", ""), line.language)
    if len(quantities) != 1:
        return None
    quantity, factor = quantities[0], Decimal(1)
    if column.kind == Kind.NUMBER and "count" in question.kinds and not is_row_of_counts(question, line):
        return None
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


def is_row_of_counts(question: QuestionFeatures, line: AnswerLine) -> bool:
    """Return whether a row's values may be counts. In a table of amounts its label must name what is counted:

    “Number of employees” does for employees, “Employee termination costs” does not.
    """
    counted = counted_terms(question, line.language)
    label = set(line.label_terms)
    return 2 * len(label & counted) >= len(label) or not table_currency(line)


def is_rate(line: AnswerLine, value: CellValue) -> bool:
    """Return whether a cell is a rate: a price, earnings per share.

    A small number with decimals among thousands or millions is one, whatever the row's label.
    """
    text = value.cell.text
    is_small = "." in text and "," not in text and scale_of(line) in (1_000, 1_000_000)
    return is_small or bool(PER_UNIT.search(line.label) or PER_UNIT.search(value.head))


def scale_of(line: AnswerLine) -> Decimal:
    return line.measure.scale if line.measure else Decimal(1)


def currency_of(line: AnswerLine) -> str:
    """Return the only currency printed in the row's table, else on its page."""
    return table_currency(line) or only_currency([unit.text for unit in line.passage.around])


def table_currency(line: AnswerLine) -> str:
    if line.measure and line.measure.currency:
        return line.measure.currency
    row = line.unit.table
    own = [unit.text for unit in line.passage.around if row and unit.table and unit.table.index == row.index]
    heads = [*row.head_rows, row.caption] if row else []
    return only_currency([line.unit.text, *heads, *own])


def only_currency(texts: Sequence[str]) -> str:
    found = currencies_in("\n".join(texts))
    return next(iter(found)) if len(found) == 1 else ""


@lru_cache(maxsize=512)
def currencies_in(text: str) -> frozenset[str]:
    named = {code for sign, code in SIGNS.items() if sign in text}
    return frozenset(named | set(CODES.findall(text)))


SIGNS = {sign: code for sign, code in CURRENCY_SYMBOLS.items() if len(sign) == 1}
CODES = re.compile(rf"\b(?:{'|'.join(CURRENCY_CODES)})\b")


def score_of(
    question: QuestionFeatures, items: Sequence[Item], line: AnswerLine, head: str, years: frozenset[int]
) -> float:
    """Return the weighted sum of one value's features that do not depend on other values."""
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
    """Return the years of a question: “2018” and “FY2018”; “FY18” has no century."""
    return {int(year[-4:]) for year in question.years if year[-4:].isdigit()}


def title_of(line: AnswerLine) -> str:
    """Return the first line of the page where that is a title."""
    first = line.passage.heading.partition("\n")[0]
    return first if len(first) <= LONGEST_TITLE else ""


def names_both(name: str, text: str, question: QuestionFeatures, language: str) -> bool:
    """Return whether text and question have the same word of the language's list of that name."""
    words = words_of(language, "columns").get(name, ())
    return any(starts(word, text.casefold()) and starts(word, question.text.casefold()) for word in words)


def has_word(name: str, text: str, question: QuestionFeatures, language: str) -> bool:
    """Return whether the text has a word of the language's list of that name that the question lacks."""
    words = words_of(language, "columns").get(name, ())
    return any(starts(word, text.casefold()) and not starts(word, question.text.casefold()) for word in words)


@lru_cache(maxsize=65536)
def starts(word: str, text: str) -> bool:
    """Return whether a word of the text starts with ``word``; without spaces, whether it occurs."""
    return (
        re.search(rf"(?<![^\W_]){re.escape(word)}" if word.isascii() else re.escape(word), text) is not None
    )


# --- Values of sentences ---


def sentence_values(
    column: ReviewColumn, question: QuestionFeatures, line: AnswerLine, item: float = 0.0
) -> Iterator[ValueLine]:
    """Yield the values of a sentence; ``item``: confidence, 0..1, that it states the pack's item."""
    asked = set(question.terms)
    held = asked & (line.terms | terms_over(line))
    if not item and (len(held) < min(2, len(asked)) or not asked & line.terms):
        return
    text = FOOTNOTED.sub(r"\1 ", line.text)
    all_of = quantities_in(text, line.language)
    named = {quantity.value for quantity in quantities_in(question.text, line.language)}
    fitting = [
        quantity
        for quantity in all_of
        if quantity.value not in named
        and fits(column, quantity, text)
        and (quantity.unit or quantity.dimension or is_count(quantity, line))
    ]
    counted = counted_terms(question, line.language)
    if "count" in question.kinds and not column.unit:  # neither shares nor counts of something else
        fitting = [q for q in fitting if not q.dimension and counts(q, text, counted, line.language)]
    if not fitting:
        return
    years = frozenset(map(int, YEAR.findall(text)))
    score = score_of(question, (), line, "", years) + WEIGHTS["item"] * item
    places = term_places(question, line)
    # a value in brackets comments on the one before it
    outer = [one for one in all_of if text.rfind("(", 0, one.start) <= text.rfind(")", 0, one.start)]
    bound = bound_terms(question, outer, places)
    for quantity in fitting:
        value = TypedValue(as_json(column, quantity), text[quantity.start : quantity.end].strip())
        by_words = WEIGHTS["near"] * nearness(question, quantity, places, outer)
        by_words += WEIGHTS["bound"] * bound.get(quantity.start, 0.0)
        by_words += WEIGHTS["counted"] * counts(quantity, text, counted, line.language)
        by_words += WEIGHTS["statistic"] * statistic_match(question, quantity, text, all_of, line.language)
        yield ValueLine(line, value, score + by_words, max(years, default=0))


def statistic_match(
    question: QuestionFeatures, quantity: Quantity, text: str, all_of: Sequence[Quantity], language: str
) -> int:
    """Return 1 if the words before a value name the question's statistic, -1 if they name another, else 0.

    A total does not count: many documents call their revenue "total revenue".
    """
    before = max((other.end for other in all_of if other.end <= quantity.start), default=0)
    named = aggregates_in(text[before : quantity.start], language).keys() - {"total"}
    asked = dict(question.aggregates).keys() - {"total"}
    return (1 if asked & named else -1) if asked and named else 0


def is_count(quantity: Quantity, line: AnswerLine) -> bool:
    """Return whether a bare number is a count or measure: not “Table 6”, “1)”, “GPT-4”, “4-hop”."""
    before, after = line.text[: quantity.start], line.text[quantity.end :]
    printed = line.text[quantity.start : quantity.end]
    if quantity.value == 1 and not any(map(str.isdigit, printed)):
        return False
    if PART_OF_NAME.search(before) or NAMED_BY.match(after) or (after.startswith(")") and len(printed) < 3):
        return False
    return not place_before(line.language).search(before)


@cache
def place_before(language: str) -> re.Pattern[str]:
    """Return a pattern for a word before a place number (“Table”, “Fig.”) at the end of a text."""
    words = sorted({word for kind in PLACES for word in place_words(language, kind)}, key=len, reverse=True)
    return re.compile(rf"(?<!\w)(?:{'|'.join(map(re.escape, words))})\s*$", re.IGNORECASE)


def counts(quantity: Quantity, text: str, counted: frozenset[str], language: str) -> bool:
    """Return whether an integer counts the question's noun: “20 lakes”, “Lakes: 20”; True without a noun."""
    behind = COUNTED_BY.match(text, quantity.end)
    label = LABELLED_BY.search(text, 0, quantity.start)
    words = f"{behind[0] if behind else ''} {label[1] if label else ''}"
    is_whole = quantity.value == quantity.value.to_integral_value()
    return is_whole and (not counted or bool(counted & set(terms_of(words, language))))


def term_places(question: QuestionFeatures, line: AnswerLine) -> dict[str, list[tuple[int, int]]]:
    """Return the spans of the question's terms in the line."""
    found: dict[str, list[tuple[int, int]]] = {}
    for match in WORD.finditer(line.text):
        for term in distinct_terms(match[0], line.language) & set(question.terms):
            found.setdefault(term, []).append(match.span())
    return found


def gap(question: QuestionFeatures, quantity: Quantity, start: int, end: int) -> int:
    """Return the distance of a word from a value. A count precedes its noun, a measure follows it."""
    after, before = (1, 2) if "count" in question.kinds else (2, 1)
    if start >= quantity.end:
        return (start - quantity.end) * after
    return max(0, quantity.start - end) * before


def nearness(
    question: QuestionFeatures,
    quantity: Quantity,
    places: Mapping[str, Sequence[tuple[int, int]]],
    outer: Sequence[Quantity],
) -> float:
    """Return the nearness, 0..1, of the question's terms; terms before all values are near to all."""
    first = outer[0] if outer else quantity
    gaps = [
        min(
            (
                gap(question, quantity, *span)
                + gap(question, first if span[1] <= first.start else quantity, *span)
            )
            // 2
            for span in spans
        )
        for spans in places.values()
    ]
    farthest = FAR * (len(question.terms) - len(gaps)) + sum(min(one, FAR) for one in gaps)
    return 1 - farthest / (FAR * (len(question.terms) or 1))


def bound_terms(
    question: QuestionFeatures,
    outer: Sequence[Quantity],
    places: Mapping[str, Sequence[tuple[int, int]]],
) -> dict[int, float]:
    """Return, by the start of each value, the share of the question's terms that belong to it alone.

    A word before all values belongs to all: “Agreement is 0.63 for the first task, 0.72 for the second”.
    """
    found: dict[int, float] = {}
    for spans in places.values():
        if len(outer) < 2 or any(start < outer[0].start for start, _ in spans):
            continue
        for span in spans:
            nearest = min(outer, key=lambda one: gap(question, one, *span))
            share = 1 / (len(spans) * len(question.terms))
            found[nearest.start] = found.get(nearest.start, 0.0) + share
    return found
