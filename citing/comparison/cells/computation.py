"""Numbers computed from two cells: change, sum, ratio and share, with their formula."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence, Set
from dataclasses import dataclass, replace
from decimal import Decimal
from operator import ge, gt, le, lt
from typing import Literal

from citing.comparison.words.token import Token
from text.quantities import Quantity

Operation = Literal["change", "difference", "sum", "ratio", "share"]


@dataclass(frozen=True, slots=True)
class Operands:
    """A number and its reference: the later and the earlier, the first and the second named.

    ``texts``: both as printed; ``scale``: that of the table.
    """

    subject: Quantity
    reference: Quantity
    texts: tuple[str, str]
    scale: Decimal = Decimal(1)

    @property
    def of_one_measure(self) -> bool:
        """Return whether both are money, or of one kind: not a count beside an amount in thousands."""
        one, other = self.subject, self.reference
        return as_money(other, one).dimension == as_money(one, other).dimension

    @property
    def comparable(self) -> bool:
        return (self.subject.dimension, self.subject.unit) == (self.reference.dimension, self.reference.unit)


@dataclass(frozen=True, slots=True)
class Result:
    """A computed number in the unit of the claim, compared within the claim's rounding."""

    amount: Decimal
    step: Decimal
    formula: str

    def agrees(self, claimed: Decimal, *, signed: bool = False) -> bool:
        """Return whether it is the claimed amount; ``signed``: with its sign, which "fell by 5 %" omits."""
        other = claimed if signed else abs(claimed).copy_sign(self.amount)
        return abs(self.amount - other) <= self.step / 2


def computed(claimed: Quantity, operands: Operands, operation: Operation) -> tuple[Result, Decimal] | None:
    """Return the result to compare with a claim's number, and that number in the unit of the result.

    None where the units do not fit.
    """
    one, other = operands.subject, operands.reference
    if "money" in (one.dimension, other.dimension):  # tables print the currency in their first row
        operands = replace(operands, subject=as_money(other, one), reference=as_money(one, other))
    return _OPERATIONS[operation](claimed, operands) if operands.comparable else None


def _change(claimed: Quantity, held: Operands) -> tuple[Result, Decimal] | None:
    subject, reference = held.subject, held.reference
    if claimed.unit == "%" or (claimed.dimension == "ratio" and subject.dimension != "ratio"):
        return _growth(claimed, held)
    if claimed.dimension == "points" and subject.dimension == "ratio":
        return _difference(held, Decimal(100), claimed.base, max(claimed.step, Decimal("0.0001")))
    if claimed.bare and not reference.bare:  # as printed, without the scale of the table
        factor = _as_printed(held)
        return _difference(held, Decimal(1), claimed.value / factor, claimed.step / factor)
    counted = claimed.dimension == "money" and not subject.dimension and not subject.bare  # "in millions"
    scaled = claimed.scale != 1 and not claimed.dimension and subject.dimension == "money"  # "427 million"
    if counted or scaled or (claimed.dimension == subject.dimension and claimed.unit in ("", subject.unit)):
        return _difference(held, Decimal(1), claimed.base, claimed.step)
    return None


def _difference_of(claimed: Quantity, held: Operands) -> tuple[Result, Decimal] | None:
    """Return the difference, which of two shares is not said in percent: "41 % and 53 % differ by 29 %"."""
    return None if claimed.unit == "%" and held.subject.dimension == "ratio" else _change(claimed, held)


def _as_printed(held: Operands) -> Decimal:
    """Return the factor from an amount to the number printed for it."""
    if held.scale != 1:
        return 1 / held.scale
    return held.subject.value / held.subject.base if held.subject.base else Decimal(1)


def _difference(held: Operands, factor: Decimal, claimed: Decimal, step: Decimal) -> tuple[Result, Decimal]:
    amount = (held.subject.base - held.reference.base) * factor
    formula = f"{held.texts[0]} − {held.texts[1]} = {_plain(amount / held.scale)}"
    return Result(amount, step, formula), claimed


