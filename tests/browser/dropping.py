"""Drag and drop as with a mouse: a frame passes between the steps.

Chromium drops nothing until the page has accepted the drag.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from playwright.sync_api import Locator, Page, expect

FRAME = "() => new Promise(requestAnimationFrame)"


def drop(page: Page, path: Path) -> None:
    """A file or folder comes from the system's file manager: a folder is a folder."""
    devtools = page.context.new_cdp_session(page)
    carried = {"items": [], "files": [str(path)], "dragOperationsMask": 1}
    for kind in ("dragEnter", "dragOver", "dragOver", "drop"):
        devtools.send("Input.dispatchDragEvent", {"type": kind, "x": 400, "y": 300, "data": carried})
        page.evaluate(FRAME)


def drag(page: Page, item: Locator, target: Locator, meanwhile: Callable[[], object] = lambda: None) -> None:
    """Drag an item of the page onto another; ``meanwhile`` runs before the drop.

    A real mouse sends such an event many times a second.
    """
    item.hover()
    page.mouse.down()
    target.hover()
    meanwhile()
    expect(page.locator(".htmx-request")).to_have_count(0)  # htmx may have replaced the target
    for _ in range(3):
        target.hover()
        page.evaluate(FRAME)
    page.mouse.up()
