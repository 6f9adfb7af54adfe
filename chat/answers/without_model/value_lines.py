"""Find and score the values (numbers, amounts, dates) of rows and sentences that a question may mean.

A row's values score by the row's label and by the year and period of their columns. Where a question names
neither a part of the year nor a segment, values of quarters and segments rank below those of longer periods
and the group. A sentence's values score by the words of the question near them. Answers say a value only
where one is certain (``values``); reviews also take the one that scores best.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from functools import cache
from itertools import pairwise
from typing import Literal

from chat.answers.without_model.answer_types import COUNTED, DURATIONS, counted_dimensions, counts
from chat.answers.without_model.lines import AnswerLine, distinct_terms, terms_over
from chat.answers.without_model.question import (
    COMPANY_FORMS,
    QuestionFeatures,
    aggregates_in,
    counted_terms,
    names_of_places,
    phrases_in,
    words_of,
)
from chat.answers.without_model.ranking import RankedPage, item_match
from citing.tables import CellReading, column_words, has_word, months_of, scope_of, word_of, worded_kind
from domains.items import Item
from text.numbers import YEAR, month_numbers, number_words
from text.quantities import Quantity, quantities_in
from text.semantics import lexicon
from text.terms import terms_of
from text.units import CURRENCY_CODES, unit_named
from text.values import values_in, year_of_value

ValueKind = Literal["number", "money", "date", ""]
ITEM_SYNONYM = 0.25  # of ``item_match``: a row whose label is a synonym in a pack
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
    "part_of_year": -1.0,  # the shorter, the more: cash flows are stated for the longest period only
    "period": 1.5,  # … and the part that the question names
    "part": -1.8,  # of a segment, a division, an affiliate
    "breakdown": -0.8,  # the row has several values of its year, and the column is not their total
    "own": 0.8,  # share of the column's head in the document's title: of “the dataset” beside others
    "whole": 0.3,  # of the group; a total
    "total": 1.0,  # … that the question asks for: “Total revenues” beside “Net sales”
    "doubt": -2.0,  # of the reader of cells, 0..1
    "change": -2.5,  # the column holds differences or shares
    "other_year": -2.0,
    "again": 0.15,  # for each other line with the value
    "newest": 0.4,  # the question names no year, and no value is of a later one
}
MOST_AGAIN = 3  # other lines with the same value
NAME = re.compile(r"\d+-?[A-Za-z]")
YEAR_ONLY = 10_000  # a date value below this has no year
QUARTER = re.compile(r"[qh][1-4]")
PART_OF_NAME = re.compile(r"(?:\w[-–]|[^\W\d_])$")
NAMED_BY = re.compile(r"[-–]\w|[A-Za-z]|\([a-z]\)")
WORD = re.compile(r"[\w-]+")
FOOTNOTED = re.compile(rf"(?<=\d )({'|'.join(CURRENCY_CODES)})\d(?!\d)")
BRACKETS = re.compile(r"\([^()]*\)")
FAR = 60  # characters
NOUN_PHRASE = 3  # words behind a number that name what it counts
CLAUSE_END = re.compile(r"[;；•]|,(?=\s)")
LONGEST_LEAD = 14  # characters from the comma before a clause to its value: ", while 31%"
LONGEST_TITLE = 90  # characters of a page's first line that is a title


@dataclass(frozen=True, slots=True)
class Asked:
    """What a value must be.

    Attributes:
        items: what packs list for the question; the first is asked for, the others are its summands.
        kind: "number", "money", "date"; '' for any.
        unit: of a number; '' for any.
    """

    question: QuestionFeatures
    items: Sequence[Item] = ()
    kind: ValueKind = ""
    unit: str = ""


@dataclass(frozen=True, slots=True)
class ValueLine:
    """A line with one of its values; ``year`` is that of its column, 0 if unknown; ``cell``: of a row.

    ``text`` is the value as printed. ``is_named``: the cell's names are all that the question names, or the
    item that a pack lists for it.
    """

    line: AnswerLine
    quantity: Quantity
    text: str
    score: float
    year: int = 0
    cell: CellReading | None = None
    is_named: bool = False

    @property
    def size(self) -> Decimal:
        """Return the amount without its sign, as costs are printed with either."""
        return abs(self.quantity.base)


def values_of(asked: Asked, pages: Sequence[RankedPage]) -> list[ValueLine]:
    """Return the values of the pages that may be meant, best first."""
    found: list[ValueLine] = []
    for page in pages:
        share = page.probability / (pages[0].probability or 1.0)
        for line in page.lines:
            values = row_values(asked, line) if line.values else sentence_values(asked, line)
            found += [replace(one, score=one.score + WEIGHTS["page"] * share) for one in values]
    if any(one.is_named for one in found):  # a sentence has other amounts beside those of the thing
        found = [one for one in found if one.cell]
    texts: dict[Decimal, set[str]] = defaultdict(set)
    for one in found:
        texts[one.size].add(one.line.text)
    newest = 0 if asked.question.years else max((one.year for one in found), default=0)

    def score(one: ValueLine) -> float:
        again = WEIGHTS["again"] * min(MOST_AGAIN, len(texts[one.size]) - 1)
        return one.score + again + WEIGHTS["newest"] * bool(newest and one.year == newest)

    return sorted((replace(one, score=score(one)) for one in found), key=lambda one: -one.score)


# --- Values of rows ---


def row_values(asked: Asked, line: AnswerLine) -> Iterator[ValueLine]:
    """Yield the values of a row's cells: of the question's years, else of the row's latest year."""
    question, cells = asked.question, line.cells
    if not row_matches(asked, line):
        return
    if word_of("part_of_year", question.text, question.language):
        cells = tuple(cell for cell in cells if is_of_part(cell, line, question) is not False)
    named = {cell for cell in cells if is_named(asked, line, cell)}
    values = [(cell, value) for cell in cells if (value := cell_value(asked, line, cell, cell in named))]
    latest = max((cell.year for cell, _ in values), default=0)
    whole_years = [cell for cell, _ in values if not cell.period.part]
    for cell, value in values:
        year = cell.year
        if not question.years and year != latest:
            continue
        is_whole = has_word("whole", cell.head, line.language)
        several = not is_whole and sum(other.year == year for other in whole_years) > 1
        score = score_of(asked, line, cell, frozenset({year} - {0}))
        score += WEIGHTS["breakdown"] * several
        score += WEIGHTS["doubt"] * (1 - cell.confidence)
        names = {term for term in distinct_terms(cell.head, line.language) if term.isalpha()}
        own = names & distinct_terms(line.unit.title, line.language)
        score += WEIGHTS["own"] * len(own) / (len(names) or 1)
        single = replace(line, text=f"{cell.name}: {cell.printed}", quote=cell.text, values=())
        yield ValueLine(single, *value, score, year, cell, cell in named)


