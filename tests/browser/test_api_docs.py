"""The API's docs are a page like the others."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page, expect

from documents.models import Tag
from tests.browser.conftest import committed
from tests.browser.site import Site

pytestmark = pytest.mark.slow

SURFACE = {"light": "rgb(255, 255, 255)", "dark": "rgb(31, 30, 27)"}


def test_the_api_docs_have_the_theme_and_a_way_back(page: Page, site: Site) -> None:
    page.emulate_media(color_scheme="dark")
    page.goto(site.url("/api/docs/"))
    page.locator(".opblock-tag").first.click()
    operation = page.locator(".opblock").first
    expect(operation).to_have_css("background-color", SURFACE["dark"])
    page.get_by_role("button", name="Light or dark").click()
    expect(operation).to_have_css("background-color", SURFACE["light"])
    page.context.clear_cookies(name="theme")  # the next test's page is as its system says
    page.get_by_role("link", name="Library", exact=True).click()
    expect(page).to_have_url(site.url("/"))


def test_a_request_from_the_docs_goes_with_the_sign_in(page: Page, site: Site) -> None:
    """One that writes, which needs the CSRF token too."""
    page.goto(site.url("/api/docs/"))
    page.locator("#operations-tag-tags").click()
    operation = page.locator("#operations-tags-tags_create")
    operation.get_by_role("button", name="post").first.click()
    operation.get_by_role("button", name="Try it out").click()
    operation.get_by_role("textbox").fill('{"name": "made in the docs"}')
    operation.get_by_role("button", name="Execute").click()
    expect(operation.locator(".live-responses-table tbody .response-col_status")).to_contain_text("201")
    expect(operation).not_to_contain_text("X-CSRFToken")
    committed(lambda: Tag.objects.get(name="made in the docs").delete())
