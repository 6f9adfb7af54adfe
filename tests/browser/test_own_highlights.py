"""A person's own highlights in the reader: made with the mouse, listed, changed, undone, kept."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pymupdf
import pytest
from playwright.sync_api import Locator, Page, expect

from tests.browser.conftest import Upload, wait_until
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
  const { x, y } = e.closest(".page").getBoundingClientRect();
  return [left - x, top - y, right - x, bottom - y];
})
"""
SELECTED = """
() => {
  const range = getSelection().getRangeAt(0);
  const { left, top, right, bottom } = range.getBoundingClientRect();
  const { x, y } = range.startContainer.parentElement.closest(".page").getBoundingClientRect();
  return [left - x, top - y, right - x, bottom - y];
}
"""
WORDS = "approved the accounts"


@pytest.fixture
def reader(upload: Upload, page: Page, site: Site, request: pytest.FixtureRequest) -> Page:
    page.goto(site.url(upload(odd_pages(), f"Own {request.node.name}.pdf")))
    page.get_by_label("Your question").wait_for()
    return page


def select(reader: Page, page: int = 1, words: str = WORDS) -> list[float]:
    """The rectangle of the words on their page."""
    reader.locator(f".page[data-page-number='{page}'] .textLayer .endOfContent").wait_for(state="attached")
    assert reader.evaluate(SELECT, [page, words])
    found: list[float] = reader.evaluate(SELECTED)
    return found


def test_words_are_highlighted_listed_changed_deleted_and_brought_back(reader: Page) -> None:
    wanted = select(reader)
    reader.locator("[data-selection-menu]").get_by_label("More").click()
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


@pytest.mark.slow
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


@pytest.mark.slow
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


@pytest.mark.slow
def test_underlines_and_exports_are_there_by_keyboard(reader: Page) -> None:
    select(reader)
    more = reader.locator("[data-selection-menu]").get_by_label("More")
    expect(more).to_be_visible()  # a key press does not wait for it
    more.press("Enter")
    reader.locator("[data-selection-menu]").get_by_role("button", name="Underline").press("Enter")
    expect(reader.locator(".own.own-underline")).to_have_count(1)
    reader.get_by_role("tab", name="Highlights").click()
    for name, suffix in (
        ("PDF with", ".pdf"),
        ("Markdown", ".md"),
        ("Zotero", ".rdf"),
        ("Hypothesis", ".json"),
    ):
        reader.get_by_role("button", name="Export").click()
        with reader.expect_download() as file:
            reader.get_by_role("link", name=name).click()
        assert file.value.suggested_filename.endswith(suffix)
        if suffix != ".pdf":
            assert WORDS in file.value.path().read_text()
            continue
        assert reader.evaluate(ANNOTATIONS_BY_PDFJS, file.value.url) == ["Underline"]
        if shutil.which("pdftoppm"):
            assert changed_by_poppler(file.value.path())


ANNOTATIONS_BY_PDFJS = """async (url) => {
  const pdfjs = await import(document.querySelector("link[href*='pdf.min']").href);
  const pdf = await pdfjs.getDocument(url).promise;
  return (await (await pdf.getPage(1)).getAnnotations()).map(({ subtype }) => subtype);
}"""


def changed_by_poppler(file: Path) -> bool:
    """Whether poppler draws the file's first page otherwise than without its annotations."""
    draw = ("pdftoppm", "-r", "50", "-f", "1", "-l", "1")
    shown, hidden = (
        subprocess.run([*draw, *option, file], capture_output=True, check=True)
        for option in ((), ("-hide-annotations",))
    )
    assert not shown.stderr
    return len(shown.stdout) == len(hidden.stdout) and shown.stdout != hidden.stdout


@pytest.mark.slow
@pytest.mark.parametrize("number", [1, 2, 5])
def test_a_line_stays_where_it_was_drawn_until_it_is_undone(reader: Page, number: int) -> None:
    field = reader.locator("[data-page-input]")
    field.fill(str(number))
    field.press("Enter")
    sheet = reader.locator(f".page[data-page-number='{number}']")
    expect(sheet).to_have_attribute("data-loaded", "true")
    expect(sheet).to_be_in_viewport(ratio=0.3)
    reader.keyboard.press("i")
    expect(reader.get_by_role("radio", name="Yellow").first).to_be_focused()
    reader.get_by_role("radio", name="Blue").first.check()
    place = sheet.bounding_box()
    assert place
    x, y = place["x"] + 150, max(place["y"], 60) + 120
    with reader.expect_response("**/annotations/") as stored:
        reader.mouse.move(x, y)
        reader.mouse.down()
        reader.mouse.move(x + 120, y + 60, steps=12)
        reader.mouse.up()
    assert stored.value.status == 201
    drawn = reader.locator(".own-layer .own-drawing.own-blue polyline")
    expect(drawn).to_have_count(1)
    (painted,) = reader.evaluate(BOXES, ".own-layer polyline")
    top = y - place["y"]
    assert painted == pytest.approx([150, top, 270, top + 60], abs=4)
    reader.keyboard.press("Control+z")
    expect(drawn).to_have_count(0)
    reader.keyboard.press("Escape")
    expect(reader.get_by_role("button", name="Done")).to_be_hidden()


@pytest.mark.slow
def test_what_another_program_marked_becomes_ones_own(upload: Upload, page: Page, site: Site) -> None:
    pdf = pymupdf.open("pdf", odd_pages())
    first = pdf[0]
    mark = first.add_highlight_annot(first.search_for(WORDS))
    mark.set_colors(stroke=(0, 1, 0))
    mark.set_info(content="Which board?")
    mark.update()
    page.goto(site.url(upload(pdf.tobytes(), "Marked elsewhere.pdf")))
    page.get_by_label("Your question").wait_for()
    sheet = page.locator(".page[data-page-number='1']")
    expect(sheet).to_have_attribute("data-loaded", "true")
    assert greens(sheet) > 100
    page.get_by_role("tab", name="Highlights").click()
    page.get_by_role("button", name="Import from the PDF").click()
    expect(page.get_by_text("1 annotation imported.")).to_be_visible()
    item = page.locator("#own-list li")
    expect(item).to_contain_text(WORDS)
    expect(page.get_by_role("textbox", name="Comment")).to_have_value("Which board?")
    expect(page.locator(".own.own-green")).to_have_count(1)
    item.get_by_role("button", name="Delete").click()
    expect(page.locator(".own")).to_have_count(0)
    expect(sheet).to_have_attribute("data-loaded", "true")
    wait_until(page, lambda: greens(sheet) == 0)  # nor does the PDF's own show


def greens(sheet: Locator) -> int:
    """How many of its pixels are green."""
    shot = pymupdf.Pixmap(sheet.screenshot())
    samples = shot.samples
    colours = zip(samples[0 :: shot.n], samples[1 :: shot.n], samples[2 :: shot.n], strict=True)
    return sum(green > 200 and red < 190 and blue < 190 for red, green, blue in colours)
