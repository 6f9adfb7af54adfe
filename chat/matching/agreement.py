"""When two values are the same.

``3,577`` = ``3577`` = ``$3,577``; ``(305)`` = ``−305``; ``1.577 billion`` =
``1,577`` where the page says "in millions".
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from decimal import ROUND_HALF_UP, Decimal
from functools import lru_cache
from typing import Literal

from chat.values import Value, scale_named

Agreement = Literal["exact", "normalized"]
FARTHEST_ROUNDING = Decimal("0.05")  # share of a value that rounding it may take or add

_CONTEXT_SCALE = re.compile(
    r"(?:\bin|\(|[$£€¥]|dollars|usd|eur|amounts)\s*(?:[$£€¥]|us\$|usd|eur|gbp|chf)?\s*"
    r"(?P<scale>thousand|million|billion|tausend|tsd|mio|millionen|mrd|milliarden|t(?=€|eur\b))"
    r"(?:s?\b|(?<=\bt)(?=€|eur\b))",
    re.IGNORECASE,
)


def page_scale(texts: Iterable[str]) -> Decimal | None:
    """What the first of the texts that says so counts in: "(in millions)" is 10**6."""
    return next((scale for scale in map(_said_scale, texts) if scale), None)


@lru_cache(maxsize=4096)
def _said_scale(text: str) -> Decimal | None:
    for match in _CONTEXT_SCALE.finditer(text):
        if not re.search(r"\d\s*$", text[: match.start()]) or match[0].startswith("("):
            return scale_named(match["scale"])
    return None


def agreement(claimed: Value, printed: Value, scale: Decimal | None = None) -> Agreement | None:
    """Whether a printed value is the claimed one; ``scale`` is what the page counts in.

    ``exact``: the same digits and sign, though their languages may read them
    otherwise; ``normalized``: the same value written otherwise, or rounded to
    the digits of a claim that scales or hedges it.
    """
    if "date" in (claimed.kind, printed.kind):
        return _date_agreement(claimed, printed)
    if (claimed.kind == "percent") != (printed.kind == "percent"):
        bare = claimed.kind == "percent" and printed.kind == "number"
        return _bare(claimed, printed) if bare else None
    if claimed.kind == "year" or printed.kind == "year":
        same = claimed.number == printed.number and printed.scale == claimed.scale
        return ("exact" if claimed.digits == printed.digits else "normalized") if same else None
    if _is_copied(claimed, printed):
        return "exact"
    if claimed.scale == printed.scale and claimed.number == printed.number:
        return "exact" if claimed.digits == printed.digits else "normalized"
    return "normalized" if _same_amount(claimed, printed, scale) else None


def _is_copied(claimed: Value, printed: Value) -> bool:
    """``1.577`` of a German page in an English sentence."""
    same_sign = (claimed.number < 0) == (printed.number < 0)
    return claimed.digits == printed.digits and claimed.scale == printed.scale and same_sign


def _bare(claimed: Value, printed: Value) -> Agreement | None:
    """A percentage whose sign stands in the column's head or in a cell of its own."""
    same = claimed.number == printed.number and printed.scale is None
    return "normalized" if same else None


def _date_agreement(claimed: Value, printed: Value) -> Agreement | None:
    if claimed.kind != printed.kind:
        return None
    if claimed.number == printed.number:
        return "exact" if claimed.text == printed.text else "normalized"
    with_year = max(claimed.number, printed.number) >= 10**7 > min(claimed.number, printed.number)
    return "normalized" if with_year and claimed.number % 10000 == printed.number % 10000 else None


def _same_amount(claimed: Value, printed: Value, scale: Decimal | None) -> bool:
    """Whether both are the same amount once scaled.

    A claim without a scale may repeat a number as printed in a table that has
    one, or write it out in full.
    """
    if claimed.scale is None and printed.scale is None and claimed.number == printed.number:
        return True
    whole = printed.number * (printed.scale or scale or 1)
    wanted = claimed.number * (claimed.scale or 1)
    if whole == wanted:
        return True
    if claimed.scale is None and not claimed.hedged:
        return False
    step = (claimed.scale or 1) * Decimal(1).scaleb(-_decimals(claimed))
    if claimed.hedged and claimed.scale is None and claimed.number == claimed.number.to_integral():
        step = Decimal(1).scaleb(_trailing_zeros(claimed.number))
    near = abs(whole - wanted) <= FARTHEST_ROUNDING * abs(whole)
    return near and (whole / step).quantize(Decimal(1), ROUND_HALF_UP) * step == wanted


def _decimals(value: Value) -> int:
    exponent = value.number.as_tuple().exponent
    return -exponent if isinstance(exponent, int) and exponent < 0 else 0


def _trailing_zeros(number: Decimal) -> int:
    digits = str(abs(int(number)))
    return len(digits) - len(digits.rstrip("0")) if int(number) else 0
