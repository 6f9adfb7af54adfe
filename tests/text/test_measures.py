"""Scale, currency and unit in captions, heads and labels of tables."""

from __future__ import annotations

from decimal import Decimal

import pytest

from text.measures import exceptions_of, measure_of, page_scale, without_measure

MILLION = 10**6


@pytest.mark.parametrize(
    ("text", "language", "scale", "currency", "symbol"),
    [
        ("Ore shipped, thousands of tonnes", "en", 1000, "", "t"),
        ("Ore shipped ('000 t)", "en", 1000, "", "t"),
        ("Table 4. Ore shipped by metal, 1,000 t", "en", 1000, "", "t"),
        ("The fleet was made up as follows (in thousands):", "en", 1000, "", ""),
        ("Rent by district, US$ m", "en", MILLION, "USD", ""),
        ("31 March 2024 £'000", "en", 1000, "GBP", ""),
        ("2024 EUR million", "en", MILLION, "EUR", ""),
        ("Umsatz Mio. €", "de", MILLION, "EUR", ""),
        ("Rent by district, millions of U.S. dollars", "en", MILLION, "USD", ""),
        ("(Unaudited; dollars in millions)", "en", MILLION, "USD", ""),
        ("Depth, m", "en", 1, "", "m"),
        ("Maximum current (A)", "en", 1, "", "A"),
        ("Share of respondents, %", "en", 1, "", "%"),
        ("Bevölkerung nach Land, in Tsd.", "de", 1000, "", ""),
        ("Miete nach Bezirk – Angaben in Mio. EUR", "de", MILLION, "EUR", ""),
        ("Umsatz in T€", "de", 1000, "EUR", ""),
        ("Production (millions de tonnes)", "fr", MILLION, "", "t"),
        ("Loyers par quartier, en millions d'euros", "fr", MILLION, "EUR", ""),
        ("Loyers par quartier en M€", "fr", MILLION, "EUR", ""),
        ("Población ocupada (miles de personas)", "es", 1000, "", ""),
        ("各区租金，单位：百万元", "zh", MILLION, "CNY", ""),
        ("以百万元计的租金", "zh", MILLION, "CNY", ""),
        ("就业人数 in 千", "zh", 1000, "", ""),
        ("賃料（単位：百万円）", "ja", MILLION, "JPY", ""),
        ("賃料 単位：百万円", "ja", MILLION, "JPY", ""),
        ("الصادرات (بملايين الدولارات)", "ar", MILLION, "USD", ""),
        ("Affitti per quartiere, in milioni di euro", "it", MILLION, "EUR", ""),
        ("Huren per wijk, in miljoenen euro", "nl", MILLION, "EUR", ""),
    ],
)
def test_a_measure_is_read_wherever_a_caption_names_it(
    text: str, language: str, scale: int, currency: str, symbol: str
) -> None:
    named = measure_of(text, language)
    assert named is not None
    measure = named.measure
    assert (measure.scale, measure.currency, measure.symbol) == (Decimal(scale), currency, symbol)


@pytest.mark.parametrize(
    "text",
    [
        "Deaths in Germany",
        "Patients (n = 212)",
        "Years ended December 31,",
        "Group A",
        "Fiscal 2018 (1)",
        "2018年",
        "The dividend was paid through our 401(k) plan.",
        "Corporate assets (b)",
        "Operating profit (a)(b)(c)",
        "B. Goodwill",
        "Medium-term note ($300 million)",
        "a benefit of $(4) million and $(7) million",
        "Shares forfeited (75,000)",
        "Notes due, 1,000",
        "2021",
    ],
)
def test_other_captions_name_no_measure(text: str) -> None:
    assert measure_of(text, "en") is None
    assert without_measure(text, "en") == text


@pytest.mark.parametrize(
    ("text", "left"),
    [("Depth in m", "Depth"), ("Load / kN", "Load"), ("Area (ha)", "Area"), ("Rent, $ million", "Rent")],
)
def test_the_words_beside_a_measure_are_left(text: str, left: str) -> None:
    assert without_measure(text, "en") == left


def test_a_scale_says_what_it_is_not_for() -> None:
    assert list(exceptions_of("(in millions, except per share data)", "en")) == [{"per", "share", "data"}]
    assert list(exceptions_of("in Mio. Euro, außer Angaben je Aktie", "de")) == [{"angaben", "je", "aktie"}]


@pytest.mark.parametrize(
    ("text", "language", "scale"),
    [
        ("(in millions, except per share data)", "en", 10**6),
        ("(shares in thousands, amounts in millions)", "en", 10**6),
        ("(MILLIONS, EXCEPT PER COMMON SHARE DATA)", "en", 10**6),
        ("($ million)", "en", 10**6),
        ("$ in thousands", "en", 1000),
        ("(Dollars in billions)", "en", 10**9),
        ("Useful life (in years)\tCost (in millions)", "en", 10**6),
        ("Shares used in calculation (000’s)", "en", 1000),
        ("(in Mio. €)", "de", 10**6),
        ("Angaben in TEUR", "", 1000),
        ("in Mrd. EUR", "", 10**9),
        ("(en milliers d'euros)", "fr", 1000),
        ("（単位：百万円）", "ja", 10**6),
        ("It cost $5 million.", "en", None),
        ("Corporate assets (b)\t11,355\t8,794", "en", None),
        ("Repurchase of common stock\t(698)\t(1,000)", "en", None),
    ],
)
def test_the_scale_that_a_page_counts_in_is_read(text: str, language: str, scale: int | None) -> None:
    assert page_scale(["nothing here", text], language) == scale


@pytest.mark.parametrize(
    ("text", "scale"),
    [("Office in Nashville (TN)", None), ("in TN", None), ("(USD TN)", 10**12), ("in tn", 10**12)],
)
def test_two_capitals_are_a_state_unless_a_currency_is_before_them(text: str, scale: int | None) -> None:
    assert page_scale([text], "en") == scale
