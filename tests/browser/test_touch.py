"""Fingers on a phone: what is pressed is large enough."""

from __future__ import annotations

from playwright.sync_api import Page, expect

from tests.browser.conftest import Upload
from tests.browser.sheets import report
from tests.browser.site import Site

LEAST = 40  # CSS px
SMALL = """(least) => [...document.querySelectorAll(
  ".icon-button, .tabs button, .menu *:is(a, button), .outline a, .ask-send, .note-write, .search-box input")]
  .filter((element) => element.checkVisibility({ visibilityProperty: true }) && !element.closest("dialog"))
  .map((element) => [element.outerHTML.slice(0, 90), element.getBoundingClientRect()])
  .filter(([, { width, height }]) => width && (width < least || height < least))
  .map(([html, { width, height }]) => `${html}: ${width} × ${height}`)"""


def test_what_is_pressed_in_the_reader_is_large_enough_for_a_finger(
    page: Page, upload: Upload, site: Site
) -> None:
    path = upload(report(), "Touched.pdf")
    page.set_viewport_size({"width": 390, "height": 844})
    page.goto(site.url(path))
    expect(page.locator(".page[data-loaded]").first).to_be_visible()
    small = []
    bar = page.locator(".reader-bar")
    for button in ("More", "Contents and pages", "Find in this document", "Panel"):
        bar.get_by_role("button", name=button, exact=True).click()
        page.wait_for_timeout(400)
        small += page.evaluate(SMALL, LEAST)
        page.keyboard.press("Escape")
        if button == "Contents and pages":
            bar.get_by_role("button", name=button).click()
    for tab in ("Search", "Notes"):
        page.get_by_role("tab", name=tab).click()
        page.wait_for_timeout(400)
        small += page.evaluate(SMALL, LEAST)
    assert small == []
    assert page.evaluate("document.documentElement.scrollWidth") == 390
