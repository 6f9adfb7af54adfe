"""The pages around the library with keys alone, on a phone's width: account, collections, shares."""

from __future__ import annotations

import pytest
from django.contrib.auth.models import User
from playwright.sync_api import Page, expect

from tests.browser.conftest import PASSWORD, Upload, committed
from tests.browser.keys import confirm_password, has_focus, press_until, tab_to
from tests.browser.sheets import report
from tests.browser.site import Site

pytestmark = pytest.mark.slow


@pytest.fixture
def page(page: Page) -> Page:
    page.set_viewport_size({"width": 390, "height": 844})
    return page


def test_a_token_is_made_copied_and_revoked_by_keyboard(page: Page, site: Site) -> None:
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page.goto(site.url("/account/"))
    tab_to(page, "[name=name]")
    page.keyboard.type("weekly report")
    tab_to(page, "[name=scope]:not(:checked)")
    page.keyboard.press("Space")
    page.keyboard.press("Enter")
    key = page.locator(".note code.key")
    confirm_password(page, key)
    tab_to(page, "[data-copy]")
    page.keyboard.press("Enter")
    expect(page.locator(".toast")).to_contain_text("Copied")
    assert page.evaluate("navigator.clipboard.readText()") == key.inner_text()
    tab_to(page, ".row-item [popovertarget]")
    page.keyboard.press("Enter")
    expect(page.get_by_role("button", name="Revoke “weekly report”")).to_be_focused()
    page.keyboard.press("Escape")
    expect(page.locator(".row-item", has_text="weekly report")).to_be_visible()
    page.keyboard.press("Enter")
    expect(page.get_by_role("button", name="Revoke “weekly report”")).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.locator(".row-item", has_text="weekly report")).to_have_count(0)


def test_the_password_is_changed_by_keyboard(page: Page, site: Site) -> None:
    page.goto(site.url("/account/"))
    for field, typed in (
        ("old_password", "not mine"),
        ("new_password1", PASSWORD),
        ("new_password2", PASSWORD),
    ):
        tab_to(page, f"[name={field}]")
        page.keyboard.type(typed)
    page.keyboard.press("Enter")
    expect(page.locator(".field-error")).to_contain_text("entered incorrectly")
    for field in ("old_password", "new_password1", "new_password2"):
        if page.evaluate("document.activeElement.name") != field:
            tab_to(page, f"[name={field}]")
        page.keyboard.type(PASSWORD)
    page.keyboard.press("Enter")
    expect(page.locator(".toast")).to_contain_text("password")


def test_a_collection_is_made_coloured_shared_and_deleted_by_keyboard(page: Page, site: Site) -> None:
    committed(lambda: User.objects.get_or_create(username="bertha"))
    page.goto(site.url("/collections/"))
    tab_to(page, "[name=name]")
    page.keyboard.type("Of keys")
    page.keyboard.press("Enter")
    expect(page.locator(".row-item", has_text="Of keys")).to_be_visible()
    tab_to(page, "[aria-label='Change Of keys']")
    page.keyboard.press("Enter")
    expect(page.locator("[name=name]").first).to_have_value("Of keys")
    tab_to(page, "[name=name]")
    page.keyboard.type("Of many keys")  # what was there is selected
    tab_to(page, "[name=colour]:checked")
    colour = page.locator("[name=colour]:checked").get_attribute("value")
    page.keyboard.press("ArrowRight")
    page.keyboard.press("Enter")
    expect(page.locator(".row-item", has_text="Of many keys")).to_be_visible()
    tab_to(page, "[aria-label='Change Of many keys']")
    page.keyboard.press("Enter")
    expect(page.locator(f"[name=colour][value={colour}]")).not_to_be_checked()
    tab_to(page, "[aria-label='User or group']")
    page.keyboard.type("bertha")
    page.keyboard.press("Tab")
    press_until(page, "Tab", lambda: page.evaluate("document.activeElement.name") == "can_write")
    page.keyboard.press("Space")
    page.keyboard.press("Enter")
    expect(page.get_by_text("can edit", exact=True)).to_be_visible()
    tab_to(page, "[name=remove]")
    page.keyboard.press("Enter")
    expect(page.get_by_text("can edit", exact=True)).to_have_count(0)
    tab_to(page, "[popovertarget=really]")
    page.keyboard.press("Enter")
    expect(page.get_by_role("button", name="Delete “Of many keys”")).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.get_by_text("Of many keys")).to_have_count(0)


def test_a_document_is_shared_from_its_details_and_taken_back_by_keyboard(
    page: Page, site: Site, upload: Upload
) -> None:
    committed(lambda: User.objects.get_or_create(username="bertha"))
    path = upload(report() + b"%shared", "Shared by keys.pdf")
    page.goto(site.url(f"{path}details/"))
    tab_to(page, "[aria-label='User or group']")
    page.keyboard.type("nobody of that name")
    page.keyboard.press("Enter")
    expect(page.locator(".toast, [role=alert]").first).to_contain_text("nobody of that name")
    tab_to(page, "[aria-label='User or group']")
    page.keyboard.type("bertha")
    page.keyboard.press("Enter")
    expect(page.get_by_text("can read", exact=True)).to_be_visible()
    page.goto(site.url("/shares/"))
    share = page.locator(".row-item", has_text="Northern division")
    press_until(page, "Tab", lambda: has_focus(share.get_by_role("button")))
    page.keyboard.press("Enter")
    expect(share).to_have_count(0)
