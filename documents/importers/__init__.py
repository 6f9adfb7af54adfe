"""Import the output of other parsers.

``parser_outputs`` converts it (Docling, Unstructured, plain blocks of most others) to ``ImportedBlock``
values; ``block_import`` converts those to ``ParsedPage`` values, as our own parser returns.
"""

from __future__ import annotations

from collections.abc import Callable

from documents.importers.block import AdapterError, ImportedBlock
from documents.importers.parser_outputs import read_docling, read_plain_blocks, read_unstructured

ADAPTERS: dict[str, Callable[[object], list[ImportedBlock]]] = {
    "docling": read_docling,
    "unstructured": read_unstructured,
    "blocks": read_plain_blocks,
}

__all__ = ["ADAPTERS", "AdapterError", "ImportedBlock", "read_blocks", "recognise"]


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
