"""Metadata of a retrieval chunk as JSON, for the API and the admin."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from django.db.models.functions import Length

from documents.models import CitationUnit, Page, RetrievalChunk
from text.language_detection import detected_language


def chunk_metadata(chunk: RetrievalChunk, units: Sequence[CitationUnit]) -> dict[str, Any]:
    """Return the metadata of the chunk, given its units in reading order. Empty values are left out."""
    document = chunk.document
    kinds = {unit.unit_type for unit in units} - {CitationUnit.Type.HEADING}
    found = {
        "media_id": str(document.pk),
        "file_name": document.original_name,
        "chunk_index": chunk.index,
        "total_chunks": document.chunk_count,
        **_offsets(chunk, units),
        "chunk_type": "mixed" if len(kinds) > 1 else chunk.chunk_type,
        "main_type": chunk.chunk_type,
        "unit_types": list(dict.fromkeys(unit.unit_type for unit in units)),
        "section_path": chunk.section_path,
        "ancestry_titles": [document.title, *chunk.section_path],
        "language": detected_language(chunk.content, document.language),
        "code_language": next((unit.code_language for unit in units if unit.code_language), ""),
        "list_style": next((list_style(unit.list_style) for unit in units if unit.list_style), ""),
        **_table_place(units),
        "context_header": chunk.context_header,
        "contextual_summary_ref": f"/api/chunks/{chunk.pk}/#summary" if chunk.summary else "",
        "citation": citation_anchor(units) if units else {},
    }
    return {name: value for name, value in found.items() if value not in ("", None, [], {})}


def citation_anchor(units: Sequence[CitationUnit]) -> dict[str, Any]:
    """Return the location of the first unit and the end time of the last. Numbers count from 1.

    Corners go clockwise from the top left, in points; those of imported blocks in 0..1 of the page as shown.
    """
    unit, known = units[0], units[0].location or {}
    x0, y0, x1, y1 = unit.bbox
    corners = known.get("quad") or ([(x0, y0), (x1, y0), (x1, y1), (x0, y1)] if x1 > x0 else [])
    anchor = {
        "page_number": unit.page_number,
        "paragraph_number": known.get("paragraph", unit.paragraph_index + 1),
        "line_number": known.get("line", unit.line_start),
        "line_start": unit.line_start,
        "line_end": unit.line_end,
        "slide_number": _first(units, "slide"),
        "sheet_name": _first(units, "sheet"),
        "row_number": _first(units, "row") or (None if unit.table_row is None else unit.table_row + 1),
        "column_number": _first(units, "column"),
        "start_timestamp_ms": _first(units, "start_ms"),
        "end_timestamp_ms": _first(units[::-1], "end_ms"),
        "bbox_quad": [{"x": x, "y": y} for x, y in corners] or None,
    }
    return {name: value for name, value in anchor.items() if value is not None}


def _first(units: Sequence[CitationUnit], name: str) -> Any:
    """Return the field ``name`` of the first location that has it."""
    return next((unit.location[name] for unit in units if unit.location and name in unit.location), None)


def _table_place(units: Sequence[CitationUnit]) -> dict[str, int | None]:
    """Return row and column, from 0, of the chunk's first table cell."""
    row = next((unit for unit in units if unit.table_row is not None), None)
    if row is None:
        return {}
    cells = (row.cells or {}).get("cells", [])
    return {"table_row": row.table_row, "table_col": cells[0]["column"] if cells else None}


def list_style(marker: str) -> str:
    """Return ``numbered`` for markers such as '1.', '(a)' and 'iv)', else ``bullet``."""
    core = marker.strip().strip("().")
    return "numbered" if core.isalnum() and core != "o" and core != "bullet" else "bullet"


def _offsets(chunk: RetrievalChunk, units: Sequence[CitationUnit]) -> dict[str, int]:
    """Return [start, end) in the document's text: its pages, joined by one newline each. One query."""
    if not units:
        return {}
    pages = Page.objects.filter(document=chunk.document_id, number__lt=units[-1].page_number)
    lengths = dict(pages.annotate(characters=Length("text")).values_list("number", "characters"))

    def before(number: int) -> int:
        return sum(length + 1 for page, length in lengths.items() if page < number)

    first, last = units[0], units[-1]
    return {
        "start_char": before(first.page_number) + first.char_start,
        "end_char": before(last.page_number) + last.char_end,
    }
