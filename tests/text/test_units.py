"""Units of measure by symbol and by name."""

from __future__ import annotations

import pytest

from text.units import hundredth_at, unit_at, units_by_symbol


@pytest.mark.parametrize(
    ("text", "language", "symbol"),
    [("mg daily", "en", "mg"), ("kilometres", "en", "km"), ("Tonnen", "de", "t"), ("アンペア", "ja", "A")],
)
def test_a_unit_is_read_by_symbol_or_name(text: str, language: str, symbol: str) -> None:
    found = unit_at(text, 0, language)
    assert found is not None and found[0] == symbol


def test_units_of_one_dimension_have_one_base() -> None:
    units = units_by_symbol()
    assert units["g"].dimension == units["mg"].dimension
    assert units["g"].factor == 1000 * units["mg"].factor


def test_a_word_that_only_begins_like_a_unit_is_none() -> None:
    assert unit_at("mgr", 0, "en") is None


def test_cents_are_hundredths_of_a_currency() -> None:
    found = hundredth_at("45p", 2, "en")
    assert found == ("GBP", 3)