def is_named(asked: Asked, line: AnswerLine, cell: CellReading) -> bool:
    """Return whether a cell's names are all that the question names, or the item that a pack lists for it."""
    question = asked.question
    named = distinct_terms(cell.name, line.language) | terms_over(line)
    if is_of_part(cell, line, question):
        named |= period_terms(question.language)
    is_asked = item_match(asked.items[:1], line) >= ITEM_SYNONYM or named.issuperset(question.terms)
    return cell.is_certain and is_asked


def row_matches(asked: Asked, line: AnswerLine) -> bool:
    """Return whether a row is the question's item, or its label and heads have two of its terms.

    Where a pack knows the item, a row with another label must have all of the question's terms.
    """
    if item_match(asked.items[:1], line) >= ITEM_SYNONYM:
        return True
    terms, label = set(asked.question.terms), set(line.label_terms)
    if "count" in asked.question.kinds:  # “Employees as of December 31” over the column of a “Total”
        label.update(*(distinct_terms(cell.head, line.language) for cell in line.cells))
    if asked.items:
        return terms <= label
    return bool(terms & label) and len(terms & (label | terms_over(line))) >= min(2, len(terms))


def cell_value(
    asked: Asked, line: AnswerLine, cell: CellReading, is_named: bool
) -> tuple[Quantity, str] | None:
    """Return the value of a cell and its printed form; None if it has none, or one of another kind.

    A number without a unit may be an amount of money where the cell is the one asked for.
    """
    question, quantity, printed = asked.question, cell.quantity, cell.printed
    if quantity is None:
        return None
    if not asked.kind:
        return quantity, printed
    if asked.kind == "number" and "count" in question.kinds:
        # the label names what is counted, so the number is in no scale or currency of its table
        plain = quantities_in(cell.text, line.language)
        if len(plain) != 1 or not names_counted(question, line, cell):
            return None
        quantity, printed = (quantity, printed) if cell.kind == "count" else (plain[0], cell.text)
    if asked.kind == "money" and not is_of_money(question, cell):
        return None
    is_amount = is_named and quantity.dimension == "money" and asked.kind == "number" and not asked.unit
    if not is_amount and not fits(asked.kind, asked.unit, replace(quantity, start=1), cell.text):
        return None
    return quantity, printed


