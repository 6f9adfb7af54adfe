"""Listings are drawn in a typewriter face."""

from __future__ import annotations

import pytest

from pdf.extract.words import style_of
from tests.pdf.layout_drawing import PROSE, Drawing, justified

PYTHON = """def total(rows):
    amount = 0
    for row in rows:
        amount += row.price
    return amount"""
SQL = """SELECT name, sum(total) AS spent
FROM orders
WHERE year = 2031
GROUP BY name;"""
JSON = """{
  "name": "Ada",
  "born": 1815,
  "tags": ["engine", "notes"]
}"""
SHELL = """#!/bin/bash
set -e
for file in *.pdf; do
  cp "$file" /srv/papers
done"""
COMMANDS = """$ git clone https://example.org/pincite
$ cd pincite
$ make run"""


@pytest.mark.parametrize(
    "listing", [PYTHON, SQL, JSON, SHELL, COMMANDS], ids=["python", "sql", "json", "shell", "commands"]
)
def test_a_listing_is_one_unit_of_code(listing: str) -> None:
    drawing = Drawing()
    drawing.lines(justified(PROSE, 430))
    for n, line in enumerate(listing.splitlines()):
        indent = len(line) - len(line.lstrip())
        drawing.text(72 + 5.4 * indent, 200 + 11 * n, line.lstrip(), size=9, font="cour")
    prose, code = drawing.units()
    assert (prose.type, code.type) == ("prose", "code")


def test_a_document_that_is_typed_as_a_whole_is_no_listing() -> None:
    drawing = Drawing()
    for n, line in enumerate(justified(PROSE, 430, 10, "cour")):
        drawing.text(72, 90 + 12 * n, line, font="cour")
    (unit,) = drawing.units()
    assert (unit.type, unit.text) == ("prose", PROSE)


@pytest.mark.parametrize(
    "font", ["CMTT10", "ABCDEF+CMSLTT10", "SFTT1000", "FreeMono", "LMMono10-Regular", "CourierNewPS", "txtt"]
)
def test_typewriter_faces_are_known_by_name(font: str) -> None:
    assert style_of(10.0, font, 0, 0).mono


@pytest.mark.parametrize("font", ["CMR10", "MonotypeCorsiva", "Lattice", "Helvetica", "CMSY10", "Cotton"])
def test_other_faces_are_no_typewriter_faces(font: str) -> None:
    assert not style_of(10.0, font, 0, 0).mono


@pytest.mark.parametrize(
    ("font", "bold"),
    [("CMBX12", True), ("ABCDEF+CMSSBX10", True), ("Arial-BoldMT", True), ("CMR12", False), ("Arial", False)],
)
def test_bold_faces_are_known_by_name(font: str, bold: bool) -> None:
    assert style_of(10.0, font, 0, 0).bold is bold
