from __future__ import annotations

from urllib.parse import quote

import pytest
from playwright.sync_api import Page

from tests.browser.conftest import Upload
from tests.browser.sheets import ANCHOR, odd_pages
from tests.browser.site import Site

WITHIN = 1.5  # CSS pixels at 100 % zoom

# Rectangles of the anchor's words as pdf.js's own text layer has them, and as we painted them.
MEASURE = """([number, words]) => {
  const page = document.querySelector(`.page[data-page-number="${number}"]`);
  const span = [...page.querySelectorAll(".textLayer span")].find((span) => span.textContent.includes(words));
  const range = document.createRange();
  const at = span.firstChild.data.indexOf(words);
  range.setStart(span.firstChild, at);
  range.setEnd(span.firstChild, at + words.length);
  const box = ({ left, top, right, bottom }) => ({ left, top, right, bottom });
  return {
    words: box(range.getBoundingClientRect()),
    painted: [...page.querySelectorAll(".lit-anchor")].map((lit) => box(lit.getBoundingClientRect())),
  };
}"""


@pytest.fixture(scope="module")
def uploaded() -> dict[str, str]:
    return {}


@pytest.fixture
def reader(uploaded: dict[str, str], upload: Upload) -> str:
    if "path" not in uploaded:
        uploaded["path"] = upload(odd_pages(), "Odd pages.pdf")
    return uploaded["path"]


def open_at(page: Page, site: Site, reader: str, number: int) -> None:
    page.goto(site.url(f"{reader}?page={number}&q={quote(ANCHOR)}"))
    page.evaluate("localStorage.clear()")
    page.locator(f'.page[data-page-number="{number}"] .lit-anchor').wait_for()
    page.locator(f'.page[data-page-number="{number}"] .textLayer span', has_text=ANCHOR).first.wait_for(
        state="attached"
    )


def assert_covered(page: Page, number: int) -> None:
    found = page.evaluate(MEASURE, [number, ANCHOR])
    (painted,), words = found["painted"], found["words"]
    along = "left right" if words["right"] - words["left"] > words["bottom"] - words["top"] else "top bottom"
    across = "top bottom" if along == "left right" else "left right"
    for edge in along.split():
        assert abs(painted[edge] - words[edge]) <= WITHIN, (number, edge, painted, words)
    near, far = across.split()
    assert painted[near] - WITHIN <= words[near] and words[far] <= painted[far] + WITHIN, (
        number,
        painted,
        words,
    )


@pytest.mark.parametrize(
    "number", [1, 2, 3, 4, 5], ids=["plain", "rotated 90, cropped", "180", "270, moved", "user unit"]
)
def test_the_painted_words_are_the_words_of_pdfjs(page: Page, site: Site, reader: str, number: int) -> None:
    open_at(page, site, reader, number)
    page.locator("[data-zoom]").select_option("1")
    page.wait_for_timeout(600)
    assert_covered(page, number)


def test_highlights_stay_right_through_zoom_and_turning(page: Page, site: Site, reader: str) -> None:
    open_at(page, site, reader, 2)
    page.locator("[data-zoom]").select_option("1.5")
    page.wait_for_timeout(600)
    assert_covered(page, 2)
    page.keyboard.press("r")
    page.wait_for_timeout(900)
    assert_covered(page, 2)


def test_the_words_stand_in_the_upper_third(page: Page, site: Site, reader: str) -> None:
    open_at(page, site, reader, 3)
    page.wait_for_timeout(600)
    room = page.locator("[data-pages]").bounding_box()
    lit = page.locator(".lit-anchor").first.bounding_box()
    assert room and lit
    assert 0.15 < (lit["y"] - room["y"]) / room["height"] < 0.4