def _growth(claimed: Quantity, held: Operands) -> tuple[Result, Decimal] | None:
    reference = held.reference.base
    if not reference:
        return None
    amount = (held.subject.base - reference) / abs(reference) * 100
    later, earlier = held.texts
    formula = f"({later} − {earlier}) / {earlier} = {_plain(round(amount, 1))} %"
    value = claimed.base * 100
    return Result(amount, _place(claimed.value), formula), value


def _sum(claimed: Quantity, held: Operands) -> tuple[Result, Decimal] | None:
    amount = held.subject.base + held.reference.base
    formula = f"{held.texts[0]} + {held.texts[1]} = {_plain(amount / held.scale)}"
    if claimed.bare and not held.subject.bare and claimed.dimension != held.subject.dimension:
        factor = _as_printed(held)
        return Result(amount, claimed.step / factor, formula), claimed.value / factor
    return Result(amount, claimed.step, formula), claimed.base


def _ratio(claimed: Quantity, held: Operands) -> tuple[Result, Decimal] | None:
    if claimed.unit == "%":
        return _share(claimed, held)
    if not held.reference.base:
        return None
    amount = held.subject.base / held.reference.base
    formula = f"{held.texts[0]} / {held.texts[1]} = {round(amount, 2)}"
    return Result(amount, _place(claimed.value), formula), claimed.value


def _share(claimed: Quantity, held: Operands) -> tuple[Result, Decimal] | None:
    if not held.reference.base or claimed.dimension != "ratio":
        return None
    amount = held.subject.base / held.reference.base * 100
    formula = f"{held.texts[0]} / {held.texts[1]} = {round(amount, 1)} %"
    step = _place(claimed.value) if claimed.unit == "%" else Decimal(1)
    return Result(amount, step, formula), claimed.base * 100


@dataclass(frozen=True, slots=True)
class Equation:
    """A calculation that a claim writes down: "(84 − 80) ÷ 80 = 5 %".

    Attributes:
        operation: of the first two of ``operands``.
        operands: places of their tokens, as written; one that is written twice is twice in it.
        results: places of the results; of a ratio also of the percentage after it.
    """

    operation: Operation
    operands: tuple[int, ...]
    results: tuple[int, ...]

    @property
    def places(self) -> set[int]:
        return {*self.operands, *self.results}

    def order(self, agreeing: Sequence[Set[int]]) -> tuple[int, int] | None:
        """Return which of two cells is the first operand, and which the second; None without a match.

        ``agreeing``: for each of ``operands`` the cells (0, 1) with its value.
        """
        for first, second in ((0, 1), (1, 0)):
            if first in agreeing[0] and all(second in cells for cells in agreeing[1:]):
                return first, second
        return None


_EQUATIONS: tuple[tuple[re.Pattern[str], Operation, int], ...] = (
    (re.compile(r"(?<![-+*/N])\(N-N\)/N=N(?![-+*/N])"), "change", 3),
    (re.compile(r"(?<![-+*/N])N-N=N(?![-+*/N])"), "difference", 2),
    (re.compile(r"(?<![-+*/N])N\+N=N(?![-+*/N])"), "sum", 2),
    (re.compile(r"(?<![-+*/N])N/N=N(?:\(N\))?(?![-+*/N])"), "ratio", 2),
)
"""Calculations with ``N`` for each number, and the number of operands."""
_SIGNS = str.maketrans({"−": "-", "–": "-", "÷": "/", "×": "*", "≈": "="})
_BESIDE = re.compile(r"[^-+*/=()\s]+")  # words, and marks that end a phrase


def _shape(text: str) -> str:
    """Return the signs of a calculation between two numbers, with ``w`` for other text."""
    return "".join(_BESIDE.sub("w", text.translate(_SIGNS)).split())


