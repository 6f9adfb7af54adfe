"""Propose the columns of a question to every document: what one is asked, what is counted, grouped by what.

“Which papers report a hazard ratio below 0.8?” becomes the number “What is the hazard ratio?”, of which the
values below 0.8 are counted; “Sum of revenue by company” becomes an amount and a text. The words of a
language are in the table ``every`` of its ``answers.toml``; they propose, and users edit the columns.
"""

from __future__ import annotations

import re
from functools import cache

from chat.answers.without_model.question import (
    analyse,
    any_of,
    articles,
    every_words,
    opening_words,
    words_of,
)
from domains import pack_names
from domains.items import items_asked
from reviews.column_sets import LONGEST
from reviews.models import ReviewColumn
from reviews.typed_values import as_json
from text.quantities import Quantity, quantities_in
from text.semantics import lexicon

Kind = ReviewColumn.Kind
BOUNDS = {"lt": "<", "gt": ">", "ge": ">=", "le": "<="}
LONGEST_TITLE = 60
MOST_COUNTED = 5  # words that name what a bound counts


def columns_for(question: str) -> list[ReviewColumn]:
    """Return one unsaved column for the question, and a second one to group its values by if it names it."""
    question = " ".join(question.replace("\x00", " ").split())[: LONGEST["question"]]
    if not question:
        return []
    language = analyse(question).language
    rest, group = without_group(question.lstrip("¿ ").rstrip("?.! \u00a0\u202f"), language)
    rest, is_framed = without_frame(rest, language)
    rest, sign, bound = without_bound(rest, language)
    total = re.compile(rf"{any_of(language, 'total')}\s*", re.I)
    is_total = bool(total.match(rest))
    rest = without_article(total.sub("", rest, count=1) if is_total else rest, language)
    rest = without_closed(rest, language) if bound else rest
    column = ReviewColumn(title=title_of(rest or question))
    if not rest or is_open(rest, language):
        column.question = every_words(language, "question")[0].format(rest=rest) if rest else question
    else:
        template = "is_true" if is_framed and not bound else "value"
        column.question = every_words(language, template)[0].format(rest=rest)
    column.question = capitalised(column.question)
    set_kind(column, is_framed, is_total)
    if bound is not None:
        set_bound(column, sign, bound)
    columns = [column]
    if group and title_of(group) != column.title:
        asked = capitalised(every_words(language, "group")[0].format(rest=group))
        columns.append(ReviewColumn(title=title_of(group), question=asked))
    return columns


def without_group(rest: str, language: str) -> tuple[str, str]:
    """Split off what the values of a sum, or values by document, are grouped by: “… by company”."""
    match = re.search(rf"\s+{any_of(language, 'by')}\s+((?:[^\W\d]+\s?){{1,3}})$", rest, re.I)
    is_total = re.match(any_of(language, "total"), rest, re.I)
    if match and (is_total or match[1].casefold() in every_words(language, "nouns")):
        return rest[: match.start()], match[1]
    return rest, ""


def without_frame(rest: str, language: str) -> tuple[str, bool]:
    """Remove the words that address the documents: “In how many contracts”, “Which papers report”."""
    asks, nouns, states = (any_of(language, key) for key in ("asks", "nouns", "states"))
    frame = rf"{asks}(?:\s+{articles(language)}\b)?\s+{nouns}(?:\s+{states})?[\s,:]*"
    match = re.match(frame, rest, re.I)
    return (rest[match.end() :], True) if match else (rest, False)


def without_article(rest: str, language: str) -> str:
    return re.sub(rf"^{articles(language)}\s+", "", rest, flags=re.I)


def without_bound(rest: str, language: str) -> tuple[str, str, Quantity | None]:
    """Split off a bound at the end: “below 0.8”, “that is 30 days or more”; else that of a number of things.

    “Evaluate more than five datasets” becomes “how many datasets (evaluate)”. None without one.
    """
    signs = bound_signs(language)
    phrases = "|".join(map(re.escape, sorted(signs, key=len, reverse=True)))
    for quantity in quantities_in(rest, language):
        before, counted = rest[: quantity.start], rest[quantity.end :].strip()
        if counted.casefold() in signs:
            return without_lead(before, language), signs[counted.casefold()], quantity
        match = re.search(rf"(?<!\w)({phrases})\W*$", before, re.I)
        if not match or (counted and (quantity.dimension or len(counted.split()) > MOST_COUNTED)):
            continue
        subject = before[: match.start()].strip()
        if counted:
            how_many = f"{words_of(language, 'kinds')['count'][0]} {counted}"
            subject = without_closed(subject, language)
            subject = f"{how_many} ({subject})" if subject else how_many
        return without_lead(subject, language), signs[match[1].casefold()], quantity
    return rest, "", None


