"""How pages are shown: dark, two at once, on the full screen; labels; the last place on any device."""

from __future__ import annotations

from io import BytesIO

import pymupdf
import pytest
from playwright.sync_api import Browser, BrowserContext, Locator, Page, expect

from tests.browser.conftest import WAIT_MS, Upload, sign_in, wait_until
from tests.browser.site import Site

pytestmark = pytest.mark.slow

RED, WHITE = (204, 26, 26), (255, 255, 255)
BESIDE_BOTH = (390, 490)  # on both figures


def book(count: int = 8) -> bytes:
    """Pages with labels i, ii, 1, 2, …; the first has a red figure of 200 × 200 pt with a caption, and a
    second one over its corner."""
    document = pymupdf.open()
    for number in range(1, count + 1):
        page = document.new_page(width=612, height=792)
        page.insert_text((90, 120), f"Leaf {number} of the book about harbours and their masters.")
    pixmap = pymupdf.Pixmap(pymupdf.csRGB, (0, 0, 100, 100))
    pixmap.set_rect(pixmap.irect, RED)
    document[0].insert_image((200, 300, 400, 500), pixmap=pixmap)
    document[0].insert_image((380, 480, 480, 510), pixmap=pixmap, keep_proportion=False)
    document[0].insert_text((200, 520), "Figure 1: The colour of the harbour light.")
    document.set_page_labels(
        [
            {"startpage": 0, "prefix": "", "style": "r", "firstpagenum": 1},
            {"startpage": 2, "prefix": "", "style": "D", "firstpagenum": 1},
        ]
    )
    return bytes(document.tobytes())


@pytest.fixture
def path(upload: Upload, request: pytest.FixtureRequest) -> str:
    return upload(book(), f"Book {request.node.name}.pdf")


@pytest.fixture
def reader(page: Page, site: Site, path: str) -> Page:
    page.goto(site.url(path))
    page.get_by_label("Your question").wait_for()
    page.locator(".page[data-loaded] canvas").first.wait_for()
    return page


def menu(reader: Page, name: str) -> Locator:
    reader.get_by_role("button", name="More", exact=True).click()
    return reader.locator("#reader-menu").get_by_role("button", name=name, exact=True)


def colour_at(reader: Page, x: float, y: float) -> tuple[int, ...]:
    """Of the first page as it is painted, at a point of 612 × 792."""
    shot = pymupdf.Pixmap(BytesIO(reader.locator(".page").first.screenshot()).read())
    return tuple(shot.pixel(round(x / 612 * shot.width), round(y / 792 * shot.height)))[:3]


def turned_colour_at(reader: Page, x: float, y: float) -> tuple[int, ...]:
    """Of the first page, turned to the right by a quarter, at the point (x, y) of the upright one."""
    return colour_at(reader, (792 - y) / 792 * 612, x / 612 * 792)


def test_dark_pages_keep_the_colours_of_figures_and_are_remembered(reader: Page) -> None:
    reader.set_viewport_size({"width": 1280, "height": 1800})
    reader.locator("[data-zoom]").select_option("page-fit")
    wait_until(reader, lambda: colour_at(reader, 50, 700) == WHITE)
    reader.keyboard.press("d")
    wait_until(reader, lambda: max(colour_at(reader, 50, 700)) < 60)
    wait_until(reader, lambda: colour_at(reader, 300, 400) == RED)
    assert colour_at(reader, *BESIDE_BOTH) == RED, "where two figures overlap"
    assert [max(colour_at(reader, *point)) < 60 for point in ((190, 400), (410, 330), (300, 292))] == [
        True
    ] * 3
    reader.reload()
    expect(reader.locator(".dark-pages")).to_be_visible()
    dark = menu(reader, "Dark pages")
    expect(dark).to_have_attribute("aria-pressed", "true")
    wait_until(reader, lambda: colour_at(reader, 300, 400) == RED)
    reader.keyboard.press("Escape")
    reader.keyboard.press("d")
    expect(reader.locator(".dark-pages")).to_have_count(0)
    wait_until(reader, lambda: colour_at(reader, 50, 700) == WHITE)


def test_each_of_many_figures_keeps_its_colours_on_a_dark_page(
    page: Page, site: Site, upload: Upload
) -> None:
    document = pymupdf.open()
    pixmap = pymupdf.Pixmap(pymupdf.csRGB, (0, 0, 100, 100))
    pixmap.set_rect(pixmap.irect, RED)
    for at in range(5):
        drawn = document[0] if at else document.new_page(width=612, height=792)
        drawn.insert_image((100, 100 + 120 * at, 200, 200 + 120 * at), pixmap=pixmap)
        drawn.insert_text((250, 150 + 120 * at), "Words beside the figures of the harbour.")
    page.goto(site.url(upload(bytes(document.tobytes()), "Five figures.pdf")))
    page.get_by_label("Your question").wait_for()
    page.locator(".page[data-loaded] canvas").first.wait_for()
    page.set_viewport_size({"width": 1280, "height": 1800})
    page.locator("[data-zoom]").select_option("page-fit")
    page.keyboard.press("d")
    wait_until(page, lambda: colour_at(page, 150, 150) == RED)
    assert [colour_at(page, 150, 150 + 120 * at) for at in range(5)] == [RED] * 5
    assert max(colour_at(page, 300, 300)) < 60
    page.evaluate("localStorage.clear()")


