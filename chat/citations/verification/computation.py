"""Numbers computed from two cells: difference, growth, sum, ratio and share, with their formula."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal
from typing import Literal

from text.quantities import Quantity

Operation = Literal["change", "difference", "sum", "ratio", "share"]


@dataclass(frozen=True, slots=True)
class Operands:
    """A number and the one it is held against: the later and the earlier, the first and the second named.

    ``texts`` are both as they are printed, ``scale`` what the table counts in.
    """

    subject: Quantity
    reference: Quantity
    texts: tuple[str, str]
    scale: Decimal = Decimal(1)

    @property
    def comparable(self) -> bool:
        return (self.subject.dimension, self.subject.unit) == (self.reference.dimension, self.reference.unit)


@dataclass(frozen=True, slots=True)
class Result:
    """A computed number, in the measure of the claim; it holds within the claim's own rounding."""

    amount: Decimal
    step: Decimal
    formula: str

    def agrees(self, claimed: Decimal) -> bool:
        return abs(abs(self.amount) - abs(claimed)) <= self.step / 2


def computed(claimed: Quantity, operands: Operands, operation: Operation) -> tuple[Result, Decimal] | None:
    """The result a claim's number is to be held against, and that number in its measure.

    None where the measures do not fit.
    """
    if not operands.comparable:
        return None
    return _OPERATIONS[operation](claimed, operands)


def _change(claimed: Quantity, held: Operands) -> tuple[Result, Decimal] | None:
    subject, reference = held.subject, held.reference
    if claimed.unit == "%" or (claimed.dimension == "ratio" and subject.dimension != "ratio"):
        return _growth(claimed, held)
    if claimed.dimension == "points" and subject.dimension == "ratio":
        return _difference(held, Decimal(100), claimed.base, max(claimed.step, Decimal("0.0001")))
    counted = claimed.dimension == "money" and not subject.dimension and not subject.bare  # "in millions"
    scaled = claimed.scale != 1 and not claimed.dimension and subject.dimension == "money"  # "427 million"
    if counted or scaled or (claimed.dimension == subject.dimension and claimed.unit in ("", subject.unit)):
        return _difference(held, Decimal(1), claimed.base, claimed.step)
    if claimed.bare and not reference.bare:  # as printed, without the scale of the table
        return _difference(held, _unscaled(reference), claimed.value, claimed.step)
    return None


def _unscaled(quantity: Quantity) -> Decimal:
    """What turns an amount into the number that is printed for it."""
    return quantity.value / quantity.base if quantity.base else Decimal(1)


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
        factor = _unscaled(held.subject)
        return Result(amount * factor, claimed.step, formula), claimed.value
    return Result(amount, claimed.step, formula), claimed.base


def _ratio(claimed: Quantity, held: Operands) -> tuple[Result, Decimal] | None:
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


_OPERATIONS: dict[Operation, Callable[[Quantity, Operands], tuple[Result, Decimal] | None]] = {
    "change": _change,
    "difference": _change,
    "sum": _sum,
    "ratio": _ratio,
    "share": _share,
}


def _place(value: Decimal) -> Decimal:
    """The last place a number is written to."""
    exponent = value.as_tuple().exponent
    return Decimal(1).scaleb(exponent if isinstance(exponent, int) else 0)


def _plain(amount: Decimal) -> str:
    return f"{amount.normalize():,f}".replace("-", "−")
