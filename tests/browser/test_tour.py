"""The tour of the reader: three steps, to be skipped, shown to a person once."""

from __future__ import annotations

import pytest
from django.contrib.auth.models import User
from playwright.sync_api import Browser, Page, expect

from chat.models import TourEnd
from documents.models import Document, Share
from tests.browser.conftest import PASSWORD, Upload, committed, sign_in
from tests.browser.sheets import report
from tests.browser.site import Site


def test_a_new_reader_walks_through_three_steps_by_keyboard_and_is_not_shown_them_again(
    chromium: Browser, page: Page, upload: Upload, site: Site
) -> None:
    path = upload(report(), "For_a_newcomer.pdf")
    committed(lambda: newcomer("olive", path))
    context = chromium.new_context(viewport={"width": 1280, "height": 860}, reduced_motion="reduce")
    tab = context.new_page()
    sign_in(tab, site, "olive")
    tab.goto(site.url(path))
    tour = tab.get_by_role("dialog", name="Ask the document")
    expect(tour).to_have_accessible_description("Ask a question in the side panel, or pick a suggestion.")
    expect(tab.locator(".ask-box")).to_have_css("outline-width", "3px")  # the element that the step explains
    expect(tab.get_by_role("heading", name="Ask the document").last).to_be_focused()
    tab.keyboard.press("Tab")
    expect(tab.get_by_role("button", name="Next", exact=True)).to_be_focused()
    tab.keyboard.press("Enter")
    expect(tab.get_by_role("heading", name="Check the answer")).to_be_focused()
    tab.get_by_label("Your question").fill("What was revenue?")
    tab.keyboard.press("Enter")
    tab.locator("a.cite").first.click()
    expect(tab.get_by_role("heading", name="Annotate the pages")).to_be_focused()
    tab.get_by_role("button", name="Start reading").click()
    expect(tab.locator(".tour")).to_have_count(0)
    assert TourEnd.objects.filter(owner__username="olive").exists()
    tab.reload()
    tab.locator(".page[data-loaded]").first.wait_for()
    expect(tab.get_by_label("Your question")).to_be_visible()
    expect(tab.locator(".tour")).to_have_count(0)
    context.close()


@pytest.mark.slow
def test_escape_skips_the_tour_and_the_menu_shows_it_again(
    chromium: Browser, page: Page, upload: Upload, site: Site
) -> None:
    path = upload(report(), "For_another_newcomer.pdf")
    committed(lambda: newcomer("piotr", path))
    context = chromium.new_context(viewport={"width": 390, "height": 780}, reduced_motion="reduce")
    tab = context.new_page()
    sign_in(tab, site, "piotr")
    tab.goto(site.url(path))
    expect(tab.get_by_role("heading", name="Ask the document")).to_be_focused()
    tab.keyboard.press("Escape")
    expect(tab.locator(".tour")).to_have_count(0)
    assert TourEnd.objects.filter(owner__username="piotr").exists()
    tab.get_by_role("button", name="More", exact=True).click()
    tab.get_by_role("button", name="Show the tour").click()
    expect(tab.get_by_text("Step 1 of 3")).to_be_visible()
    context.close()


def newcomer(name: str, path: str) -> None:
    """A person who may read Alice's document, and has not seen the tour."""
    user = User.objects.filter(username=name).first() or User.objects.create_user(name, password=PASSWORD)
    TourEnd.objects.filter(owner=user).delete()
    Share.objects.create(document=Document.objects.get(pk=path.split("/")[2]), user=user)
