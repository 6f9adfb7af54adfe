"""Where the words stand in the file, whatever the page's boxes, turn and unit."""

from __future__ import annotations

import itertools
import json
import math
from pathlib import Path

import pymupdf
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pdf.extract.page_content import RawPage
from pdf.extract.words import RawWord, Style
from pdf.geometry import PageFrame, Rect
from pdf.layout.page_layout import from_reading, slope_of, to_reading
from pdf.layout.pipeline import layout, read_pages
from tests.pdf.layout_invariants import check

FIXTURES = Path("/work/shared/corpus/robust/synthetic")

BOXES = {
    "plain": ((0, 0, 595, 842), None),
    "origin": ((100, -200, 695, 642), None),
    "crop": ((0, 0, 595, 842), (60, 90, 560, 800)),
    "origin and crop": ((100, -200, 695, 642), (150, -120, 650, 600)),
    "crop beyond the page": ((0, 0, 595, 842), (-50, 100, 600, 900)),
    "crop off the page": ((0, 0, 595, 842), (700, 0, 1200, 500)),
}


Box = tuple[int, int, int, int]


def drawn(media: Box, crop: Box | None, rotation: int, unit: float) -> pymupdf.Document:
    """A page with TARGET, 18 points high, whose baseline begins at (300, 300) of user space."""
    document = pymupdf.open()
    page = document.new_page()
    page.insert_text((72, 72), "a font named helv")
    (contents,) = page.get_contents()
    document.update_stream(contents, b"BT /helv 18 Tf 1 0 0 1 300 300 Tm (TARGET) Tj ET")
    for key, box in (("MediaBox", media), ("CropBox", crop)):
        document.xref_set_key(page.xref, key, "[{} {} {} {}]".format(*box) if box else "null")
    document.xref_set_key(page.xref, "Rotate", str(rotation))
    document.xref_set_key(page.xref, "UserUnit", str(unit))
    return pymupdf.open("pdf", document.tobytes())


@pytest.mark.parametrize(
    ("boxes", "rotation", "unit"), list(itertools.product(BOXES, (0, 90, 180, 270), (1, 2))), ids=str
)
def test_a_word_is_found_where_it_was_drawn_in_user_space(boxes: str, rotation: int, unit: float) -> None:
    page = read_pages(drawn(*BOXES[boxes], rotation, unit), [1])[0]
    (word,) = page.words
    x0, y0, x1, y1 = page.frame.to_user_space(word.rect)
    assert x0 == pytest.approx(300, abs=2) and x1 == pytest.approx(300 + 73, abs=4)
    assert 292 < y0 < 300 and 312 < y1 < 322
    assert page.frame.rotation == rotation and page.frame.user_unit == unit


def test_a_crop_box_off_the_page_gives_way_to_the_media_box() -> None:
    page = read_pages(drawn(*BOXES["crop off the page"], 90, 1), [1])[0]
    assert (page.frame.width, page.frame.height) == (595, 842)
    assert page.frame.display_size == (842, 595)


@pytest.mark.skipif(not FIXTURES.exists(), reason="the shared corpus is not here")
def test_the_fixtures_of_odd_pages_hold_their_phrase_where_they_say() -> None:
    expected = json.loads((FIXTURES / "expected.json").read_text())
    seen = 0
    for name, truth in expected.items():
        if not name.startswith("geom_") or "pdf_rect" not in truth:
            continue
        page = read_pages(pymupdf.open(FIXTURES / name), [1])[0]
        word = next(w for w in page.words if page.text[w.char_start : w.char_end] == truth["phrase"])
        (x0, y0, _, y1), tolerance = truth["pdf_rect"], truth["tolerance_pt"]
        found = page.frame.to_user_space(word.rect)
        # engines agree on where the letters begin and their middle line; box heights are their own
        assert found.x0 == pytest.approx(x0, abs=tolerance), name
        assert (found.y0 + found.y1) / 2 == pytest.approx((y0 + y1) / 2, abs=tolerance), name
        seen += 1
    assert seen >= 10


