"""PyMuPDF, opened without the layout model that its package would import: 0.25 s instead of 1.0 s.

Import this module before anything imports ``pymupdf``; ``documents.pdf.ml``
brings the model back where it is asked for.
"""

from __future__ import annotations

import sys

_LATER = ("pymupdf.layout", "pymupdf4llm")

if "pymupdf" not in sys.modules:
    for _name in _LATER:
        sys.modules[_name] = None  # type: ignore[assignment]
    import pymupdf

    for _name in _LATER:
        del sys.modules[_name]
else:
    import pymupdf

pymupdf.TOOLS.mupdf_display_errors(False)
pymupdf.TOOLS.mupdf_display_warnings(False)

__all__ = ["pymupdf"]
