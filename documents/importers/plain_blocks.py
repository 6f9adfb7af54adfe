"""Read plain blocks, as Reducto, tldw and most other services return them.

A list of objects (or an object that holds one under ``blocks``, ``chunks`` or
``result``), each with ``type`` and ``text`` or ``content``, and any of: ``page``,
``bbox`` or ``bbox_quad``, ``level``, ``list_style``, ``code_language``, ``rows``,
``slide``, ``sheet``, ``row``, ``column``, ``paragraph``, ``line``, ``start_ms``, ``end_ms``;
also nested under ``citation`` or ``metadata``, and as ``slide_number``, ``start_timestamp_ms`` and the like.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any

from documents.importers.block import (
    MOST_BLOCKS,
    AdapterError,
    Block,
    clamped,
    make_block,
    quad_of,
    read_each,
    rows_of,
)

TYPES = {
    "title": "heading",
    "section header": "heading",
    "section_header": "heading",
    "header": "",
    "footer": "",
    "page number": "",
    "list item": "list",
    "list_item": "list",
    "bullet_list": "list",
    "numbered_list": "list",
    "table_row": "table",
    "table_cell": "table",
    "textsection": "text",
    "file": "media",
    "figure": "media",
    "image": "media",
    "audio": "media",
    "video": "media",
    "paragraph": "text",
    "key value": "text",
    "equation": "formula",
}
DEEPEST = 8  # levels of nested lists and holders
KNOWN = {"text", "heading", "list", "table", "code", "caption", "footnote", "formula", "media"}
HOLDERS = ("blocks", "chunks", "result", "elements")
LIST_STYLES = {"bullet_list": "bullet", "numbered_list": "numbered"}
OTHER_NAMES = {  # other services' names of our fields
    "slide_number": "slide",
    "sheet_name": "sheet",
    "paragraph_number": "paragraph",
    "line_number": "line",
    "start_timestamp_ms": "start_ms",
    "end_timestamp_ms": "end_ms",
    "row_number": "row",
    "column_number": "column",
}
PLAIN = (
    "list_style",
    "code_language",
    "caption",
    "paragraph",
    "line",
    "slide",
    "sheet",
    "row",
    "column",
    "start_ms",
    "end_ms",
)


def read(payload: object) -> list[Block]:
    """Return blocks in order, without page headers and footers. Raises AdapterError."""
    sheets: dict[str, int] = {}
    return read_each(_items(payload), partial(_block, sheets))


def _items(payload: object, depth: int = 0) -> Iterator[Any]:
    if depth > DEEPEST:
        raise AdapterError("The blocks are nested too deep.")
    if isinstance(payload, dict):
        holder = next((name for name in HOLDERS if isinstance(payload.get(name), list | dict)), None)
        if holder is None:
            yield payload
        else:
            yield from _items(payload[holder], depth + 1)
        return
    if not isinstance(payload, list) or len(payload) > MOST_BLOCKS:
        raise AdapterError(f"These are not blocks, or more than {MOST_BLOCKS:,}.")
    for item in payload:
        if isinstance(item, dict):
            yield from _items(item, depth + 1)
        else:
            yield item


def _block(sheets: dict[str, int], item: Any) -> Block | None:
    """Read one block. ``sheets`` assigns page numbers to sheets in order of appearance."""
    if not isinstance(item, dict):
        raise AdapterError("It is not an object.")
    item = _flattened(item)
    named = str(item.get("type") or "text").lower()
    kind = named if named in KNOWN else TYPES.get(named, "text")
    text = item.get("text") if isinstance(item.get("text"), str) else item.get("content")
    rows, has_head = item.get("rows") or (), bool(item.get("has_head", True))
    if kind == "table" and not rows and isinstance(text, str):
        rows, has_head = rows_of(text)
    if rows and (kind == "table" or not isinstance(text, str)):
        text = "\n".join("\t".join(map(str, row)) for row in rows)
    if not kind or not isinstance(text, str) or not text.strip():
        return None
    box = item.get("bbox") if isinstance(item.get("bbox"), dict) else {}
    assert isinstance(box, dict)
    named_sheet = item.get("sheet")
    sheet = sheets.setdefault(str(named_sheet), len(sheets) + 1) if named_sheet else 1
    return make_block(
        type=kind,
        text=text,
        page=item.get("page") or item.get("page_number") or box.get("page") or item.get("slide") or sheet,
        quad=_quad(item, box),
        level=item.get("level") or (1 if kind == "heading" else None),
        **({"list_style": LIST_STYLES[named]} if named in LIST_STYLES and not item.get("list_style") else {}),
        rows=rows,
        has_head=bool(rows) and has_head,
        **{name: item[name] for name in PLAIN if item.get(name) is not None},
    )


def _flattened(item: dict[str, Any]) -> dict[str, Any]:
    """Merge the fields of ``citation`` and ``metadata`` into the block's, under the names of ``PLAIN``."""
    nested = [item.get(name) for name in ("citation", "metadata")]
    found: dict[str, Any] = {}
    if str(item.get("type", "")).lower() == "code" and item.get("language"):
        found["code_language"] = item["language"]
    for fields in [*(fields for fields in nested if isinstance(fields, dict)), item]:
        found |= {OTHER_NAMES.get(name, name): value for name, value in fields.items() if value is not None}
    return found


def _quad(item: dict[str, Any], box: dict[str, Any]) -> tuple:
    """Parse ``bbox_quad`` (four points), {left, top, width, height} or [x0, y0, x1, y1], in fractions."""
    try:
        if corners := item.get("bbox_quad"):
            return _corners(corners)
        if box:
            left, top = float(box["left"]), float(box["top"])
            return quad_of(left, top, left + float(box["width"]), top + float(box["height"]), 1, 1)
        if isinstance(item.get("bbox"), list):
            x0, y0, x1, y1 = map(float, item["bbox"])
            return quad_of(x0, y0, x1, y1, 1, 1)
    except (KeyError, TypeError, ValueError, OverflowError):
        raise AdapterError("Its box cannot be read.") from None
    return ()


def _corners(corners: Any) -> tuple:
    """Return four points, given as {x, y} or [x, y]; a rotated box stays rotated."""
    points = [(point["x"], point["y"]) if isinstance(point, dict) else tuple(point) for point in corners]
    if len(points) != 4:
        raise ValueError
    return tuple((clamped(float(x)), clamped(float(y))) for x, y in points)
