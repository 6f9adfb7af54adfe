from __future__ import annotations

from urllib.parse import parse_qs, quote, urlsplit

import pytest
from playwright.sync_api import Locator, Page

from bench.highlights import WITHIN, painted_on, wait_until_still
from bench.read import cite
from documents.models import Document
from tests.browser.conftest import Upload, assert_covers_words, committed
from tests.browser.sheets import ANCHOR, long_document, mixed_sizes, odd_pages
from tests.browser.site import Site


@pytest.fixture(scope="module")
def uploaded() -> dict[str, str]:
    return {}


@pytest.fixture
def reader(uploaded: dict[str, str], upload: Upload) -> str:
    if "path" not in uploaded:
        uploaded["path"] = upload(odd_pages(), "Odd pages.pdf")
    return uploaded["path"]


def open_at(page: Page, site: Site, reader: str, number: int, zoom: str = "1") -> None:
    page.goto(site.url(f"{reader}?page={number}&q={quote(ANCHOR)}"))
    page.locator(f'.page[data-page-number="{number}"] .lit-anchor').wait_for()
    page.locator("[data-zoom]").select_option(zoom)
    wait_until_still(page)


def assert_covered(page: Page, number: int) -> None:
    painted = painted_on(page, number)
    assert painted.text == ANCHOR
    assert max(painted.errors()) <= WITHIN
    assert_covers_words(painted)


@pytest.mark.parametrize(
    "number",
    [
        pytest.param(1, marks=pytest.mark.slow, id="plain"),
        pytest.param(2, id="rotated 90, cropped"),
        pytest.param(3, marks=pytest.mark.slow, id="180"),
        pytest.param(4, marks=pytest.mark.slow, id="270, moved"),
        pytest.param(5, id="user unit"),
    ],
)
def test_the_painted_words_are_the_words_of_pdfjs(page: Page, site: Site, reader: str, number: int) -> None:
    open_at(page, site, reader, number)
    assert_covered(page, number)


def test_highlights_stay_right_through_zoom_and_turning(page: Page, site: Site, reader: str) -> None:
    open_at(page, site, reader, 2, zoom="1.5")
    assert_covered(page, 2)
    page.locator("[data-pages]").focus()
    page.keyboard.press("r")
    page.locator(".pdfViewer .textLayer[data-main-rotation='180']").first.wait_for(state="attached")
    wait_until_still(page)
    assert_covered(page, 2)


@pytest.mark.slow
def test_the_words_stand_in_the_upper_third(page: Page, site: Site, reader: str) -> None:
    open_at(page, site, reader, 3)
    page.reload()
    page.locator(".lit-anchor").wait_for()
    wait_until_still(page)
    room = page.locator("[data-pages]").bounding_box()
    lit = page.locator(".lit-anchor").first.bounding_box()
    assert room and lit
    assert 0.15 < (lit["y"] - room["y"]) / room["height"] < 0.4


PLACES = "() => [...document.querySelectorAll('.page')].map((page) => [page.offsetTop, page.offsetHeight])"


@pytest.mark.slow
def test_pages_of_any_size_are_where_they_will_be_before_they_are_drawn(
    page: Page, site: Site, upload: Upload
) -> None:
    page.goto(site.url(upload(mixed_sizes(24), "Mixed.pdf")))
    page.locator('.page[data-page-number="1"][data-loaded]').wait_for()
    before = page.evaluate(PLACES)
    assert len({height for _top, height in before}) > 2
    page.evaluate("""() => {
      window.drawn = new Set();
      const note = ([{ target }]) => window.drawn.add(Number(target.dataset.pageNumber));
      const options = { subtree: true, attributeFilter: ["data-loaded"] };
      new MutationObserver(note).observe(document.querySelector(".pdfViewer"), options);
    }""")
    for number in (20, 1, 20):  # the second time, page 20 is drawn already
        page.locator("[data-page-input]").fill(str(number))
        page.locator("[data-page-input]").press("Enter")
        page.locator(f'.page[data-page-number="{number}"][data-loaded]').wait_for()
        wait_until_still(page)
    assert page.evaluate(PLACES) == before
    assert 10 not in page.evaluate("[...window.drawn]")  # no page between them was rendered


# Pages whose content pdf.js's worker was asked to parse, in order and counted from 1.
PARSED = """() => {
  const { postMessage } = Worker.prototype;
  window.parsed = [];
  Worker.prototype.postMessage = function (message, ...rest) {
    if (message?.action === "GetOperatorList") window.parsed.push(message.data.pageIndex + 1);
    return postMessage.call(this, message, ...rest);
  };
}"""


@pytest.mark.slow
def test_pages_of_the_citations_that_come_next_are_drawn_ahead(
    page: Page, site: Site, upload: Upload
) -> None:
    path = upload(long_document(60), "Cited on many pages.pdf")
    committed(lambda: cite(Document.objects.get(pk=path.split("/")[2])))
    page.add_init_script(f"({PARSED})()")
    page.goto(site.url(path))
    places = page.locator("a[data-citation]")
    places.nth(7).wait_for()
    cited = [
        int(parse_qs(urlsplit(place.get_attribute("href") or "").query)["page"][0]) for place in places.all()
    ]

    def drawn(number: int) -> Locator:
        return page.locator(f'.page[data-page-number="{number}"][data-loaded]')

    for number in cited[:6]:
        drawn(number).wait_for(state="attached")
    page.wait_for_function("(number) => parsed.includes(number)", arg=cited[7])
    assert drawn(cited[7]).count() == 0
    places.nth(2).focus()
    drawn(cited[7]).wait_for(state="attached")
    page.wait_for_timeout(300)
    assert page.evaluate("(number) => parsed.filter((one) => one === number).length", cited[7]) == 1
