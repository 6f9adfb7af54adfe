"""Template tags and filters: icons, theme, URLs, formats."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from functools import cache
from typing import Any
from uuid import UUID
from xml.etree import ElementTree as ET

import msgspec
from django import template
from django.conf import settings
from django.http import HttpRequest
from django.template import Context
from django.urls import get_script_prefix, reverse
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.translation import gettext as _

from documents import contents
from documents.labels import labels_in_library
from documents.models import Document
from documents.papers.bibliography import STYLES
from documents.translation import translated

# --- Icons: one SVG sprite with a <symbol> per icon ---
#
# From Lucide (npm ``lucide-static``, ISC licence), read from ``node_modules`` at first use.

ICONS = [
    *("arrow-left", "arrow-up", "bookmark", "book-open", "check", "check-check", "chevron-down"),
    *("chevron-left", "chevron-right", "chevron-up", "circle-alert", "circle-check", "circle-dashed"),
    *("circle-user", "clock", "columns-2", "contrast", "copy", "corner-down-right", "download"),
    *("ellipsis", "eye", "file-plus", "file-text", "folder", "fullscreen", "globe", "hand"),
    *("highlighter", "history", "image", "info", "key-round", "keyboard", "layout-grid", "library"),
    *("link-2", "list", "list-checks", "lock", "log-out", "maximize", "message-circle"),
    *("message-square-plus", "monitor", "moon", "move-horizontal", "notebook-pen"),
    *("panel-left", "panel-right", "pen-line", "pencil", "plug", "plus", "presentation", "printer"),
    *("quote", "redo-2", "refresh-cw", "rotate-cw", "scale", "scan", "search", "send", "settings"),
    *("share-2", "sparkles", "square", "sun", "table", "table-properties", "tag", "text-search"),
    *("thumbs-down", "thumbs-up", "trash-2", "triangle-alert", "underline", "undo-2", "unplug"),
    *("upload", "users", "x", "zoom-in", "zoom-out"),
]
FOLDER = settings.BASE_DIR / "node_modules/lucide-static/icons"
SVG = "{http://www.w3.org/2000/svg}"


@cache
def sprite() -> bytes:
    """Return the sprite. Missing icons are left out, so that no page fails because of one."""
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


register = template.Library()
THEMES = ("light", "dark")
NIL = UUID(int=0)


@register.simple_tag
def icon(name: str, css_class: str = "") -> SafeString:
    """Render ``{% icon "search" %}``: decorative, as the control around it has the label."""
    return _icon(name, css_class, get_script_prefix())


@cache  # a page of cards has five hundred icons, and reversing the URL dominates their cost
def _icon(name: str, css_class: str, script_prefix: str) -> SafeString:
    return format_html(
        '<svg class="icon {}" aria-hidden="true"><use href="{}?v={}#{}"></use></svg>',
        css_class,
        reverse("icons"),
        sprite_version(),
        name,
    )


@register.simple_block_tag
def icon_button(content: str, name: str, label: str, key: str = "") -> SafeString:
    """Render a button: ``{% icon_button "x" _("Close") "Esc" %}data-close{% endicon_button %}``."""
    title = "" if "title=" in content else f"{label} ({key})" if key else label
    return format_html(
        '<button type="button" class="icon-button" {} aria-label="{}"{}>{}</button>',
        SafeString(content.strip()),
        label,
        format_html(' title="{}"', title) if title else "",
        icon(name),
    )


@register.simple_tag
def document_url(name: str, pk: UUID) -> SafeString:
    """Render ``{% url name pk %}`` for many documents: the route is reversed once."""
    return SafeString(_route(name, get_script_prefix()).replace(str(NIL), str(pk)))


@cache
def _route(name: str, script_prefix: str) -> str:
    return reverse(name, args=[NIL])


@register.simple_tag(takes_context=True)
def theme(context: Context) -> str:
    """Return the user's choice, 'light' or 'dark', or '' for the system's."""
    request: HttpRequest | None = context.get("request")
    chosen = request.COOKIES.get("theme", "") if request else ""
    return chosen if chosen in THEMES else ""


register.filter("translated", translated)


register.simple_tag(labels_in_library)


@register.filter
def label_in(document: Document, labels: Mapping[UUID, str]) -> str:
    """Return the document's label among others (``documents.labels``), or its title."""
    return labels.get(document.pk, document.title)


@register.filter
def printed_page(place: Any, labels: Mapping[tuple[str, int], str]) -> object:
    """Return the printed number of the place's page, by document and page, or else its number in the file."""
    return labels.get((place.document, place.page), place.page)


@register.filter
def as_json(value: object) -> str:
    """Return JSON for ``data-`` attributes; the template escapes it."""
    return msgspec.json.encode(value).decode()


@register.filter
def trail(path: list[str], title: str = "") -> str:
    """Return the headings above a passage, without repetitions of the document's title."""
    return contents.trail(path, title)


@register.filter
def colour(number: int) -> int:
    """Return the colour (1 to 6) of a citation's number."""
    return (number - 1) % 6 + 1


@register.filter
def percent(fraction: float | None) -> int:
    """Convert 0..1 to whole percent."""
    return round(100 * (fraction or 0))


@register.simple_tag(takes_context=True)
def query(context: Context, **changes: object) -> str:
    """Return the current query string with changed parameters: ``{% query page=2 %}``."""
    parameters = context["request"].GET.copy()
    parameters.pop("page", None)
    for name, value in changes.items():
        parameters.pop(name, None)
        if value not in (None, ""):
            parameters[name] = str(value)
    return "?" + parameters.urlencode()


BROWSERS = (
    ("Edg/", "Edge"),
    ("OPR/", "Opera"),
    ("Firefox/", "Firefox"),
    ("Chrome/", "Chrome"),
    ("Safari/", "Safari"),
)
SYSTEMS = (("Android", "Android"), ("iPhone", "iPhone"), ("iPad", "iPad"), ("Windows", "Windows"),
           ("Mac OS X", "Mac"), ("Linux", "Linux"))  # fmt: skip


@register.filter
def browser(user_agent: str) -> str:
    """Return browser and system of a User-Agent header: ``Firefox on Linux``."""
    program = next((name for sign, name in BROWSERS if sign in user_agent), "")
    system = next((name for sign, name in SYSTEMS if sign in user_agent), "")
    if program and system:
        return _("{program} on {system}").format(program=program, system=system)
    return program or user_agent.split("/")[0][:40] or _("Unknown program")


@register.simple_tag
def reference_styles() -> dict[str, str]:
    """Return CSL styles and their display names."""
    return STYLES