Edges = tuple[float, float, float, float]

sizes = st.floats(50, 3000)
turns = st.sampled_from((0, 90, 180, 270))
fractions = st.tuples(st.floats(0, 1), st.floats(0, 1), st.floats(0, 1), st.floats(0, 1))


def within(width: float, height: float, edges: Edges) -> Rect:
    """A rectangle on a page of that size."""
    xs, ys = sorted(edges[:2]), sorted(edges[2:])
    return Rect(xs[0] * width, ys[0] * height, xs[1] * width, ys[1] * height)


@given(sizes, sizes, turns, fractions)
def test_the_reading_frame_turns_back(width: float, height: float, turn: int, edges: Edges) -> None:
    rect = within(width, height, edges)
    turned = to_reading(rect, turn, width, height)
    assert turned.x0 <= turned.x1 and turned.y0 <= turned.y1
    assert from_reading(turned, turn, width, height) == pytest.approx(rect, abs=1e-6)


frames = st.builds(
    PageFrame,
    width=sizes,
    height=sizes,
    rotation=turns,
    crop_x=st.floats(-500, 500),
    crop_y=st.floats(-500, 500),
    user_unit=st.floats(0.5, 10),
)


@given(frames, fractions)
def test_coordinates_survive_page_user_space_display_and_back(frame: PageFrame, edges: Edges) -> None:
    rect = within(frame.width, frame.height, edges)
    user, unit = frame.to_user_space(rect), frame.user_unit
    left, right = ((x - frame.crop_x) * unit for x in (user.x0, user.x1))
    top, bottom = (frame.height - (y - frame.crop_y) * unit for y in (user.y1, user.y0))
    through_user_space = Rect(left, top, right, bottom)
    assert frame.from_display(frame.to_display(through_user_space)) == pytest.approx(rect, abs=1e-6 * 3000)
    assert all(-1e-9 <= edge <= 1 + 1e-9 for edge in frame.to_display(rect))


def scan(degrees: float) -> RawPage:
    """Two columns of 30 lines each as recognised on a page that is turned by so much about its middle."""
    sine, cosine = math.sin(math.radians(degrees)), math.cos(math.radians(degrees))
    words = []
    for column, left in enumerate((60, 310)):
        for row in range(30):
            for n in range(5):
                x, y = left + 45 * n + 20 - 297.5, 80 + 24 * row - 4 - 421
                x, y = 297.5 + x * cosine - y * sine, 421 + y * cosine + x * sine
                text, line = f"{'ab'[column]}{row}.{n}", 2 * row + column
                words.append(RawWord(x - 20, y - 5, x + 20, y + 5, text, Style(10, "OCR"), y + 4, line))
    return RawPage(1, PageFrame(595, 842), words=words, ocr=True)


@pytest.mark.parametrize("degrees", [0.0, 1.0, -2.0, 4.0])
def test_the_columns_of_a_skewed_scan_are_read_one_after_the_other(degrees: float) -> None:
    """And each word is lit where it stands on the page."""
    raw = scan(degrees)
    (page,) = layout([raw])
    check([page])
    assert page.text.split() == [
        f"{column}{row}.{n}" for column in "ab" for row in range(30) for n in range(5)
    ]
    boxes = {page.text[word.char_start : word.char_end]: word.rect for word in page.words}
    for word in raw.words:
        assert max(abs(a - b) for a, b in zip(boxes[word.text], word.rect, strict=True)) < 0.5


def test_lines_that_waver_are_left_as_they_are() -> None:
    random_words = [
        RawWord(60 + 45 * n, 80 + 24 * row, 100 + 45 * n, 90 + 24 * row, "word", Style(10, "OCR"), at, row)
        for row in range(20)
        for n in range(5)
        for at in [89 + 24 * row + n * (row % 5 - 2) * 2]
    ]
    assert slope_of(random_words) == 0.0
