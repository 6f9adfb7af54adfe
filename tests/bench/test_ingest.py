"""``bench ingest`` compares the cost of parsing with raw PyMuPDF."""

from __future__ import annotations

from pathlib import Path

from bench.ingest import ParsingCost, parsing_cost
from tests.pdf.layout_drawing import PROSE, Drawing, justified

# The aim is three. More than this is not noise: the code passes over each word too often.
MOST_TIMES_WORDS = 15


def test_units_cost_a_few_times_what_the_words_alone_do(tmp_path: Path) -> None:
    drawing = Drawing()
    for _ in range(12):
        for row in range(12):
            drawing.lines(justified(PROSE, 430), y=40 + 60 * row)
        drawing.new_page()
    drawing.document.save(tmp_path / "words.pdf")
    assert parsing_cost([tmp_path / "words.pdf"]).times_words < MOST_TIMES_WORDS


def test_the_cost_of_parsing_is_measured_on_pages_that_can_be_opened(tmp_path: Path) -> None:
    drawing = Drawing()
    drawing.lines(justified(PROSE, 430))
    drawing.document.save(tmp_path / "prose.pdf")
    (tmp_path / "broken.pdf").write_bytes(b"%PDF-1.7 nothing")
    cost = parsing_cost([tmp_path / "prose.pdf", tmp_path / "broken.pdf"])
    assert cost.times_words > 0
    assert parsing_cost([tmp_path / "broken.pdf"]) == ParsingCost(0.0)
