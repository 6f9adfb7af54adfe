"""``bench ingest`` says what parsing costs against raw PyMuPDF and the layout model."""

from __future__ import annotations

from pathlib import Path

from documents.benchmarks._parsing import ParsingCost, parsing_cost
from tests.documents.layout_drawing import PROSE, Drawing, justified


def test_the_cost_of_parsing_is_measured_on_pages_that_can_be_opened(tmp_path: Path) -> None:
    drawing = Drawing()
    drawing.lines(justified(PROSE, 430))
    drawing.document.save(tmp_path / "prose.pdf")
    (tmp_path / "broken.pdf").write_bytes(b"%PDF-1.7 nothing")
    cost = parsing_cost([tmp_path / "prose.pdf", tmp_path / "broken.pdf"])
    assert cost.times_words > 0 and cost.times_model_speed > 0
    assert parsing_cost([tmp_path / "broken.pdf"]) == ParsingCost(0.0, 0.0)
