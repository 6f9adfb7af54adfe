"""What holds of every page, drawn at random or found in the wild."""

from __future__ import annotations

import random
import time
from pathlib import Path

import msgspec
import pymupdf
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pdf.extract.page_content import RawPage
from pdf.extract.words import RawWord, Style
from pdf.failures import PLAIN_LINES
from pdf.geometry import PageFrame, Rect
from pdf.layout import pipeline, reading_order
from pdf.layout import unit_writer as writing
from pdf.layout.page_layout import PageLayout
from pdf.layout.pipeline import layout, read_pages
from tests.pdf.layout_drawing import LEFT, PROSE, TOP, Drawing, justified, texts
from tests.pdf.layout_invariants import check

CORPUS = Path("/work/shared/corpus")
FOLDERS = ("layout", "quotes/pdfs", "financebench/pdfs")
PAGES_OF_A_FILE = 2

WIDTH, HEIGHT = 600.0, 800.0
TEXTS = [
    "the",
    "consoli-",
    "dated",
    "1.",
    "•",
    "$",
    "(47)",
    "2,291",
    "Total",
    "שלום",
    "合同金额",
    "soft\xad",
    "—",
    "Figure",
]
GAPS = (0.3, 0.3, 1.5, 6.0)

styles = st.builds(
    Style,
    size=st.sampled_from((6.0, 9.0, 10.0, 16.0)),
    font=st.just("F"),
    bold=st.booleans(),
    mono=st.booleans(),
)


@st.composite
def lines_of_words(draw: st.DrawFn, number: int) -> list[RawWord]:
    """Words one beside the other, near or far."""
    x, y = draw(st.floats(0, WIDTH)), draw(st.floats(0, HEIGHT - 20))
    style, turn = draw(styles), draw(st.sampled_from((0, 0, 0, 0, 90, 270)))
    baseline = y + 0.8 * style.size
    found = []
    for text in draw(st.lists(st.sampled_from(TEXTS), min_size=1, max_size=8)):
        right = min(x + 0.5 * style.size * len(text), WIDTH)
        found.append(RawWord(x, y, right, y + style.size, text, style, baseline, number, turn))
        x = min(right + draw(st.sampled_from(GAPS)) * style.size, WIDTH)
    return found


@st.composite
def raw_pages(draw: st.DrawFn) -> RawPage:
    """A page with words strewn in lines anywhere, some of them sideways, and some rulings."""
    page = RawPage(number=draw(st.integers(1, 9)), frame=PageFrame(WIDTH, HEIGHT))
    for line in range(draw(st.integers(0, 14))):
        page.words += draw(lines_of_words(line))
    for _ in range(draw(st.integers(0, 6))):
        x, y = draw(st.floats(0, 300)), draw(st.floats(0, 700))
        page.rulings.append(
            Rect(x, y, x + 280, y + 0.5) if draw(st.booleans()) else Rect(x, y, x + 0.5, y + 90)
        )
    return page


@settings(
    max_examples=settings.default.max_examples * 2 // 5,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow],
)
@given(st.lists(raw_pages(), min_size=1, max_size=3))
def test_any_page_of_words_becomes_sound_units(pages: list[RawPage]) -> None:
    parsed = layout(pages)
    check(parsed)
    for page, raw in zip(parsed, pages, strict=True):
        assert not page.failure
        assert letters(page.text) == letters("".join(word.text for word in raw.words))


def letters(text: str) -> list[str]:
    """Return every character that must be kept: all but spaces and hyphens at line ends."""
    return sorted(c for c in text if not c.isspace() and c not in "-\u00ad")


def sampled_files() -> list[Path]:
    files = sorted(path for folder in FOLDERS for path in (CORPUS / folder).glob("*.pdf"))
    return random.Random(3).sample(files, min(30, len(files)))


@pytest.mark.skipif(not CORPUS.exists(), reason="the shared corpus is not here")
@pytest.mark.parametrize("path", sampled_files(), ids=lambda path: path.stem[:40])
def test_real_files_become_sound_units_and_the_same_ones_twice(path: Path) -> None:
    document = pymupdf.open(path)
    numbers = range(1, min(document.page_count, PAGES_OF_A_FILE) + 1)
    pages = read_pages(document, numbers)
    check(pages)
    assert not any(page.failure for page in pages)
    again = read_pages(pymupdf.open(path), numbers)
    assert msgspec.msgpack.encode(pages) == msgspec.msgpack.encode(again)


