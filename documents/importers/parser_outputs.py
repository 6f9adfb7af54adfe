"""Read the outputs of other parsers as blocks: Docling, Unstructured, and plain blocks (most other services).

Plain blocks are a list of objects (or an object that holds one under ``blocks``, ``chunks`` or ``result``).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

from documents.importers.block import (
    MOST_BLOCKS,
    NONE,
    AdapterError,
    ImportedBlock,
    TextRows,
    clamped,
    make_block,
    quad_of,
    read_each,
    rows_of,
    rows_of_cells,
)

# --- Docling's JSON export (DoclingDocument): texts, tables and pictures in the order of its body ---


DOCLING_TYPES = {
    "title": "heading",
    "section_header": "heading",
    "list_item": "list",
    "code": "code",
    "caption": "caption",
    "footnote": "footnote",
    "formula": "formula",
}
FURNITURE = {"page_header", "page_footer"}


def read_docling(payload: object) -> list[ImportedBlock]:
    """Return blocks in reading order. Raises AdapterError."""
    if not isinstance(payload, dict) or not isinstance(payload.get("body"), dict):
        raise AdapterError("This is not a DoclingDocument: it has no body.")
    return read_each(_in_order(payload, payload["body"], set()), partial(_docling_block, payload))


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


def _docling_block(document: dict[str, Any], item: dict[str, Any]) -> ImportedBlock | None:
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
        type=DOCLING_TYPES.get(label, "text"),
        text=text,
        level=level,
        list_style=str(item.get("marker") or "")[:20],
        code_language=str(item.get("code_language") or "")[:20],
        **place,
    )


def _table(document: dict[str, Any], item: dict[str, Any], place: dict[str, Any]) -> ImportedBlock | None:
    data = item.get("data") or {}
    rows, head = _rows_of_grid(data.get("grid") or []) or rows_of_cells(data.get("table_cells") or [])
    if not rows:
        return None
    captions = (_resolve(document, ref.get("$ref", "")) for ref in item.get("captions") or [])
    caption = " ".join(str(found.get("text", "")) for found in captions if found)
    text = "\n".join("\t".join(row) for row in rows)
    return make_block(type="table", text=text, rows=rows, has_head=head, caption=caption, **place)


def _rows_of_grid(grid: list[list[dict[str, Any]]]) -> TextRows | None:
    """Convert Docling's grid, which repeats a cell in each column it spans."""
    rows = [[str(cell.get("text", "")) for cell in row if isinstance(cell, dict)] for row in grid]
    rows = [row for row in rows if any(cell.strip() for cell in row)]
    head = any(cell.get("column_header") for row in grid[:1] for cell in row if isinstance(cell, dict))
    return TextRows(rows, head) if rows else None


def _place(document: dict[str, Any], item: dict[str, Any]) -> dict[str, Any]:
    """Return page and corners of the item's first provenance."""
    provenance = next(iter(item.get("prov") or []), None)
    if not isinstance(provenance, dict):
        return {}
    number = provenance.get("page_no") or 0
    size = ((document.get("pages") or {}).get(str(number)) or {}).get("size") or {}
    width, height = float(size.get("width") or 0), float(size.get("height") or 0)
    box = provenance.get("bbox") or {}
    top, bottom = float(box.get("t") or 0), float(box.get("b") or 0)
    if box.get("coord_origin") == "BOTTOMLEFT":
        top, bottom = height - top, height - bottom
    quad = quad_of(float(box.get("l") or 0), top, float(box.get("r") or 0), bottom, width, height)
    return {"page": number, "quad": quad if box else ()}


# --- Unstructured's elements: a list of {type, element_id, text, metadata} ---


UNSTRUCTURED_TYPES = {
    "Title": "heading",
    "Header": "",
    "Footer": "",
    "PageNumber": "",
    "PageBreak": "",
    "ListItem": "list",
    "Table": "table",
    "CodeSnippet": "code",
    "FigureCaption": "caption",
    "Caption": "caption",
    "Footnote": "footnote",
    "Formula": "formula",
    "Image": "media",
}


