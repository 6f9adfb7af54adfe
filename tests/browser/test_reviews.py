"""A review from the form to a checked cell, by mouse and by keyboard; a grid of many rows."""

from __future__ import annotations

import re
from uuid import UUID

import pytest
from django.contrib.auth.models import User
from playwright.sync_api import Page, expect

from documents.models import Document
from reviews.models import Review, ReviewCell, ReviewColumn, ReviewRow
from reviews.review_commands import save_column, start_review
from tests.browser.conftest import READY_MS, Upload, committed
from tests.browser.site import Site
from tests.browser.test_accessible import violations
from tests.drawing import draw_pdf

WORDS = "Northern Ferries carried 48,200 passengers in 2031.\nThe ships run on liquefied gas."


@pytest.fixture
def ferry(upload: Upload) -> str:
    """The id of a document of two sentences."""
    found = re.search(r"/documents/([^/]+)/", upload(draw_pdf(WORDS), "ferry.pdf"))
    assert found
    return found[1]


def test_a_review_is_made_filled_and_checked(page: Page, site: Site, ferry: str) -> None:
    page.goto(site.url(f"/reviews/?document={ferry}"))
    expect(page.get_by_text("1 chosen document")).to_be_visible()
    assert violations(page, "the form of a review") == []
    page.get_by_label("Name").fill("Ferries")
    page.get_by_role("button", name="Create the review").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Ferries")
    page.get_by_role("button", name="Add", exact=True).first.click()
    page.get_by_role("button", name="Add column", exact=True).click()
    dialog = page.get_by_role("dialog", name="Column")
    dialog.get_by_label("Title").fill("Passengers")
    dialog.get_by_label("Question").fill("How many passengers were carried in 2031?")
    dialog.get_by_label("Type").select_option("choice")
    dialog.get_by_role("button", name="Save").click()
    expect(dialog.get_by_role("alert")).to_have_text("Name at least two choices.")
    dialog.get_by_label("Type").select_option("number")
    dialog.get_by_role("button", name="Save").click()
    expect(dialog).to_be_hidden()
    page.get_by_role("button", name="Fill").click()
    cell = page.locator("td[data-state=found]")
    expect(cell).to_contain_text("48,200", timeout=READY_MS)
    cell.click()
    side = page.get_by_role("complementary", name="Cell")
    expect(side.get_by_label("Value")).to_have_value("48,200")
    expect(side.locator("blockquote").first).to_contain_text("48,200")
    expect(side.get_by_role("link", name="p. 1, line 1")).to_have_attribute(
        "href", re.compile(f"/documents/{ferry}/.*citation=")
    )
    assert violations(page, "a review with a cell") == []
    side.get_by_role("button", name="Accept").click()
    expect(cell).to_contain_text("Accepted")
    side.get_by_label("Value").fill("many")
    side.get_by_role("button", name="Save").click()
    expect(side.get_by_role("alert")).to_contain_text("Write a number")
    side.get_by_label("Value").fill("48300")
    side.get_by_role("button", name="Save").click()
    expect(cell).to_contain_text("48300")
    expect(side.locator("[data-said]")).to_contain_text("written by alice")
    page.keyboard.press("Escape")
    expect(side).to_be_hidden()
    page.goto(site.url("/reviews/"))
    page.get_by_role("button", name="Delete Ferries").click()
    expect(page.get_by_role("link", name="Ferries")).to_have_count(0)
    page.keyboard.press("u")
    expect(page.get_by_role("link", name="Ferries")).to_be_visible()


@pytest.fixture
def large() -> UUID:
    """A review of 500 documents and 30 columns, each cell with its number."""
    made: list[UUID] = []

    def make() -> None:
        alice = User.objects.get(username="alice")
        review = Review.objects.create(owner=alice, name="Large")
        documents = Document.objects.bulk_create(
            Document(owner=alice, title=f"Report {n:03}", status="ready") for n in range(500)
        )
        rows = ReviewRow.objects.bulk_create(
            ReviewRow(review=review, document=document, position=n) for n, document in enumerate(documents)
        )
        columns = ReviewColumn.objects.bulk_create(
            ReviewColumn(review=review, title=f"Q{n}", question="What?", position=n) for n in range(30)
        )
        ReviewCell.objects.bulk_create(
            ReviewCell(row=row, column=column, state="found", answered_by="extractive", text=f"{r}/{c}")
            for r, row in enumerate(rows)
            for c, column in enumerate(columns)
        )
        made.append(review.pk)

    committed(make)
    return made[0]


