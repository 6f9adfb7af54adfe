"""Where tables end, what their labels span, and which of their texts are heads: kinds seen on real pages."""

from __future__ import annotations

from collections.abc import Sequence

import pymupdf

from pdf.structure import ParsedUnit, TableRow
from tests.pdf.layout_drawing import LEFT, SIZE, Drawing

SMALL = 7.0


def rows_of_tables(units: Sequence[ParsedUnit]) -> list[TableRow]:
    return [unit.table for unit in units if unit.table is not None]


def flush(drawing: Drawing, right: float, y: float, text: str, size: float = SIZE) -> None:
    drawing.text(right - Drawing.width_of(text, size), y, text, size)


def centred(drawing: Drawing, middle: float, y: float, text: str) -> None:
    drawing.text(middle - Drawing.width_of(text) / 2, y, text)


def test_heads_in_their_own_type_begin_another_table() -> None:
    """The second table has no year over its column: its values must not get the year of the first."""
    drawing = Drawing()
    drawing.text(LEFT, 100, "June 30,", SMALL)
    flush(drawing, 400, 100, "2023", SMALL)
    flush(drawing, 480, 100, "2022", SMALL)
    for n, name in enumerate(("Office products", "Cloud services", "Devices")):
        drawing.text(LEFT, 114 + 12 * n, name)
        flush(drawing, 400, 114 + 12 * n, f"{27 + n},572")
        flush(drawing, 480, 114 + 12 * n, f"{24 + n},558")
    drawing.text(LEFT, 170, "Changes in unearned revenue were as follows:")
    drawing.text(LEFT, 188, "(In millions)", SMALL)
    for n, name in enumerate(
        ("Balance, beginning of period", "Deferral of revenue", "Balance, end of period")
    ):
        drawing.text(LEFT, 206 + 12 * n, name)
        flush(drawing, 480, 206 + 12 * n, f"{48 + n},408")
    tables = rows_of_tables(drawing.units())
    assert len({row.index for row in tables}) == 2
    assert all("2022" not in " ".join(row.head_rows) for row in tables if "Balance" in row.cells[0].text)


def test_a_date_over_several_columns_is_not_joined_to_the_head_below() -> None:
    drawing = Drawing()
    drawing.text(LEFT, 100, "(Dollars in millions)")
    centred(drawing, 380, 100, "December 31, 2017")
    centred(drawing, 380, 112, "Impact of New")
    drawing.text(LEFT, 124, "Assets")
    for middle, head in ((300, "Reported"), (380, "Standards"), (460, "Restated")):
        centred(drawing, middle, 124, head)
    for n, name in enumerate(("Cash", "Receivables", "Inventories", "Goodwill")):
        drawing.text(LEFT, 138 + 12 * n, name)
        for middle in (300, 380, 460):
            centred(drawing, middle, 138 + 12 * n, f"{n + 2},{middle}")
    row = rows_of_tables(drawing.units())[-1]
    assert row.head_rows[1] == "December 31, 2017 Reported"
    assert row.head_rows[2] == "December 31, 2017 Impact of New Standards"


def test_a_row_of_ranges_is_no_head() -> None:
    drawing = Drawing()
    for y in (90, 120, 150):
        drawing.rule(LEFT, y, 500, y)
    for x in (LEFT, 250, 375, 500):
        drawing.rule(x, 90, x, 150)
    for n, name in enumerate(("Operational earnings", "Adjusted earnings")):
        drawing.text(LEFT + 5, 108 + 30 * n, name)
        drawing.text(255, 108 + 30 * n, "$10.60 - $10.70 / $10.65")
        drawing.text(380, 108 + 30 * n, "$10.50 - $10.60 / $10.55")
    assert [row.header for row in rows_of_tables(drawing.units())] == [False, False]


def test_values_in_brackets_beside_a_label_are_no_heads() -> None:
    drawing = Drawing()
    for n, (name, values) in enumerate(
        (
            ("Growth of earnings", ("(6)", "(8)", "(5)")),
            ("Items", ("4", "2", "4")),
            ("Currency", ("3", "1", "2")),
        )
    ):
        drawing.text(LEFT, 100 + 14 * n, name)
        for right, value in zip((300, 380, 460), values, strict=True):
            flush(drawing, right, 100 + 14 * n, value)
    assert not any(row.header for row in rows_of_tables(drawing.units()))


def test_a_percent_sign_in_a_cell_of_its_own_belongs_to_the_value_before_it() -> None:
    drawing = Drawing()
    for n, (name, signed) in enumerate(
        (("Sales", False), ("Costs", False), ("Tax rate", True), ("Net", False))
    ):
        drawing.text(LEFT, 100 + 14 * n, name)
        for right in (300, 420):
            flush(drawing, right, 100 + 14 * n, "23.9" if signed else f"{n + 5},144")
            if signed:
                drawing.text(right + 8, 100 + 14 * n, "%")
    rows = rows_of_tables(drawing.units())
    assert [cell.text for cell in rows[2].cells] == ["Tax rate", "23.9 %", "23.9 %"]
    assert {cell.column for row in rows for cell in row.cells} == {0, 1, 2}


