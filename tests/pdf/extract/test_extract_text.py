"""Words, lines and characters: what the page's text holds, and where each word stands."""

from __future__ import annotations

import pymupdf
import pytest

from pdf.extract.word_repair import Vocabulary
from pdf.extract.words import pieces
from pdf.layout.pipeline import read_pages
from tests.pdf.layout_drawing import Drawing, texts


def test_a_word_stands_where_it_was_drawn() -> None:
    drawing = Drawing()
    drawing.text(100, 200, "Magnolia", size=20)
    page = drawing.read()[0]
    (word,) = page.words
    assert word.rect.x0 == pytest.approx(100, abs=2)
    assert word.rect.x1 == pytest.approx(100 + pymupdf.get_text_length("Magnolia", "helv", 20), abs=2)
    assert word.rect.y0 < 200 - 10 and 200 <= word.rect.y1 < 210


def test_a_word_broken_at_a_line_end_is_whole_in_the_text_and_keeps_both_boxes() -> None:
    drawing = Drawing()
    drawing.lines(["The auditors examined the consoli-", "dated accounts of both companies."])
    page = drawing.read()[0]
    assert page.units[0].text == "The auditors examined the consolidated accounts of both companies."
    at = page.text.index("consolidated")
    halves = [word for word in page.words if at <= word.char_start < at + len("consolidated")]
    assert [page.text[half.char_start : half.char_end] for half in halves] == ["consoli", "dated"]
    assert halves[0].rect.y1 < halves[1].rect.y1 and halves[0].rect.x0 > halves[1].rect.x0


def test_a_hyphen_that_the_document_uses_elsewhere_stays() -> None:
    drawing = Drawing()
    drawing.lines(
        ["The long-term debt rose again because the long-", "term plan was not followed by the board."]
    )
    assert "the long-term plan" in drawing.units()[0].text


def test_a_hyphen_before_a_number_stays() -> None:
    assert Vocabulary([]).at_line_end("COVID-", "19", " ") == ("COVID-", "")


def test_a_superscript_stays_in_its_line() -> None:
    drawing = Drawing()
    drawing.text(72, 100, "Net income before adjustments")
    drawing.text(
        72 + pymupdf.get_text_length("Net income before adjustments", "helv", 10) + 1, 96, "2", size=6
    )
    drawing.text(72, 112, "was higher than in the year before.")
    assert texts(drawing.units()) == ["Net income before adjustments 2 was higher than in the year before."]


def test_shadow_print_is_read_once() -> None:
    drawing = Drawing()
    drawing.text(72, 100, "Annual report")
    drawing.text(72.6, 100.6, "Annual report")
    assert texts(drawing.units()) == ["Annual report"]


def test_a_word_torn_by_kerning_is_whole() -> None:
    assert texts(kerned("(FINANCIAL CONDITION AND LIQUIDI ) 110 (TY)").units())[0] == (
        "FINANCIAL CONDITION AND LIQUIDITY"
    )


@pytest.mark.parametrize("drawn", ["(AN UNUSUAL LIQUIDI TY)", "(BETTER IN ) 30 (TO LIQUIDITY)"])
def test_a_whole_space_or_a_pair_of_words_is_not_kerning(drawn: str) -> None:
    assert texts(kerned(drawn).units())[0] in ("AN UNUSUAL LIQUIDI TY", "BETTER IN TO LIQUIDITY")


def kerned(drawn: str) -> Drawing:
    """A page that begins with the operands of TJ given, Helvetica at 12 pt, above a line of plain text."""
    drawing = Drawing()
    drawing.text(72, 300, "Our liquidity depends on what comes into the till, in coin, to pay.", size=12)
    (content,) = drawing.page.get_contents()
    stream = drawing.document.xref_stream(content)
    drawing.document.update_stream(
        content, b"BT /helv 12 Tf 72 700 Td [" + drawn.encode() + b"] TJ ET\n" + stream
    )
    return drawing


