"""When two tokens say the same, and what differs when they do not."""

from __future__ import annotations

from decimal import Decimal

from chat.citations.verification.tokens import Token
from text.quantities import Quantity

NEAR = Decimal("0.000001")  # share of a value lost where its unit is converted
FARTHEST_ROUNDING = Decimal("0.05")  # share of a value that rounding it may take or add
_SAME_BOUNDS = ({"", "approx"},)
# A bound of the page that a claim's weaker one follows from is not the same bound.
_PART_OF_DATE = 10000


def same(claim: Token, source: Token) -> bool:
    """Whether the claim's token says what the source's says."""
    if claim.quantity or source.quantity:
        return _same_bound_quantity(claim, source)
    if claim.marker and source.marker:
        return claim.marker == source.marker
    if claim.stem == source.stem or claim.word == source.word:
        return True
    if claim.marker or source.marker:
        return bool(claim.poles & source.poles)
    return bool(claim.synonyms & source.synonyms or claim.poles & source.poles)


def opposite(claim: Token, source: Token) -> frozenset[str]:
    """Pairs of opposites the two stand on different sides of."""
    return frozenset(
        pair for pair, side in claim.poles for other, far in source.poles if pair == other and side != far
    )


def _same_bound_quantity(claim: Token, source: Token) -> bool:
    if not claim.quantity or not source.quantity:
        return False
    if not same_quantity(claim.quantity, source.quantity, hedged=claim.bound == "approx"):
        return False
    return claim.bound == source.bound or (claim.bound == "approx" and source.bound == "")


def same_quantity(claim: Quantity, source: Quantity, hedged: bool = False) -> bool:
    """Whether both are one amount: of one dimension and currency, equal but for rounding a hedged claim."""
    if claim.dimension != source.dimension:
        return _year_as_number(claim, source)
    if claim.dimension == "date":
        return _same_date(int(claim.value), int(source.value))
    if claim.dimension == "money" and claim.unit != source.unit:
        return False
    if claim.base == source.base:
        return True
    if claim.unit != source.unit and abs(claim.base - source.base) <= NEAR * abs(source.base):
        return True
    return hedged and rounded(claim, source)


def rounded(claim: Quantity, source: Quantity) -> bool:
    """Whether the claim is the source rounded to the claim's last written place."""
    near = abs(claim.base - source.base) <= FARTHEST_ROUNDING * abs(source.base)
    step = max(claim.step, _trailing_step(claim))
    return near and abs(claim.base - source.base) <= step / 2


def _trailing_step(quantity: Quantity) -> Decimal:
    """The place of the last digit that is not zero, in base units."""
    if not quantity.value:
        return Decimal(0)
    exponent = quantity.value.normalize().as_tuple().exponent
    return Decimal(1).scaleb(exponent if isinstance(exponent, int) else 0) * abs(
        quantity.base / quantity.value
    )


def _year_as_number(claim: Quantity, source: Quantity) -> bool:
    """A year is said as part of a date, or a number looks like a year."""
    if {claim.dimension, source.dimension} == {"year", ""}:
        return claim.value == source.value
    return (
        claim.dimension == "year"
        and source.dimension == "date"
        and int(source.value) // _PART_OF_DATE == claim.value
    )


def _same_date(claim: int, source: int) -> bool:
    """Whether every part the claim gives is the source's."""
    parts = ((10000, 10**9), (100, 100), (1, 100))
    return all(not (own := claim // unit % size) or own == source // unit % size for unit, size in parts)


def difference(claim: Token, source: Token) -> str:
    """The kind of conflict between two quantities that stand in the same place."""
    one, other = claim.quantity, source.quantity
    assert one is not None
    assert other is not None
    if {one.dimension, other.dimension} == {"ratio", "points"}:
        return "percent_points"
    if one.dimension == other.dimension:
        return _of_one_dimension(one, other, claim.bound, source.bound)
    if "date" in (one.dimension, other.dimension) or "year" in (one.dimension, other.dimension):
        return "date"
    if one.value == other.value or (one.dimension and other.dimension):
        return "unit"
    return "digit"


def _of_one_dimension(one: Quantity, other: Quantity, claimed: str, printed: str) -> str:
    if one.dimension == "money" and one.unit != other.unit:
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
