"""The reader asks for the password of an encrypted PDF."""

from __future__ import annotations

import pymupdf
import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import Upload
from tests.browser.sheets import report
from tests.browser.site import Site

PASSWORD = "sesame"


@pytest.fixture
def locked(page: Page, upload: Upload, site: Site) -> str:
    """The reader of a document whose file comes encrypted."""
    path = upload(report(), "Locked.pdf")
    with pymupdf.open(stream=report()) as pdf:
        body = pdf.tobytes(encryption=pymupdf.PDF_ENCRYPT_AES_256, user_pw=PASSWORD, owner_pw="owner")
    page.route("**/file", lambda route: route.fulfill(body=body, content_type="application/pdf"))
    return site.url(path)


def test_a_wrong_password_is_asked_for_again_and_the_right_one_opens_the_pages(
    page: Page, locked: str
) -> None:
    page.goto(locked)
    dialog = page.get_by_role("dialog", name="This PDF needs a password")
    expect(dialog.get_by_label("Password")).to_be_focused()
    page.keyboard.type("open")
    page.keyboard.press("Enter")
    expect(dialog).to_contain_text("That password is not right")
    dialog.get_by_label("Password").fill(PASSWORD)
    page.keyboard.press("Enter")
    expect(page.locator(".page[data-loaded]").first).to_be_visible()
    expect(dialog).to_be_hidden()


@pytest.mark.slow
def test_the_dialog_looks_like_all_others(page: Page, locked: str) -> None:
    page.goto(locked)
    dialog = page.locator("#pdf-password")
    expect(dialog).to_be_visible()
    look = "(element) => [getComputedStyle(element).fontFamily, getComputedStyle(element).backgroundColor]"
    page.evaluate("() => document.getElementById('keys').showModal()")
    assert dialog.evaluate(look) == page.locator("#keys").evaluate(look)
    assert dialog.evaluate(look)[0] == page.locator("body").evaluate(look)[0]
