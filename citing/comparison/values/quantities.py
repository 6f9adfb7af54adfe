"""Whether two amounts are the same, and how they differ."""

from __future__ import annotations

from decimal import Decimal

from text.quantities import Quantity
from text.units import ANY_CURRENCY

NEAR = Decimal("0.000001")  # relative error of converting units
FARTHEST_ROUNDING = Decimal("0.05")  # largest relative error of rounding
_PART_OF_DATE = 10000


def same_quantity(claim: Quantity, source: Quantity, hedged: bool = False) -> bool:
    """Return whether both amounts are equal, with dimension and currency; a hedged claim may be rounded."""
    if claim.dimension != source.dimension:
        return _year_as_number(claim, source)
    if claim.dimension == "date":
        return _same_date(int(claim.value), int(source.value))
    if _other_currency(claim, source):
        return False
    if claim.base == source.base:
        return True
    if claim.unit != source.unit and abs(claim.base - source.base) <= NEAR * abs(source.base):
        return True
    hedged = hedged or {claim.unit, source.unit} == {"fraction", "%"}  # "a third" for 33 %
    return hedged and rounded(claim, source)


def _other_currency(claim: Quantity, source: Quantity) -> bool:
    both_named = ANY_CURRENCY not in (claim.unit, source.unit)
    return claim.dimension == "money" and both_named and claim.unit != source.unit


def are_comparable(claim: Quantity, source: Quantity) -> bool:
    """Return whether two amounts can contradict each other.

    Not a share and a count ("a quarter", "6 of 24"), nor the same number with and without its unit
    ("21 or older", "21 years").
    """
    kinds = {claim.dimension, source.dimension}
    if "" in kinds and len(kinds) == 2:
        return "fraction" not in (claim.unit, source.unit) and claim.value != source.value
    return True


def rounded(claim: Quantity, source: Quantity) -> bool:
    """Return whether the claim is the source rounded to the claim's last written digit."""
    near = abs(claim.base - source.base) <= FARTHEST_ROUNDING * abs(source.base)
    step = max(claim.step, _trailing_step(claim))
    return near and abs(claim.base - source.base) <= step / 2


def _trailing_step(quantity: Quantity) -> Decimal:
    """Return the value of one step of the last non-zero digit, in base units."""
    if not quantity.value:
        return Decimal(0)
    exponent = quantity.value.normalize().as_tuple().exponent
    return Decimal(1).scaleb(exponent if isinstance(exponent, int) else 0) * abs(
        quantity.base / quantity.value
    )


def _year_as_number(claim: Quantity, source: Quantity) -> bool:
    """Return whether one is a year of the other's date, or a number that looks like the year."""
    if {claim.dimension, source.dimension} == {"year", ""}:
        return claim.value == source.value
    return (
        claim.dimension == "year"
        and source.dimension == "date"
        and int(source.value) // _PART_OF_DATE == claim.value
    )


def _same_date(claim: int, source: int) -> bool:
    """Return whether day, month and year agree as far as the claim has them."""
    parts = ((10000, 10**9), (100, 100), (1, 100))
    return all(not (own := claim // unit % size) or own == source // unit % size for unit, size in parts)


def kind_of_difference(one: Quantity, other: Quantity, claimed: str, printed: str) -> str:
    """Return the kind of difference of two amounts of one dimension with their bounds."""
    if _other_currency(one, other):
        return "currency"
    if same_quantity(one, other):
        return "comparator" if claimed != printed else "digit"
    if one.dimension == "date":
        return "date"
    if one.dimension == "year":
        return "time"
    if one.base == -other.base:
        return "sign"
    ratio = abs(one.base / other.base) if other.base else Decimal(0)
    if ratio and ratio.normalize().as_tuple().digits == (1,) and ratio not in (1, 10):
        same_unit = one.unit == other.unit
        return "scale" if same_unit else "unit"
    if one.unit != other.unit and one.value == other.value:
        return "unit"
    return "digit"
