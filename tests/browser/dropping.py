"""Files and folders dropped on a page as the system's file manager does it."""

from __future__ import annotations

from pathlib import Path

from playwright.sync_api import Page


def drop(page: Page, path: Path) -> None:
    """The page sees what it would see of a person's drop: a folder is a folder."""
    devtools = page.context.new_cdp_session(page)
    carried = {"items": [], "files": [str(path)], "dragOperationsMask": 1}
    for kind in ("dragEnter", "dragOver", "drop"):
        devtools.send("Input.dispatchDragEvent", {"type": kind, "x": 400, "y": 300, "data": carried})
