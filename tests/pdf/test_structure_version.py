"""The parser's version decides when documents must be parsed again."""

from __future__ import annotations

import hashlib

import msgspec

from pdf.api import PARSER_VERSION
from pdf.structure import ParsedUnit
from tests.pdf.layout_drawing import OTHER, PROSE, Drawing, justified

# What the parser of each version makes of the pages below. When this fails because units changed on
# purpose, count PARSER_VERSION on and write the new digest beside it; never change a digest alone.
DIGESTS = {
    "3": "4ade0d02c9097db3",
    "4": "4ade0d02c9097db3",
    "5": "4ade0d02c9097db3",
    "6": "4ade0d02c9097db3",
    "7": "4ade0d02c9097db3",
    "8": "4ade0d02c9097db3",
    "9": "4ade0d02c9097db3",
    "10": "4ade0d02c9097db3",
    "11": "4ade0d02c9097db3",
    "12": "4ade0d02c9097db3",
    "13": "4ade0d02c9097db3",
    "14": "4ade0d02c9097db3",
    "15": "4ade0d02c9097db3",
    "16": "4ade0d02c9097db3",
    "17": "4ade0d02c9097db3",
    "18": "4ade0d02c9097db3",
    "19": "4ade0d02c9097db3",
    "20": "4ade0d02c9097db3",
    "21": "4ade0d02c9097db3",
    "22": "4ade0d02c9097db3",
    "23": "4ade0d02c9097db3",
    "24": "4ade0d02c9097db3",
    "25": "4ade0d02c9097db3",
    "26": "4ade0d02c9097db3",
    "27": "4ade0d02c9097db3",
    "28": "4ade0d02c9097db3",
    "29": "4ade0d02c9097db3",
    "30": "4ade0d02c9097db3",
    "31": "4ade0d02c9097db3",
    "32": "4ade0d02c9097db3",
    "33": "4ade0d02c9097db3",
    "34": "4ade0d02c9097db3",
    "35": "4ade0d02c9097db3",
}


def test_units_that_change_come_with_a_new_parser_version() -> None:
    assert digest(varied_pages().units()) == DIGESTS[PARSER_VERSION]


def varied_pages() -> Drawing:
    """A heading, two columns, a list; on the next page an unruled and a ruled table, and a footnote."""
    page = Drawing()
    page.text(72, 60, "1 Introduction", size=16)
    page.lines(justified(PROSE, 210), y=90)
    page.lines(justified(OTHER, 210), x=310, y=90)
    page.lines(["1. the first of the items.", "2. the second of the items."], y=330)
    page.new_page()
    for row, cells in enumerate(
        [("Year", "2023", "2022"), ("Revenue", "4,711", "4,200"), ("Costs", "17", "19")]
    ):
        for x, cell in zip((72, 240, 310), cells, strict=True):
            page.text(x, 400 + 14 * row, cell)
            page.text(x, 484 + 14 * row, cell)
    for y in range(472, 516, 14):
        page.rule(68, y, 380, y)
    for x in (68, 230, 300, 380):
        page.rule(x, 472, x, 514)
    page.text(72, 700, "1 A note at the foot of the page.", size=7)
    return page


def digest(units: list[ParsedUnit]) -> str:
    """Return a digest of everything but coordinates, which a new MuPDF may change slightly."""
    said = [
        (
            unit.type,
            unit.level,
            unit.text,
            unit.section_path,
            unit.table and [c.text for c in unit.table.cells],
        )
        for unit in units
    ]
    return hashlib.sha256(msgspec.json.encode(said)).hexdigest()[:16]
