"""A typed value out of cited words: an amount, a date, yes or no, one of a list."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from chat.models import ReviewColumn
from text.quantities import Quantity, quantities_in
from text.semantics import known_language, lexicon, plain_word
from text.terms import terms_of
from text.units import units_by_symbol

Kind = ReviewColumn.Kind
YEAR_ONLY = 10_000  # a date below this number names no year, or no day


@dataclass(frozen=True, slots=True)
class Evidence:
    """A claim that the page bears out, with the words it rests on, in their language."""

    claim: str
    quote: str
    language: str


@dataclass(frozen=True, slots=True)
class TypedValue:
    """``value`` is JSON by the column's kind, ``text`` its printed form, ``place`` that of its evidence."""

    value: Any
    text: str
    place: int = 0


def typed_value(column: ReviewColumn, evidence: Sequence[Evidence]) -> TypedValue | None:
    """The value the evidence gives for the column; None where it gives none, or none alone."""
    match column.kind:
        case Kind.NUMBER | Kind.MONEY | Kind.DATE:
            return _quantity(column, evidence)
        case Kind.BOOLEAN:
            return _yes_or_no(evidence)
        case Kind.CHOICE | Kind.CHOICES:
            return _chosen(column, evidence)
        case _:
            text = "\n".join(dict.fromkeys(found.claim for found in evidence))
            return TypedValue(text, text) if text else None


def _quantity(column: ReviewColumn, evidence: Sequence[Evidence]) -> TypedValue | None:
    """The quantity of the column's kind that stands nearest to the words of its question."""
    for place, found in enumerate(evidence):
        fitting = [q for q in quantities_in(found.claim, found.language or "en") if fits(column, q)]
        lit = [q for q in fitting if _digits(found.claim[q.start : q.end]) in _digits(found.quote)]
        if not (candidates := lit or fitting):
            continue
        asked = set(terms_of(f"{column.title} {column.question}", found.language or "en"))
        best = min(candidates, key=lambda q: (_distance(found, q, asked), q.start))
        return TypedValue(as_json(column, best), found.claim[best.start : best.end].strip(), place)
    return None


def fits(column: ReviewColumn, quantity: Quantity) -> bool:
    """Whether a quantity is of the column's kind and, where the column names a unit, of its dimension."""
    if column.kind == Kind.DATE:
        return quantity.dimension == "date" and quantity.value > YEAR_ONLY
    if column.kind == Kind.MONEY:
        return quantity.dimension == "money" or (quantity.dimension == "" and quantity.scale != 1)
    if quantity.dimension in ("date", "year", "ordinal", "money"):
        return False
    unit = units_by_symbol().get(column.unit)
    if column.unit and unit is None:  # a unit of no system: "patients"
        return quantity.dimension == ""
    return unit is None or quantity.dimension == unit.dimension


def as_json(column: ReviewColumn, quantity: Quantity) -> Any:
    if column.kind == Kind.DATE:
        year, month, day = (
            int(quantity.value) // 10_000,
            int(quantity.value) // 100 % 100,
            int(quantity.value) % 100,
        )
        return f"{year:04}-{month:02}-{day:02}" if day else f"{year:04}-{month:02}"
    if column.kind == Kind.MONEY:
        return {"number": number(quantity.value), "currency": quantity.unit}
    unit = units_by_symbol().get(column.unit)
    if unit is not None and quantity.unit and quantity.unit != column.unit:
        return {"number": number((quantity.base - unit.offset) / unit.factor), "unit": column.unit}
    return {"number": number(quantity.value), "unit": quantity.unit or column.unit}


def number(value: Decimal) -> int | float:
    """JSON has no decimals: a whole number where it is one."""
    return int(value) if value == value.to_integral_value() else float(value)


def _distance(found: Evidence, quantity: Quantity, asked: set[str]) -> int:
    """Characters between a quantity and the nearest word of the question in its claim."""
    gaps = [
        max(quantity.start - end, start - quantity.end, 0)
        for word, start, end in _words(found.claim)
        if asked & set(terms_of(word, found.language or "en"))
    ]
    return min(gaps, default=len(found.claim))


def _words(text: str) -> Iterator[tuple[str, int, int]]:
    at = 0
    for word in text.split():
        start = text.index(word, at)
        at = start + len(word)
        yield word, start, at


def _digits(text: str) -> str:
    return "".join(filter(str.isdigit, text))


def _yes_or_no(evidence: Sequence[Evidence]) -> TypedValue | None:
    """Whether the first sentence affirms or denies; None in a language whose denials are not known."""
    if not evidence or not known_language(evidence[0].language):
        return None
    first = evidence[0]
    words = lexicon(first.language)
    denials = 0
    for word, _, _ in _words(first.claim):
        sense = words.phrases.get((plain_word(word.strip(".,;:()"), first.language),))
        markers = sense.markers if sense else ()
        denials += any(mark.category == "negation" or mark.value == "none" for mark in markers)
    return TypedValue(denials % 2 == 0, "No" if denials % 2 else "Yes")


def _chosen(column: ReviewColumn, evidence: Sequence[Evidence]) -> TypedValue | None:
    """The choices whose every word stands in the evidence; one alone unless several may be chosen."""
    for place, found in enumerate(evidence):
        said = set(terms_of(found.claim, found.language or "en"))
        named = [
            choice
            for choice in column.choices
            if (terms := set(terms_of(choice, found.language or "en"))) and terms <= said
        ]
        if named and column.kind == Kind.CHOICES:
            return TypedValue(named, ", ".join(named), place)
        if len(named) == 1:
            return TypedValue(named[0], named[0], place)
    return None