def test_ligatures_come_as_letters() -> None:
    drawing = Drawing()
    font = pymupdf.Font("tiro")
    writer = pymupdf.TextWriter(drawing.page.rect)
    writer.append((72, 100), "the \ufb01nal \ufb02oor", font=font, fontsize=12)
    writer.write_text(drawing.page)
    assert drawing.read()[0].text.strip() == "the final floor"


def test_chinese_characters_have_boxes_of_their_own() -> None:
    drawing = Drawing()
    drawing.text(72, 100, "合同金额为人民币", size=20, font="china-s")
    page = drawing.read()[0]
    assert page.units[0].text == "合同金额为人民币"
    assert len(page.words) == 8
    for n, word in enumerate(page.words):
        assert word.rect.x0 == pytest.approx(72 + 20 * n, abs=1.5)


def test_chinese_lines_are_joined_without_spaces() -> None:
    drawing = Drawing()
    for n, line in enumerate(
        ["双方同意按照本协议的条款和条件履行各自的义务并承担", "相应的法律责任直至协议终止为止。"]
    ):
        drawing.text(72, 100 + 16 * n, line, size=12, font="china-s")
    assert texts(drawing.units()) == [
        "双方同意按照本协议的条款和条件履行各自的义务并承担相应的法律责任直至协议终止为止。"
    ]


def test_a_clause_shares_its_box_out_by_the_width_of_its_characters() -> None:
    assert list(pieces("第12条", 0, 60)) == [("第", 0, 20), ("12", 20, 40), ("条", 40, 60)]
    *_, last, dots = pieces(f"要件{'.' * 100}", 0, 2 * 10 + 100 * 2.75)  # as a list of contents is set
    assert (last[0], *map(round, last[1:])) == ("件", 10, 20) and dots[2] == 295


def test_hebrew_is_in_logical_order() -> None:
    drawing = Drawing()
    html = '<p dir="rtl" style="font-family:sans-serif">שלום עולם טוב</p>'
    drawing.page.insert_htmlbox(pymupdf.Rect(72, 72, 500, 140), html)
    assert drawing.read()[0].text.strip() == "שלום עולם טוב"


def test_text_that_runs_up_the_page_is_read_upright() -> None:
    drawing = Drawing()
    for n, line in enumerate(["This page was set sideways because", "its table would not have fitted it."]):
        drawing.page.insert_text((100 + 14 * n, 700), line, fontsize=11, rotate=90)
    page = drawing.read()[0]
    assert texts(page.units) == ["This page was set sideways because its table would not have fitted it."]
    first = page.words[0].rect
    assert first.x1 == pytest.approx(103, abs=4) and first.y1 == pytest.approx(700, abs=2)


def test_a_stamp_in_the_margin_does_not_mix_with_the_text() -> None:
    drawing = Drawing()
    drawing.lines(
        ["A line of the body that is long enough.", "Another line of the body below the first."], x=120
    )
    drawing.page.insert_text((40, 500), "arXiv:2101.00001", fontsize=18, rotate=90)
    assert texts(drawing.units())[-1] == "arXiv:2101.00001"
    assert all("arXiv" not in text for text in texts(drawing.units())[:-1])


def test_lines_are_numbered_through_the_document() -> None:
    drawing = Drawing()
    drawing.lines(["First line of the first page goes on", "and ends on the second line."])
    drawing.new_page()
    drawing.lines(["Only line of the second page."])
    first, second = drawing.units()
    assert (first.line_start, first.line_end) == (1, 2)
    assert (second.line_start, second.line_end) == (3, 3)


def test_a_page_that_cannot_be_read_does_not_end_the_document() -> None:
    drawing = Drawing()
    drawing.text(72, 100, "Readable")
    document = pymupdf.open("pdf", drawing.document.tobytes())
    good, bad = read_pages(document, [1, 7])
    assert texts(good.units) == ["Readable"] and good.failure == ""
    assert bad.number == 7 and bad.failure and bad.text == ""
