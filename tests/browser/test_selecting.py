"""Several documents selected in the library: by boxes, Ctrl, Shift and keys; and the bin."""

from __future__ import annotations

import pytest
from django.contrib.auth.models import User
from playwright.sync_api import Page, expect

from documents.models import Document
from tests.browser.conftest import committed
from tests.browser.site import Site
from tests.browser.test_accessible import violations

TITLES = [f"Almanac {letter}" for letter in "ABCDE"]


@pytest.fixture
def library(page: Page, site: Site) -> Page:
    def make() -> None:
        alice = User.objects.get(username="alice")
        Document.objects.filter(title__startswith="Almanac").delete()
        for title in TITLES:
            Document.objects.create(owner=alice, title=title, status="ready")

    committed(make)
    page.goto(site.url("/?q=Almanac&order=title"))
    expect(page.locator("[data-document]")).to_have_count(5)
    page.wait_for_function("() => window.htmx")
    return page


def selected(library: Page) -> list[str]:
    found: list[str] = library.evaluate(
        "() => [...document.querySelectorAll('.doc-select :checked')]"
        ".map((box) => box.closest('li').querySelector('h2').textContent.trim())"
    )
    return found


@pytest.mark.slow
def test_ctrl_and_shift_select_and_escape_clears(library: Page) -> None:
    links = library.locator(".doc-title a")
    links.nth(1).click(modifiers=["Control"])
    expect(library.get_by_role("toolbar", name="Selected documents")).to_contain_text("1 selected")
    links.nth(3).click(modifiers=["Shift"])
    assert selected(library) == TITLES[1:4]
    links.nth(2).click(modifiers=["Control"])
    assert selected(library) == [TITLES[1], TITLES[3]]
    assert violations(library, "selected") == []
    library.keyboard.press("Escape")
    assert selected(library) == []
    expect(library.locator("[data-selection]")).to_be_hidden()
    links.nth(0).focus()
    library.keyboard.press("x")
    library.keyboard.press("j")
    library.keyboard.press("x")
    assert selected(library) == TITLES[:2]


def test_what_is_selected_is_tagged_deleted_and_restored(library: Page, site: Site) -> None:
    boxes = library.locator(".doc-select input")
    library.evaluate("htmx.config.defaultSettleDelay = 3000")  # as on a busy machine
    boxes.nth(0).check()
    boxes.nth(4).click(modifiers=["Shift"])
    bar = library.get_by_role("toolbar", name="Selected documents")
    bar.get_by_role("button", name="Tag").click()
    library.get_by_label("Tag (or type a new name)").fill("Sea")
    library.keyboard.press("Enter")
    expect(library.locator(".doc-tags", has_text="Sea")).to_have_count(5)
    assert selected(library) == TITLES  # to do more with them
    library.keyboard.press("Escape")
    boxes.nth(1).check()
    boxes.nth(2).check()
    bar.get_by_role("button", name="Delete").click()
    expect(library.locator("[data-document]")).to_have_count(3)
    expect(bar).to_be_hidden()
    library.keyboard.press("u")
    expect(library.locator(".toast", has_text="Restored: 2 documents.")).to_be_visible()
    library.reload()
    expect(library.locator("[data-document]")).to_have_count(5)
    boxes.nth(0).check()
    bar.get_by_role("button", name="Delete").click()
    expect(library.locator("[data-document]")).to_have_count(4)
    library.goto(site.url("/bin/"))
    assert violations(library, "bin") == []
    library.get_by_role("button", name="Restore Almanac A").click()
    expect(library.get_by_text("Restored 1 document.")).to_be_visible()