LENGTHS_OF_TIME = {"time", "calendar"}  # days are of one, months of the other


def fits(kind: str, unit: str, quantity: Quantity, text: str) -> bool:
    """Return whether a quantity is of a kind of value and, where a unit is named, of its dimension.

    A number with a letter of scale and no currency may be a name: "3M", "10-K".
    """
    if quantity.start == 0 and kind == "number":
        return False  # the number of an item or of a row
    if quantity.scale != 1 and not quantity.unit and NAME.fullmatch(text[quantity.start : quantity.end]):
        return False
    if kind == "date":
        return quantity.dimension == "date" and quantity.value > YEAR_ONLY
    if kind == "money":
        return quantity.dimension == "money" or (quantity.dimension == "" and quantity.scale != 1)
    if quantity.dimension in ("date", "year", "ordinal", "money"):
        return False
    known = unit_named(unit)
    if unit and known is None:  # a unit of no system: "patients"
        return quantity.dimension == ""
    lengths = {quantity.dimension, known.dimension} if known else set()
    return len(lengths) < 2 or lengths == LENGTHS_OF_TIME


def names_counted(question: QuestionFeatures, line: AnswerLine, cell: CellReading) -> bool:
    """Return whether the label or head of a cell names what the question counts, and little else.

    True:  "Total employees", "Number of employees 2021: Total" for "How many employees …?".
    False: "Employee benefits", "Hurley stores (including employee-only stores)", "Stores: Leased area".
    """
    counted = counted_terms(question, line.language)
    if not counted:
        return True
    heads = [line.unit.title, *words_of(line.language, "kinds")["count"]]

    def others(text: str) -> set[str]:
        known = [word_of("whole", text, line.language), *heads]
        return set(terms_of(text, line.language)) - {
            *question.terms,
            *counted,
            *terms_of(" ".join(known), line.language),
        }

    if any(others(over) for over in (cell.head, *cell.groups) if not YEAR.search(over)):
        return False
    label = BRACKETS.sub(" ", cell.label)
    held = counted & {*terms_of(label, line.language)}
    if cell.kind == "count":
        return bool(held) or (bool(counted & {*terms_of(cell.head, line.language)}) and not others(label))
    return len(held) > len(others(label))


def is_of_money(question: QuestionFeatures, cell: CellReading) -> bool:
    """Return whether a cell is a rate where a rate is asked for, and an amount where none is.

    A number with decimals among whole millions may be a rate: it has no scale.
    """
    if worded_kind((question.text,), question.language) == "rate":
        return cell.kind in ("rate", "number")
    return cell.kind not in ("share", "rate")


