"""The whole way with keys alone: upload, read, ask, citation, verdict, and all that the reader offers."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import READY_MS, Upload
from tests.browser.sheets import report
from tests.browser.site import Site

MOST_TABS = 60
QUESTION = "What was the revenue of the northern division?"


def tab_to(page: Page, selector: str) -> None:
    """Presses Tab until the focus is there."""
    for _ in range(MOST_TABS):
        page.keyboard.press("Tab")
        if page.evaluate("(selector) => document.activeElement.matches(selector)", selector):
            return
    raise AssertionError(f"Tab never comes to {selector}")


def test_the_whole_way_goes_by_keyboard(page: Page, site: Site, tmp_path: Path) -> None:
    file = tmp_path / "By keys.pdf"
    file.write_bytes(report())
    page.goto(site.url("/"))
    cards = page.locator(".doc")
    before = cards.count()
    with page.expect_file_chooser() as chooser:  # the browser takes a moment to look out
        tab_to(page, "[data-upload-input]")
        page.keyboard.press("Enter")
    chooser.value.set_files(file)
    expect(cards).to_have_count(before + 1)
    expect(cards.first).to_have_attribute("data-status", "ready", timeout=READY_MS)
    tab_to(page, ".doc-title a")
    page.keyboard.press("Enter")
    page.get_by_label("Your question").wait_for()
    page.keyboard.press("a")
    expect(page.get_by_label("Your question")).to_be_focused()
    page.keyboard.type(QUESTION)
    page.keyboard.press("Enter")
    expect(page.locator("[data-message]")).to_have_count(1)
    expect(page.locator("[data-message]").last).to_have_attribute("data-status", "complete", timeout=READY_MS)
    page.keyboard.press("Escape")
    page.keyboard.press("j")
    expect(page.locator("a[data-citation][aria-current=true]")).to_be_focused()
    expect(page.locator(".lit-anchor").first).to_be_visible()
    expect(page.locator("#hover-card")).to_be_visible()
    page.keyboard.press("y")
    expect(page.locator(".toast")).to_contain_text("right")
    page.keyboard.press("?")
    expect(page.get_by_role("dialog")).to_be_visible()
    page.keyboard.press("Escape")


@pytest.fixture(scope="module")
def uploaded() -> dict[str, str]:
    return {}


@pytest.fixture
def reader(uploaded: dict[str, str], upload: Upload, page: Page, site: Site) -> Page:
    if not uploaded:
        uploaded["path"] = upload(report(), "Keys.pdf")
    page.goto(site.url(uploaded["path"]))
    page.get_by_label("Your question").wait_for()
    return page


def test_the_reader_turns_zooms_and_finds_by_keyboard(reader: Page) -> None:
    reader.locator("[data-zoom]").select_option("1")
    reader.locator("[data-pages]").focus()
    reader.keyboard.press("]")
    expect(reader.locator("[data-page-input]")).to_have_value("2")
    reader.keyboard.press("[")
    expect(reader.locator("[data-page-input]")).to_have_value("1")
    reader.keyboard.press("+")
    expect(reader.locator("[data-zoom]")).to_have_value("custom")
    reader.keyboard.press("0")
    expect(reader.locator("[data-zoom]")).to_have_value("page-width")
    reader.keyboard.press("/")
    reader.keyboard.type("4,711")
    expect(reader.locator("[data-find] output")).to_have_text("1 of 1")
    reader.keyboard.press("Escape")
    expect(reader.locator("[data-find]")).to_be_hidden()
    reader.keyboard.press("p")
    expect(reader.locator("#panel")).to_be_hidden()
    reader.keyboard.press("p")
    expect(reader.locator("#panel")).to_be_visible()


def test_contents_and_panel_are_walked_with_tab_and_arrows(reader: Page) -> None:
    tab_to(reader, "[data-do=side]")
    reader.keyboard.press("Enter")
    tab_to(reader, "#tab-contents")
    tab_to(reader, "#contents a")
    reader.keyboard.press("Enter")
    expect(reader.locator(".lit-unit").first).to_be_visible()  # the heading itself
    tab_to(reader, "[data-splitter]")
    before = reader.locator("#panel").bounding_box()
    reader.keyboard.press("ArrowLeft")
    after = reader.locator("#panel").bounding_box()
    assert before and after and after["width"] == before["width"] + 24
    tab_to(reader, "#tab-ask")
    reader.keyboard.press("ArrowRight")
    reader.keyboard.press("ArrowRight")
    expect(reader.locator("[data-note-text]")).to_be_visible()


def test_what_is_selected_is_asked_about_noted_and_linked_by_keyboard(reader: Page) -> None:
    reader.evaluate(SELECT, "4,711 million")
    expect(reader.locator("[data-selection-menu]")).to_be_visible()
    reader.locator("[data-pages]").focus()
    reader.keyboard.press("Enter")
    tab_to(reader, "[data-do=note]")
    reader.keyboard.press("Enter")
    expect(reader.locator("[data-note-text]")).to_have_value(re.compile(r"> 4,711 million \[\[p\. \d+ #"))
    reader.locator("[data-note-read] a[data-citation]").focus()
    expect(reader.locator("#hover-card")).to_contain_text("The words stand on the page")
    expect(reader.locator(".mark-note")).to_have_count(1)
    reader.reload()
    reader.locator(".mark-note").first.focus()
    reader.keyboard.press("Enter")
    expect(reader.locator("[data-note-read]")).to_contain_text("4,711 million")


def test_a_note_is_titled_and_written_by_keyboard(page: Page, site: Site) -> None:
    page.goto(site.url("/notes/"))
    tab_to(page, "main .button-primary")
    page.keyboard.press("Enter")
    page.locator("[data-note]").wait_for()
    tab_to(page, "[data-note-title]")
    page.keyboard.type("Titled by keyboard")
    page.keyboard.press("Tab")
    page.keyboard.type("Written, too: j ? / a")
    expect(page.locator("[data-note-state]")).to_have_text("Saved")
    page.reload()
    expect(page.get_by_label("Title")).to_have_value("Titled by keyboard")
    expect(page.locator("[data-note-read]")).to_have_text("Written, too: j ? / a")


SELECT = """(words) => {
  const spans = [...document.querySelectorAll(".textLayer span")].filter((span) => span.firstChild?.data);
  const text = spans.find((span) => span.firstChild.data.includes(words)).firstChild;
  const start = text.data.indexOf(words);
  getSelection().setBaseAndExtent(text, start, text, start + words.length);
}"""
