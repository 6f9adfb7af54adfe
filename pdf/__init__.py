"""The PDF engine, without Django: a PDF in, pages and units with their boxes out.

``api`` is its face; ``geometry``, ``structure`` and ``failures`` are the values that cross it. Hostile files
are opened in the confined processes of ``sandbox`` only.
"""

import sys

for _name in ("pymupdf.layout", "pymupdf4llm"):
    sys.modules.setdefault(_name, None)  # type: ignore[arg-type]  # Python's sign for "not to be imported"