def score_of(asked: Asked, line: AnswerLine, cell: CellReading | None, years: frozenset[int]) -> float:
    """Return the weighted sum of one value's features that do not depend on other values.

    ``cell``: None for a value of a sentence.
    """
    question, terms = asked.question, set(asked.question.terms)
    label = f"{cell.label} {' '.join(cell.groups)}" if cell else line.text
    own = {term for term in distinct_terms(label, line.language) if not YEAR.fullmatch(term)}
    wanted = len(terms) or 1
    over, asks = f"{title_of(line)} {titles_over(line)}", question.text.casefold()
    part = (cell.period.part if cell else "") or word_of("part_of_year", over, line.language)
    scopes = {cell.scope if cell else "", scope_of("", over, line.language)}  # a segment has totals too
    total = word_of("whole", cell.label, line.language) if cell else ""
    features = {
        "item": item_match(asked.items[:1], line),
        "label": len(terms & own) / wanted,
        "over": len(terms & (own | terms_over(line))) / wanted,
        "extra": len(own - terms) / (len(own) or 1),
        "part_of_year": 1.5 - (months_of(part, line.language) or 18) / 12 if part not in asks else 0.0,
        "period": bool(part) and part in asks,
        "part": "part" in scopes and not has_word("part", question.text, question.language),
        "whole": "whole" in scopes,
        "total": bool(total) and total in asks,
        "change": cell is not None and cell.is_change,
        "other_year": bool(question.years) and years.isdisjoint(question.asked_years),
    }
    return sum(WEIGHTS[name] * value for name, value in features.items())


def title_of(line: AnswerLine) -> str:
    """Return the first line of the page where that is a title."""
    first = line.passage.heading.partition("\n")[0]
    return first if len(first) <= LONGEST_TITLE else ""


def is_of_part(cell: CellReading, line: AnswerLine, question: QuestionFeatures) -> bool | None:
    """Return whether the cell is of the part of a year that the question names, or both of none.

    True:  "Q2 2023" for "in the second quarter".
    False: "H1 2023", "Third quarter 2023".
    None:  "2023", "Three months ended June 30".
    """
    part, own = word_of("part_of_year", question.text, question.language), cell.period.part
    if not part or not own:
        return None if part else not own
    if months_of(part, question.language) != months_of(own, line.language):
        return False
    asked = _ordinals(question.text, question.language)
    if asked and (stated := _ordinals(f"{cell.head} {own}", line.language)):
        return asked <= stated
    return part == own or asked <= _ordinals(titles_over(line), line.language) or None


def _ordinals(text: str, language: str) -> set[int]:
    """Return the ordinals of a text: 3 for "the third quarter" and "Q3"."""
    ordinals, words = number_words(language).ordinals, re.findall(r"\w+", text.casefold())
    numbered = {int(word[1]) for word in words if QUARTER.fullmatch(word)}
    return numbered | {ordinals[word] for word in words if word in ordinals}


def period_terms(language: str) -> frozenset[str]:
    """Return the terms of a language that name a part of a year: "second", "quarter"."""
    parts = column_words(language).get("part_of_year", ())
    return distinct_terms(
        " ".join((*parts, *lexicon(language).period, *number_words(language).ordinals)), language
    )


def titles_over(line: AnswerLine) -> str:
    """Return the headings, the caption and the document's title over a line."""
    table = line.unit.table
    return " ".join((*line.unit.section_path, table.caption if table else "", line.unit.title))


def added_terms(
    one: ValueLine, question: QuestionFeatures, of_head: bool = False, of_label: bool = True
) -> frozenset[str]:
    """Return the terms of a cell's label and groups beside those of the question and of a total.

    ``of_head``: also those of its head that are of no period, such as "North America".
    """
    assert one.cell is not None
    language, columns = one.line.language, column_words(one.line.language)
    label = f"{one.cell.label} {' '.join(one.cell.groups)}" if of_label else ""
    known = " ".join((*columns.get("whole", ()), *COMPANY_FORMS, one.line.unit.title))
    if of_head:
        words = lexicon(language)
        known += " ".join(("", *words.period, *words.period_end, *month_numbers(language)))
        known += " ".join(("", *columns.get("part_of_year", ())))
        label += f" {BRACKETS.sub(' ', one.cell.head)}"  # "(unaudited)"
    own = distinct_terms(label, language) - {*question.terms} - distinct_terms(known, language)
    return frozenset(term for term in own if not any(map(str.isdigit, term)))


# --- Values of sentences ---


