"""Read Docling's JSON export (DoclingDocument): texts, tables and pictures in the order of its body."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any

from documents.importers.block import (
    AdapterError,
    Block,
    Rows,
    make_block,
    quad_of,
    read_each,
    rows_of_cells,
)

TYPES = {
    "title": "heading",
    "section_header": "heading",
    "list_item": "list",
    "code": "code",
    "caption": "caption",
    "footnote": "footnote",
    "formula": "formula",
}
FURNITURE = {"page_header", "page_footer"}


def read(payload: object) -> list[Block]:
    """Return blocks in reading order. Raises AdapterError."""
    if not isinstance(payload, dict) or not isinstance(payload.get("body"), dict):
        raise AdapterError("This is not a DoclingDocument: it has no body.")
    return read_each(_in_order(payload, payload["body"], set()), partial(_block, payload))


def _in_order(document: dict[str, Any], node: dict[str, Any], seen: set[str]) -> Iterator[dict[str, Any]]:
    """Yield the items below the node, depth first, each reference once."""
    for child in node.get("children") or []:
        reference = child.get("$ref", "") if isinstance(child, dict) else ""
        item = _resolve(document, reference)
        if item is None or reference in seen:
            continue
        seen.add(reference)
        yield item
        yield from _in_order(document, item, seen)


def _resolve(document: dict[str, Any], reference: str) -> dict[str, Any] | None:
    """Resolve a reference such as ``#/texts/12``; None when it is invalid."""
    parts = reference.removeprefix("#/").split("/")
    if len(parts) != 2 or not parts[1].isdigit():
        return None
    items = document.get(parts[0])
    index = int(parts[1])
    found = items[index] if isinstance(items, list) and index < len(items) else None
    return found if isinstance(found, dict) else None


def _block(document: dict[str, Any], item: dict[str, Any]) -> Block | None:
    label = str(item.get("label", ""))
    if label in FURNITURE or item.get("content_layer") == "furniture":
        return None
    place = _place(document, item)
    if label == "table" or ("data" in item and "table_cells" in (item.get("data") or {})):
        return _table(document, item, place)
    text = item.get("text")
    if not isinstance(text, str) or not text.strip():
        return None
    level = item.get("level") if label == "section_header" else 1 if label == "title" else None
    return make_block(
        type=TYPES.get(label, "text"),
        text=text,
        level=level,
        list_style=str(item.get("marker") or "")[:20],
        code_language=str(item.get("code_language") or "")[:20],
        **place,
    )


def _table(document: dict[str, Any], item: dict[str, Any], place: dict[str, Any]) -> Block | None:
    data = item.get("data") or {}
    rows, head = _rows_of_grid(data.get("grid") or []) or rows_of_cells(data.get("table_cells") or [])
    if not rows:
        return None
    captions = (_resolve(document, ref.get("$ref", "")) for ref in item.get("captions") or [])
    caption = " ".join(str(found.get("text", "")) for found in captions if found)
    text = "\n".join("\t".join(row) for row in rows)
    return make_block(type="table", text=text, rows=rows, has_head=head, caption=caption, **place)


def _rows_of_grid(grid: list[list[dict[str, Any]]]) -> Rows | None:
    """Convert Docling's grid, which repeats a cell in each column it spans."""
    rows = [[str(cell.get("text", "")) for cell in row if isinstance(cell, dict)] for row in grid]
    rows = [row for row in rows if any(cell.strip() for cell in row)]
    head = any(cell.get("column_header") for row in grid[:1] for cell in row if isinstance(cell, dict))
    return Rows(rows, head) if rows else None


def _place(document: dict[str, Any], item: dict[str, Any]) -> dict[str, Any]:
    """Return page and corners of the item's first provenance."""
    provenance = next(iter(item.get("prov") or []), None)
    if not isinstance(provenance, dict):
        return {}
    number = provenance.get("page_no") or 1
    size = ((document.get("pages") or {}).get(str(number)) or {}).get("size") or {}
    width, height = float(size.get("width") or 0), float(size.get("height") or 0)
    box = provenance.get("bbox") or {}
    top, bottom = float(box.get("t") or 0), float(box.get("b") or 0)
    if box.get("coord_origin") == "BOTTOMLEFT":
        top, bottom = height - top, height - bottom
    quad = quad_of(float(box.get("l") or 0), top, float(box.get("r") or 0), bottom, width, height)
    return {"page": number, "quad": quad if box else ()}
