"""One reader of table cells: kinds, scales, periods, groups and printed forms."""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal

import msgspec
import pytest

from citing.batch import passage_units
from citing.claims import SourceUnit
from citing.tables import CellReading, TableText, read_tables, worded_kind
from pdf.geometry import Rect
from pdf.structure import Cell, TableRow


def rows(
    caption: str,
    heads: tuple[str, ...],
    *lines: tuple[str, ...],
    language: str = "en",
    indents: tuple[float, ...] = (),
) -> list[SourceUnit]:
    """Return the rows of a table, one below the other; ``indents``: left edges of the labels in points."""
    units, start = [], 0
    for at, line in enumerate(lines):
        cells, place = [], start
        for column, text in enumerate(line):
            left = indents[at] if indents and column == 0 else 100.0 * column
            box = Rect(left, 12.0 * at, left + 80, 12.0 * at + 10) if text else None
            cells.append(Cell(column, text, box, char_start=place, char_end=place + len(text)))
            place += len(text) + 1
        table = TableRow(0, at + 1, tuple(cells), head_rows=heads, caption=caption)
        text = " ".join(line)
        units.append(SourceUnit(f"r{at}", "d", 1, text, start, (), "table", table=table, language=language))
        start = place + 1
    return units


def cell(units: list[SourceUnit], row: int, column: int) -> CellReading:
    found = read_tables(units)[f"r{row}"]
    return next(one for one in found if one.cell.column == column)


def test_earnings_per_share_are_not_scaled_in_german() -> None:
    table = rows(
        "in Mio. EUR", ("", "2023"), ("Umsatz", "1.577"), ("Ergebnis je Aktie", "3,50"), language="de"
    )
    share = cell(table, 1, 1)
    assert (share.kind, share.quantity and share.quantity.base) == ("rate", Decimal("3.50"))
    assert share.printed == "€3,50"


def test_a_dividend_per_share_is_not_scaled() -> None:
    table = rows("$ in thousands", ("", "2023"), ("Revenue", "$ 4,210"), ("Dividend per share", "0.35"))
    dividend = cell(table, 1, 1)
    assert dividend.quantity and dividend.quantity.base == Decimal("0.35")
    assert dividend.printed == "$0.35"


def test_the_measure_of_a_head_counts_and_employees_are_no_money() -> None:
    table = rows("", ("Region", "Sales ($ million)", "Employees"), ("North", "14.5", "1,200"))
    sales, employees = cell(table, 0, 1), cell(table, 0, 2)
    assert sales.quantity and (sales.quantity.base, sales.quantity.unit) == (Decimal(14_500_000), "USD")
    assert sales.printed == "$14.5 million"
    assert employees.quantity and (employees.kind, employees.quantity.base) == ("count", Decimal(1200))
    assert employees.quantity.unit == ""


def test_a_german_number_is_computed_and_printed_as_it_is_read() -> None:
    table = rows("in Mio. EUR", ("", "2023"), ("Umsatz", "1.577"), ("Ertrag", "12,5"), language="de")
    sales = cell(table, 0, 1)
    assert sales.quantity and sales.quantity.base == Decimal(1_577_000_000)
    assert sales.printed == "€1.577 Millionen"


@pytest.mark.parametrize(
    ("language", "label", "kind"),
    [
        ("en", "Effective tax rate", "rate"),
        ("en", "Interest rate swaps", ""),
        ("en", "Total employees", "count"),
        ("en", "Payables to employees", ""),
        ("en", "Weighted average shares outstanding", "count"),
        ("en", "Treasury shares, at cost", ""),
        ("de", "Dividende je Stammaktie (in €)", "rate"),
        ("de", "Forderungen per 31. Dezember", ""),
        ("de", "Anzahl der Filialen", "count"),
        ("fr", "Bénéfice net par action", "rate"),
        ("fr", "Produits par activité", ""),
        ("fr", "Effectif moyen", "count"),
        ("es", "Beneficio por acción", "rate"),
        ("es", "Cuentas por cobrar", ""),
        ("it", "Utile per azione", "rate"),
        ("it", "Fondi per imposte", ""),
        ("pt", "Resultado por ação", "rate"),
        ("nl", "Winst per aandeel", "rate"),
        ("ja", "1株当たり当期純利益", "rate"),
        ("ja", "売上高", ""),
        ("zh", "每股收益", "rate"),
        ("ru", "Прибыль на акцию", "rate"),
        ("en", "Gross margin", ""),
        ("en", "Share of revenue (%)", "share"),
    ],
)
def test_words_beside_a_number_name_its_kind(language: str, label: str, kind: str) -> None:
    table = rows("", ("", "2023"), (label, "4"), language=language)
    found = cell(table, 0, 1).kind
    assert (found if found != "number" else "") == kind


