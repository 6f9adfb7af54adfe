"""Pages without usable text are recognised by OCR, and can be selected afterwards."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from pathlib import Path
from typing import Any

import psutil
import pymupdf
import pytest

from operations.observability.health import tesseract_has_its_languages
from pdf.api import add_text_layer, parse_file, recognise_pages
from pdf.extract.page_content import RawPage
from pdf.extract.recognition import is_garbled, may_show_writing, needs_recognition, with_recognised
from pdf.extract.words import RawWord, Style
from pdf.failures import FailureCode, ParseFailure
from pdf.geometry import PageFrame, Rect
from pdf.sandbox.confinement import TESSDATA
from pdf.sandbox.messages import Limits, PageNotRecognised, ParseRequest
from tests.conftest import some_fast

LINES = ["Maintenance of the bridge", "cost 4,310,000 in 2021"]
PLAIN = "This page has letters of its own."


def raw(*texts: str, images: list[Rect] | None = None) -> RawPage:
    words = [RawWord(72, 90, 100, 102, text, Style(11), 100, 0) for text in texts]
    return RawPage(1, PageFrame(595, 842), words=words, images=images or [])


def test_only_pages_without_text_to_trust_are_recognised() -> None:
    scan = Rect(0, 0, 595, 842)
    assert needs_recognition(raw())
    assert needs_recognition(raw("ab\ufffd\ufffd", "\ufffdtext"))
    assert needs_recognition(raw("EXHIBIT", "7", images=[scan]))
    assert not needs_recognition(raw("Plain", "words", "here", images=[Rect(0, 0, 200, 200)]))
    assert not needs_recognition(raw(*["word"] * 30, images=[scan]))


def test_a_few_odd_letters_do_not_make_a_page_garbled() -> None:
    assert not is_garbled(raw("mostly", "readable", "\ufffd").words)


def test_garbled_text_is_never_kept_even_when_it_cannot_be_recognised() -> None:
    request = ParseRequest("nowhere.pdf", Limits(), unrecognised={1: "Why."})
    pages = [raw("\ufffd\ufffd\ufffd", "a"), dataclasses.replace(raw("plain"), number=2)]
    garbled, plain = with_recognised(request, pages, lambda _: None).pages
    assert garbled.words == []
    assert garbled.failure == "Why."
    assert [word.text for word in plain.words] == ["plain"]


def nothing(page: pymupdf.Page) -> None:
    pass


def boxes(page: pymupdf.Page) -> None:
    page.draw_rect((100, 100, 300, 400), color=(0, 0, 0))
    page.draw_rect((320, 100, 500, 400), fill=(0.2, 0.2, 0.2))
    page.draw_line((50, 600), (500, 600))


def letters(page: pymupdf.Page) -> None:
    page.draw_rect((100, 100, 300, 400), fill=(0.2, 0.2, 0.2))
    page.insert_text((120, 200), "few", color=(1, 1, 1))


@pytest.mark.parametrize(("draw", "writing"), [(nothing, False), (boxes, False), (letters, True)])
def test_blank_pages_and_mere_boxes_are_not_shown_to_the_recogniser(
    draw: Callable[[pymupdf.Page], None], writing: bool
) -> None:
    page = pymupdf.open().new_page()
    draw(page)
    assert may_show_writing(page) == writing


@pytest.fixture(scope="module")
def scan(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A page with letters, then a page that is only a picture of two lines, 11 pt, at y = 100 and 130 pt."""
    drawn = pymupdf.open()
    for number, line in enumerate(LINES):
        page = drawn.new_page() if number == 0 else drawn[0]
        page.insert_text((72, 100 + 30 * number), line, fontsize=14)
    document = pymupdf.open()
    document.new_page().insert_text((72, 100), PLAIN)
    document.new_page().insert_image((0, 0, 595, 842), pixmap=drawn[0].get_pixmap(dpi=150))
    document.new_page()
    path = tmp_path_factory.mktemp("ocr") / "scan.pdf"
    document.save(path)
    return path


def test_a_scanned_page_is_recognised_and_can_be_selected(scan: Path) -> None:
    document = parse_file(scan)
    letters, picture, blank = document.pages
    assert (letters.ocr, picture.ocr, blank.ocr) == (False, True, False)
    assert picture.text.split() == " ".join(LINES).split()
    first = picture.words[0].rect
    assert first.x0 == pytest.approx(72, abs=3)
    assert first.contains(100, 95)

    layered = pymupdf.open("pdf", add_text_layer(scan, document.pages))
    assert layered[1].get_text("words")[0][4] == "Maintenance"
    assert Rect(*layered[1].get_text("words")[0][:4]).contains(*first.center)
    assert layered[1].get_pixmap().samples == pymupdf.open(scan)[1].get_pixmap().samples
    assert layered[0].get_text().strip() == PLAIN


