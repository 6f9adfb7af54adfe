"""What is known of a retrieval chunk besides its text: small, JSON-safe, for the API and the admin."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from django.db.models.functions import Length

from documents.models import CitationUnit, Page, RetrievalChunk

KEPT = ("slide", "sheet", "start_ms", "end_ms")
"""Places of imported blocks that ``RetrievalChunk.metadata`` holds."""


def chunk_metadata(chunk: RetrievalChunk, units: Sequence[CitationUnit]) -> dict[str, Any]:
    """Of the chunk and its units, in reading order; keys without a value are left out."""
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
        "language": document.language,
        "code_language": next((unit.code_language for unit in units if unit.code_language), ""),
        "list_style": next((list_style(unit.list_style) for unit in units if unit.list_style), ""),
        "has_summary": bool(chunk.summary),
        "citation": citation_anchor(chunk, units[0]) if units else {},
    }
    return {name: value for name, value in found.items() if value not in ("", None, [], {})}


def citation_anchor(chunk: RetrievalChunk, unit: CitationUnit) -> dict[str, Any]:
    """Where the unit stands: numbers from 1, the corners of its box clockwise from the top left."""
    x0, y0, x1, y1 = unit.bbox
    anchor = {
        "page_number": unit.page_number,
        "paragraph_number": unit.paragraph_index + 1,
        "line_start": unit.line_start,
        "line_end": unit.line_end,
        "row_number": None if unit.table_row is None else unit.table_row + 1,
        "bbox_quad": [[x0, y0], [x1, y0], [x1, y1], [x0, y1]] if x1 > x0 else None,
        **{name: chunk.metadata.get(name) for name in KEPT},
    }
    return {name: value for name, value in anchor.items() if value is not None}


def list_style(marker: str) -> str:
    """``numbered`` for markers such as '1.', '(a)' and 'iv)', else ``bullet``."""
    core = marker.strip().strip("().")
    return "numbered" if core.isalnum() and core != "o" and core != "bullet" else "bullet"


def _offsets(chunk: RetrievalChunk, units: Sequence[CitationUnit]) -> dict[str, int]:
    """[start, end) in the document's text: its pages joined by one line end each. One statement."""
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
