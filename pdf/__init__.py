"""The PDF engine, without Django: it parses a PDF to pages and units with their boxes.

``api`` is the interface; ``geometry``, ``structure`` and ``failures`` are its value types. Only the confined
processes of ``sandbox`` open files, which may be hostile.
"""

import sys

for _name in ("pymupdf.layout", "pymupdf4llm"):
    sys.modules.setdefault(_name, None)  # type: ignore[arg-type]  # None: their import fails
