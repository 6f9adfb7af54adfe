"""Words of which each syllable is underlined by itself: MuPDF ends a line at each rule."""

from __future__ import annotations

import pytest

from tests.pdf.layout_drawing import LEFT, Drawing, texts


def underlined(parts: list[str], gap: float = 0.0) -> Drawing:
    """The parts side by side, each with its underline drawn before the next."""
    drawing = Drawing()
    x = LEFT
    for part in parts:
        drawing.text(x, 100, part)
        end = x + Drawing.width_of(part)
        drawing.rule(x, 102, end, 102)
        x = end + gap
    return drawing


def test_syllables_that_touch_are_one_word() -> None:
    drawing = underlined(["It sig", "nif", "i", "cantly out", "per", "forms the other"])
    assert texts(drawing.units()) == ["It significantly outperforms the other"]


@pytest.mark.parametrize("gap", [2.0, 4.0])
def test_words_a_space_apart_stay_two(gap: float) -> None:
    assert texts(underlined(["high", "way"], gap).units()) == ["high way"]


def test_numbers_that_touch_stay_two() -> None:
    assert "1234" not in " ".join(texts(underlined(["Rows of 12", "34 and more"]).units()))