@cache
def bound_signs(language: str) -> dict[str, str]:
    """Return the language's phrases for bounds, each with its sign; the longest are tried first."""
    compared = {
        " ".join(phrase): BOUNDS[marker.value]
        for phrase, sense in lexicon(language).phrases.items()
        for marker in sense.markers
        if marker.category == "comparator" and marker.value in BOUNDS
    }
    return compared | {phrase: sign for key, sign in BOUNDS.items() for phrase in every_words(language, key)}


def without_lead(subject: str, language: str) -> str:
    """Remove the words that lead from a subject to its bound: “a notice period that is”, “sales of”."""
    words = subject.split()
    leads = lexicon(language).relatives | lexicon(language).copula | {*every_words(language, "leads")}
    while len(words) > 1 and words[-1].casefold() in leads:
        words.pop()
    return " ".join(words)


def is_open(rest: str, language: str) -> bool:
    """Return whether the words begin like a question, also one for yes or no: "Within how many days …"."""
    first, *others = rest.casefold().split(maxsplit=2)[:2]
    openings = opening_words(language)
    behind = first in every_words(language, "before") and any(word in openings for word in others)
    return first in openings or behind or is_closed(rest, language)


def is_closed(text: str, language: str) -> bool:
    """Return whether the words begin like a question for yes or no: “may the …”, “se puede …”."""
    words = text.casefold().lstrip("¿").split()
    return any(words[: len(each)] == each for each in map(str.split, closed_words(language)))


def without_closed(rest: str, language: str) -> str:
    """Remove the verb of a question for yes or no: “is the notice period”."""
    first, _, others = rest.partition(" ")
    return without_article(others, language) if first.casefold() in closed_words(language) else rest


@cache
def closed_words(language: str) -> frozenset[str]:
    return frozenset(words_of(language, "kinds")["yes_no"])


def set_kind(column: ReviewColumn, is_framed: bool, is_total: bool) -> None:
    """Set the type of the column's values, and the unit of a share."""
    features = analyse(column.question)
    if is_closed(column.question, features.language):
        column.kind = Kind.BOOLEAN
    elif "when" in features.kinds or re.search(
        rf"(?<!to )\b{any_of(features.language, 'date')}", column.question, re.I
    ):
        column.kind = Kind.DATE
    elif "share" in features.kinds:
        column.kind, column.unit = Kind.NUMBER, "%"
    elif "count" in features.kinds:  # also of “years of base salary”
        column.kind = Kind.NUMBER
    elif "frequency" in features.kinds:
        column.kind = Kind.TEXT
    elif "money" in features.kinds or is_money(column.question) or is_payment(column.question):
        column.kind = Kind.MONEY
    elif features.aggregates or is_total:
        column.kind = Kind.NUMBER
    elif is_framed and not is_open(column.question, features.language):
        column.kind = Kind.BOOLEAN


def set_bound(column: ReviewColumn, sign: str, bound: Quantity) -> None:
    """Count only values within the bound; its dimension is that of the values."""
    by_dimension = {"money": Kind.MONEY, "date": Kind.DATE, "year": Kind.DATE}
    column.kind = by_dimension.get(bound.dimension, Kind.NUMBER)
    column.unit = bound.unit if column.kind == Kind.NUMBER else ""
    found = f"{int(bound.value)}" if bound.dimension == "year" else as_json(column, bound)
    column.condition = f"{sign} {found['number'] if isinstance(found, dict) else found}"


def is_money(question: str) -> bool:
    """Return whether a pack knows what is asked for as a row of a financial statement."""
    items = items_asked(question, pack_names())
    asked = re.split(rf"\b{articles(analyse(question).language)}\s+", question, maxsplit=1, flags=re.I)[-1]
    return bool(items and items[0].statement and (len(items) == 1 or items[0].label.match(asked)))


def is_payment(question: str) -> bool:
    """Return whether a question asks what a payment is: “What is the monthly rent?”."""
    language = analyse(question).language
    return bool(re.search(rf"(?<!\w){any_of(language, 'payments')}\W*$", question, re.I))


def capitalised(text: str) -> str:
    return re.sub(r"[^\W\d_]", lambda letter: letter[0].upper(), text, count=1)


def title_of(text: str) -> str:
    cut = text[:LONGEST_TITLE].rsplit(" ", 1)[0] if len(text) > LONGEST_TITLE else text
    return f"{cut[:1].upper()}{cut[1:]}".strip()
