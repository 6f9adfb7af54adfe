"""The layout model behind the same function: all pages with ``ml``, those in doubt with ``auto``."""

from __future__ import annotations

from pathlib import Path

import pymupdf
import pytest

from documents.pdf import modelling
from documents.pdf.fast import layout
from documents.pdf.fast.boxes import page_frame
from documents.pdf.fast.modelled import ModelBox
from documents.pdf.fast.raw import RawPage, RawWord, Style
from documents.pdf.geometry import PageFrame, Rect
from documents.pdf.limits import Limits
from documents.pdf.messages import ParseRequest
from documents.pdf.ml import model_boxes
from documents.pdf.parsing import parse_file
from documents.pdf.structure import ParsedPage
from tests.documents import layout_invariants
from tests.drawing import draw_pdf

TEXT = """# Maintenance

The total maintenance cost in 2021 was
4,310,000 kroner, as the survey found.

Next year more."""


def word(text: str, x: float, y: float) -> RawWord:
    return RawWord(x, y, x + 6 * len(text), y + 12, text, Style(11.0), y + 10, int(y))


def raw() -> RawPage:
    lines = ["Page head", "Alpha beta", "gamma delta", "Alone below"]
    words = [
        word(text, 72 + 60 * number, 100 + 40 * line)
        for line, texts in enumerate(lines)
        for number, text in enumerate(texts.split())
    ]
    return RawPage(1, PageFrame(595, 842), words=words)


def test_units_follow_the_boxes_of_the_model_in_its_order() -> None:
    boxes = [
        ModelBox(Rect(60, 170, 300, 200), "list-item"),
        ModelBox(Rect(60, 130, 300, 160), "section-header"),
        ModelBox(Rect(60, 90, 300, 120), "page-header"),
    ]
    (page,) = layout([raw()], boxes={1: boxes})
    assert [unit.text for unit in page.units] == ["gamma delta", "Alpha beta", "Alone below"]
    assert page.units[1].type == "heading"
    assert [piece.text for piece in page.furniture] == ["Page head"]
    layout_invariants.check([page])


def page(number: int, confidence: float, ocr: bool = False) -> ParsedPage:
    (laid_out,) = layout([raw()])
    return ParsedPage(
        number,
        "",
        laid_out.frame,
        laid_out.text,
        laid_out.words,
        laid_out.units,
        confidence=confidence,
        ocr=ocr,
    )


@pytest.mark.parametrize(("engine", "numbers"), [("fast", []), ("auto", [2]), ("ml", [1, 2])])
def test_only_pages_in_doubt_are_modelled_by_auto(engine: str, numbers: list[int]) -> None:
    request = ParseRequest("", engine, Limits())  # type: ignore[arg-type]
    pages = [page(1, 0.95), page(2, 0.2), page(3, 0.1, ocr=True)]
    assert modelling.pages_to_model(request, pages) == numbers


def test_the_model_sees_what_stands_on_a_page() -> None:
    with pymupdf.open("pdf", draw_pdf(TEXT)) as document:
        page = document[0]
        boxes = model_boxes(page, page_frame(page))
    assert "text" in {box.kind for box in boxes}
    assert all(box.rect.x0 < box.rect.x1 <= 595 and box.rect.y0 < box.rect.y1 <= 842 for box in boxes)


def test_the_model_reads_the_words_the_fast_engine_reads(tmp_path: Path) -> None:
    path = tmp_path / "file.pdf"
    path.write_bytes(draw_pdf(TEXT))
    modelled, fast = parse_file(path, engine="ml"), parse_file(path)
    layout_invariants.check(modelled.pages)
    assert modelled.pages[0].text.split() == fast.pages[0].text.split()
    assert modelled.stage_seconds["model"] > 0
    assert "The total maintenance cost in 2021 was 4,310,000 kroner, as the survey found." in [
        unit.text for unit in modelled.pages[0].units
    ]
