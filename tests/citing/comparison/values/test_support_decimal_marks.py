"""``1.577`` of a German page and ``1.577`` of an English one are not the same number."""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal

import pytest

from citing.claims import VERIFIED, Claim, SourceUnit, Verification
from citing.verdict import verify
from tests.citing.test_verdict import under_years, units
from text.values import values_in

GERMAN = [
    (60.0, 40.0, "Konzern-Kapitalflussrechnung (in Mio. €)"),
    (300.0, 60.0, "2018"),
    (400.0, 60.0, "2017"),
    (60.0, 80.0, "Vorräte"),
    (300.0, 80.0, "4.366"),
    (400.0, 80.0, "4.034"),
    (60.0, 100.0, "Operativer Cashflow"),
    (300.0, 100.0, "1.577,5"),
    (400.0, 100.0, "(1.373,2)"),
]


def said(sentence: str, row: str, lines: list[tuple[float, float, str]] = GERMAN) -> Verification:
    return verdict_on(units(*lines, document="DE", title="Bericht_2018"), sentence, row)


def verdict_on(statement: list[SourceUnit], sentence: str, row: str) -> Verification:
    cited = next(unit for unit in statement if unit.text.startswith(row))
    return verify(Claim(sentence), cited, [unit for unit in statement if unit is not cited])


@pytest.mark.parametrize(
    ("digits", "with_comma", "with_point"),
    [
        ("1.577", "1577", "1.577"),
        ("1,577", "1.577", "1577"),
        ("1.577,5", "1577.5", "1577.5"),
        ("1,577.5", "1577.5", "1577.5"),
        ("1.577.000", "1577000", "1577000"),
        ("0.125", "0.125", "0.125"),
        ("0,125", "0.125", "0.125"),
        ("15.6", "15.6", "15.6"),
        ("1\u202f577,5", "1577.5", "1577.5"),
        ("1'577.50", "1577.5", "1577.5"),
    ],
)
def test_digits_are_read_by_the_mark_unless_they_can_be_read_in_one_way_only(
    digits: str, with_comma: str, with_point: str
) -> None:
    assert [value.number for value in values_in(digits, ",")] == [Decimal(with_comma)]
    assert [value.number for value in values_in(digits, ".")] == [Decimal(with_point)]


@pytest.mark.parametrize(
    ("text", "number", "scale"),
    [
        ("1.577 Mio. Euro", "1577", 10**6),
        ("1,5 Mrd. €", "1.5", 10**9),
        ("3 Millionen", "3", 10**6),
        ("31. Dezember 2018", "20181231", None),
        ("31.12.2018", "20181231", None),
    ],
)
def test_german_scales_and_dates_are_read(text: str, number: str, scale: int | None) -> None:
    (value,) = values_in(f"Es waren für den Konzern {text}")
    assert (value.number, value.scale) == (Decimal(number), scale)


@pytest.mark.parametrize("text", ["Sales decreased 12%.", "The margin 15% rose.", "It declined 12 percent."])
def test_a_word_that_begins_like_a_month_is_none(text: str) -> None:
    assert [value.kind for value in values_in(text)] == ["percent"]


@pytest.mark.parametrize(
    ("sentence", "row", "verdict"),
    [
        ("Die Vorräte betrugen 2018 4.366 Mio. €.", "Vorräte", "normalized"),
        ("Vorräte 2018: 4.366", "Vorräte", "exact"),
        ("The Vorräte of 2018 were 4,366.", "Vorräte", "normalized"),
        ("The Vorräte of 2018 were €4.366 billion.", "Vorräte", "normalized"),
        ("The Vorräte of 2018 were 4.366.", "Vorräte", "exact"),  # quoted as printed
        ("Der operative Cashflow war 2018 1.577,5.", "Operativer", "exact"),
        ("The Cashflow of 2018 was 1,577.5.", "Operativer", "normalized"),
    ],
)
def test_a_value_of_a_german_page_is_found_in_either_writing(sentence: str, row: str, verdict: str) -> None:
    assert said(sentence, row).verdict == verdict


@pytest.mark.parametrize(
    "sentence",
    [
        "Die Vorräte betrugen 2018 4.367 Mio. €.",
        "Die Vorräte betrugen 2018 4.366 Mrd. €.",
        "Die Vorräte betrugen 2018 4,366 Mio. €.",
        "The Vorräte of 2018 were €4.366 million.",
        "The Vorräte of 2018 were -4,366.",
    ],
)
def test_a_wrong_claim_about_a_german_page_is_never_verified(sentence: str) -> None:
    assert said(sentence, "Vorräte").verdict not in VERIFIED


def test_a_value_of_a_german_page_is_that_of_the_year_over_it() -> None:
    statement = under_years(units(*GERMAN, document="DE", title="Bericht_2018"))
    assert verdict_on(statement, "Die Vorräte betrugen 2018 4.366.", "Vorräte").verdict == "exact"
    assert verdict_on(statement, "Die Vorräte betrugen 2018 4.034.", "Vorräte").verdict not in VERIFIED


def test_a_german_claim_about_an_english_page_may_write_its_own_way() -> None:
    english = [(60.0, 60.0, "Acme sold 1,577 red anvils to Wile Coyote during 2018 for the first time.")]
    german = "Acme hat 2018 für Wile Coyote 1.577 anvils hergestellt."
    assert (
        said(german, "Acme", english).verdict == "found"
    )  # its values stand there; its words were not compared
    assert not said("Acme made 1.577 anvils for the Coyote in 2018.", "Acme", english).supported


def test_the_documents_language_settles_a_page_of_bare_numbers() -> None:
    (row,) = units((60.0, 60.0, "Umsatz"), (300.0, 60.0, "1.577"), document="DE", title="Bericht")
    claim = Claim("The Umsatz was 1,577.")
    assert not verify(claim, row).supported
    assert verify(claim, replace(row, language="de-DE")).supported


def test_a_claim_with_words_is_compared_with_cells_in_the_mark_of_their_page() -> None:
    statement = under_years(units(*GERMAN, document="DE", title="Bericht_2018"))
    assert not verdict_on(statement, "Die Vorräte betrugen 2018 4,366 Mio. €.", "Vorräte").supported
    assert verdict_on(statement, "Die Vorräte betrugen 2018 4.366 Mio. €.", "Vorräte").supported
