"""Things dragged as under a hand: a frame passes between its steps.

Chromium drops nothing where it has not been told yet that the page takes what is dragged over it.
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
    """An item of the page is dragged onto another; ``meanwhile`` is done before it is let go.

    Somebody's hand would go on telling the page, many times a second, over what it is.
    """
    item.hover()
    page.mouse.down()
    target.hover()
    meanwhile()
    expect(page.locator(".htmx-request")).to_have_count(0)  # what asked may be another now
    for _ in range(3):
        target.hover()
        page.evaluate(FRAME)
    page.mouse.up()
