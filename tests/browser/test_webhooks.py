"""Webhooks from the account's page: added, tested, removed; the page fits a phone and a screen reader."""

from __future__ import annotations

import os

from playwright.sync_api import Page, expect

from tests.browser.site import Site
from tests.browser.test_accessible import violations

ADDRESS = "https://hooks.invalid/services/T0001/pincite/a-very-long-address-of-a-receiver-that-must-wrap"


def test_a_webhook_is_added_tested_and_removed(page: Page, site: Site) -> None:
    page.set_viewport_size({"width": 390, "height": 844})
    page.goto(site.url("/account/"))
    page.get_by_role("link", name="Webhooks").click()
    page.get_by_label("Address").fill(ADDRESS)
    page.get_by_label("a document could not be read").uncheck()
    page.get_by_role("button", name="Add webhook").click()
    expect(page.get_by_role("heading", name=ADDRESS)).to_be_visible()
    expect(page.get_by_text("answer.done, check.done, document.ready")).to_be_visible()
    page.get_by_role("button", name="Send a test message").click()
    expect(page.get_by_text("This address cannot be reached, or is not allowed.").first).to_be_visible()
    assert violations(page, "webhooks") == []
    assert not page.evaluate("document.documentElement.scrollWidth > innerWidth")
    if folder := os.environ.get("PINCITE_TEST_PICTURES"):
        for width, scheme in ((390, "dark"), (1440, "light")):
            page.set_viewport_size({"width": width, "height": 844})
            page.emulate_media(color_scheme=scheme)  # type: ignore[arg-type]
            page.screenshot(path=f"{folder}/webhooks-{width}-{scheme}.png", full_page=True)
    page.get_by_role("button", name="Remove", exact=True).click()
    page.get_by_role("button", name="Remove the webhook").click()
    expect(page.get_by_role("heading", name=ADDRESS)).to_have_count(0)
