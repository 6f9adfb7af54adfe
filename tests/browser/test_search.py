"""The search page goes by keyboard."""

from __future__ import annotations

from playwright.sync_api import Page, expect

from tests.browser.conftest import Upload
from tests.browser.sheets import report
from tests.browser.site import Site


def test_j_and_k_go_along_the_results_and_slash_to_the_box(page: Page, site: Site, upload: Upload) -> None:
    document = upload(report(), "Searched.pdf").split("/")[2]
    # Of this document only: other tests of the site upload the same pages, which would be one result.
    page.goto(site.url(f"/search/?q=northern+southern+division&document={document}"))
    results = page.locator("[data-result]")
    expect(results.nth(1)).to_be_visible()
    page.keyboard.press("j")
    expect(results.nth(0)).to_be_focused()
    page.keyboard.press("j")
    expect(results.nth(1)).to_be_focused()
    page.keyboard.press("k")
    expect(results.nth(0)).to_be_focused()
    page.keyboard.press("/")
    expect(page.get_by_label("Search the library")).to_be_focused()
