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