def test_figures_keep_their_colours_on_dark_pages_turned_zoomed_and_side_by_side(reader: Page) -> None:
    reader.set_viewport_size({"width": 1280, "height": 1100})
    reader.keyboard.press("d")
    for zoom in ("page-fit", "0.75", "page-width"):
        reader.locator("[data-zoom]").select_option(zoom)
        wait_until(reader, lambda: colour_at(reader, 300, 400) == RED)
        assert max(colour_at(reader, 190, 400)) < 60
    menu(reader, "Two pages").click()
    wait_until(reader, lambda: colour_at(reader, 300, 400) == RED)
    menu(reader, "Two pages").click()
    reader.locator("[data-zoom]").select_option("page-fit")
    reader.keyboard.press("r")
    wait_until(reader, lambda: turned_colour_at(reader, 300, 400) == RED)
    assert max(turned_colour_at(reader, 190, 400)) < 60
    reader.evaluate("localStorage.clear()")


def test_marks_on_dark_pages_are_dark_and_those_on_figures_as_on_light_ones(reader: Page) -> None:
    reader.set_viewport_size({"width": 1280, "height": 1800})
    reader.locator("[data-zoom]").select_option("page-fit")
    reader.keyboard.press("d")
    wait_until(reader, lambda: colour_at(reader, 300, 400) == RED)
    reader.evaluate(
        """() => {
        const layer = Object.assign(document.createElement("div"), { className: "highlights" });
        layer.innerHTML = '<div class="lit"></div>';
        Object.assign(layer.firstChild.style, { inset: "40% 20% 20% 10%", background: "rgb(255, 225, 104)" });
        document.querySelector(".page").append(layer);
    }"""
    )
    wait_until(reader, lambda: colour_at(reader, 300, 400) == (204, 23, 11))  # multiplied
    red, green, blue = colour_at(reader, 120, 550)
    assert red > green > blue and red < 110, "the yellow of a dark page"
    reader.evaluate("localStorage.clear()")


def test_the_reader_is_light_or_dark_as_chosen(reader: Page) -> None:
    panel = reader.locator("#panel")
    reader.emulate_media(color_scheme="light")
    light = panel.evaluate("panel => getComputedStyle(panel).backgroundColor")
    toggle = reader.get_by_role("button", name="Light or dark")
    toggle.click()
    expect(panel).not_to_have_css("background-color", light)
    reader.emulate_media(color_scheme="dark")
    toggle.click()
    expect(panel).to_have_css("background-color", light)
    reader.context.clear_cookies(name="theme")


def test_two_pages_stand_side_by_side(reader: Page) -> None:
    menu(reader, "Two pages").click()
    expect(reader.locator(".spread").first.locator(".page")).to_have_count(2)
    one, two = (reader.locator(f".page[data-page-number='{number}']") for number in (1, 2))
    left, right = one.bounding_box(), two.bounding_box()
    assert left and right
    assert left["y"] == right["y"] and left["x"] + left["width"] <= right["x"] + 1
    expect(two).to_be_in_viewport()
    menu(reader, "Two pages with cover").click()
    expect(reader.locator(".spread").first.locator(".page")).to_have_count(1)
    expect(reader.locator(".spread").nth(1).locator(".page")).to_have_count(2)
    reader.reload()
    expect(reader.locator(".spread").nth(1).locator(".page")).to_have_count(2)
    menu(reader, "Two pages with cover").click()
    expect(reader.locator(".spread")).to_have_count(0)


def test_the_page_field_shows_and_takes_the_labels_of_the_pdf(reader: Page) -> None:
    field = reader.locator("[data-page-input]")
    expect(field).to_have_value("i")
    field.fill("3")
    field.press("Enter")
    expect(reader.locator(".page[data-page-number='5']")).to_be_in_viewport()
    expect(field).to_have_value("3")


def test_full_screen_is_entered_and_left(reader: Page) -> None:
    reader.keyboard.press("f")
    reader.wait_for_function("() => document.fullscreenElement !== null")
    expect(menu(reader, "Full screen")).to_have_attribute("aria-pressed", "true")
    reader.keyboard.press("Escape")
    reader.locator("[data-pages]").focus()
    reader.keyboard.press("f")
    reader.wait_for_function("() => document.fullscreenElement === null")


