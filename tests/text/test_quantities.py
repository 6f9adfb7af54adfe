"""Numbers bound to their scale, currency and unit."""

from __future__ import annotations

from decimal import Decimal

import pytest

from text.quantities import quantities_in


@pytest.mark.parametrize(
    ("text", "language", "value", "dimension", "unit"),
    [
        ("$5.2 million", "en", "5200000", "money", "USD"),
        ("5,2 Mio. EUR", "de", "5200000", "money", "EUR"),
        ("40 TEUR", "de", "40000", "money", "EUR"),
        ("5 mg", "en", "5", "mass", "mg"),
        ("12 %", "de", "12", "ratio", "%"),
        ("45 days", "en", "45", "time", "d"),
        ("in 2019", "en", "2019", "year", ""),
    ],
)
def test_a_quantity_has_its_value_and_unit(
    text: str, language: str, value: str, dimension: str, unit: str
) -> None:
    found = quantities_in(text, language)
    assert [(q.value, q.dimension, q.unit) for q in found] == [(Decimal(value), dimension, unit)]


def test_brackets_of_accounts_are_a_minus() -> None:
    assert [q.value for q in quantities_in("a loss of $(4.5) million", "en")] == [Decimal("-4500000")]
