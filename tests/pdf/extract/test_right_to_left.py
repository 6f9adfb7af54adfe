"""Pages read from right to left whose text is mostly foreign: links, names, code words."""

from __future__ import annotations

import pymupdf

from tests.pdf.layout_drawing import PROSE, Drawing, justified, right_to_left, texts

TITLES = ["The Testing Guide", "A Cheat Sheet on Headers", "Notes on Privacy Projects"]
INTRODUCTION = "לקריאה נוספת"


def flush_right(drawing: Drawing, x1: float, y: float, text: str) -> None:
    drawing.text(x1 - pymupdf.get_text_length(text, "helv", 10), y, text)


def draw_list(markers: list[tuple[str, str]]) -> Drawing:
    """An introduction and three foreign titles set to the right, the marker of each right of it."""
    drawing = Drawing()
    right_to_left(drawing.page, 523, 90, INTRODUCTION)
    for n, (title, (number, stop)) in enumerate(zip(TITLES, markers, strict=True)):
        y = 124 + 14 * n
        flush_right(drawing, 500, y, title)
        flush_right(drawing, 523, y, number)
        if stop:
            flush_right(drawing, 523 - pymupdf.get_text_length(number, "helv", 10), y, stop)
    return drawing


def test_foreign_items_set_to_the_right_begin_with_their_bullets() -> None:
    units = draw_list([("·", "")] * 3).units()
    assert texts(units) == [INTRODUCTION, *(f"· {title}" for title in TITLES)]
    assert [unit.list_marker for unit in units[1:]] == ["·"] * 3


def test_a_number_and_the_full_stop_drawn_left_of_it_are_one_marker() -> None:
    units = draw_list([(str(n), ".") for n in (1, 2, 3)]).units()
    assert texts(units) == [INTRODUCTION, *(f"{n}. {title}" for n, title in enumerate(TITLES, 1))]
    assert [unit.type for unit in units[1:]] == ["list"] * 3


def test_a_right_to_left_quotation_does_not_turn_a_page_over() -> None:
    drawing = Drawing()
    y = drawing.lines(justified(PROSE, 400))
    right_to_left(drawing.page, 472, y, INTRODUCTION)
    drawing.text(72, y + 40, "·")
    drawing.text(84, y + 40, TITLES[0])
    assert texts(drawing.units())[-1] == f"· {TITLES[0]}"


def test_rows_of_numbers_are_read_leftwards_in_a_right_to_left_table() -> None:
    drawing = Drawing()
    for n, (label, values) in enumerate(
        (("מספר הקולות בכל הארץ", "7 8 9"), ("סך הכל", "4,711,000,000 3,141,000,000 2,718,000,000"))
    ):
        y = 100 + 24 * n
        right_to_left(drawing.page, 520, y, label)
        for x, value in zip((90, 200, 310), values.split(), strict=True):
            drawing.text(x, y + 12, value)
    for y in (96, 120, 144):
        drawing.rule(80, y, 530, y)
    for x in (80, 190, 300, 410, 530):
        drawing.rule(x, 96, x, 144)
    assert texts(drawing.units()) == [
        "מספר הקולות בכל הארץ\t9\t8\t7",
        "סך הכל\t2,718,000,000\t3,141,000,000\t4,711,000,000",
    ]
