"""Going through a page with keys, as somebody does who looks where the focus is."""

from __future__ import annotations

import json
from collections.abc import Callable

from playwright.sync_api import Locator, Page

from tests.browser.conftest import PASSWORD

MOST_PRESSES = 60
ROUNDS, PAUSE_MS = 4, 1000  # what is still on its way is waited for between rounds


def press_until(page: Page, key: str, true: Callable[[], bool]) -> None:
    """Presses a key until that is true, if it is not already; a key that never comes there fails the test."""
    for _ in range(ROUNDS):
        for _ in range(MOST_PRESSES):
            if true():
                return
            page.keyboard.press(key)
        page.wait_for_timeout(PAUSE_MS)
    raise AssertionError(
        f"{key} never comes there: {page.evaluate('document.activeElement.outerHTML')[:300]}"
    )


def has_focus(item: Locator) -> bool:
    return item.evaluate("item => item === document.activeElement")


def confirm_password(page: Page, shown: Locator) -> None:
    """Type the password where it is asked for before ``shown`` appears; it is not while it is fresh."""
    password = page.locator("input[name=password]")
    shown.or_(password).first.wait_for()
    if password.is_visible():
        password.fill(PASSWORD)
        page.keyboard.press("Enter")
    shown.wait_for()


def tab_to(page: Page, selector: str) -> None:
    """Presses Tab until the focus is there, once at least."""
    page.locator(selector).first.wait_for(state="attached")
    page.keyboard.press("Tab")
    press_until(page, "Tab", lambda: page.evaluate(f"document.activeElement.matches({json.dumps(selector)})"))