def test_a_row_of_a_group_is_named_by_it() -> None:
    table = rows(
        "in millions of dollars",
        ("", "2021", "2020"),
        ("NORTH AMERICA", "", ""),
        ("Services", "902", "851"),
        ("EUROPE", "", ""),
        ("Services", "417", "398"),
    )
    services = cell(table, 3, 1)
    assert (services.label, services.groups) == ("Services", ("EUROPE",))
    assert services.name == "Services, EUROPE, 2021"
    assert services.period.years == {2021}


def test_a_group_ends_at_a_row_further_left() -> None:
    table = rows(
        "",
        ("", "2021"),
        ("Assets:", ""),
        ("Cash", "$ 12"),
        ("Net change", "$ 3"),
        indents=(20, 30, 10),
    )
    assert cell(table, 1, 1).groups == ("Assets",)
    assert cell(table, 2, 1).groups == ()


def test_a_wrapped_label_is_joined() -> None:
    table = rows("", ("", "2018"), ("Purchases of property, plant", ""), ("and equipment", "$ 1,577"))
    assert cell(table, 1, 1).label == "Purchases of property, plant and equipment"


def test_decimals_among_whole_millions_are_doubtful() -> None:
    table = rows("(in millions)", ("", "2021"), ("Sales", "5,363"), ("Costs", "1,488"), ("Return", "3.7"))
    doubtful = cell(table, 2, 1)
    assert not doubtful.is_certain
    assert doubtful.quantity and doubtful.quantity.base == Decimal("3.7")
    assert cell(table, 0, 1).is_certain


def test_two_values_without_heads_are_not_certain() -> None:
    assert not cell(rows("", ("", "", ""), ("Revenue", "12", "14")), 0, 1).is_certain


def test_counts_in_a_table_of_thousands_without_money_are_scaled() -> None:
    paid = TableText(("(in thousands)", "2021"), "", "en")
    assert paid.measure_for("Paid memberships", 1).scale == 1000


def test_households_under_a_unit_are_no_count() -> None:
    used = TableText(("Sector", "2010"), "Energy use by sector (petajoules)", "en")
    assert used.measure_for("Households", 1).symbol == "PJ"


def test_a_loss_in_brackets_is_negative_and_keeps_them() -> None:
    loss = cell(rows("($ in millions)", ("", "2021"), ("Net loss", "(305)")), 0, 1)
    assert loss.quantity and loss.quantity.base == Decimal(-305_000_000)
    assert loss.printed == "($305 million)"


def test_quarters_are_part_of_the_period() -> None:
    table = rows("", ("", "Three months ended May 31, 2021"), ("Sales", "12"))
    assert cell(table, 0, 1).period.part == "three months"


def test_a_label_that_spans_rows_names_the_values_of_each() -> None:
    units = rows(
        "",
        ("Test", "Group", "Sample"),
        ("Blood pressure", "Men", "172"),
        ("", "Women", "173"),
        ("Blood sugar", "Men", "182"),
        ("", "Women", "183"),
    )
    for at, unit in enumerate(units):
        assert unit.table
        label, *values = unit.table.cells
        cells = values if at % 2 else [msgspec.structs.replace(label, rows=2), *values]
        units[at] = replace(unit, table=msgspec.structs.replace(unit.table, cells=tuple(cells)))
    assert [cell(units, at, 2).name for at in range(4)] == [
        "Blood pressure, Men, Sample",
        "Blood pressure, Women, Sample",
        "Blood sugar, Men, Sample",
        "Blood sugar, Women, Sample",
    ]
    assert cell(units, 3, 2).is_certain


def test_a_row_between_two_balances_is_of_the_period_that_they_bound() -> None:
    units = rows(
        "Thirteen weeks ended October 29, 2022 (amounts in millions)",
        ("", "Retained earnings"),
        ("Balance at July 30, 2022", "$ 3,051"),
        ("Cash dividends ($0.40 per share)", "(37)"),
        ("Balance at October 29, 2022", "$ 3,110"),
        ("Balance at July 31, 2021", "$ 2,916"),
        ("Cash dividends ($0.30 per share)", "(30)"),
        ("Balance at October 30, 2021", "$ 3,044"),
    )
    assert [cell(units, at, 1).period.years for at in (1, 4)] == [{2022}, {2021}]
    dividends = cell(units, 4, 1)
    assert dividends.label == "Cash dividends ($0.30 per share)"
    assert "October 30, 2021" in dividends.name
    assert (dividends.kind, dividends.printed) == ("amount", "($30 million)")


