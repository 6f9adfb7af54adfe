"""Numbers, fractions, years and dates as texts write them."""

from __future__ import annotations

from decimal import Decimal

import pytest

from text.numbers import (
    YEAR,
    YEAR_NOT_AMOUNT,
    dates_in,
    decimal_mark,
    digit_value,
    fractions_in,
    mark_of_language,
    numbers_in,
)


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
    ("text", "value"),
    [
        ("十分の三", "0.3"),
        ("10分の3", "0.3"),
        ("2百分の50", "0.25"),
        ("3割5分", "0.35"),
        ("1十割", "1"),
        ("零分の三", None),
    ],
)
def test_fractions_mix_digits_and_chinese_characters(text: str, value: str | None) -> None:
    assert [part.value for part in fractions_in(text, "ja")] == ([Decimal(value)] if value else [])


@pytest.mark.parametrize(
    ("text", "language", "date"),
    [
        ("on March 5, 1887", "en", (1887, 3, 5)),
        ("am 5. März 2021", "de", (2021, 3, 5)),
        ("2021-03-05", "en", (2021, 3, 5)),
        ("03/05/2021", "en", (2021, 3, 5)),
        ("05/03/2021", "fr", (2021, 3, 5)),
        ("令和3年3月5日", "ja", (2021, 3, 5)),
        ("2021年３月５日", "ja", (2021, 3, 5)),
        ("2021年十二月5日", "ja", (2021, 12, 5)),
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


@pytest.mark.parametrize(
    ("text", "mark"),
    [
        ("Der Umsatz betrug 1.577 Euro", ","),
        ("Le chiffre d'affaires est de 1.577 euros", ","),
        ("Los ingresos del grupo: 1.577", ","),
        ("Revenue of the group was 1.577", "."),
        ("1.577,5", ","),
        ("1.577.000", ","),
        ("1,577.5", "."),
        ("1,577,000", "."),
        ("15,6", ","),
        ("15.6", "."),
        ("Der Aufwand betrug 1'577.50 und ist gestiegen", "."),
        ("1.577", None),
        ("营业收入", None),
    ],
)
def test_a_text_tells_its_decimal_mark_by_its_numbers_or_its_words(text: str, mark: str | None) -> None:
    assert decimal_mark(text) == mark


@pytest.mark.parametrize(
    ("language", "mark"), [("de-DE", ","), ("fr", ","), ("en-US", "."), ("de-CH", None), ("", None)]
)
def test_a_documents_language_tells_where_its_words_do_not(language: str, mark: str | None) -> None:
    assert decimal_mark("1.577", language=language) == mark
    assert decimal_mark("Revenue of the group was 1.577", language=language) == "."


@pytest.mark.parametrize(
    ("digits", "with_comma", "with_point"),
    [
        ("1.577", "1577", "1.577"),
        ("1,577", "1.577", "1577"),
        ("1577.575", "1577.575", "1577.575"),  # thousands of four digits do not exist
        ("1577,575", "1577.575", "1577.575"),
        ("1'577.500", "1577.5", "1577.5"),
        ("03.605", "3.605", "3.605"),
        ("0,125", "0.125", "0.125"),
        (".714", "0.714", "0.714"),
        ("1.577.000", "1577000", "1577000"),
        ("1,50,000", "150000", "150000"),
    ],
)
def test_the_mark_decides_only_where_digits_have_two_readings(
    digits: str, with_comma: str, with_point: str
) -> None:
    assert digit_value(digits, ",") == Decimal(with_comma)
    assert digit_value(digits, ".") == Decimal(with_point)


@pytest.mark.parametrize(
    ("language", "mark"),
    [("bg", ","), ("id", ","), ("pt-BR", ","), ("fa", "."), ("ar", "."), ("de-CH", None)],
)
def test_a_language_has_one_decimal_mark_for_claims_pages_and_the_index(
    language: str, mark: str | None
) -> None:
    assert mark_of_language(language) == mark