def read_unstructured(payload: object) -> list[ImportedBlock]:
    """Return blocks in order, without page headers and footers. Raises AdapterError."""
    if not isinstance(payload, list) or len(payload) > MOST_BLOCKS:
        raise AdapterError(f"These are not Unstructured's elements, or more than {MOST_BLOCKS:,}.")
    return read_each(payload, _unstructured_block)


def _unstructured_block(element: Any) -> ImportedBlock | None:
    if not isinstance(element, dict):
        raise AdapterError("It is not an object.")
    kind = UNSTRUCTURED_TYPES.get(str(element.get("type", "")), "text")
    text = element.get("text")
    if not kind or not isinstance(text, str) or not text.strip():
        return None
    metadata = element.get("metadata") if isinstance(element.get("metadata"), dict) else {}
    assert isinstance(metadata, dict)
    rows, head = rows_of(str(metadata.get("text_as_html") or "")) if kind == "table" else NONE
    depth = metadata.get("category_depth")
    return make_block(
        type=kind,
        text="\n".join("\t".join(row) for row in rows) or text,
        page=metadata.get("page_number") or 0,
        quad=_unstructured_quad(metadata.get("coordinates")),
        level=(depth or 0) + 1 if kind == "heading" else depth,
        rows=rows,
        has_head=head,
        sheet=str(metadata.get("page_name") or "")[:200],
    )


def _unstructured_quad(coordinates: Any) -> tuple:
    if not isinstance(coordinates, dict):
        return ()
    try:
        points = [(float(x), float(y)) for x, y in coordinates["points"]]
        width, height = float(coordinates["layout_width"]), float(coordinates["layout_height"])
    except (KeyError, TypeError, ValueError):
        return ()
    xs, ys = [x for x, _ in points], [y for _, y in points]
    return quad_of(min(xs), min(ys), max(xs), max(ys), width, height) if points else ()


# --- Plain blocks, as Reducto, tldw and most other services return them ---


