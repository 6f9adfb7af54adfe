"""Tables of contents are entries, not tables, whatever stands between the titles and their pages."""

from __future__ import annotations

import pytest

from pdf.structure import ParsedUnit
from tests.pdf.layout_drawing import Drawing, texts

ENTRIES = [
    ("1", "Introduction", 1),
    ("2", "Files and White Space", 1),
    ("3", "Comments", 4),
    ("4", "Index", 12),
]


def draw(drawing: Drawing, heading: str = "", y: float = 100) -> None:
    if heading:
        drawing.text(72, y, heading, size=16)
    for number, title, page in ENTRIES:
        y += 24
        drawing.text(72, y, number)
        drawing.text(90, y, title)
        drawing.text(500, y, str(page))


def entries(units: list[ParsedUnit]) -> list[ParsedUnit]:
    return [unit for unit in units if unit.text.split()[0].isdecimal()]


def check(units: list[ParsedUnit]) -> None:
    found = entries(units)
    assert texts(found) == [f"{number} {title} {page}" for number, title, page in ENTRIES]
    assert not any(unit.table or unit.type == "heading" for unit in found)


@pytest.mark.parametrize("heading", ["Contents", "INHALT", "Sommaire:"])
def test_titles_and_pages_below_the_heading_of_the_contents_are_entries(heading: str) -> None:
    drawing = Drawing()
    draw(drawing, heading)
    check(drawing.units())


def test_names_with_numbers_are_a_table() -> None:
    drawing = Drawing()
    draw(drawing, "Members by age")
    assert all(unit.table for unit in entries(drawing.units()))


def test_dots_set_apart_are_leaders() -> None:
    drawing = Drawing()
    for n, (number, title, page) in enumerate(ENTRIES):
        y = 100 + 14 * n
        drawing.text(72, y, f"{number} {title}")
        for x in range(220, 480, 12):
            drawing.text(x, y, ".")
        drawing.text(500, y, str(page))
    units = drawing.units()
    assert len(units) == len(ENTRIES)
    assert not any(unit.table for unit in units)
