"""Keyboard navigation of a page that checks where the focus is."""

from __future__ import annotations

import json
from collections.abc import Callable

from playwright.sync_api import Locator, Page

from tests.browser.conftest import PASSWORD

MOST_PRESSES = 60
ROUNDS, PAUSE_MS = 4, 1000  # a pause between rounds for content that is still loading


def press_until(page: Page, key: str, true: Callable[[], bool]) -> None:
    """Press a key until the condition holds. Fail if it never does."""
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
    """Type the password if the site asks for it again before it shows ``shown``."""
    password = page.locator("input[name=password]")
    shown.or_(password).first.wait_for()
    if password.is_visible():
        password.fill(PASSWORD)
        page.keyboard.press("Enter")
    shown.wait_for()


def tab_to(page: Page, selector: str) -> None:
    """Press Tab, at least once, until the element has the focus."""
    page.locator(selector).first.wait_for(state="attached")
    page.keyboard.press("Tab")
    press_until(page, "Tab", lambda: page.evaluate(f"document.activeElement.matches({json.dumps(selector)})"))