def sentence_values(asked: Asked, line: AnswerLine) -> Iterator[ValueLine]:
    """Yield the values of a sentence; where a pack knows the item, of a sentence with all that is asked."""
    question, terms, is_item = asked.question, set(asked.question.terms), item_match(asked.items[:1], line)
    held = terms & (line.terms | terms_over(line) | said_otherwise(question, line))
    is_on_all = held == terms if asked.items else len(held) >= min(2, len(terms))
    if not is_item and not (is_on_all and terms & line.terms):
        return
    text = FOOTNOTED.sub(r"\1 ", line.text)
    all_of = quantities_in(text, line.language)
    named = {quantity.value for quantity in quantities_in(question.text, line.language)}
    fitting = [
        quantity
        for quantity in all_of
        if quantity.value not in named
        and fits(asked.kind, asked.unit, quantity, text)
        and (quantity.unit or quantity.dimension or is_count(quantity, line, "count" in question.kinds))
    ]
    if "share" in question.kinds and asked.kind != "money":  # “four times the average” is none
        fitting = [one for one in fitting if one.dimension == "ratio" and one.unit != "times"]
    counted = counted_terms(question, line.language)
    if "count" in question.kinds and not asked.unit:  # neither shares nor counts of something else
        if dimensions := counted_dimensions(question):
            fitting = [q for q in fitting if q.dimension in dimensions]
        else:
            fitting = [q for q in fitting if not q.dimension and counts(q, text, counted, line.language)]
        fitting = [q for q in fitting if not is_of_change(question, q, line, text)]
    # a value in brackets comments on the one before it
    outer = [one for one in all_of if text.rfind("(", 0, one.start) <= text.rfind(")", 0, one.start)]
    if "count" not in question.kinds:
        fitting = [q for q in fitting if not counts_what_is_asked(question, q, text, line.language)]
        fitting = [q for q in fitting if q in outer] or fitting
    if not fitting:
        return
    years = frozenset(map(int, YEAR.findall(text)))
    year_of_each = years_beside(text, fitting, years, line.language)
    if asked.kind != "date":  # of "743 and 711 in 2017 and 2016, respectively" that of the year asked for
        latest = max(year_of_each.values(), default=0)
        wanted = question.asked_years or {latest}
        fitting = [one for one in fitting if year_of_each.get(one.start) in {None, *wanted}]
    score = score_of(asked, line, None, years)
    places = term_places(question, line)
    ends = clause_ends(text, all_of)
    bound = bound_terms(question, outer, places, ends)
    for quantity in fitting:
        printed = text[quantity.start : quantity.end].strip()
        by_words = WEIGHTS["near"] * nearness(question, quantity, places, outer)
        by_words += WEIGHTS["bound"] * bound.get(quantity.start, 0.0)
        by_words += WEIGHTS["counted"] * counts(quantity, text, counted, line.language)
        by_words += WEIGHTS["statistic"] * statistic_match(question, quantity, text, all_of, line.language)
        year = year_of_each.get(quantity.start, max(years, default=0))
        yield ValueLine(line, quantity, printed, score + by_words, year)


def said_otherwise(question: QuestionFeatures, line: AnswerLine) -> frozenset[str]:
    """Return the question's terms that a line says otherwise: “annual”, “minimum”, a period by its days.

    “a year” is annual, and “at least” says a minimum.
    """
    found = [
        match[0]
        for pattern in synonymous_phrases(line.language)
        if (match := pattern.search(question.text.casefold())) and pattern.search(line.text.casefold())
    ]
    if any(one.dimension in DURATIONS for one in quantities_in(line.text, line.language)):
        found += phrases_in(question.language, "period").findall(question.text.casefold())
    return frozenset(terms_of(" ".join(found), line.language))


@cache
def synonymous_phrases(language: str) -> list[re.Pattern[str]]:
    """Return a pattern for each frequency, minimum and maximum with all phrases of a language for it."""
    phrases: dict[str, list[str]] = {}
    for words, sense in lexicon(language).phrases.items():
        for marker in sense.markers:
            if marker.category == "frequency" or marker.value in ("ge", "le"):
                phrases.setdefault(marker.value, []).append(re.escape(" ".join(words)))
    return [re.compile(rf"(?<!\w)(?:{'|'.join(same)})(?!\w)") for same in phrases.values()]


