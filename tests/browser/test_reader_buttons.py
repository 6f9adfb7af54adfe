"""The reader's buttons, also before its first page is there."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from playwright.sync_api import Page, Route, expect

from tests.browser.conftest import Upload
from tests.browser.sheets import long_document, report
from tests.browser.site import Site

pytestmark = pytest.mark.slow

COUNT_SHEETS = """
window.sheets = [];
window.print = () => window.sheets.push(document.querySelectorAll(".print-sheets img").length);
"""


@pytest.fixture
def reader(upload: Upload, site: Site) -> str:
    return site.url(upload(report(), "Buttons.pdf"))


def hold(page: Page, pattern: str) -> Callable[[], None]:
    """Hold back responses to requests that match ``pattern`` until the returned function is called."""
    held: list[Route] = []
    is_open = False

    def keep(route: Route) -> None:
        if is_open:
            route.continue_()
        else:
            held.append(route)

    def let_go() -> None:
        nonlocal is_open
        is_open = True
        for route in held:
            route.continue_()

    page.route(pattern, keep)
    return let_go


def test_a_button_that_is_pressed_before_the_first_page_does_its_work(page: Page, reader: str) -> None:
    let_go = hold(page, "**/file")
    page.goto(reader, wait_until="domcontentloaded")
    page.get_by_role("button", name="Contents and pages").click()
    expect(page.locator("#side")).to_be_visible()
    expect(page.locator(".page[data-loaded]")).to_have_count(0)
    let_go()
    expect(page.locator(".page[data-loaded]").first).to_be_visible()
    expect(page.locator("#side")).to_be_visible()
    expect(page.locator("#contents .outline")).to_be_visible()  # the sidebar is loaded, too


def test_a_tab_that_is_pressed_once_the_page_is_drawn_but_nothing_else_is_there(
    page: Page, reader: str
) -> None:
    let_go = hold(page, "**/beside*.js")
    page.goto(reader, wait_until="domcontentloaded")
    expect(page.locator(".page[data-loaded] canvas").first).to_be_visible()
    page.get_by_role("tab", name="Notes").click()
    expect(page.locator("#pane-notes")).to_be_hidden()
    let_go()
    expect(page.locator("[data-note]")).to_be_visible()


def test_the_question_is_gone_to_while_the_conversation_is_being_put_in(page: Page, reader: str) -> None:
    page.set_viewport_size({"width": 390, "height": 844})
    page.goto(reader)
    page.wait_for_function("() => window.htmx")
    page.evaluate("htmx.config.defaultSettleDelay = 2000")
    page.get_by_role("button", name="Panel").click()
    page.locator("#pane-ask > .htmx-added").wait_for()
    page.keyboard.press("a")
    expect(page.get_by_label("Your question")).to_be_focused()


def test_a_note_that_comes_late_leaves_the_tab_that_was_gone_on_to(page: Page, reader: str) -> None:
    page.goto(reader)
    let_go = hold(page, "**/notes/beside/*/")
    with page.expect_request("**/notes/beside/*/"):
        page.get_by_role("tab", name="Notes").click()
    page.get_by_role("tab", name="Passages").click()
    passage = page.locator(".passages a").first
    passage.focus()
    let_go()
    page.locator("#pane-notes [data-note]").wait_for(state="attached")
    expect(page.locator("#pane-notes > .htmx-added")).to_have_count(0)
    expect(passage).to_be_focused()
    expect(passage).to_be_visible()


def test_a_passage_stays_chosen_when_its_list_is_looked_at_again(page: Page, reader: str) -> None:
    page.goto(reader)
    page.get_by_role("tab", name="Passages").click()
    passage = page.locator(".passages a", has_text="4,711 million")
    passage.wait_for()
    let_go = hold(page, "**/passages/?*")
    page.get_by_role("tab", name="Notes").click()
    with page.expect_request("**/passages/?*"):
        page.get_by_role("tab", name="Passages").click()
    passage.click()
    expect(page.locator("[data-selection-menu]")).to_be_visible()
    let_go()
    expect(page.locator("#pane-passages.htmx-request")).to_have_count(0)
    assert "4,711 million" in page.evaluate("getSelection().toString()")


def test_contents_that_lie_over_the_pages_shut_when_one_is_followed(page: Page, reader: str) -> None:
    page.set_viewport_size({"width": 390, "height": 844})
    page.goto(reader)
    button = page.get_by_role("button", name="Contents and pages")
    button.click()
    page.get_by_role("tab", name="Pages").click()
    page.locator("#side [data-page='2']").filter(visible=True).click()
    expect(page.locator("#side")).to_be_hidden()
    expect(button).to_be_focused()
    expect(button).to_have_attribute("aria-expanded", "false")
    expect(page.locator(".page[data-page-number='2']")).to_be_in_viewport()
    page.set_viewport_size({"width": 1440, "height": 900})
    button.click()
    page.locator("#side [data-page='1']").filter(visible=True).click()
    expect(page.locator(".page[data-page-number='1']")).to_be_in_viewport()
    expect(page.locator("#side")).to_be_visible()


def test_whoever_reads_on_from_a_followed_link_comes_back_to_where_they_were(
    page: Page, upload: Upload, site: Site
) -> None:
    number = page.locator("[data-page-input]")
    page.goto(site.url(f"{upload(long_document(8), 'Read on.pdf')}?page=2"))
    expect(number).to_have_value("2")
    page.get_by_role("button", name="Contents and pages").click()
    page.get_by_role("tab", name="Pages").click()
    page.locator("#side [data-page='3']").filter(visible=True).click()
    expect(number).to_have_value("3")
    number.fill("5")
    number.press("Enter")
    expect(page.locator(".page[data-page-number='5'][data-loaded]")).to_be_in_viewport()
    page.reload()
    expect(number).to_have_value("5")


def test_all_pages_are_printed(page: Page, reader: str) -> None:
    page.add_init_script(COUNT_SHEETS)
    page.goto(reader)
    expect(page.locator("canvas").first).to_be_visible()
    page.get_by_role("button", name="More").click()
    page.get_by_role("button", name="Print", exact=True).click()
    page.wait_for_function("() => sheets.length > 0")
    assert page.evaluate("() => sheets") == [2]  # printed once, with both


def test_a_long_title_leaves_the_buttons_in_the_window(page: Page, upload: Upload, site: Site) -> None:
    page.set_viewport_size({"width": 1024, "height": 768})
    page.goto(site.url(upload(report(), f"{'A title that goes on and on ' * 6}.pdf")))
    expect(page.get_by_role("button", name="Panel")).to_be_in_viewport(ratio=1)
    page.wait_for_function("() => document.documentElement.scrollWidth === 1024")


def test_a_turned_page_stays_the_one_that_is_read(page: Page, upload: Upload, site: Site) -> None:
    page.goto(f"{site.url(upload(long_document(40), 'Many.pdf'))}?page=30")
    expect(page.locator(".page[data-page-number='30'] canvas")).to_be_visible()
    field = page.get_by_role("textbox", name="Page")
    expect(field).to_have_value("30")
    for degrees in (90, 180, 270):
        page.keyboard.press("r")
        turned = f".page[data-page-number='30'] .textLayer[data-main-rotation='{degrees}']"
        expect(page.locator(turned)).to_be_in_viewport()
        expect(field).to_have_value("30")
