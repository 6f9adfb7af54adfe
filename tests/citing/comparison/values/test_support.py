"""When a value of a claim and a printed value are the same."""

from __future__ import annotations

from decimal import Decimal

import pytest

from citing.comparison.values.support import agreement
from text.values import Value, values_in

MILLIONS = Decimal(10**6)


def only(text: str) -> Value:
    (value,) = values_in(text)
    return value


@pytest.mark.parametrize(
    ("claimed", "printed", "agreed"),
    [
        ("3,577", "3,577", "exact"),
        ("$3,577", "3,577", "exact"),
        ("3577", "$3,577", "normalized"),
        ("(305)", "−305", "exact"),
        ("305", "(305)", None),
        ("3,577", "3,578", None),
        ("$1.2 billion", "$1.2 billion", "exact"),
        ("$1,200 million", "$1.2 billion", "normalized"),
        ("$1.2 million", "$1.2 billion", None),
        ("4%", "4 percent", "exact"),
        ("4%", "$4", None),
        ("12%", "12", "normalized"),
        ("December 31, 2018", "31 December 2018", "normalized"),
        ("December 31, 2018", "December 31, 2017", None),
        ("2018", "2017", None),
    ],
)
def test_two_values_agree_or_do_not(claimed: str, printed: str, agreed: str | None) -> None:
    assert agreement(only(claimed), only(printed)) == agreed


@pytest.mark.parametrize(
    ("claimed", "agreed"),
    [
        ("1,577", "exact"),
        ("$1,577 million", "normalized"),
        ("$1.577 billion", "normalized"),
        ("$1,577,000,000", "normalized"),
        ("$1.58 billion", "normalized"),
        ("$1.6 billion", "normalized"),
        ("$1.5 billion", None),
        ("$2 billion", None),
        ("$1,577 billion", None),
        ("$1,577 thousand", None),
        ("$15.77 billion", None),
    ],
)
def test_the_page_counts_in_millions(claimed: str, agreed: str | None) -> None:
    assert agreement(only(claimed), only("1,577"), MILLIONS) == agreed


def test_a_scale_the_page_does_not_have_is_not_believed() -> None:
    assert agreement(only("$1,577 million"), only("1,577"), None) is None


def test_a_hedged_value_may_be_rounded() -> None:
    assert agreement(only("about 1,600"), only("1,577")) == "normalized"
    assert agreement(only("1,600"), only("1,577")) is None
