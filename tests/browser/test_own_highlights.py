"""A person's own highlights in the reader: made with the mouse, listed, changed, undone, kept."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import Upload
from tests.browser.sheets import odd_pages
from tests.browser.site import Site
from tests.browser.test_accessible import violations

SELECT = """
([page, words]) => {
  const layer = document.querySelector(`.page[data-page-number="${page}"] .textLayer`);
  const walker = document.createTreeWalker(layer, NodeFilter.SHOW_TEXT);
  for (let node = walker.nextNode(); node; node = walker.nextNode()) {
    const at = node.data.indexOf(words);
    if (at < 0) continue;
    getSelection().setBaseAndExtent(node, at, node, at + words.length);
    return true;
  }
  return false;
}
"""
BOXES = """
(selector) => [...document.querySelectorAll(selector)].map((e) => {
  const { left, top, right, bottom } = e.getBoundingClientRect();
  return [left, top, right, bottom];
})
"""
SELECTED = """
() => {
  const { left, top, right, bottom } = getSelection().getRangeAt(0).getBoundingClientRect();
  return [left, top, right, bottom];
}
"""
WORDS = "approved the accounts"


@pytest.fixture
def reader(upload: Upload, page: Page, site: Site, request: pytest.FixtureRequest) -> Page:
    page.goto(site.url(upload(odd_pages(), f"Own {request.node.name}.pdf")))
    page.get_by_label("Your question").wait_for()
    return page


def select(reader: Page, page: int = 1, words: str = WORDS) -> list[float]:
    """The window's rectangle of the words."""
    reader.locator(f".page[data-page-number='{page}'] .textLayer span").first.wait_for()
    assert reader.evaluate(SELECT, [page, words])
    found: list[float] = reader.evaluate(SELECTED)
    return found


def test_words_are_highlighted_listed_changed_deleted_and_brought_back(reader: Page) -> None:
    wanted = select(reader)
    reader.locator("[data-selection-menu]").get_by_role("button", name="Highlight: Green").click()
    own = reader.locator(".own.own-highlight.own-green")
    expect(own).to_have_count(1)
    (painted,) = reader.evaluate(BOXES, ".own")
    assert painted == pytest.approx(wanted, abs=4)
    reader.get_by_role("tab", name="Highlights").click()
    item = reader.locator("#own-list li")
    expect(item).to_contain_text(WORDS)
    with reader.expect_response("**/annotations/*/"):
        item.get_by_role("textbox", name="Comment").fill("Which board?")
        item.get_by_role("radio", name="Pink").check()
    expect(reader.locator(".own.own-pink.own-noted")).to_have_count(1)
    reader.reload()
    expect(reader.locator(".own.own-pink.own-noted")).to_have_count(1)
    reader.get_by_role("tab", name="Highlights").click()
    expect(reader.get_by_role("textbox", name="Comment")).to_have_value("Which board?")
    reader.get_by_label("Search your highlights").fill("penguin")
    expect(item).to_have_count(0)
    reader.get_by_label("Search your highlights").fill("which")
    expect(item).to_have_count(1)
    assert violations(reader, "Highlights") == []
    item.get_by_role("button", name="Delete").click()
    expect(own).to_have_count(0)
    expect(reader.locator(".own")).to_have_count(0)
    reader.keyboard.press("u")
    expect(reader.locator(".own.own-pink")).to_have_count(1)
    expect(item).to_have_count(1)


@pytest.mark.parametrize("number", [2, 3, 4, 5])
def test_highlights_lie_on_their_words_however_the_page_lies_in_its_file(reader: Page, number: int) -> None:
    field = reader.locator("[data-page-input]")
    field.fill(str(number))
    field.press("Enter")
    wanted = select(reader, number)
    reader.keyboard.press("h")
    expect(reader.locator(f".page[data-page-number='{number}'] .own")).to_have_count(1)
    (painted,) = reader.evaluate(BOXES, ".own")
    assert painted == pytest.approx(wanted, abs=5)


def test_a_comment_is_written_where_the_words_were_selected_and_found_by_clicking_them(reader: Page) -> None:
    select(reader)
    reader.locator("[data-selection-menu]").get_by_role("button", name="Comment").click()
    comment = reader.get_by_role("textbox", name="Comment")
    expect(comment).to_be_focused()
    with reader.expect_response("**/annotations/*/"):
        reader.keyboard.type("Check the minutes")
        reader.keyboard.press("Tab")
    reader.get_by_role("tab", name="Ask").click()
    expect(reader.locator(".own-noted")).to_have_count(1)
    reader.locator(".own").click(force=True)
    expect(comment).to_be_visible()
    expect(comment).to_have_value("Check the minutes")


def test_underlines_and_exports_are_there_by_keyboard(reader: Page) -> None:
    select(reader)
    reader.locator("[data-selection-menu]").get_by_role("button", name="Underline").press("Enter")
    expect(reader.locator(".own.own-underline")).to_have_count(1)
    reader.get_by_role("tab", name="Highlights").click()
    with reader.expect_download() as pdf:
        reader.get_by_role("link", name="PDF").click()
    assert pdf.value.suggested_filename.endswith(".pdf")
    with reader.expect_download() as text:
        reader.get_by_role("link", name="Markdown").click()
    assert WORDS in text.value.path().read_text()
