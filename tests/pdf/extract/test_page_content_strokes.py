"""Strokes have the boxes that are painted, also under a matrix that scales them."""

from __future__ import annotations

import pymupdf
import pytest

from pdf.extract.page_content import read_page
from pdf.geometry import Rect
from pdf.layout.pipeline import read_pages

# The same page of rules, in points and in tenths of a point as Ghostscript writes it.
SCALES = [(1.0, "1 w"), (10.0, "q 0.1 0 0 0.1 0 0 cm 10 w")]


def document_of(content: str) -> pymupdf.Document:
    document = pymupdf.open()
    page = document.new_page(width=600, height=800)
    page.insert_text((0, 0), "")
    stream = document.get_new_xref()
    document.update_object(stream, "<<>>")
    document.update_stream(stream, content.encode())
    page.set_contents(stream)
    return document


@pytest.mark.parametrize(("scale", "setting"), SCALES)
def test_a_short_stroke_is_no_box_of_its_line_width(scale: float, setting: str) -> None:
    x, y, end = 100 * scale, 700 * scale, 101 * scale
    raw = read_page(document_of(f"{setting} {x} {y} m {end} {y} l S Q")[0])
    assert raw.fills == []
    (ruling,) = raw.rulings
    assert ruling.x1 - ruling.x0 <= 3 and ruling.center == pytest.approx((100.5, 100), abs=0.6)


@pytest.mark.parametrize(("scale", "setting"), SCALES)
def test_the_edges_of_a_stroked_rectangle_are_its_path(scale: float, setting: str) -> None:
    raw = read_page(
        document_of(f"{setting} {100 * scale} {600 * scale} {200 * scale} {50 * scale} re S Q")[0]
    )
    assert raw.fills == []
    assert {Rect(*map(round, edge)) for edge in raw.rulings} == {
        Rect(100, 150, 300, 150),
        Rect(100, 200, 300, 200),
        Rect(100, 150, 100, 200),
        Rect(300, 150, 300, 200),
    }


def test_a_stroke_broader_than_a_ruling_is_a_filled_area() -> None:
    raw = read_page(document_of("12 w 100 600 m 300 600 l S")[0])
    assert [tuple(map(round, fill)) for fill in raw.fills] == [(100, 194, 300, 206)]
    assert raw.rulings == []


@pytest.mark.parametrize(("scale", "setting"), SCALES)
def test_a_table_ruled_in_short_upright_strokes_is_read_in_any_scale(scale: float, setting: str) -> None:
    strokes = [
        f"{x * scale} {y * scale} m {x * scale} {(y + 14) * scale} l S"
        for x in (80, 200, 300, 400)
        for y in range(600, 684, 14)
    ]
    strokes += [f"{80 * scale} {y * scale} m {400 * scale} {y * scale} l S" for y in range(600, 698, 14)]
    document = document_of(f"{setting} {' '.join(strokes)} Q")
    rows = [("Harbour", "Boats", "Crew")] + [(f"Port {n}", f"{n}40", f"{n}7") for n in range(1, 6)]
    for n, row in enumerate(rows):
        for x, text in zip((84, 204, 304), row, strict=True):
            document[0].insert_text((x, 126 + 14 * n), text, fontsize=9)
    (page,) = read_pages(pymupdf.open("pdf", document.tobytes()), [1])
    found = [tuple(cell.text for cell in unit.table.cells) for unit in page.units if unit.table]
    assert found == rows