PLAIN_TYPES = {
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
TIMES = {  # in seconds, or as hours, minutes and seconds
    "start_timestamp": "start_ms",
    "end_timestamp": "end_ms",
    "start_time": "start_ms",
    "end_time": "end_ms",
}
FROM_0 = {"table_row": "row", "table_col": "column"}  # as in the metadata of chunks
DURATION = re.compile(
    r"(?:pt)?" + "".join(rf"\s*(?:(\d+(?:\.\d*)?)\s*{unit})?" for unit in ("h", "m(?!s)", "s", "ms"))
)
UNITS_MS = (3_600_000, 60_000, 1000, 1)
MOST_OUTSIDE = 1.5  # a box may reach over the edge of its page
PLAIN = (
    *("list_style", "code_language", "caption", "paragraph", "line", "slide", "sheet", "row", "column"),
    *("start_ms", "end_ms"),
)


def read_plain_blocks(payload: object) -> list[ImportedBlock]:
    """Return blocks in order, without page headers and footers. Raises AdapterError."""
    sheets: dict[str, int] = {}
    return read_each(_items(payload), partial(_plain_block, sheets))


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


def _plain_block(sheets: dict[str, int], item: Any) -> ImportedBlock | None:
    """Read one block. ``sheets`` assigns page numbers to sheets in order of appearance."""
    if not isinstance(item, dict):
        raise AdapterError("It is not an object.")
    item = _flattened(item)
    named = str(item.get("type") or item.get("block_type") or "text").lower()
    kind = named if named in KNOWN else PLAIN_TYPES.get(named, "text")
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
    sheet = sheets.setdefault(str(named_sheet), len(sheets) + 1) if named_sheet else 0
    return make_block(
        type=kind,
        text=text,
        page=item.get("page") or item.get("page_number") or box.get("page") or item.get("slide") or sheet,
        quad=_plain_quad(item, box),
        level=item.get("level") or (1 if kind == "heading" else None),
        **({"list_style": LIST_STYLES[named]} if named in LIST_STYLES and not item.get("list_style") else {}),
        rows=rows,
        has_head=bool(rows) and has_head,
        **{name: item[name] for name in PLAIN if item.get(name) is not None},
    )


def _flattened(item: dict[str, Any]) -> dict[str, Any]:
    """Merge the fields of ``citation`` and ``…metadata`` into the block's, under the names of ``PLAIN``."""
    found = _merged(item)
    if str(found.get("type") or found.get("block_type")).lower() == "code" and found.get("language"):
        found.setdefault("code_language", found["language"])
    times = {TIMES[name]: milliseconds(found[name]) for name in TIMES if name in found}
    cell = {FROM_0[name]: int(found[name]) + 1 for name in FROM_0 if name in found}
    return times | cell | found


def _merged(item: dict[str, Any], depth: int = 0) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for name, value in item.items():
        if isinstance(value, dict) and (name == "citation" or name.endswith("metadata")) and depth < DEEPEST:
            found = _merged(value, depth + 1) | found
    return found | {OTHER_NAMES.get(name, name): value for name, value in item.items() if value is not None}


def milliseconds(time: object) -> int:
    """Return seconds (724.5, "724.5"), a time ("00:12:04.250", "12:04,25") or a duration ("12m4s", "PT4.5S",
    "250 ms") in ms. Raises AdapterError.
    """
    text = str(time).replace(",", ".").lower()
    if any(unit.isalpha() for unit in text) and (parts := DURATION.fullmatch(text)) and any(parts.groups()):
        return round(
            sum(float(part or 0) * unit for part, unit in zip(parts.groups(), UNITS_MS, strict=True))
        )
    *larger, seconds = text.split(":")
    try:
        minutes = sum(int(part) * 60**power for power, part in enumerate(reversed(larger)))
        return round((minutes * 60 + float(seconds)) * 1000)
    except (OverflowError, ValueError):
        raise AdapterError(f"“{str(time)[:40]}” is no time.") from None


def _plain_quad(item: dict[str, Any], box: dict[str, Any]) -> tuple:
    """Parse ``bbox_quad`` (four points), {left, top, width, height} or [x0, y0, x1, y1], in fractions."""
    try:
        if corners := item.get("bbox_quad"):
            return _corners(corners)
        if box:
            left, top = float(box["left"]), float(box["top"])
            return _edges(left, top, left + float(box["width"]), top + float(box["height"]))
        if isinstance(item.get("bbox"), list):
            return _edges(*map(float, item["bbox"]))
    except (KeyError, TypeError, ValueError, OverflowError):
        raise AdapterError("Its box is not in fractions of its page, 0 to 1.") from None
    return ()


def _edges(*edges: float) -> tuple:
    x0, y0, x1, y1 = map(_fraction, edges)
    return quad_of(x0, y0, x1, y1, 1, 1)


def _fraction(value: Any) -> float:
    """Return a fraction, clamped. Raises ValueError for points or pixels."""
    if abs(number := float(value)) > MOST_OUTSIDE:
        raise ValueError
    return clamped(number)


def _corners(corners: Any) -> tuple:
    """Return four points, given as {x, y} or [x, y]; a rotated box stays rotated."""
    points = [(point["x"], point["y"]) if isinstance(point, dict) else tuple(point) for point in corners]
    if len(points) != 4:
        raise ValueError
    return tuple((_fraction(x), _fraction(y)) for x, y in points)


# --- Choice of the reader ---


ADAPTERS: dict[str, Callable[[object], list[ImportedBlock]]] = {
    "docling": read_docling,
    "unstructured": read_unstructured,
    "blocks": read_plain_blocks,
}


def read_blocks(payload: object, kind: str = "") -> list[ImportedBlock]:
    """Return blocks in reading order; ``kind`` '' detects the format. Raises AdapterError."""
    adapter = ADAPTERS.get(kind or recognise(payload))
    if adapter is None:
        raise AdapterError(f"There is no adapter {kind!r}: choose from {', '.join(ADAPTERS)}.")
    found = [block for block in adapter(payload) if block.text.strip()]
    if not found:
        raise AdapterError("There is no text in these blocks.")
    return found


def recognise(payload: object) -> str:
    """Detect the format; 'blocks' by default."""
    if isinstance(payload, dict) and payload.get("schema_name") == "DoclingDocument":
        return "docling"
    if isinstance(payload, list) and payload and isinstance(payload[0], dict) and "element_id" in payload[0]:
        return "unstructured"
    return "blocks"
