"""Extract a typed value from cited words: an amount, a date, yes or no, one of a list."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from typing import Any

from django.utils.dateparse import parse_date

from chat.answers.without_model.question import QuestionFeatures, analyse
from chat.answers.without_model.value_lines import fits
from chat.models import Citation
from citing.tables import word_of
from reviews.models import ReviewCell, ReviewColumn
from text.quantities import Quantity, quantities_in
from text.semantics import known_language, lexicon, plain_word
from text.terms import terms_of
from text.units import unit_named

Kind = ReviewColumn.Kind
QUANTITIES = (Kind.NUMBER, Kind.MONEY, Kind.DATE)
LEAST_ASKED = 0.6  # share of the terms of a question for yes or no in the sentence that answers it


@dataclass(frozen=True, slots=True)
class Evidence:
    """A verified claim, with the quote that supports it, and their language.

    ``intro`` is what a list item continues: its heading, and the item that it is part of; else ''.
    """

    claim: str
    quote: str
    language: str
    intro: str = ""


@dataclass(frozen=True, slots=True)
class FilledCell:
    """The content of a cell: its state, typed value, printed form and unsaved citations."""

    state: ReviewCell.State
    value: Any = None
    text: str = ""
    citations: Sequence[Citation] = ()
    error: str = ""
    usage: dict[str, float] | None = None


@dataclass(frozen=True, slots=True)
class TypedValue:
    """``value`` is JSON by the column's kind, ``text`` its printed form, ``place`` its evidence's index."""

    value: Any
    text: str
    place: int = 0


def typed_value(
    column: ReviewColumn, evidence: Sequence[Evidence], named: TypedValue | None = None
) -> TypedValue | None:
    """Return the evidence's value for the column; None where there is none, or several differ.

    ``named``: the value that a model or the document itself names. A quantity has to be in a claim too.
    """
    match column.kind:
        case Kind.NUMBER | Kind.MONEY | Kind.DATE:
            return _quantity(column, evidence, named)
        case _ if named and evidence:
            return named
        case Kind.BOOLEAN:
            return _yes_or_no(column, evidence)
        case Kind.CHOICE | Kind.CHOICES:
            return _chosen(column, evidence)
        case _:
            text = "\n".join(dict.fromkeys(found.claim for found in evidence))
            return TypedValue(text, text) if text else None


def _quantity(
    column: ReviewColumn, evidence: Sequence[Evidence], named: TypedValue | None
) -> TypedValue | None:
    """Return the only quantity of the column's kind in the claims, or that of them which is named."""
    values = [
        TypedValue(as_json(column, one), found.claim[one.start : one.end].strip(), place)
        for place, found in enumerate(evidence)
        for one in quantities_in(found.claim, found.language)
        if fits(column.kind, column.unit, one, found.claim)
    ]
    meant = [one for one in values if named and one.value == named.value] or values
    return meant[0] if len({str(one.value) for one in meant}) == 1 else None


def asked_terms(column: ReviewColumn, language: str) -> frozenset[str]:
    return frozenset(analyse(column.question, [language]).terms)


def claim_matches(found: Evidence, asked: frozenset[str]) -> bool:
    """Return whether the claim, with what introduces it, has nearly all of the question's terms.

    True:  "The Landlord does not allow subletting." for "May the tenant sublet?" of a landlord's duties.
    """
    held = asked & set(terms_of(f"{found.intro} {found.claim}", found.language))
    return len(held) >= max(1, LEAST_ASKED * len(asked))


SECONDS_A_MONTH = Decimal(2_629_746)  # the mean of the Gregorian calendar


def as_json(column: ReviewColumn, quantity: Quantity) -> Any:
    if column.kind == Kind.DATE:
        year, rest = divmod(int(quantity.value), 10_000)
        month, day = divmod(rest, 100)
        return f"{year:04}-{month:02}-{day:02}" if day else f"{year:04}-{month:02}"
    if column.kind == Kind.MONEY:
        return {"number": number(quantity.value), "currency": quantity.unit}
    unit = unit_named(column.unit)
    if unit is not None and quantity.dimension == "calendar" and unit.dimension == "time":
        return {"number": round(quantity.base * SECONDS_A_MONTH / unit.factor), "unit": column.unit}
    if unit is not None and quantity.dimension == "time" and unit.dimension == "calendar":
        months = quantity.base / SECONDS_A_MONTH / unit.factor
        return {"number": number(round(months, 1)), "unit": column.unit}
    if unit is not None and quantity.unit and quantity.unit != column.unit:
        return {"number": number((quantity.base - unit.offset) / unit.factor), "unit": column.unit}
    return {"number": number(quantity.value), "unit": quantity.unit or column.unit}


