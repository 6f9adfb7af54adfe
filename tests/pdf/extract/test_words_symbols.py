"""Symbol fonts: what is printed as a tick or a box is one, whatever number the font gives it."""

from __future__ import annotations

import pymupdf
import pytest

from pdf.extract.visibility import HiddenText
from pdf.extract.words import read_words, symbols_of
from pdf.geometry import PageFrame
from tests.pdf.layout_drawing import Drawing, texts


@pytest.mark.parametrize(
    ("font", "code", "sign"),
    [
        ("Wingdings", 0xF0FC, "✓"),
        ("ABCDEF+Wingdings-Regular", ord("ü"), "✓"),
        ("Wingdings", 0xF0A7, "▪"),
        ("Wingdings", 0xF0D8, "➢"),
        ("Wingdings 2", ord("R"), "☑"),
        ("Webdings", ord("a"), "✓"),
        ("SymbolMT", 0xF0B7, "•"),
        ("Symbol", 0xF061, "α"),
        ("BAAAAA+OpenSymbol", 0xF0A7, "▪"),
        ("BAAAAA+OpenSymbol", 0xF0B7, "•"),
        ("ZapfDingbats", 0xF034, "✔"),
        ("ZapfDingbats", 0xF0B6, "❶"),
    ],
)
def test_a_symbol_fonts_number_is_the_sign_that_it_prints(font: str, code: int, sign: str) -> None:
    assert symbols_of(font)[code] == sign


def test_text_fonts_and_fonts_of_unicode_have_no_signs_of_their_own() -> None:
    assert not symbols_of("Helvetica") and not symbols_of("SegoeUISymbol")
    assert ord("a") not in symbols_of("SymbolMT"), "letters there may be decoded already"


def test_ticks_of_wingdings_are_cells_of_their_rows() -> None:
    drawing = Drawing()
    plans = ("Plan", "Basic", "Team", "Firm")
    rows = [plans, ("Calendar", "ü", "ü", "ü"), ("Two offices", "û", "ü", "ü"), ("Night line", "û", "û", "ü")]
    for row, cells in enumerate(rows):
        for n, cell in enumerate(cells):
            # Times stands for Wingdings here, and is renamed below
            drawing.text(72 + 100 * n, 100 + 16 * row, cell, font="tiro" if len(cell) == 1 else "helv")
    _rename(drawing.document, "Times-Roman", "Wingdings")
    assert texts(drawing.units()) == [
        "Plan\tBasic\tTeam\tFirm",
        "Calendar\t✓\t✓\t✓",
        "Two offices\t✗\t✓\t✓",
        "Night line\t✗\t✗\t✓",
    ]


def _rename(document: pymupdf.Document, name: str, other: str) -> None:
    for xref in range(1, document.xref_length()):
        if document.xref_get_key(xref, "BaseFont") == ("name", f"/{name}"):
            document.xref_set_key(xref, "BaseFont", f"/{other}")


@pytest.mark.parametrize(
    ("font", "kept"), [("LCIRCLE10", False), ("ABCDEF+linew10", False), ("Lineal10", True)]
)
def test_signs_that_draw_the_corners_of_a_frame_are_no_words(font: str, kept: bool) -> None:
    word = (95.0, 96.0, 103.0, 106.0, "\ufffd", 0, 0, 0)
    span = {"font": font, "size": 10.0, "flags": 0, "color": 0, "origin": (95.0, 104.0), "bbox": word[:4]}
    line = {"spans": [{**span, "text": "\ufffd"}], "dir": (1.0, 0.0), "wmode": 0, "bbox": word[:4]}
    block = {"type": 0, "bbox": word[:4], "lines": [line]}
    words, _ = read_words([word], [block], HiddenText(), PageFrame(595.0, 842.0), {})
    assert len(words) == kept