def equals_signs(tokens: Sequence[Token]) -> set[int]:
    """Return the places of equals signs between two numbers: "€5 million = €5,000 thousand"."""
    return {
        at
        for at, token in enumerate(tokens[1:-1], 1)
        if token.word in ("=", "≈") and tokens[at - 1].quantity and tokens[at + 1].quantity
    }


def written_equation(claim: str, tokens: Sequence[Token]) -> tuple[Equation | None, tuple[Token, ...]]:
    """Return the calculation written in a claim, if any, and its tokens; a minus between numbers is no sign.

    Without a calculation the tokens are unchanged.
    """
    shape, places, read, at = "", [], list(tokens), 0
    for place, token in enumerate(tokens):
        if token.quantity is None:
            continue
        shape += _shape(claim[at : token.start])
        is_minus = shape.endswith("N") and claim[token.start].translate(_SIGNS) == "-"
        if is_minus:
            quantity = replace(token.quantity, value=-token.quantity.value, base=-token.quantity.base)
            read[place] = replace(token, quantity=quantity)
        shape += "-N" if is_minus else "N"
        places.append(place)
        at = token.end
    shape += _shape(claim[at:])
    for pattern, operation, count in _EQUATIONS:
        if found := pattern.search(shape):
            before = shape[: found.start()].count("N")
            own = places[before : before + found[0].count("N")]
            return Equation(operation, tuple(own[:count]), tuple(own[count:])), tuple(read)
    return None, tuple(tokens)


_OPERATIONS: dict[Operation, Callable[[Quantity, Operands], tuple[Result, Decimal] | None]] = {
    "change": _change,
    "difference": _difference_of,
    "sum": _sum,
    "ratio": _ratio,
    "share": _share,
}


def _place(value: Decimal) -> Decimal:
    """Return the value of the last written digit."""
    exponent = value.as_tuple().exponent
    return Decimal(1).scaleb(exponent if isinstance(exponent, int) else 0)


def _plain(amount: Decimal) -> str:
    return f"{amount.normalize():,f}".replace("-", "−")


_WITHIN: dict[str, tuple[Callable[[Decimal, Decimal], bool], str, str]] = {
    "lt": (lt, "<", "≥"), "le": (le, "≤", ">"), "gt": (gt, ">", "≤"), "ge": (ge, "≥", "<")
}  # fmt: skip
"""For each bound its comparison, and the signs for a kept and a broken bound."""


def as_money(claimed: Quantity, printed: Quantity) -> Quantity:
    """Return a scaled table number without a unit in the currency of another amount."""
    if printed.dimension == "" and not printed.bare and claimed.dimension == "money":
        return replace(printed, dimension="money", unit=claimed.unit)
    return printed


def same_digits(claimed: Quantity, cell: Quantity) -> bool:
    """Return whether a number is a cell itself, in whatever unit or scale: "£5.14 million" of "(5,140)"."""
    if not claimed.value or not cell.value:
        return not claimed.value and not cell.value
    ratio = abs(claimed.value / cell.value)
    return any(ratio == Decimal(1000) ** power for power in (-2, -1, 0, 1, 2))


_NEAREST = Decimal("0.1")  # share of an amount, or of its bound


def within_bound(token: Token, held: Quantity, text: str) -> tuple[bool, str] | None:
    """Return whether an exact amount is within a claim's bound, and the formula; None without a bound."""
    bound = token.quantity
    if bound is None or token.bound not in _WITHIN:
        return None
    held = as_money(bound, held)
    if (held.dimension, held.unit) != (bound.dimension, bound.unit):
        return None
    if held.base and not _NEAREST <= abs(bound.base / held.base) <= 1 / _NEAREST:
        return None  # nobody writes "up to £30 million" of £30,000
    within, kept, broken = _WITHIN[token.bound]
    is_within = within(held.base, bound.base)
    return is_within, f"{text} {kept if is_within else broken} {token.word}"