def test_pages_that_are_not_recognised_at_once_say_what_they_await(scan: Path) -> None:
    document = parse_file(scan, recognise=False)
    assert [page.awaits for page in document.pages] == ["", "page", "page"]
    assert [page.failure for page in document.pages] == ["", "", ""]
    assert document.pages[0].text.strip() == PLAIN


def test_a_page_that_costs_too_much_is_given_up_alone(scan: Path) -> None:
    costly, blank = recognise_pages(scan, [2, 3], limits=Limits(ocr_page_seconds=-100.0))
    assert isinstance(costly, PageNotRecognised)
    assert costly.code == FailureCode.TOOK_TOO_LONG
    assert (costly.number, blank.number) == (2, 3)


@pytest.mark.slow
def test_recognition_leaves_the_processor_to_everything_else(scan: Path) -> None:
    answers = recognise_pages(scan, [2, 3], background=True)
    next(answers)
    children = psutil.Process().children(recursive=True)
    assert any(child.nice() == 10 for child in children)
    answers.close()
    psutil.wait_procs(children, timeout=5)
    assert not [child for child in children if child.is_running() and child.nice() == 10]


def test_work_in_the_background_ends_at_once_when_it_is_over(
    scan: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("pdf.sandbox.client._LOOK_SECONDS", 0.0)
    assert list(recognise_pages(scan, [2, 3], background=True, is_over=lambda: True)) == []


def test_a_scan_that_shows_nothing_has_no_text(tmp_path: Path) -> None:
    document = pymupdf.open()
    document.new_page().insert_image((0, 0, 595, 842), pixmap=pymupdf.open().new_page().get_pixmap())
    document.save(tmp_path / "scan.pdf")
    assert parse_file(tmp_path / "scan.pdf", recognise=False).pages[0].awaits == "page"
    with pytest.raises(ParseFailure) as raised:
        parse_file(tmp_path / "scan.pdf")
    assert raised.value.code == FailureCode.NO_TEXT


def test_what_was_recognised_is_not_recognised_again(scan: Path) -> None:
    first = parse_file(scan)
    said = {page.number: page.recognised for page in first.pages if page.recognised}
    assert sorted(said) == [2, 3], "the blank page was looked at, too"
    again = parse_file(scan, recognise=False, recognised=said)
    assert again.pages == first.pages


RUSSIAN = "Ремонт моста через реку стоил городу четыре миллиона рублей"


@pytest.mark.skipif(not Path(TESSDATA, "rus.traineddata").exists(), reason="needs Debian's tesseract-ocr-rus")
def test_a_script_that_our_models_do_not_know_goes_to_tesseract(tmp_path: Path) -> None:
    (read,) = parse_file(scan_of(RUSSIAN, tmp_path), limits=Limits(tesseract="rus+xyz")).pages
    assert read.text.split() == RUSSIAN.split()
    assert read.words[0].rect.x0 == pytest.approx(72, abs=3)
    assert 80 < read.words[0].rect.y0 < read.words[-1].rect.y1 < 150


HINDI = "नगर पुस्तकालय सप्ताह में छह दिन खुला रहता है। सदस्य एक बार में पाँच पुस्तकें ले जा सकते हैं। "


@pytest.mark.skipif(not Path(TESSDATA, "hin.traineddata").exists(), reason="needs Debian's tesseract-ocr-hin")
@pytest.mark.parametrize("turn", some_fast([0, 90, 180], "90"))
def test_a_page_that_tesseract_reads_is_turned_upright_and_parted_into_words(
    tmp_path: Path, turn: int
) -> None:
    scan = scan_of(3 * HINDI, tmp_path, turn)
    (read,) = parse_file(scan, limits=Limits(tesseract="hin")).pages
    assert read.text.split() == (3 * HINDI).split()


def scan_of(text: str, folder: Path, turn: int = 0) -> Path:
    """A page that is a picture of the text, turned clockwise."""
    drawn = pymupdf.open()
    drawn.new_page().insert_htmlbox((72, 80, 520, 400), f"<p style='font-size: 20px'>{text}</p>")
    document = pymupdf.open()
    page = document.new_page()
    page.insert_image(page.rect, pixmap=drawn[0].get_pixmap(dpi=150))
    page.set_rotation(turn)
    document.save(folder / "scan.pdf")
    return folder / "scan.pdf"


def test_languages_of_tesseract_that_are_not_installed_are_named(settings: Any) -> None:
    settings.PARSE_TESSERACT = "xyz"
    (warning,) = tesseract_has_its_languages()
    assert "xyz, which is not installed" in warning.msg
    assert "tesseract-ocr-xyz" in str(warning.hint)
