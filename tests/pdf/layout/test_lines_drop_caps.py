"""A drop cap is the first letter of the line beside it; the lines stay one after the other."""

from __future__ import annotations

import pymupdf
import pytest

from tests.pdf.layout_drawing import Drawing, texts

LINES = ["HEN the first boats came up the river", "in the spring, the town had one street", "and no quay."]
AFTER = ["Ten years later there were eleven quays, and", "the street had been paved as far as the church."]


def drawn(letter: str, beside: list[str], size: float, cap: float) -> Drawing:
    drawing = Drawing()
    y = drawing.lines(
        beside, x=74 + pymupdf.get_text_length(letter, fontsize=cap), y=100, leading=1.2 * size, size=size
    )
    drawing.text(72, y - 1.2 * size, letter, size=cap)
    drawing.lines(AFTER, y=y, leading=1.2 * size, size=size)
    return drawing


@pytest.mark.parametrize(("size", "lines"), [(10.0, 2), (12.0, 3), (8.0, 3)])
def test_the_lines_beside_a_drop_cap_are_read_one_after_the_other(size: float, lines: int) -> None:
    units = drawn("W", LINES[:lines], size, cap=1.55 * lines * size).units()
    assert texts(units)[0].startswith(f"W{' '.join(LINES[:lines])}")


def test_a_drop_cap_that_is_a_word_of_its_own_stays_one() -> None:
    beside = ["boat came up the river in the spring", "and left again. Another boat was seen."]
    assert texts(drawn("A", beside, 10, 31).units())[0].startswith("A boat came up the river")


def test_a_large_letter_beside_one_line_is_no_drop_cap() -> None:
    drawing = Drawing()
    drawing.text(72, 100, "A", size=30)
    drawing.text(100, 100, "Appendix to the report of the year")
    drawing.lines(["The second text stands well below it.", "It has two lines."], y=160)
    assert "AAppendix" not in " ".join(texts(drawing.units()))


def test_a_small_name_in_the_margin_beside_a_drop_cap_stays_out_of_the_sentence() -> None:
    drawing = drawn("W", LINES[:2], 10, cap=31)
    drawing.text(24, 111, "Anna Berg", size=7)
    found = texts(drawing.units())
    assert found[0] == "Anna Berg"
    assert found[1].startswith(f"W{' '.join(LINES[:2])}")
