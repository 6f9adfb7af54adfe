"""Values as texts write them, and when two are the same."""

from __future__ import annotations

from decimal import Decimal

import pytest

from chat.citations.values.written_values import Value, agreement, page_scale, values_in

MILLIONS = Decimal(10**6)


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


@pytest.mark.parametrize(
    ("text", "scale"),
    [
        ("(in millions, except per share data)", 10**6),
        ("(MILLIONS, EXCEPT PER COMMON SHARE DATA)", 10**6),
        ("($ million)", 10**6),
        ("$ in thousands", 1000),
        ("(Dollars in billions)", 10**9),
        ("It cost $5 million.", None),
    ],
)
def test_what_a_page_counts_in_is_read(text: str, scale: int | None) -> None:
    assert page_scale(["nothing here", text]) == scale
