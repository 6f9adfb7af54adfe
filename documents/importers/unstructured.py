"""Read Unstructured's elements: a list of {type, element_id, text, metadata}."""

from __future__ import annotations

from typing import Any

from documents.importers.block import (
    MOST_BLOCKS,
    NONE,
    AdapterError,
    Block,
    make_block,
    quad_of,
    read_each,
    rows_of,
)

TYPES = {
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


def read(payload: object) -> list[Block]:
    """Return blocks in order, without page headers and footers. Raises AdapterError."""
    if not isinstance(payload, list) or len(payload) > MOST_BLOCKS:
        raise AdapterError(f"These are not Unstructured's elements, or more than {MOST_BLOCKS:,}.")
    return read_each(payload, _block)


def _block(element: Any) -> Block | None:
    if not isinstance(element, dict):
        raise AdapterError("It is not an object.")
    kind = TYPES.get(str(element.get("type", "")), "text")
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
        page=metadata.get("page_number") or 1,
        quad=_quad(metadata.get("coordinates")),
        level=(depth or 0) + 1 if kind == "heading" else depth,
        rows=rows,
        has_head=head,
        sheet=str(metadata.get("page_name") or "")[:200],
    )


def _quad(coordinates: Any) -> tuple:
    if not isinstance(coordinates, dict):
        return ()
    try:
        points = [(float(x), float(y)) for x, y in coordinates["points"]]
        width, height = float(coordinates["layout_width"]), float(coordinates["layout_height"])
    except (KeyError, TypeError, ValueError):
        return ()
    xs, ys = [x for x, _ in points], [y for _, y in points]
    return quad_of(min(xs), min(ys), max(xs), max(ys), width, height) if points else ()
