"""Values as texts write them, whatever their language."""

from __future__ import annotations

from decimal import Decimal

import pytest

from text.values import Value, values_in


def only(text: str) -> Value:
    (value,) = values_in(text)
    return value


@pytest.mark.parametrize(
    ("text", "number", "kind"),
    [
        ("3,577", "3577", "number"),
        ("$3,577", "3577", "amount"),
        ("(305)", "-305", "number"),
        ("−305", "-305", "number"),
        ("-5.2%", "-5.2", "percent"),
        ("(3.2)%", "-3.2", "percent"),
        ("(3.2%)", "-3.2", "percent"),
        ("$(1,674)", "-1674", "amount"),
        ("($305)", "-305", "amount"),
        ("15.6 percent", "15.6", "percent"),
        ("12 %", "12", "percent"),
        ("1.577,00", "1577", "number"),
        ("1\u202f577", "1577", "number"),
        (".75", "0.75", "number"),
        ("100,000,000", "100000000", "number"),
        ("2018", "2018", "year"),
        ("FY2018", "2018", "year"),
        ("December 31, 2018", "20181231", "date"),
        ("31 Dec. 2018", "20181231", "date"),
        ("2018-12-31", "20181231", "date"),
        ("June 30", "630", "date"),
        ("577 euros", "577", "amount"),
    ],
)
def test_a_value_is_read(text: str, number: str, kind: str) -> None:
    value = only(f"It was {text}." if not text.startswith("It") else text)
    assert (value.number, value.kind) == (Decimal(number), kind)


@pytest.mark.parametrize(
    ("text", "scale"),
    [
        ("$1.2 billion", 10**9),
        ("66 million", 10**6),
        ("£2.4m", 10**6),
        ("1.2-billion", 10**9),
        ("$3bn", 10**9),
        ("5 thousand dollars", 1000),
    ],
)
def test_a_scale_beside_a_number_is_read(text: str, scale: int) -> None:
    assert only(text).scale == scale


@pytest.mark.parametrize(
    "text",
    [
        "COVID-19",
        "3M grew",
        "Form 10-K",
        "in Q4",
        "Note 5",
        "see page 12",
        "Table 3",
        "the 4th quarter",
        "A4",
        "§ 7",
        "Requirement 7.1.1",
        "10.4.2 was released",
    ],
)
def test_a_number_that_is_part_of_a_name_or_says_where_is_no_value(text: str) -> None:
    assert values_in(text) == ()


def test_values_of_a_row_do_not_take_each_others_signs() -> None:
    assert [value.text for value in values_in("$ (1,145) $ (1,674) $ 795 8 % — 3")] == [
        "$ (1,145)",
        "$ (1,674)",
        "$ 795",
        "8 %",
        "3",
    ]


@pytest.mark.parametrize("text", ["Sales (2018) of $1,577 million, 4.5% and (305).", "١٢٣ and 1\u202f577 €"])
def test_a_value_is_the_slice_of_its_text(text: str) -> None:
    assert all(text[value.start : value.end] == value.text for value in values_in(text))


@pytest.mark.parametrize(
    ("text", "number"),
    [("12 July 1850", "18500712"), ("2018年12月31日", "20181231"), ("3. Oktober 1990", "19901003")],
)
def test_dates_are_those_of_text_numbers(text: str, number: str) -> None:
    assert [(value.kind, value.number) for value in values_in(text)] == [("date", Decimal(number))]


def test_a_date_of_two_orders_and_a_month_alone_are_no_dates() -> None:
    assert [value.kind for value in values_in("Due on 6/12/2020 or in June 2021")][-2:] == ["year", "year"]
    assert "date" not in {value.kind for value in values_in("Due on 6/12/2020 or in June 2021")}


def test_the_second_year_behind_a_date_is_a_year() -> None:
    values = values_in("as of December 31, 2021 and 2020")
    assert [(value.kind, value.year) for value in values] == [("date", 2021), ("year", 2020)]


@pytest.mark.parametrize(
    ("text", "kind", "scale"),
    [("5 crore", "number", 10**7), ("PLN 5 mln", "amount", 10**6), ("₩5bn", "amount", 10**9)],
)
def test_scales_and_currencies_are_those_of_the_languages_data(text: str, kind: str, scale: int) -> None:
    assert [(value.kind, value.scale) for value in values_in(text)] == [(kind, Decimal(scale))]