def number(value: Decimal) -> int | float:
    """Return the number for JSON, as an int where it is whole."""
    return int(value) if value == value.to_integral_value() else float(value)


def of_period(value: Any, part: str, question: QuestionFeatures) -> Any:
    """Return a number with the part of a year that it is of, unless the question names one."""
    if not part or not isinstance(value, dict) or word_of("part_of_year", question.text, question.language):
        return value
    return value | {"period": part}


def unit_of(value: dict[str, Any]) -> str:
    """Return what a number counts in, and the part of a year that it is of: “USD, three months”."""
    return ", ".join(filter(None, (value.get("currency") or value.get("unit"), value.get("period"))))


def normalised(value: Any, printed: str) -> str:
    """Return a value in normal form, “14,544,000,000 USD” or “2029-03-05”; '' if it is printed so."""
    if isinstance(value, dict):
        shown = f"{value['number']:,} {unit_of(value)}".strip()
    else:
        shown = value if isinstance(value, str) else printed
    return "" if shown.replace(",", "") == printed.replace(",", "") else shown


def _yes_or_no(column: ReviewColumn, evidence: Sequence[Evidence]) -> TypedValue | None:
    """Return whether the first sentence on the question affirms.

    None in languages without negation data, and for a question with a number, which words do not compare:
    "evaluate more than five datasets".
    """
    if quantities_in(column.question, analyse(column.question).language):
        return None
    about = (found for found in evidence if claim_matches(found, asked_terms(column, found.language)))
    if (first := next(about, None)) is None or not known_language(first.language):
        return None
    words = lexicon(first.language)
    denials = 0
    for word in f"{first.intro} {first.claim}".split():
        key = plain_word(word.strip(".,;:()"), first.language)
        sense = words.phrases.get((key,))
        markers = sense.markers if sense and not (denials and key in words.neither) else ()
        denials += any(mark.category == "negation" or mark.value == "none" for mark in markers)
    return TypedValue(denials % 2 == 0, "No" if denials % 2 else "Yes")


def _chosen(column: ReviewColumn, evidence: Sequence[Evidence]) -> TypedValue | None:
    """Return the choices of which the evidence has all words; a single one unless several may be chosen."""
    for place, found in enumerate(evidence):
        names = (chosen_in(column, text, found.language) for text in (found.claim, found.quote))
        named = next(filter(None, names), [])
        if named and column.kind == Kind.CHOICES:
            return TypedValue(named, ", ".join(named), place)
        if len(named) == 1:
            return TypedValue(named[0], named[0], place)
    return None


def chosen_in(column: ReviewColumn, text: str, language: str) -> list[str]:
    """Return the choices of which the text has all words."""
    own = set(terms_of(text, language))
    return [
        choice for choice in column.choices if (terms := set(terms_of(choice, language))) and terms <= own
    ]


# --- Values written by users ---


class InvalidValue(Exception):
    """The input is not a value of the column's kind. The message is shown to users."""


def written_value(column: ReviewColumn, text: str) -> tuple[Any, str]:
    """Parse user input as a value of the column's kind. Raises InvalidValue."""
    text = text.replace("\x00", "").strip()[:10_000]
    if not text:
        return None, ""
    match column.kind:
        case Kind.NUMBER:
            return {"number": _number(text.removesuffix(column.unit).strip()), "unit": column.unit}, text
        case Kind.MONEY:
            amount, _, currency = text.rpartition(" ") if text[-3:].isalpha() else (text, "", "")
            return {"number": _number(amount.strip()), "currency": currency.upper()}, text
        case Kind.DATE:
            try:
                date = parse_date(text)
            except ValueError:
                date = None
            if date is None:
                raise InvalidValue("Write a date as 2026-11-23.")
            return date.isoformat(), text
        case Kind.BOOLEAN:
            if text.casefold() not in ("yes", "no"):
                raise InvalidValue("Write Yes or No.")
            return text.casefold() == "yes", text.capitalize()
        case Kind.CHOICE:
            return _among(column.choices, [text])[0], text
        case Kind.CHOICES:
            return _among(column.choices, [part.strip() for part in text.split(",") if part.strip()]), text
    return text, text


def _number(text: str) -> int | float:
    try:
        found = Decimal(text.replace(",", "").replace(" ", ""))
    except InvalidOperation:
        found = Decimal("nan")
    if not found.is_finite():
        raise InvalidValue("Write a number, such as 14544 or 3.2.")
    return number(found)


def _among(choices: Sequence[str], named: Sequence[str]) -> list[str]:
    known = {choice.casefold(): choice for choice in choices}
    if unknown := [name for name in named if name.casefold() not in known]:
        raise InvalidValue(f"“{unknown[0]}” is not one of the choices: {', '.join(choices)}.")
    return [known[name.casefold()] for name in named]
