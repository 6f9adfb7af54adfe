"""Where paragraphs begin."""

from __future__ import annotations

from tests.pdf.layout_drawing import PROSE, Drawing, justified, texts


def test_a_line_of_prose_that_begins_with_a_decimal_goes_on() -> None:
    drawing = Drawing()
    drawing.text(84, 90, "We present studies of lattices in all of the sizes that can be reached, with a")
    drawing.lines(
        [
            "spacing of each of the lattices that ranges from 2.0 to",
            "3.8 GeV with an equal volume in each. The results are compared with those of the",
            "year before, and the smallest scatter was seen at the spacing of a lattice of",
            "2.9 GeV, where it had been expected.",
        ],
        y=102,
    )
    assert len(drawing.units()) == 1


def test_numbered_paragraphs_below_an_indented_line_are_items() -> None:
    drawing = Drawing()
    drawing.text(84, 90, "The terms of the contract are:")
    drawing.lines(["3.8 The buyer pays the freight.", "3.9 The seller pays the duty."], y=102)
    assert texts(drawing.units())[1:] == ["3.8 The buyer pays the freight.", "3.9 The seller pays the duty."]


def test_a_word_broken_at_a_short_line_stays_in_its_paragraph() -> None:
    drawing = Drawing()
    drawing.lines(["The rule that holds for all of the offices is that cross-", "border keys expire first."])
    drawing.text(
        72, 200, "A line that is far longer than the two above, as the column is as wide as this one."
    )
    assert len(drawing.units()) == 2


def test_a_first_line_that_is_centred_on_the_next_by_chance_opens_its_paragraph() -> None:
    page = Drawing()
    first = justified(PROSE, 360)[0]
    lines = justified(PROSE.removeprefix(first), 380)
    page.text(100 + (Drawing.width_of(lines[0]) - Drawing.width_of(first)) / 2, 100, first)
    page.lines(lines, x=100, y=120, leading=20)
    assert texts(page.units()) == [PROSE]
