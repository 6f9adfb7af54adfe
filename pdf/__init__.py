"""From a PDF file to pages, units and pictures: hostile files are read in a confined child, and only there.

PyMuPDF's package would import its layout model with itself, which takes 0.75 s and 60 MB. We do not use it.
"""

import sys

for _name in ("pymupdf.layout", "pymupdf4llm"):
    sys.modules.setdefault(_name, None)  # type: ignore[arg-type]  # Python's sign for "not to be imported"
