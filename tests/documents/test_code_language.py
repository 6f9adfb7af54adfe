"""The language of listings, as they are drawn in a typewriter face."""

from __future__ import annotations

import pytest

from documents.pdf.fast.languages import code_language
from tests.documents.layout_drawing import PROSE, Drawing, justified

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
    ("language", "listing"),
    [("python", PYTHON), ("sql", SQL), ("json", JSON), ("shell", SHELL), ("shell", COMMANDS)],
)
def test_a_listing_is_one_unit_that_knows_its_language(language: str, listing: str) -> None:
    drawing = Drawing()
    drawing.lines(justified(PROSE, 430))
    for n, line in enumerate(listing.splitlines()):
        indent = len(line) - len(line.lstrip())
        drawing.text(72 + 5.4 * indent, 200 + 11 * n, line.lstrip(), size=9, font="cour")
    prose, code = drawing.units()
    assert (prose.type, prose.code_language) == ("prose", "")
    assert (code.type, code.code_language) == ("code", language)


@pytest.mark.parametrize(
    ("language", "text"),
    [
        ("python", "#!/usr/bin/env -S python3 -u\nmain()"),
        ("python", ">>> from math import pi\n>>> pi"),
        ("sql", "select name from people\nwhere born < 1900;"),
        ("sql", "CREATE TABLE person (id int PRIMARY KEY, name text NOT NULL)"),
        ("javascript", "const total = rows.map(row => row.price)\nconsole.log(total)"),
        (
            "java",
            'public class Main {\npublic static void main(String[] a) {\nSystem.out.println("x");\n}\n}',
        ),
        ("c", '#include <stdio.h>\nint main(void)\n{\nprintf("x");\n}'),
        ("xml", '<?xml version="1.0"?>\n<paper/>'),
        ("html", "<!DOCTYPE html>\n<title>Paper</title>"),
    ],
)
def test_the_language_is_told_by_how_lines_begin(language: str, text: str) -> None:
    assert code_language(text) == language


@pytest.mark.parametrize(
    "text",
    [
        "MEMORANDUM\nTo: the committee\nFrom: the clerk",
        "from the accounts of the year, and\nwhere the board has so decided, set aside.",
        "Select the printer from the list, and\nupdate the address if needed.",
        "if the motion fails:\nthe chair decides",
        "Name      Total\nAda          12",
        "[1, 2, 3]",
        "{x | x > 0}",
        "x = 1",
    ],
)
def test_what_tells_nothing_has_no_language(text: str) -> None:
    assert code_language(text) == ""
