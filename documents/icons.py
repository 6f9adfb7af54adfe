"""The icon sprite: one SVG with a <symbol> for every icon the templates name.

Drawn by Lucide (npm ``lucide-static``, ISC), read from ``node_modules`` when
first asked for; nothing of it is committed.
"""

from __future__ import annotations

import hashlib
from functools import cache
from xml.etree import ElementTree as ET

from django.conf import settings

ICONS = [
    "arrow-left",
    "arrow-up",
    "bookmark",
    "book-open",
    "check",
    "check-check",
    "chevron-down",
    "chevron-left",
    "chevron-right",
    "chevron-up",
    "circle-alert",
    "circle-check",
    "circle-dashed",
    "circle-user",
    "clock",
    "copy",
    "corner-down-right",
    "download",
    "ellipsis",
    "eye",
    "file-plus",
    "file-text",
    "folder",
    "globe",
    "highlighter",
    "image",
    "info",
    "key-round",
    "keyboard",
    "layout-grid",
    "library",
    "link-2",
    "list",
    "lock",
    "log-out",
    "maximize",
    "message-circle",
    "monitor",
    "moon",
    "move-horizontal",
    "move-right",
    "notebook-pen",
    "panel-left",
    "panel-right",
    "pencil",
    "plug",
    "plus",
    "printer",
    "quote",
    "refresh-cw",
    "rotate-ccw",
    "rotate-cw",
    "search",
    "send",
    "settings",
    "share-2",
    "sparkles",
    "square",
    "sun",
    "table",
    "tag",
    "text-search",
    "thumbs-down",
    "thumbs-up",
    "trash-2",
    "triangle-alert",
    "undo-2",
    "unplug",
    "upload",
    "users",
    "x",
    "zoom-in",
    "zoom-out",
]
FOLDER = settings.BASE_DIR / "node_modules/lucide-static/icons"
SVG = "{http://www.w3.org/2000/svg}"


@cache
def sprite() -> bytes:
    """The sprite; an icon that is not installed is left out, so a page never fails for a picture."""
    ET.register_namespace("", SVG[1:-1])
    root = ET.Element(f"{SVG}svg")
    for name in ICONS:
        file = FOLDER / f"{name}.svg"
        if file.exists():
            symbol = ET.SubElement(root, f"{SVG}symbol", {"id": name, "viewBox": "0 0 24 24"})
            symbol.extend(ET.parse(file).getroot())
    return ET.tostring(root)


@cache
def sprite_version() -> str:
    return hashlib.sha256(sprite()).hexdigest()[:12]