def counts_what_is_asked(question: QuestionFeatures, quantity: Quantity, text: str, language: str) -> bool:
    """Return whether a value is a number of the things whose size is asked.

    The monthly rent is neither “two months” nor the “three” of “three monthly rents”.
    """
    asked = {
        term: word
        for word in WORD.findall(question.text.casefold())
        for term in terms_of(word, language)
        if term in question.terms and not unit_named(word)
    }
    behind = COUNTED.match(text, quantity.end)
    phrase = text[quantity.start : quantity.end] if quantity.dimension or not behind else behind[0]
    words = WORD.findall(phrase.casefold())[:NOUN_PHRASE]
    return any(asked.get(term, word) != word for word in words for term in terms_of(word, language))


def is_of_change(question: QuestionFeatures, quantity: Quantity, line: AnswerLine, text: str) -> bool:
    """Return whether a number is what was added or lost: “a net addition of about 1,100 employees”."""
    before = WORD.findall(text[: quantity.start].casefold())[-3:]
    joins = lexicon(line.language).among
    return any(
        after in joins and has_word("change", word, line.language) and word not in question.text.casefold()
        for word, after in pairwise(before)
    )


def years_beside(
    text: str, quantities: Sequence[Quantity], years: frozenset[int], language: str
) -> dict[int, int]:
    """Return the year of each value, by its start, in a sentence of several years; a date's is its own."""
    found = {one.start: int(one.value) // YEAR_ONLY for one in quantities if one.dimension == "date"}
    if len(years) > 1:
        for value in values_in(text):
            own = year_of_value(text, value, language)
            for one in quantities:
                if own.year and one.start < value.end and value.start < one.end:
                    found.setdefault(one.start, own.year)
    return found


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


def is_count(quantity: Quantity, line: AnswerLine, is_asked: bool) -> bool:
    """Return whether a bare number is a count or measure: not “Table 6”, “1)”, “GPT-4”, “4-hop”.

    A number in letters only counts; “one” does not even that.
    """
    before, after = line.text[: quantity.start], line.text[quantity.end :]
    printed = line.text[quantity.start : quantity.end]
    if not any(map(str.isdigit, printed)) and (quantity.value == 1 or not is_asked):
        return False
    if PART_OF_NAME.search(before) or NAMED_BY.match(after) or (after.startswith(")") and len(printed) < 3):
        return False
    return not place_before(line.language).search(before)


@cache
def place_before(language: str) -> re.Pattern[str]:
    """Return a pattern for a word before a place number (“Table”, “Fig.”) at the end of a text."""
    words = sorted(names_of_places(language), key=len, reverse=True)
    return re.compile(rf"(?<!\w)(?:{'|'.join(map(re.escape, words))})\s*$", re.IGNORECASE)


def term_places(question: QuestionFeatures, line: AnswerLine) -> dict[str, list[tuple[int, int]]]:
    """Return the spans of the question's terms in the line."""
    found: dict[str, list[tuple[int, int]]] = {}
    for match in WORD.finditer(line.text):
        for term in distinct_terms(match[0], line.language) & set(question.terms):
            found.setdefault(term, []).append(match.span())
    return found


def clause_ends(text: str, quantities: Sequence[Quantity]) -> list[int]:
    """Return where clauses end: at semicolons, and at commas that a value follows at once."""
    return [
        end.start()
        for end in CLAUSE_END.finditer(text)
        if end[0] != "," or any(0 < one.start - end.start() <= LONGEST_LEAD for one in quantities)
    ]


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
    ends: Sequence[int],
) -> dict[int, float]:
    """Return, by the start of each value, the share of the question's terms that belong to it alone.

    A word before all values belongs to all: “Agreement is 0.63 for the first task, 0.72 for the second”.
    """
    found: dict[int, float] = {}
    for spans in places.values():
        if len(outer) < 2 or any(start < outer[0].start for start, _ in spans):
            continue
        for span in spans:
            clause = bisect_left(ends, span[0])
            inside = [one for one in outer if bisect_left(ends, one.start) == clause]
            nearest = min(inside or outer, key=lambda one: gap(question, one, *span))
            share = 1 / (len(spans) * len(question.terms))
            found[nearest.start] = found.get(nearest.start, 0.0) + share
    return found