@pytest.mark.slow
def test_a_large_grid_draws_what_is_seen_and_is_walked_by_keys(page: Page, site: Site, large: UUID) -> None:
    page.goto(site.url(f"/reviews/{large}/"))
    focused = page.locator("td:focus")
    first = page.get_by_role("gridcell", name="0/0", exact=True)
    expect(first).to_be_visible()
    assert page.locator("tbody tr").count() < 60
    first.click()
    page.keyboard.press("Escape")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowRight")
    expect(focused).to_have_text("1/1")
    page.keyboard.press("Control+End")
    expect(focused).to_have_text("499/29")
    expect(focused).to_be_in_viewport()
    page.keyboard.press("a")
    expect(focused).to_contain_text("Accepted")
    page.keyboard.press("n")  # the next that nobody has checked: round to the first
    expect(focused).to_have_text("0/0")
    assert page.locator("tbody tr").count() < 60
    focused.hover()
    page.mouse.wheel(0, 9000)  # away from the cell that has the focus
    expect(page.get_by_role("gridcell", name="150/0", exact=True)).to_be_in_viewport()
    page.keyboard.press("ArrowDown")
    expect(focused).to_have_text("1/0")
    committed(lambda: Document.objects.filter(title__startswith="Report ").delete())


@pytest.fixture
def ferries(ferry: str) -> UUID:
    """A review of one document and two columns."""
    made: list[UUID] = []

    def make() -> None:
        alice, document = User.objects.get(username="alice"), Document.objects.get(pk=ferry)
        review = start_review(alice, "Ferries", [document])
        question = "How many passengers were carried in 2031?"
        save_column(review, ReviewColumn(review=review, title="Passengers", question=question, kind="number"))
        save_column(review, ReviewColumn(review=review, title="Fuel", question="What do the ships run on?"))
        made.append(review.pk)

    committed(make)
    return made[0]


@pytest.mark.slow
def test_a_cell_opens_the_reader_beside_the_grid_at_its_words(page: Page, site: Site, ferries: UUID) -> None:
    page.goto(site.url(f"/reviews/{ferries}/"))
    page.get_by_role("button", name="Fill").click()
    cell = page.locator("td[data-state=found]").first
    expect(cell).to_contain_text("48,200", timeout=READY_MS)
    cell.click()
    reader = page.frame_locator("iframe[title='The words in their document']")
    expect(reader.locator(".lit-target").first).to_be_visible(timeout=READY_MS)
    expect(page.locator("td:focus")).to_contain_text("48,200")
    page.keyboard.press("F2")
    expect(page.get_by_label("Value", exact=True)).to_be_focused()
    page.get_by_role("button", name="Settings of the review").click()
    dialog = page.get_by_role("dialog", name="Settings of the review")
    dialog.get_by_label("Name").fill("Ferries of the north")
    dialog.get_by_role("button", name="Save").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Ferries of the north")
    search = page.get_by_role("searchbox", name="Filter by value")
    search.fill("> 50000")
    expect(page.locator("td")).to_have_count(0)
    search.fill("> 40000")
    expect(cell).to_be_visible()
    page.get_by_label("In column").select_option("Fuel")
    expect(page.locator("td")).to_have_count(0)


@pytest.mark.slow
def test_a_phone_shows_one_document_at_a_time(page: Page, site: Site, large: UUID) -> None:
    page.set_viewport_size({"width": 390, "height": 844})
    page.goto(site.url(f"/reviews/{large}/"))
    expect(page.get_by_role("gridcell", name="0/29", exact=True)).to_be_attached()
    assert page.locator("tbody tr").count() == 30
    page.get_by_role("button", name="Next document").click()
    expect(page.get_by_text("2 / 500")).to_be_visible()
    expect(page.get_by_role("gridcell", name="1/0", exact=True)).to_be_visible()
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    assert violations(page, "a review on a phone") == []
    committed(lambda: Document.objects.filter(title__startswith="Report ").delete())
