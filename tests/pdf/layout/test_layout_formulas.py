"""Displayed equations, told from sentences and tables that hold numbers."""

from __future__ import annotations

import pytest

from tests.pdf.layout_drawing import LEFT, OTHER, PROSE, Drawing, justified


def read_between_paragraphs(x: float, text: str, number: str) -> tuple[str, str]:
    """Type and text of the middle unit of a page, which stands alone between two paragraphs."""
    drawing = Drawing()
    drawing.lines(justified(PROSE, 430))
    drawing.text(x, 160, text)
    if number:
        drawing.text(490, 160, number)
    drawing.lines(justified(OTHER, 430), y=200)
    _, unit, _ = drawing.units()
    return unit.type, unit.text


@pytest.mark.parametrize(
    ("text", "number"), [("E = m c2", "(3)"), ("sin x + cos y < 2", "(4.1)"), ("a + b = c", "(12b)")]
)
def test_a_displayed_equation_with_its_number_is_a_formula(text: str, number: str) -> None:
    assert read_between_paragraphs(250, text, number) == ("formula", f"{text} {number}")


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("E = m c2", ""),
        ("the share of the whole = one half", "(3)"),
        ("See the note on page", "(3)"),
        ("x = 1 as in (3)", ""),
    ],
)
def test_a_line_without_a_number_or_with_words_is_none(text: str, number: str) -> None:
    assert read_between_paragraphs(LEFT, text, number)[0] != "formula"


def test_equations_below_one_another_are_no_table_of_their_numbers() -> None:
    drawing = Drawing()
    drawing.lines(justified(PROSE, 430))
    for n, text in enumerate(("a + b = c", "d - 2 e = f", "g = h / 3", "k < 4 m")):
        drawing.text(230, 160 + 20 * n, text)
        drawing.text(490, 160 + 20 * n, f"({n + 1})")
    units = drawing.units()[1:]
    assert [unit.type for unit in units] == ["formula"] * 4
    assert [unit.text for unit in units][1:3] == ["d - 2 e = f (2)", "g = h / 3 (3)"]


def test_an_equation_in_larger_type_heads_nothing() -> None:
    drawing = Drawing()
    drawing.lines(justified(f"{PROSE} {OTHER}", 430))
    drawing.text(230, 200, "E = m c2", size=13)
    drawing.text(490, 200, "(3)", size=13)
    drawing.lines(justified(OTHER, 430), y=240)
    assert [unit.type for unit in drawing.units()] == ["prose", "formula", "prose"]