def test_the_last_place_is_there_on_another_device(
    reader: Page, chromium: Browser, site: Site, path: str
) -> None:
    saved: list[str] = []  # the first page's place, too, is saved after a moment
    reader.on(
        "requestfinished", lambda sent: saved.append(sent.post_data or "") if "/place/" in sent.url else None
    )
    field = reader.locator("[data-page-input]")
    field.fill("4")
    field.press("Enter")
    expect(field).to_have_value("4")
    wait_until(reader, lambda: any('"pageNumber":6' in body for body in saved))
    other = chromium.new_page(viewport={"width": 390, "height": 844}, reduced_motion="reduce")
    other.set_default_timeout(WAIT_MS)
    sign_in(other, site)
    other.goto(site.url(path))
    expect(other.locator("[data-page-input]")).to_have_value("4")
    expect(other.locator(".page[data-page-number='6']")).to_be_in_viewport()
    other.close()


def test_jumps_are_gone_back_and_forward_through(reader: Page) -> None:
    field = reader.locator("[data-page-input]")
    back = reader.get_by_role("button", name="Back to where you were")
    expect(back).to_be_disabled()
    for label in ("3", "5"):
        field.fill(label)
        field.press("Enter")
        expect(field).to_have_value(label)
        expect(reader.locator("[data-pages]")).to_be_focused()
    back.click()
    expect(field).to_have_value("3")
    reader.locator("[data-pages]").focus()
    reader.keyboard.press("Alt+ArrowLeft")
    expect(field).to_have_value("i")
    expect(back).to_be_disabled()
    reader.keyboard.press("Alt+ArrowRight")
    expect(field).to_have_value("3")
    reader.get_by_role("button", name="Forward again").click()
    expect(field).to_have_value("5")


def test_the_hand_drags_the_pages(reader: Page) -> None:
    menu(reader, "Hand: drag the pages").click()
    expect(reader.locator(".hand")).to_be_visible()
    reader.mouse.move(400, 600)
    reader.mouse.down()
    reader.mouse.move(400, 200, steps=4)
    reader.mouse.up()
    reader.wait_for_function("() => Math.abs(document.querySelector('[data-pages]').scrollTop - 400) < 3")
    assert reader.evaluate("getSelection().isCollapsed")


def test_pages_are_presented_one_by_one(reader: Page) -> None:
    menu(reader, "Two pages").click()
    expect(reader.locator(".spread").first).to_be_visible()
    reader.locator("[data-pages]").focus()
    reader.keyboard.press("s")
    reader.wait_for_function("() => document.fullscreenElement?.matches('.presenting')")
    pages = reader.locator(".page:visible")
    expect(pages).to_have_count(1)
    expect(reader.locator("[data-panel]")).to_be_hidden()
    for key, number in (("ArrowRight", 2), (" ", 3), ("PageUp", 2)):
        reader.keyboard.press(key)
        expect(pages).to_have_attribute("data-page-number", str(number))
    reader.evaluate("document.exitFullscreen()")
    expect(reader.locator(".spread").first).to_be_visible()
    expect(reader.locator("[data-panel]")).to_be_visible()
    menu(reader, "Two pages").click()  # otherwise it would be remembered
    expect(reader.locator(".spread")).to_have_count(0)


def test_pages_are_printed_with_ones_own_highlights(reader: Page) -> None:
    reader.evaluate("window.print = () => (window.printed = true)")
    reader.locator(".textLayer span").first.select_text()
    reader.keyboard.press("h")
    expect(reader.locator(".own")).to_have_count(1)
    menu(reader, "Print with your highlights").click()
    reader.wait_for_function("() => window.printed")
    shade = reader.evaluate(YELLOW, reader.locator(".print-sheets img").first.element_handle())
    assert shade > 100


YELLOW = """
(image) => {
  const canvas = Object.assign(document.createElement("canvas"), { width: image.naturalWidth, height: 500 });
  const context = canvas.getContext("2d");
  context.drawImage(image, 0, 0);
  const { data } = context.getImageData(0, 0, canvas.width, 500);
  let count = 0;
  for (let at = 0; at < data.length; at += 4) {
    count += data[at] > 220 && data[at + 1] > 180 && data[at + 2] < 150;
  }
  return count;
}
"""


def test_pages_and_comments_are_named_in_the_language_of_the_reader(
    signed_in: BrowserContext, site: Site, upload: Upload
) -> None:
    pdf = pymupdf.open("pdf", book(2))
    pdf[0].add_text_annot((300, 200), "Which light?")
    path = upload(pdf.tobytes(), "Named.pdf")
    assert signed_in.browser
    german = signed_in.browser.new_context(locale="de-DE", storage_state=signed_in.storage_state())
    page = german.new_page()
    page.goto(site.url(path))
    expect(page.get_by_role("region", name="Seite 1", exact=True)).to_be_attached()
    expect(page.get_by_role("region", name="Seite 2", exact=True)).to_be_attached()
    expect(page.locator(".textAnnotation img")).to_have_attribute("alt", "Kommentar")
    expect(page.locator(".annotationEditorLayer")).to_have_count(0)  # unused features of pdf.js add nothing
    german.close()
