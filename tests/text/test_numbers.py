"""Numbers, fractions, years and dates as texts write them."""

from __future__ import annotations

from decimal import Decimal

import pytest

from text.numbers import YEAR, YEAR_NOT_AMOUNT, dates_in, fractions_in, numbers_in


@pytest.mark.parametrize(
    ("text", "language", "value"),
    [
        ("1,577.5 tonnes", "en", "1577.5"),
        ("1.577,5 Tonnen", "de", "1577.5"),
        ("1.577 Tonnen", "de", "1577"),
        ("1.577 tonnes", "en", "1.577"),
        ("1,50,000 rupees", "en", "150000"),
        ("two hundred and five rowers", "en", "205"),
        ("dreihundertfünfzig Gäste", "de", "350"),
        ("三百二十人", "ja", "320"),
        ("2½ hours", "en", "2.5"),
    ],
)
def test_a_number_is_read_by_its_language(text: str, language: str, value: str) -> None:
    assert [number.value for number in numbers_in(text, language)] == [Decimal(value)]


def test_digits_inside_a_name_are_no_number() -> None:
    assert [number.value for number in numbers_in("K20 120", "en")] == [120]


def test_fractions_are_read_in_words() -> None:
    assert [part.value for part in fractions_in("three in ten, two fifths", "en")] == [
        Decimal("0.3"),
        Decimal("0.4"),
    ]


@pytest.mark.parametrize(
    ("text", "language", "date"),
    [
        ("on March 5, 1887", "en", (1887, 3, 5)),
        ("am 5. März 2021", "de", (2021, 3, 5)),
        ("2021-03-05", "en", (2021, 3, 5)),
        ("03/05/2021", "en", (2021, 3, 5)),
        ("05/03/2021", "fr", (2021, 3, 5)),
        ("令和3年3月5日", "ja", (2021, 3, 5)),
        ("in May 2021", "en", (2021, 5, 0)),
    ],
)
def test_a_date_is_read_by_its_language(text: str, language: str, date: tuple[int, int, int]) -> None:
    assert [(found.year, found.month, found.day) for found in dates_in(text, language)] == [date]


def test_further_years_have_the_same_day() -> None:
    found = dates_in("December 31, 2021, 2020 and 2019", "en")
    assert [(date.year, date.day) for date in found] == [(2021, 31), (2020, 31), (2019, 31)]


def test_a_year_within_a_word_is_a_year_and_within_an_amount_is_not() -> None:
    text = "FY2019, 31.12.2018, 2017%, 2016.5 and 12019"
    assert YEAR.findall(text) == ["2019", "2018", "2017", "2016"]
    assert YEAR_NOT_AMOUNT.findall(text) == ["2019"]
