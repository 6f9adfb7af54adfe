"""Match lines with the kind of answer a question wants: a date, a name, a count, a definition."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache, lru_cache
from itertools import chain, zip_longest

from chat.answers.without_model.lines import (
    AnswerLine,
    distinct_terms,
    is_step,
)
from chat.answers.without_model.question import QuestionFeatures, counted_terms, phrases_in
from documents.ingestion.facts import fact_words
from retrieval.query.question_terms import QUOTED
from text.numbers import YEAR_DIGITS, YEAR_NOT_AMOUNT
from text.quantities import Quantity, currency_names, quantities_in
from text.terms import stop_words, terms_of
from text.units import unit_named

DATE = re.compile(
    rf"\b\d{{1,2}}[./-]\d{{1,2}}[./-]\d{{2,4}}\b|\b{YEAR_DIGITS}\b|\d\s?(?::\d\d|am\b|pm\b)|[\d〇一二三四五六七八九十]\s?[年月日]"
)
DURATIONS = frozenset({"time", "calendar", "length"})
TIME_DIMENSIONS = {"date", "year", "time", "calendar"}
NUMBER = re.compile(r"(?<![A-Za-z\d.-])\d+")
LABEL = re.compile(r"^\W*(?:\d+(?:\.\d+)+[.):]?|\d+[.):])\s")  # number of a list item
IN_BRACKETS = re.compile(r"[(（]([^()（）]{2,60})[)）]")
ENTRY = re.compile(r"\A([^:：—]{2,80})[:：—]\s*\S+\s\S+\s\S")  # of a glossary: a term, a colon or dash, words
MOST_BESIDE = 2  # terms before the copula of a definition, beside those of the question
COUNTED = re.compile(r"(?: ?\w+-\w+,)*[^,;:()\d]{0,40}")  # “125,000 full-time, part-time employees”
LABELLED_BY = re.compile(r"([^\d,;:]{1,60}): ?$")
OTHER_NUMBER = 0.5  # score of a sentence whose number counts another thing
NAME = re.compile(r"(?<![.!?] )(?<!^)\b[^\W\d_a-z][\w.'’-]+|[\u3040-\u9fff\u0600-\u06ff]{2}")
PERCENT = re.compile(
    r"[%％‰]|per ?cent|pour cent|por ciento|per cento|por cento|pro[cz]ent|процент|パーセント|百分之", re.I
)


def type_match(question: QuestionFeatures, line: AnswerLine) -> float:
    """Return 0..1, whether the line has the kind of answer the question wants; 0.5 if unknown."""
    if phrases_in(question.language, "duration").search(question.text.casefold()):
        held = {quantity.dimension for quantity in quantities_in(line.text, line.language)}
        return float(not DURATIONS.isdisjoint(held))
    if "count" in question.kinds and not line.values and (counted := counted_terms(question, line.language)):
        is_counted = has_count(line.text, counted, line.language)
        return 1.0 if is_counted else OTHER_NUMBER * has_number(question, line)
    if question.is_definition and defines(question, line):
        return 1.0
    if "frequency" in question.kinds:
        return float(phrases_in(line.language, "frequency").search(line.text.casefold()) is not None)
    if question.wants_number:
        return has_number(question, line)
    if "when" in question.kinds:
        return float(has_time(line.text, line.language))
    if question.kinds & {"who", "where"}:
        return float(any(name not in question.text for name in NAME.findall(line.text)))
    if "how" in question.kinds and is_step(line):
        return 1.0
    if "why" in question.kinds and phrases_in(line.language, "reason").search(line.text.casefold()):
        return 1.0
    return 0.5


def definitions(question: QuestionFeatures, lines: Sequence[AnswerLine]) -> list[float]:
    """Return ``defines`` of each line; 0 for other questions."""
    return [defines(question, line) if question.is_definition else 0.0 for line in lines]


def defines(question: QuestionFeatures, line: AnswerLine) -> float:
    """Return 0..1, how surely a line defines the thing: “Salvage value is …”, “… a sponsor (an advocate)”.

    1 if only the term precedes the copula, the colon or the brackets; 0.5 with up to ``MOST_BESIDE`` other
    terms before the copula: “The salvage value of an asset is …”.
    """
    asked = frozenset(question.terms)
    names = question.names if all(word.is_name for word in question.words) else ()  # not "the mission of NIE"
    brackets = IN_BRACKETS.findall(line.text)
    entry = ENTRY.findall(line.text)
    named = chain(entry, brackets, *map(QUOTED.findall, brackets))  # (herein called the “Trustee”)
    if any(distinct_terms(inside, line.language) == asked or inside in names for inside in named):
        return 1.0
    copula = phrases_in(line.language, "is").search(line.text.casefold())
    if copula is None:
        return 0.0
    before = distinct_terms(line.text[: copula.start()], line.language)
    if not before.issuperset(asked) or len(before) > len(asked) + MOST_BESIDE:
        return 0.0
    return 1.0 if before == asked else 0.5


@cache
def money_in(language: str) -> re.Pattern[str]:
    """Return a pattern that matches the name, the code or the sign of any currency."""
    names = sorted(currency_names(language), key=len, reverse=True)
    return re.compile(
        "|".join(
            rf"(?<!\w){re.escape(n)}(?!\w)" if n.isalpha() and n.isascii() else re.escape(n) for n in names
        ),
        re.I,
    )


@lru_cache(maxsize=4096)
def has_time(text: str, language: str) -> bool:
    """Return whether a text names a date, a year, a month, a time of day or a length of time."""
    quantities = quantities_in(text, language)
    return bool(DATE.search(text)) or any(found.dimension in TIME_DIMENSIONS for found in quantities)


def has_number(question: QuestionFeatures, line: AnswerLine) -> float:
    """Return 1 for a line with a number (not a year) that the question does not name, else 0."""
    numbers = NUMBER.findall(YEAR_NOT_AMOUNT.sub("", LABEL.sub("", line.text)))
    return float(not question_numbers(question.text).issuperset(numbers))


@lru_cache(maxsize=64)
def counted_dimensions(question: QuestionFeatures) -> frozenset[str]:
    """Return the dimensions of what is measured: time for "how many days", time or length for "how long"."""
    if phrases_in(question.language, "duration").search(question.text.casefold()):
        return DURATIONS
    counted = counted_terms(question, question.language)
    words = (
        word
        for word in re.findall(r"[^\W\d_]{2,}", question.text.lower())
        if counted.intersection(terms_of(word, question.language))
    )
    return frozenset(unit.dimension for unit in map(unit_named, words) if unit)


@lru_cache(maxsize=4096)
def has_count(text: str, counted: frozenset[str], language: str) -> bool:
    """Return whether a number in digits or words counts one of these: “300 rowers”, “three lakes”."""
    return any(
        quantity.dimension not in ("date", "year") and counts(quantity, text, counted, language)
        for quantity in quantities_in(text, language)
    )


def counts(quantity: Quantity, text: str, counted: frozenset[str], language: str) -> bool:
    """Return whether an integer counts the question's noun; True without a noun.

    True:  “20 lakes”, “Lakes: 20”, “20 of our lakes”.
    False: “0.7 million shares from employees”, “16 Employee Resource Groups” for employees.
    """
    behind = COUNTED.match(text, quantity.end)
    label = LABELLED_BY.search(text, 0, quantity.start)
    words = f"{noun_phrase(behind[0], language) if behind else ''} {label[1] if label else ''}"
    is_whole = quantity.value == quantity.value.to_integral_value()
    return is_whole and (not counted or bool(counted & set(terms_of(words, language))))


def noun_phrase(text: str, language: str) -> str:
    """Return a text up to the first function word behind another word: “shares” of “shares from us”."""
    words = text.split()
    functional = stop_words(language) - {*fact_words(language).joins}  # “125 full-time and seasonal trainers”
    first = next((at for at, word in enumerate(words) if word.casefold() not in functional), len(words))
    end = next((at for at in range(first, len(words)) if words[at].casefold() in functional), len(words))
    return " ".join(
        word
        for word, after in zip_longest(words[:end], words[1:end], fillvalue="")
        if not (word[:1].isupper() and after[:1].isupper())  # “Employee” of a name counts no employees
    )


@lru_cache(maxsize=64)
def question_numbers(text: str) -> frozenset[str]:
    return frozenset(NUMBER.findall(text))