@pytest.mark.parametrize(
    "look",
    [
        *("join_kerned", "separate_furniture", "mark_headings", "classify_blocks", "nest_lists"),
        *("title_tables", "number_tables", "mark_continuations", "assign_sections"),
    ],
)
def test_a_pass_over_the_document_that_fails_costs_only_what_it_would_have_found(
    look: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*args: object) -> None:
        raise LookupError("a page nobody thought of")

    drawing = Drawing()
    drawing.text(LEFT, TOP - 30, "1 Findings", size=16)
    drawing.lines(justified(PROSE, 430))
    drawing.lines(["Revenue 2020", "Profit 2021"], y=300)
    monkeypatch.setattr(pipeline, look, fail)
    (page,) = drawing.read()
    check([page])
    assert not page.failure
    assert PROSE in [unit.text for unit in page.units]


@pytest.mark.parametrize("finder", ["with_ruled_tables", "regions", "aligned_rows", "paragraphs", "sidebars"])
def test_a_page_whose_layout_fails_keeps_its_words_line_by_line(
    finder: str, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    arrange = pipeline.arrange

    def fail(*args: object) -> None:
        raise LookupError("a page nobody thought of")

    def fail_on_second(page_layout: PageLayout) -> None:
        with monkeypatch.context() as patch:
            if page_layout.raw.number == 2:
                patch.setattr(reading_order, finder, fail)
            arrange(page_layout)

    drawing = Drawing()
    for town in ("Dover", "Hastings", "Rye"):
        drawing.lines([f"{town} in spring", *justified(PROSE, 430)])
        drawing.lines(["Revenue 2020", "Profit 2021"], y=300)
        drawing.new_page()
    monkeypatch.setattr(pipeline, "arrange", fail_on_second)
    pages = drawing.read()
    check(pages)
    assert [page.failure for page in pages] == ["", PLAIN_LINES, "", ""]
    assert texts(pages[1].units)[:2] == ["Hastings in spring", justified(PROSE, 430)[0]]
    assert len(pages[1].words) == len(pages[0].words)
    assert PROSE in " ".join(texts(pages[2].units))
    assert "the layout of page 2 failed" in caplog.text


def test_a_page_whose_table_cannot_be_written_keeps_its_words(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*args: object) -> None:
        raise LookupError("a table nobody thought of")

    drawing = Drawing()
    for n, row in enumerate(("Item 2020 2021", "Revenue 1,204 1,310", "Costs 904 1,010", "Profit 300 300")):
        for x, cell in zip((LEFT, 250, 350), row.split(), strict=True):
            drawing.text(x, TOP + n * 14, cell)
    monkeypatch.setattr(writing, "column_headers", fail)
    (page,) = drawing.read()
    check([page])
    assert page.failure == PLAIN_LINES
    assert "1,310" in texts(page.units)


def test_a_page_that_cannot_be_written_does_not_end_the_document(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail_on_second(sheet: PageLayout) -> float:
        return 1 / 0 if sheet.raw.number == 2 and sheet.blocks else 1.0

    drawing = Drawing()
    for _ in range(3):
        drawing.lines(justified(PROSE, 430))
        drawing.new_page()
    monkeypatch.setattr(writing, "confidence", fail_on_second)
    pages = drawing.read()
    check(pages)
    assert [bool(page.failure) for page in pages] == [False, True, False, False]
    assert pages[2].units[0].line_start == pages[0].units[-1].line_end + 1


def test_a_drawing_of_many_lines_does_not_stall_the_layout() -> None:
    page = RawPage(number=1, frame=PageFrame(WIDTH, HEIGHT))
    for n in range(12_000):
        x, y = (n * 37) % 500, (n * 91) % 700
        page.rulings += [Rect(x, y, x + 90, y + 0.3), Rect(x, y, x + 0.3, y + 90)]
    style = Style(8.0)
    for n in range(1_500):
        x, y = (n * 53) % 560, (n * 29) % 780
        page.words.append(RawWord(x, y, x + 20, y + 8, f"N{n % 40}", style, y + 6.5, n))
    started = time.process_time()
    check(layout([page]))
    assert time.process_time() - started < 20


@pytest.mark.skipif(not CORPUS.exists(), reason="needs the shared corpora")
def test_a_text_that_stands_for_a_drawn_title_lies_where_the_title_does() -> None:
    document = pymupdf.open(CORPUS / "general/pdfs/Independents-Report.pdf")
    pages = read_pages(document, [14], tags=False)
    check(pages)
    (word,) = [word for word in pages[0].words if pages[0].text[word.char_start : word.char_end] == "-sex"]
    assert 90 < word.y0 < word.y1 < 130
