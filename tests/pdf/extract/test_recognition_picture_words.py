"""Words in pictures on pages with text are found, cited and highlighted, and do not disturb the text."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pymupdf
import pytest
from django.contrib.auth.models import User

from documents.models import Document
from pdf.api import parse_file, recognise_pages
from pdf.structure import ParsedDocument
from retrieval.query.scope import Scope
from retrieval.results import SearchOptions
from retrieval.search import search
from tests.conftest import Ingest
from tests.pdf import layout_invariants

HEADING, PROSE, LAST = (
    "1 Harvest",
    "The farm grows apples and pears on the slopes.",
    "Nothing is sold abroad.",
)
SIGN, LOGO = "Orchard yield 4,310 crates", "Hilltop"


def slides() -> bytes:
    """Four pages: text, a screenshot at (100, 300) on the second and fourth, and on each the same logo."""
    document = pymupdf.open()
    for number in range(4):
        page = document.new_page()
        if number == 0:
            page.insert_text((72, 80), HEADING, fontsize=18)
        page.insert_text((72, 120), PROSE if number < 3 else LAST)
        page.insert_image((450, 30, 550, 60), pixmap=drawn(LOGO, 100, 30))
        if number in (1, 3):
            page.insert_image((100, 300, 400, 360), pixmap=drawn(f"{SIGN} {number}", 300, 60))
    return bytes(document.tobytes())


def drawn(text: str, width: float, height: float) -> pymupdf.Pixmap:
    page = pymupdf.open().new_page(width=width, height=height)
    page.draw_rect(page.rect, fill=(0.9, 0.95, 1))
    page.insert_text((10, height / 2 + 5), text, fontsize=14)
    return page.get_pixmap(dpi=150)


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("slides") / "slides.pdf"
    path.write_bytes(slides())
    return path


@pytest.fixture(scope="module")
def read(file: Path) -> ParsedDocument:
    waiting = parse_file(file, recognise=False, pictures=True)
    assert [page.awaits for page in waiting.pages] == ["pictures"] * 4
    said: dict[int, bytes] = {}
    for answer in recognise_pages(file, [1, 2, 3, 4]):
        said[answer.number] = getattr(answer, "packed", b"")
    return parse_file(file, recognise=False, pictures=True, recognised=said)


def test_words_of_a_picture_are_units_of_their_own_behind_the_text(read: ParsedDocument) -> None:
    layout_invariants.check(read.pages)
    apart = {unit.text: page.number for page in read.pages for unit in page.units if unit.from_picture}
    assert apart == {f"{SIGN} 1": 2, f"{SIGN} 3": 4}, "and what stands on each page at one place is left out"
    assert not any(page.awaits for page in read.pages)


def test_they_stand_where_they_are_seen(read: ParsedDocument) -> None:
    page = read.pages[1]
    (unit,) = [unit for unit in page.units if unit.from_picture]
    assert page.text[unit.char_start : unit.char_end] == unit.text
    assert unit.bbox.x0 == pytest.approx(110, abs=4)
    assert unit.bbox.contains(200, 332)


def test_the_text_is_laid_out_as_without_them(file: Path, read: ParsedDocument) -> None:
    plain = parse_file(file, recognise=False)
    assert [page.awaits for page in plain.pages] == [""] * 4
    for page, without in zip(read.pages, plain.pages, strict=True):
        kept = [unit for unit in page.units if not unit.from_picture]
        assert [(unit.text, unit.type, unit.section_path) for unit in kept] == [
            (unit.text, unit.type, unit.section_path) for unit in without.units
        ]


@pytest.mark.django_db
def test_they_are_found_and_the_setting_leaves_them_out(alice: User, ingested: Ingest, settings: Any) -> None:
    document = ingested(alice, pdf=slides())
    assert (document.status, document.pictures_waiting) == (Document.Status.READY, 0)
    found = search("orchard yield crates", Scope(alice), SearchOptions(limit=3))
    assert found.hits[0].page in (2, 4)
    unit = document.units.get(pk=found.hits[0].best_unit_ids[0])
    assert unit.from_picture
    assert SIGN in unit.content
    settings.PARSE_PICTURES = False
    plain = ingested(alice, pdf=slides() + b"\n", name="plain.pdf")
    assert not plain.units.filter(from_picture=True).exists()
