"""Find in the reader: Ctrl+F, the server's counts, and matches painted where the words are."""

from __future__ import annotations

import pymupdf
import pytest
from playwright.sync_api import Page, Route, expect

from tests.browser.conftest import Upload
from tests.browser.site import Site


def manual(count: int = 60) -> bytes:
    """Pages of a manual; every tenth speaks of a gasket, page 5 also in other ways."""
    document = pymupdf.open()
    for number in range(1, count + 1):
        page = document.new_page(width=612, height=792)
        page.insert_text((90, 120), f"Step {number}: tighten every bolt by hand.")
        if number % 10 == 0:
            page.insert_text((90, 600), f"Replace gasket {number} before you go on.")
        if number == 5:
            page.insert_text((90, 300), "GASKETS of the pump, and the gas-")
            page.insert_text((90, 316), "ket of the valve.")
        if number == 7:
            page.insert_text((90, 300), "人工知能は文書を読み、質問に答える。", fontname="japan")
            page.insert_text((90, 330), "首都在中华人民共", fontname="china-s")
            page.insert_text((90, 346), "和国的北京。", fontname="china-s")
            page.insert_text((90, 380), "The café of Zürich")
            page.insert_htmlbox((90, 420, 520, 470), "<p dir=rtl>שלום עולם, זהו מסמך בעברית.</p>")
            page.insert_htmlbox((90, 480, 520, 530), "<p dir=rtl>هذه وثيقة آمنة.</p>")
    return bytes(document.tobytes())


@pytest.fixture(scope="module")
def uploaded() -> dict[str, str]:
    return {}


@pytest.fixture
def reader(uploaded: dict[str, str], upload: Upload, page: Page, site: Site) -> Page:
    if not uploaded:
        uploaded["path"] = upload(manual(), "Manual.pdf")
    page.goto(site.url(uploaded["path"] + "?page=1"))
    page.get_by_label("Your question").wait_for()
    page.locator(".page[data-loaded] canvas").first.wait_for()
    page.locator("[data-pages]").focus()
    return page


def test_ctrl_f_opens_our_find_from_anywhere_and_counts_pages_that_are_not_drawn(reader: Page) -> None:
    reader.get_by_label("Your question").focus()
    before = reader.locator(".page[data-page-number='1']").bounding_box()
    reader.keyboard.press("Control+f")
    field = reader.get_by_role("searchbox", name="Find in this document")
    expect(field).to_be_focused()
    assert reader.locator(".page[data-page-number='1']").bounding_box() == before  # the page did not move
    reader.keyboard.type("gasket")
    expect(reader.locator("[data-find] output")).to_have_text("1 of 8")
    expect(reader.locator(".match-on").first).to_be_in_viewport()
    expect(reader.locator("[data-page-input]")).to_have_value("5")
    reader.keyboard.press("Enter")
    expect(reader.locator("[data-find] output")).to_have_text("2 of 8")
    expect(reader.locator(".match-on")).to_have_count(2)  # a word over two lines
    reader.keyboard.press("Shift+Enter")
    reader.keyboard.press("Shift+Enter")
    expect(reader.locator("[data-find] output")).to_have_text("8 of 8")  # before the first is the last
    expect(reader.locator(".page[data-page-number='60'] .match-on")).to_be_in_viewport()
    reader.keyboard.press("Escape")
    expect(reader.locator("[data-find]")).to_be_hidden()
    expect(reader.locator(".match")).to_have_count(0)
    expect(reader.locator("[data-pages]")).to_be_focused()


@pytest.mark.slow
def test_whole_words_and_words_that_are_nowhere(reader: Page) -> None:
    reader.keyboard.press("/")
    reader.keyboard.type("gasket")
    expect(reader.locator("[data-find] output")).to_have_text("1 of 8")
    reader.get_by_label("Whole words").check()
    expect(reader.locator("[data-find] output")).to_have_text("1 of 7")
    reader.get_by_role("searchbox", name="Find in this document").fill("flywheel")
    expect(reader.locator("[data-find] output")).to_have_text("Not found")
    expect(reader.locator(".match")).to_have_count(0)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("words", "boxes"),
    [
        *(("知能は文書", 1), ("人民共和国", 2), ("cafe of zurich", 1)),
        *(("עולם, זהו", 1), ("وثيقة آمنة", 1)),
    ],
)
def test_words_of_any_script_and_without_accents_are_found(reader: Page, words: str, boxes: int) -> None:
    reader.keyboard.press("/")
    reader.get_by_role("searchbox", name="Find in this document").fill(words)
    expect(reader.locator("[data-find] output")).to_have_text("1 of 1")
    expect(reader.locator("[data-page-input]")).to_have_value("7")
    expect(reader.locator(".match-on")).to_have_count(boxes)
    expect(reader.locator(".match-on").first).to_be_in_viewport()


@pytest.mark.slow
def test_a_match_that_is_in_sight_does_not_move_the_pages(reader: Page) -> None:
    reader.keyboard.press("/")
    before = reader.locator("[data-pages]").evaluate("item => item.scrollTop")
    reader.keyboard.type("Step 1:")
    expect(reader.locator("[data-find] output")).to_have_text("1 of 1")
    expect(reader.locator(".match-on")).to_be_in_viewport()
    assert reader.locator("[data-pages]").evaluate("item => item.scrollTop") == before


@pytest.mark.slow
def test_selected_words_are_taken_over(reader: Page) -> None:
    reader.locator(".textLayer span", has_text="tighten").first.dblclick(position={"x": 60, "y": 5})
    chosen = reader.evaluate("getSelection().toString().trim()")
    assert chosen
    reader.keyboard.press("Control+f")
    expect(reader.get_by_role("searchbox", name="Find in this document")).to_have_value(chosen)
    expect(reader.locator("[data-find] output")).to_have_text("1 of 60")


@pytest.mark.slow
def test_regular_expressions_are_found_and_a_wrong_one_is_called_so(reader: Page) -> None:
    reader.keyboard.press("/")
    reader.get_by_label("Regex").check()
    reader.get_by_role("searchbox", name="Find in this document").fill(r"gasket [1-3]\d")
    expect(reader.locator("[data-find] output")).to_have_text("1 of 3")
    expect(reader.locator("[data-page-input]")).to_have_value("10")
    expect(reader.locator(".match-on")).to_have_count(1)
    reader.get_by_role("searchbox", name="Find in this document").fill("gasket (")
    expect(reader.locator("[data-find] output")).to_have_text("Invalid pattern")
    expect(reader.locator(".match")).to_have_count(0)


def test_the_first_match_is_shown_while_the_rest_is_counted(reader: Page) -> None:
    """The server answers in parts; the second is held back here."""
    held = []

    def answer(route: Route) -> None:
        if "on=" in route.request.url:
            held.append(route)
            return
        part = route.fetch().json()
        route.fulfill(json=part | {"pages": part["pages"][:1], "rest": 6})

    reader.route("**/find/?q=gasket*from=*", answer)
    reader.keyboard.press("/")
    reader.keyboard.type("gasket")
    expect(reader.locator("[data-find] output")).to_have_text("2+")
    expect(reader.locator(".match-on").first).to_be_in_viewport()
    held[-1].fulfill(response=held[-1].fetch())
    expect(reader.locator("[data-find] output")).to_have_text("1 of 8")
