"""One score decides whether lines are a table, and says how sure that is."""

from __future__ import annotations

import json

from documents.management.commands.parse import page_line
from tests.pdf.layout_drawing import Drawing
from tests.pdf.tables.test_tables import rows_of


def statement(drawing: Drawing) -> None:
    for n, row in enumerate([("", "2023", "2022"), ("Sales", "4,120", "3,905"), ("Costs", "2,870", "2,713")]):
        for x, text in zip((72, 300, 400), row, strict=True):
            if text:
                drawing.text(x, 120 + 14 * n, text)


def test_rows_of_labels_and_values_are_surely_a_table() -> None:
    drawing = Drawing()
    statement(drawing)
    assert {row.confidence > 0.9 for row in rows_of(drawing.units())} == {True}


def test_a_page_as_json_says_how_sure_its_tables_are() -> None:
    drawing = Drawing()
    statement(drawing)
    units = json.loads(page_line(drawing.read()[0]))["units"]
    assert all(0.9 < unit["table"]["confidence"] <= 1 for unit in units)


def test_a_closed_grid_of_names_is_surer_than_its_kind() -> None:
    drawing = Drawing()
    xs = (72, 200, 330, 460)
    rows = [("Bird", "Nest", "Song"), ("Wren", "moss", "loud"), ("Rook", "twigs", "harsh")]
    for n in range(4):
        drawing.rule(xs[0], 100 + 20 * n, xs[-1], 100 + 20 * n)
    for x in xs:
        drawing.rule(x, 100, x, 160)
    for n, row in enumerate(rows):
        for x, text in zip(xs, row, strict=False):
            drawing.text(x + 5, 114 + 20 * n, text)
    assert {row.confidence > 0.98 for row in rows_of(drawing.units())} == {True}
