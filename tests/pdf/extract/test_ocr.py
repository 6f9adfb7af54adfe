"""Pages without usable text are recognised by OCR, and can be selected afterwards."""

from __future__ import annotations

import dataclasses
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import psutil
import pymupdf
import pytest

from operations.observability.health import tesseract_has_its_languages
from pdf.api import add_text_layer, parse_file, recognise_pages
from pdf.extract.figures import pictures_in
from pdf.extract.page_content import RawPage
from pdf.extract.recognition import (
    ScanContent,
    is_garbled,
    may_show_writing,
    needs_recognition,
    pack,
    unpack,
    with_recognised,
)
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
    """A page with text, then a page that is only a picture of two lines, 11 pt, at y = 100 and 130 pt."""
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


PHOTO, SHADED = Rect(150, 300, 400, 480), Rect(72, 560, 500, 600)


def drawn_scan(folder: Path, paper: tuple[int, int, int], noise: float, rotation: int = 0) -> Path:
    """A scan on uneven paper: two lines, a photograph at ``PHOTO``, words on grey at ``SHADED``."""
    page = pymupdf.open().new_page()
    for at, text in enumerate(["The harbour was photographed", "in the summer of 1921"]):
        page.insert_text((72, 100 + 24 * at), text, fontsize=15)
    page.draw_rect(SHADED, color=None, fill=(0.75, 0.75, 0.75))
    page.insert_text((80, 585), "Boats in the harbour 4,310", fontsize=15)
    pixmap = page.get_pixmap(dpi=150)
    pixels = np.frombuffer(pixmap.samples, np.uint8).reshape(pixmap.height, pixmap.width, 3).copy()
    x0, y0, x1, y1 = (round(side * 150 / 72) for side in PHOTO)
    across, down = np.arange(x1 - x0), np.arange(y1 - y0)[:, None]
    hills = [
        90 + 60 * np.sin(across / size + shift) * np.cos(down / 40) for shift, size in enumerate((30, 45, 70))
    ]
    pixels[y0:y1, x0:x1] = np.stack(hills, axis=2)
    light = np.linspace(0.85, 1, pixmap.width)[:, None] * np.array(paper) / 255
    noisy = pixels * light + np.random.default_rng(1).normal(0, noise, pixels.shape)
    samples = np.clip(noisy, 0, 255).astype(np.uint8).tobytes()
    scanned = pymupdf.open()
    picture = scanned.new_page()
    picture.insert_image(
        picture.rect, pixmap=pymupdf.Pixmap(pymupdf.csRGB, pixmap.width, pixmap.height, samples, False)
    )
    picture.set_rotation(rotation)
    scanned.save(folder / "scan.pdf")
    return folder / "scan.pdf"


@pytest.mark.parametrize(
    ("paper", "noise", "rotation"),
    [((255, 255, 255), 3, 0), ((236, 222, 184), 12, 0), ((225, 225, 222), 8, 180)],
)
def test_the_photograph_in_a_scan_is_a_figure(
    tmp_path: Path, paper: tuple[int, int, int], noise: float, rotation: int
) -> None:
    (page,) = parse_file(drawn_scan(tmp_path, paper, noise, rotation)).pages
    (figure,) = page.figures
    assert page.ocr and "harbour" in page.text
    assert figure.rect == pytest.approx(PHOTO, abs=8)


def test_the_photograph_in_a_scan_with_a_text_layer_is_a_figure(tmp_path: Path) -> None:
    scan = drawn_scan(tmp_path, (236, 222, 184), 12)
    (page,) = parse_file(scan).pages
    (tmp_path / "layered.pdf").write_bytes(add_text_layer(scan, [page]))
    (layered,) = parse_file(tmp_path / "layered.pdf", recognise=False).pages
    assert not layered.ocr and layered.text.split() == page.text.split()
    (figure,) = layered.figures
    assert figure.rect == pytest.approx(PHOTO, abs=8)


def test_a_page_on_dark_or_coloured_ground_is_a_picture_as_a_whole() -> None:
    paper, slide = np.full((600, 400, 3), 240, np.uint8), np.full((600, 400, 3), (40, 60, 90), np.uint8)
    assert pictures_in(paper, []) == []
    assert pictures_in(slide, [Rect(0.1, 0.1, 0.9, 0.2)]) == [Rect(0, 0, 1, 1)]


def test_results_of_earlier_versions_are_read() -> None:
    words = raw("harbour").words
    assert unpack(zlib.compress(msgspec.msgpack.encode(words))) == ScanContent(words)
    content = ScanContent(words, [PHOTO])
    assert unpack(pack(content)) == content


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
