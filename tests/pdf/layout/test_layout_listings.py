"""Listings are drawn in a typewriter face."""

from __future__ import annotations

import pytest

from pdf.extract.words import style_of
from tests.pdf.layout_drawing import OTHER, PROSE, Drawing, justified, texts

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
    "font",
    [
        "CMTT10",
        "ABCDEF+CMSLTT10",
        "SFTT1000",
        "FreeMono",
        "LMMono10-Regular",
        "CourierNewPS",
        "txtt",
        "Monotypecom",
        "AndaleMono",
        "SourceCodePro-Regular",
        "LetterGothicStd",
    ],
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


REMARKS = [
    ("      MOV   (R5)+,(R1)", ";Issue the command"),
    ("10$:  TSTB  (R1)", ";Controller ready?"),
    ("      BPL   10$", ";Nope, not yet."),
    ("      TST   RHDS(R1)", ";Drive ready?"),
    ("      BPL   10$", ";Nope, keep waiting."),
]


def test_a_program_with_aligned_remarks_is_a_listing() -> None:
    drawing = Drawing()
    drawing.lines(justified(f"{PROSE} {OTHER}", 430))
    for n, (statement, remark) in enumerate(REMARKS):
        drawing.text(72, 220 + 12 * n, statement, font="cour")
        drawing.text(300, 220 + 12 * n, remark, font="cour")
    (listing,) = [unit for unit in drawing.units() if "MOV" in unit.text]
    assert listing.type == "code"
    assert [line.split(";")[1] for line in listing.text.splitlines()] == [remark[1:] for _, remark in REMARKS]


def test_a_table_of_values_in_a_typewriter_face_stays_a_table() -> None:
    drawing = Drawing()
    drawing.lines(justified(f"{PROSE} {OTHER}", 430))
    rows = [("            ability      s.e.", 0), ("Baltimore 0.0000000 0.0000000", 1)]
    rows += [("Boston    1.1438027 0.3378422", 2), ("Cleveland 0.7046945 0.3350014", 3)]
    for text, n in rows:
        drawing.text(72.3, 220 + 12 * n, text, size=9.3, font="cour")
    drawing.lines(["This gives, for each team, the estimated ability at home."], y=272)
    units = drawing.units()
    assert [unit.text.split("\t") for unit in units if unit.type == "table"][1:] == [
        ["Baltimore", "0.0000000", "0.0000000"],
        ["Boston", "1.1438027", "0.3378422"],
        ["Cleveland", "0.7046945", "0.3350014"],
    ]
    assert "This gives, for each team, the estimated ability at home." in texts(units)


def test_a_bold_line_of_a_program_heads_nothing() -> None:
    drawing = Drawing()
    drawing.lines(justified(f"{PROSE} {OTHER}", 430))
    for y, line in ((220, "    return 0;"), (232, "}"), (252, "catch (...) {"), (272, "    return 1;")):
        drawing.text(72, y, line, font="cobo")
    assert not [unit for unit in drawing.units() if unit.type == "heading"]


def test_a_session_at_a_prompt_with_aligned_remarks_is_a_listing() -> None:
    drawing = Drawing()
    drawing.lines(justified(f"{PROSE} {OTHER}", 430))
    session = [("> attach(ddp)", "# No warning"), ("> ls(2)", ""), ("[1] m1", "m2"), ("> dim(m1)", "# Slow")]
    for n, (left, right) in enumerate([*session, ("[1] 5000", "1000")]):
        drawing.text(72, 220 + 14 * n, left, font="cour")
        drawing.text(340, 220 + 14 * n, right, font="cour")
    assert {unit.type for unit in drawing.units()[1:]} == {"code"}


def test_a_table_of_signs_in_a_typewriter_face_is_no_session() -> None:
    drawing = Drawing()
    drawing.lines(justified(f"{PROSE} {OTHER}", 430))
    rows = [("ASCII", "console", "line printer")]
    rows += [(sign, f"FG+02{n}", f"05{n}") for n, sign in enumerate("$%&@!#?~")]
    for n, row in enumerate(rows):
        for x, cell in zip((72, 200, 320), row, strict=True):
            drawing.text(x, 220 + 12 * n, cell, font="cour")
    assert len([unit for unit in drawing.units() if unit.type == "table"]) == len(rows)
