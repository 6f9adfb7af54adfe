"""Files and folders dropped on a page as the system's file manager does it."""

from __future__ import annotations

from pathlib import Path

from playwright.sync_api import Page

FRAME = "() => new Promise(requestAnimationFrame)"


def drop(page: Page, path: Path) -> None:
    """The page sees what it would see of a person's drop: a folder is a folder.

    A frame passes between the steps, as under a hand: Chromium drops nothing where it has not been told
    yet that the page takes what is dragged over it.
    """
    devtools = page.context.new_cdp_session(page)
    carried = {"items": [], "files": [str(path)], "dragOperationsMask": 1}
    for kind in ("dragEnter", "dragOver", "dragOver", "drop"):
        devtools.send("Input.dispatchDragEvent", {"type": kind, "x": 400, "y": 300, "data": carried})
        page.evaluate(FRAME)