def test_a_row_of_words_below_bold_heads_is_no_head() -> None:
    drawing = Drawing()
    for y in (90, 115, 140, 165):
        drawing.rule(LEFT, y, 400, y)
    for x in (LEFT, 250, 400):
        drawing.rule(x, 90, x, 165)
    rows = (
        ("Accounting Date", "Leverage Ratio"),
        ("31 December 2021", "Not applicable"),
        ("31 March 2022", "4.50"),
    )
    for n, row in enumerate(rows):
        for x, text in zip((LEFT + 5, 255), row, strict=True):
            drawing.text(x, 107 + 25 * n, text, font="helv" if n else "hebo")
    assert [row.header for row in rows_of_tables(drawing.units())] == [True, False, False]


def test_a_label_between_rulings_spans_its_rows() -> None:
    """The label stands in the middle of its rows or beside the first; each group has a ruling below."""
    drawing = Drawing()
    for x, head in ((LEFT, "Data"), (160, "Method"), (300, "Gold"), (400, "Open")):
        drawing.text(x, 100, head)
    y = 114
    for label, place, size in (("News", 0, 2), ("Law", 1, 3), ("Web", 0, 2)):
        drawing.rule(LEFT, y - 10, 430, y - 10)
        for n in range(size):
            if n == place:
                drawing.text(LEFT, y, label)
            drawing.text(160, y, f"{'ABC'[n]} model")
            drawing.text(300, y, f"5{n}.4{size}")
            drawing.text(400, y, f"6{n}.1{size}")
            y += 13
    found = [
        (row.cells[0].text, row.cells[0].rows, row.cells[1].text)
        for row in rows_of_tables(drawing.units())
        if row.cells[0].column == 0 and not row.header
    ]
    assert found == [("News", 2, "A model"), ("Law", 3, "A model"), ("Web", 2, "A model")]


def test_a_label_of_two_lines_spans_the_rows_between_rulings_too() -> None:
    drawing = Drawing()
    for x, head in ((LEFT, "Kind"), (160, "Model"), (300, "Gold"), (400, "Open")):
        drawing.text(x, 100, head)
    for group, label in enumerate(("I. Table-based", "II. Open", "")):
        top = 116 + 54 * group
        drawing.rule(LEFT, top - 11, 430, top - 11)
        for n in range(4 if label else 1):
            if label and n in (1, 2):
                drawing.text(LEFT, top + 13 * n, label if n == 1 else "models")
            drawing.text(160, top + 13 * n, f"{'ABCD'[n]} model")
            drawing.text(300, top + 13 * n, f"5{n}.4{group}")
            drawing.text(400, top + 13 * n, f"6{n}.1{group}")
    cells = [
        row.cells[0] for row in rows_of_tables(drawing.units()) if not row.header and not row.cells[0].column
    ]
    assert [(cell.text, cell.rows) for cell in cells] == [
        ("I. Table-based models", 4),
        ("II. Open models", 4),
    ]


def test_a_column_of_texts_stays_with_the_table_whose_rulings_run_below_it() -> None:
    """Without the rulings the texts at the right, three of them one below the other, look like a column."""
    drawing = Drawing(width=842)
    wide = (
        "LOCATION OF GAIN (LOSS)",
        "RECLASSIFIED FROM ACCUMULATED",
        "OTHER COMPREHENSIVE INCOME",
        "INTO INCOME",
    )
    for n, head in enumerate(wide):
        flush(drawing, 760, 100 + 10 * n, head)
    drawing.text(LEFT, 130, "(Dollars in millions)")
    flush(drawing, 400, 130, "2021")
    flush(drawing, 470, 130, "2020")
    places = [
        "Other (income) expense, net",
        "",
        "",
        "",
        "",
        "Revenues",
        "Cost of sales",
        "Demand creation expense",
    ]
    places += [
        "Other (income) expense, net",
        "Interest expense (income), net",
        "",
        "",
        "",
        "Other expense, net",
    ]
    for n, place in enumerate(places):
        y = 146 + 14 * n
        drawing.text(LEFT, y, f"Gains and losses, line {'ABCDEFGHIJKLMN'[n]}")
        flush(drawing, 400, y, f"{n + 3}")
        flush(drawing, 470, y, f"({n + 11})")
        if place:
            flush(drawing, 760, y, place)
        drawing.rule(LEFT, y + 4, 760, y + 4)
    rows = [row for row in rows_of_tables(drawing.units()) if not row.header]
    assert [row.cells[-1].text for row in rows if len(row.cells) == 4] == [place for place in places if place]


def test_the_years_of_an_axis_with_a_name_are_no_table() -> None:
    drawing = Drawing()
    points = [pymupdf.Point(110 + 18 * n, 200 + (n * 37) % 90) for n in range(18)]
    drawing.page.draw_polyline(points, width=1)
    drawing.page.draw_rect(pymupdf.Rect(100, 190, 430, 300), width=0.5)
    drawing.text(200, 280, "Satisfied")
    drawing.text(420, 280, "26")
    for n, year in enumerate(range(1990, 2020, 5)):
        drawing.text(105 + 60 * n, 312, str(year))
    assert not rows_of_tables(drawing.units())