def test_a_unit_is_printed_with_its_scale() -> None:
    table = rows("Water (million cubic metres)", ("Region", "2031"), ("Eastmere", "60.3"))
    assert cell(table, 0, 1).printed == "60.3 million m³"


def test_a_table_of_rates_is_not_scaled() -> None:
    table = rows("Accounts in £000", ("Earnings per share (pence)", "2031"), ("Diluted", "41.5"))
    assert (cell(table, 0, 1).kind, cell(table, 0, 1).printed) == ("rate", "41.5 pence")


def test_a_unit_column_of_rates_keeps_the_currency() -> None:
    units = rows(
        "", ("Item", "Unit", "Price (GBP)"), ("Engineer", "per day", "980"), ("Rent", "per month", "2,400")
    )
    assert [cell(units, at, 2).printed for at in (0, 1)] == ["£980 per day", "£2,400 per month"]
    assert cell(units, 0, 2).kind == "rate"


def test_a_count_in_a_volume_has_no_unit_of_its_own_and_a_code_is_no_value() -> None:
    heads = ("Parameter", "Method", "Unit", "Sample A")
    units = rows(
        "", heads, ("Coliforms", "B-01", "per 100 ml", "3"), ("Colonies at 22 °C", "B-05", "per ml", "7")
    )
    assert [cell(units, at, 3).printed for at in (0, 1)] == ["3 per 100 ml", "7 per ml"]
    assert (cell(units, 0, 1).printed, cell(units, 0, 1).quantity) == ("B-01", None)


@pytest.mark.parametrize(
    ("first", "second"),
    [
        (("Net income attributable to", ""), ("Shareholders", "96")),
        (("Property, plant", "96"), ("and equipment, net", "")),
        (("Accounts receivable, net (including", ""), ("Related parties of 3)", "96")),
    ],
)
def test_a_label_is_joined_however_it_is_wrapped(first: tuple[str, ...], second: tuple[str, ...]) -> None:
    units = rows("", ("", "2022"), first, second, ("Cash", "8"))
    at = 0 if first[1] else 1
    assert cell(units, at, 1).label == f"{first[0]} {second[0]}"
    assert cell(units, 2, 1).groups == ()


def test_a_row_without_a_label_continues_none() -> None:
    units = rows("", ("", "2022"), ("", "96"), ("of which", ""), ("Cash", "8"))
    assert cell(units, 0, 1).label == ""
    assert cell(units, 2, 1).label == "of which Cash"


def test_a_head_with_a_date_counts_and_takes_no_scale() -> None:
    assert worded_kind(("Employees as of December 31, 2031",), "en") == "count"
    assert worded_kind(("Sales to employees in 2031",), "en") == ""


def test_a_table_of_counts_and_shares_has_no_measure() -> None:
    """Under "n (%)" a P value of 0.02 is no share."""
    units = passage_units(
        "| Outcome, n (%) | Drug | P value | Hazard ratio (95% CI) |\n| --- | --- | --- | --- |\n"
        "| Stroke | 14 (2.3) | 0.02 | 1.26 (0.57–2.77) |\n| Death | 47 (7.7) | 0.49 | 0.91 (0.61–1.35) |"
    )
    count, value, ratio = read_tables(units)[units[1].id]
    assert [number.dimension for number in count.numbers] == ["", "ratio"]
    assert value.printed == "0.02"
    assert ratio.is_estimate
    assert [str(number.base) for number in ratio.numbers] == ["1.26", "0.57", "2.77"]


def test_a_number_with_decimals_is_a_share_in_a_table_of_per_cent() -> None:
    units = passage_units(
        "Unemployment rates (percent)\n\n| Sex | 2023 | Change (percentage points) |\n| --- | --- | --- |\n"
        "| Men | 4.0 | 0.1 |\n| Women | 3.6 | −0.1 |"
    )
    rate, change = read_tables(units)[units[2].id]
    assert (rate.printed, rate.kind) == ("4.0 %", "share")
    assert change.quantity is not None
    assert change.quantity.dimension == "points"


def test_a_number_that_names_a_row_has_the_unit_of_the_corner() -> None:
    units = passage_units(
        "| Creatinine clearance (mL/min) | Dose |\n| --- | --- |\n| 30–50 | 750 mg |\n| 10–29 | 500 mg |"
    )
    assert read_tables(units)[units[1].id][0].name == "30–50 mL/min, Dose"
