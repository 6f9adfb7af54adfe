"""The cells of a row: where a column begins behind a narrow gap."""

from __future__ import annotations

from tests.pdf.layout_drawing import OTHER, Drawing, justified
from tests.pdf.tables.test_tables import cells, rows_of

CALLS = [
    ("Name", "Represented convention"),
    ("ccall", "of the standard compiler"),
    ("cplusplus", "of a newer compiler"),
    ("dotnet", "of the platform"),
    ("jvm", "of the virtual machine"),
    ("stdcall", "of the windows"),
]


def test_the_longest_label_of_a_column_is_a_cell_of_its_own() -> None:
    drawing = Drawing()
    drawing.lines(justified(OTHER, 430))
    for n, row in enumerate(CALLS):
        for x, text in zip((72, 124), row, strict=True):  # "cplusplus" ends 9 points before, type is of 10
            drawing.text(x, 240 + 14 * n, text)
    assert [tuple(cells(row)) for row in rows_of(drawing.units())] == CALLS


def test_a_currency_sign_is_no_cell_where_its_number_begins_a_column() -> None:
    drawing = Drawing()
    drawing.lines(justified(OTHER, 430))
    for n, (label, sign, value) in enumerate(
        [("Sales", "$", "310.2"), ("Costs", "", "208.1"), ("Tax", "", "41.9")]
    ):
        drawing.text(72, 240 + 14 * n, label)
        drawing.text(190, 240 + 14 * n, sign)
        drawing.text(204, 240 + 14 * n, value)
    assert cells(rows_of(drawing.units())[0]) == ["Sales", "$ 310.2"]
