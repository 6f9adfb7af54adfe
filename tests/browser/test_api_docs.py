"""The API's docs are a page like the others."""

from __future__ import annotations

from playwright.sync_api import Page, expect

from tests.browser.site import Site

PAPER = {"light": "rgb(250, 249, 246)", "dark": "rgb(22, 21, 19)"}


def test_the_api_docs_have_the_theme_and_a_way_back(page: Page, site: Site) -> None:
    page.emulate_media(color_scheme="dark")
    page.goto(site.url("/api/docs/"))
    docs = page.locator(".swagger-ui").first
    page.locator(".opblock").first.wait_for()
    expect(docs).to_have_css("background-color", PAPER["dark"])
    page.get_by_role("button", name="Light or dark").click()
    expect(docs).to_have_css("background-color", PAPER["light"])
    page.context.clear_cookies(name="theme")  # the next test's page is as its system says
    page.get_by_role("link", name="Library", exact=True).click()
    expect(page).to_have_url(site.url("/"))
