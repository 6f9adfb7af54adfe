from __future__ import annotations

from pathlib import Path

import pytest
from playwright.sync_api import Locator, Page, expect

from bench.highlights import WITHIN, painted_on, wait_until_still
from tests.browser.conftest import READY_MS, Upload, assert_covers_words
from tests.browser.dropping import drop
from tests.browser.sheets import report
from tests.browser.site import Site


@pytest.fixture(scope="module")
def uploaded() -> dict[str, str]:
    """Filled by the first test that reads."""
    return {}


@pytest.fixture
def reader(uploaded: dict[str, str], upload: Upload) -> str:
    """The path of a reader with the report in it."""
    if not uploaded:
        uploaded["path"] = upload(report(), "Divisions.pdf")
    return uploaded["path"]


def ask(page: Page, question: str) -> Locator:
    """Asks in the panel; the finished answer."""
    page.get_by_label("Your question").fill(question)
    answers = page.locator("[data-message]")
    before = answers.count()
    page.keyboard.press("Enter")
    expect(answers).to_have_count(before + 1)
    answer = answers.last
    expect(answer).to_have_attribute("data-status", "complete", timeout=READY_MS)
    return answer


def test_a_dropped_pdf_becomes_a_document_while_one_watches(page: Page, site: Site, tmp_path: Path) -> None:
    page.goto(site.url("/"))
    file = tmp_path / "Dropped.pdf"
    file.write_bytes(report())
    drop(page, file)
    card = page.locator(".doc").first
    expect(card.locator("progress")).to_be_visible()
    expect(card).to_have_attribute("data-status", "ready", timeout=READY_MS)
    expect(card).to_contain_text("2 pages")


@pytest.mark.parametrize(
    ("question", "number", "value"),
    [
        pytest.param(
            "What was the revenue of the northern division?",
            1,
            "4,711",
            id="on a plain page",
            marks=pytest.mark.slow,
        ),
        pytest.param(
            "What was the headcount of the southern office?",
            2,
            "1,842",
            id="on a page rotated and cropped",
        ),
    ],
)
def test_a_citation_of_an_answer_opens_the_page_at_its_words(
    page: Page, site: Site, reader: str, question: str, number: int, value: str
) -> None:
    page.goto(site.url(reader))
    answer = ask(page, question)
    expect(answer).to_contain_text(value)
    cite = answer.locator(f'a[data-citation][data-page="{number}"]').first
    page.locator("[data-zoom]").select_option("1")
    cite.click()
    page.locator(f'.page[data-page-number="{number}"] .lit-anchor').first.wait_for()
    wait_until_still(page)
    painted = painted_on(page, number)
    assert value in painted.text
    assert max(painted.errors()) <= WITHIN
    assert_covers_words(painted)
    expect(page.locator(f'.page[data-page-number="{number}"] .lit-unit')).to_have_count(1)


def test_a_conversation_is_still_there_after_a_reload(page: Page, site: Site, reader: str) -> None:
    page.goto(site.url(reader))
    ask(page, "What was the revenue of the northern division?").locator("a[data-citation]").first.click()
    expect(page.locator(".lit-anchor").first).to_be_visible()
    page.reload()  # the address now names the citation
    expect(page.locator("a[data-citation][aria-current=true]")).to_have_count(1)
    expect(page.locator(".lit-anchor").first).to_be_visible()


def test_a_file_that_is_no_pdf_is_refused_with_its_reason(page: Page, site: Site, tmp_path: Path) -> None:
    page.goto(site.url("/"))
    file = tmp_path / "letter.pdf"
    file.write_text("Dear Sir")
    drop(page, file)
    expect(page.locator(".upload-row.refused")).to_contain_text("not a PDF")


def test_a_deleted_document_comes_back_with_undo(page: Page, site: Site, reader: str) -> None:
    page.goto(site.url("/"))
    card = page.locator(".doc", has=page.locator(f'a[href="{reader}"]')).first
    card.hover()
    card.get_by_role("button", name="Actions for").click()
    card.get_by_role("button", name="Delete").click()
    expect(page.locator(f'.doc-title a[href="{reader}"]')).to_have_count(0)
    page.locator(".toast").get_by_role("button", name="Undo").click()
    expect(page.locator(f'.doc-title a[href="{reader}"]')).to_have_count(1)
