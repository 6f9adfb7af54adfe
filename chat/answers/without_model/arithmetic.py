"""Differences, sums, ratios and growth that a question asks for, computed from the cells an answer cites."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from decimal import Decimal, InvalidOperation
from typing import NamedTuple

from chat.answers.without_model.lines import Line, Value
from chat.answers.without_model.question import Question
from chat.values import values_in
from documents.pdf.structure import Cell
from text.terms import terms_of

Operand = tuple[Line, Value, Decimal]


class Computed(NamedTuple):
    """The formula with its result, and the cells it is computed from."""

    formula: str
    cells: tuple[tuple[Line, Cell], ...]


def computed_from(question: Question, lines: Sequence[Line]) -> Computed | None:
    """The value asked for, when the lines give exactly the two cells it needs."""
    if not question.computation:
        return None
    pair = two_columns(question, lines) or two_rows(question, lines)
    if pair is None:
        return None
    (line, value, a), (other_line, other_value, b) = pair
    scale = f" {line.scale}" if line.scale and line.scale == other_line.scale else ""
    compute: dict[str, Callable[[], str]] = {
        "difference": lambda: f"{_text(value)} − {_text(other_value)} = {_number(a - b)}{scale}",
        "sum": lambda: f"{_text(value)} + {_text(other_value)} = {_number(a + b)}{scale}",
        "ratio": lambda: (
            f"{_text(value)} ÷ {_text(other_value)} = {_number(a / b)} ({_number(100 * a / b)} %)"
        ),
        "growth": lambda: (
            f"({_text(value)} − {_text(other_value)}) ÷ {_text(other_value)}"
            f" = {_number(100 * (a - b) / abs(b))} %"
        ),
    }
    if question.computation in ("ratio", "growth") and not b:
        return None
    name = line.label if line is other_line else f"{line.label} / {other_line.label}"
    heads = " − ".join(dict.fromkeys(v.head for v in (value, other_value) if v.head))
    described = ", ".join(part for part in (name.rstrip(" :."), heads if line is other_line else "") if part)
    return Computed(
        f"{described}: {compute[question.computation]()}",
        ((line, value.cell), (other_line, other_value.cell)),
    )


def two_columns(question: Question, lines: Sequence[Line]) -> tuple[Operand, Operand] | None:
    """Two years of one row, the later first: the columns that were chosen for the question."""
    for line in lines[:1]:
        named = [(value, min(value.years)) for value in line.values if len(value.years) == 1]
        if len(named) == 2 and named[0][1] != named[1][1]:
            later, earlier = sorted(named, key=lambda pair: pair[1], reverse=True)
            return _operands((line, later[0]), (line, earlier[0]))
    return None


def two_rows(question: Question, lines: Sequence[Line]) -> tuple[Operand, Operand] | None:
    """One cell of each of two rows, under the same head, whose labels the question names in this order."""
    if len(question.years) > 1:
        return None
    wanted = list(question.terms)
    named = []
    for line in lines:
        own = [
            wanted.index(term)
            for term in dict.fromkeys(terms_of(line.label, line.language))
            if term in wanted
        ]
        if own and len(line.values) == 1:
            named.append((min(own), line, line.values[0]))
    named.sort(key=lambda entry: entry[0])
    if len(named) != 2 or named[0][2].head != named[1][2].head or named[0][0] == named[1][0]:
        return None
    return _operands((named[0][1], named[0][2]), (named[1][1], named[1][2]))


def _operands(*cells: tuple[Line, Value]) -> tuple[Operand, Operand] | None:
    read = [(line, value, number) for line, value in cells if (number := number_of(value)) is not None]
    return (read[0], read[1]) if len(read) == 2 else None


def number_of(value: Value) -> Decimal | None:
    """The single number a cell holds; None when it holds none, or several."""
    try:
        numbers = [found.number for found in values_in(value.cell.text)]
    except InvalidOperation:
        return None
    return numbers[0] if len(numbers) == 1 else None


def _text(value: Value) -> str:
    return " ".join(value.cell.text.split())


def _number(number: Decimal) -> str:
    text = f"{number:,.4f}" if abs(number) < 1 else f"{number:,.2f}"
    return (text.rstrip("0").rstrip(".") if "." in text else text).replace("-", "−")
