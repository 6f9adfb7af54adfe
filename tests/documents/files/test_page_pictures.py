"""Pictures of pages: rendered in the sandbox, highlighted correctly, cached until the document is deleted."""

from __future__ import annotations

import io
import threading
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pymupdf
import pytest
from django.contrib.auth.models import User
from django.core.cache import caches
from PIL import Image

from documents.files import page_pictures
from documents.files import page_pictures as cropping
from documents.files.page_pictures import STRONG, Highlight, PictureFailed, page_drawing, page_picture
from documents.library import delete_document
from documents.models import Document, Page
from tests.conftest import Ingest

SQUARE = (100.0, 200.0, 140.0, 240.0)  # page space, on a page of 595 × 842 pt


def image_of(png: bytes) -> Image.Image:
    return Image.open(io.BytesIO(png)).convert("RGB")


def colour_at(image: Image.Image, page: Page, x: float, y: float) -> Any:
    width, height = page.frame.display_size
    return image.getpixel((int(x / width * image.width), int(y / height * image.height)))


@pytest.fixture(autouse=True)
def a_cache_of_its_own(settings: Any, tmp_path: Any) -> None:
    settings.CACHES = settings.CACHES | {
        "pictures": settings.CACHES["pictures"] | {"LOCATION": tmp_path / "pictures"}
    }


def test_the_words_are_lit_and_the_rest_is_as_it_was(alice: User, ingested: Ingest) -> None:
    page = ingested(alice, "Words at the top.").pages.get()
    image = image_of(page_picture(page, [Highlight([SQUARE], STRONG)], dpi=72))
    assert image.size == (595, 842)
    assert colour_at(image, page, 120, 220) == STRONG
    assert colour_at(image, page, 99, 220) == colour_at(image, page, 141, 220) == (255, 255, 255)


def test_heads_are_underlined(alice: User, ingested: Ingest) -> None:
    page = ingested(alice, "Words at the top.").pages.get()
    pale, strong = (255, 246, 204), (255, 0, 0)
    image = image_of(page_picture(page, [Highlight([SQUARE], pale, underline=strong)], dpi=72))
    assert colour_at(image, page, 120, 201) == pale
    assert colour_at(image, page, 120, 239) == strong


@pytest.mark.parametrize("rotation", [0, 90, 180, 270])
def test_a_turned_page_is_drawn_as_a_viewer_shows_it(alice: User, ingested: Ingest, rotation: int) -> None:
    """The highlight must cover a blue square drawn at SQUARE before the page is rotated."""
    drawn = pymupdf.open()
    sheet = drawn.new_page()
    sheet.insert_text((72, 90), "Words, so that there is text.")
    sheet.draw_rect(pymupdf.Rect(SQUARE), color=None, fill=(0, 0, 1))
    sheet.set_rotation(rotation)
    page = ingested(alice, pdf=drawn.tobytes()).pages.get()
    image = image_of(page_picture(page, [Highlight([SQUARE], (255, 255, 0))], dpi=72))
    black = sum(1 for pixel in image.get_flattened_data() if pixel == (0, 0, 0))
    blue = sum(1 for pixel in image.get_flattened_data() if pixel == (0, 0, 255))
    yellow = sum(1 for pixel in image.get_flattened_data() if pixel == (255, 255, 0))
    assert black >= 38 * 38, "yellow on blue multiplies to black"
    assert blue <= 170 and yellow <= 170, "no more than an edge of a pixel beside it"


def test_a_crop_holds_the_words_and_little_more(alice: User, ingested: Ingest) -> None:
    page = ingested(alice, "Words at the top.").pages.get()
    layers = [Highlight([SQUARE], STRONG)]
    whole, crop = (image_of(page_picture(page, layers, dpi=72, crop=cut)) for cut in (False, True))
    assert crop.height == pytest.approx(40 + 2 * cropping.MARGIN, abs=2)
    assert crop.width == pytest.approx(whole.width * cropping.LEAST, abs=2)
    assert STRONG in set(crop.get_flattened_data())


def test_a_page_is_drawn_once_and_forgotten_with_its_document(
    alice: User, ingested: Ingest, monkeypatch: pytest.MonkeyPatch, django_capture_on_commit_callbacks: Any
) -> None:
    document: Document = ingested(alice, "Words.")
    first = page_drawing(document, 1, 72)
    monkeypatch.setattr(page_pictures, "draw_plain_page", lambda *args, **options: pytest.fail("drawn again"))
    assert page_drawing(document, 1, 72) == first
    key = page_pictures.cache_key(document.pk, 1, 72)
    assert caches["pictures"].get(key)
    with django_capture_on_commit_callbacks(execute=True):
        delete_document(document)
    assert caches["pictures"].get(key) is None


@pytest.mark.parametrize(("patience", "at_once"), [(60.0, 2), (0.0, 6)])
def test_pages_drawn_together_take_turns_as_long_as_that_is_quick(
    patience: float, at_once: int, alice: User, ingested: Ingest, monkeypatch: pytest.MonkeyPatch
) -> None:
    document = ingested(alice, "Words.")
    all_here = threading.Barrier(at_once)

    def draw(path: object, number: int, **options: object) -> bytes:
        all_here.wait(60)  # fails unless two draw at the same time
        return b"picture"

    monkeypatch.setattr(page_pictures, "draw_plain_page", draw)
    monkeypatch.setattr(page_pictures, "_drawing_slots", threading.BoundedSemaphore(2))
    monkeypatch.setattr(page_pictures, "_PATIENCE", patience)
    with ThreadPoolExecutor(6) as pool:
        assert (
            list(pool.map(lambda number: page_drawing(document, number, 72), range(1, 7))) == [b"picture"] * 6
        )
    assert page_pictures._drawing_slots._value == 2


def test_what_cannot_be_drawn_says_so(alice: User, ingested: Ingest) -> None:
    document = ingested(alice, "Words.")
    with pytest.raises(PictureFailed):
        page_drawing(document, 9, 72)
    with pytest.raises(PictureFailed, match="no file"):
        page_drawing(Document(owner=alice), 1, 72)
