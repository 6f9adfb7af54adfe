"""Many files at once: how far all of them are, paused, cancelled. Titles changed on their cards."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from playwright.sync_api import BrowserContext, Page, Route, expect

from tests.browser.conftest import Upload
from tests.browser.sheets import report
from tests.browser.site import Site

pytestmark = pytest.mark.slow


def test_a_drop_is_paused_and_what_is_left_of_it_cancelled(
    page: Page, site: Site, upload: Upload, tmp_path: Path
) -> None:
    upload(report(), "In a collection.pdf")
    page.evaluate(
        """async () => {
          const { request } = await import("/static/js/ui/request.js");
          const body = new FormData();
          body.set("name", "Harbour");
          const url = document.querySelector("[data-collection-url]").dataset.collectionUrl;
          await request(url, { method: "POST", body });
        }"""
    )  # shown in the sidebar beside the upload bar
    page.goto(site.url("/"))
    expect(page.locator("[data-drop=collection]", has_text="Harbour")).to_be_visible()
    held: list[Route] = []
    page.route("**/documents/upload/", lambda route: held.append(route))
    files = [tmp_path / f"note {number}.txt" for number in range(6)]
    for file in files:
        file.write_text(f"{file.name} of the harbour master")
    page.locator("[data-upload-input]").first.set_input_files(files)
    bar = page.get_by_role("group", name="Files being uploaded")
    expect(bar).to_contain_text("0 / 6")
    rows = page.locator(".upload-row")
    expect(rows).to_have_count(6)
    pause = bar.get_by_role("button", name="Pause")
    colour = "button => getComputedStyle(button).color"
    going_on = pause.evaluate(colour)
    pause.click()
    expect(pause).to_have_attribute("aria-pressed", "true")
    assert pause.evaluate(colour) != going_on  # which can be seen
    for route in held:
        route.fulfill(status=422, body="Refused in this test.", content_type="text/plain")
    expect(bar).to_contain_text("3 / 6")
    expect(page.get_by_text("Waiting", exact=True)).to_have_count(3)
    bar.get_by_role("button", name="Cancel").click()
    expect(bar).to_be_hidden()
    expect(rows).to_have_count(3)  # the refused ones say why
    assert len(held) == 3


def test_a_lost_connection_pauses_a_drop_and_leaving_it_is_asked_about(
    signed_in: BrowserContext, site: Site, tmp_path: Path
) -> None:
    page = signed_in.new_page()  # one whose console may tell of lost connections
    page.goto(site.url("/"))
    page.route("**/documents/upload/", lambda route: route.abort("connectionreset"))
    files = [tmp_path / f"sounding {number}.txt" for number in range(5)]
    for file in files:
        file.write_text(f"{file.name} of the harbour")
    page.get_by_role(
        "heading", level=1
    ).click()  # browsers let a page ask before it is left only after a click
    page.locator("[data-upload-input]").first.set_input_files(files)
    bar = page.get_by_role("group", name="Files being uploaded")
    rows = page.locator(".upload-row")
    pause = bar.get_by_role("button", name="Pause")
    expect(pause).to_have_attribute("aria-pressed", "true")
    expect(rows.filter(has_text="The connection was lost")).to_have_count(3)
    expect(rows).to_have_count(5)
    with page.expect_event("dialog") as asked:
        page.evaluate("setTimeout(() => location.assign('/notes/'))")
    assert asked.value.type == "beforeunload"
    asked.value.dismiss()
    page.unroute("**/documents/upload/")
    pause.click()
    expect(rows).to_have_count(0)
    expect(bar).to_be_hidden()
    for number in range(5):
        expect(page.locator(".doc-title", has_text=f"sounding {number}")).to_be_visible()
    page.close()


def test_selected_words_are_explained_defined_or_compared(page: Page, site: Site, upload: Upload) -> None:
    page.goto(site.url(upload(report(), "Explained.pdf")))
    question = page.get_by_label("Your question")
    expect(question).to_be_visible()
    words = page.locator(".textLayer span", has_text="Revenue").first
    words.select_text()
    menu = page.locator("[data-selection-menu]")
    menu.get_by_label("More").click()
    menu.get_by_role("button", name="Compare").click()
    expect(question).to_be_focused()
    expect(question).to_have_value(re.compile("^Compare “.*” with $"))
    words.select_text()
    menu.get_by_label("More").click()
    menu.get_by_role("button", name="Explain").click()
    expect(page.locator("[data-question]").last).to_contain_text("Explain this: “")
