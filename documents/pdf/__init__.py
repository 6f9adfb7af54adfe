"""From a PDF file to pages, units and pictures: hostile files are read in a confined child, and only there.

PyMuPDF's package would import its layout model with itself, which takes 0.75 s and 60 MB;
``ml`` imports it where it is asked for.
"""

import sys

LAYOUT_MODEL = ("pymupdf.layout", "pymupdf4llm")
for _name in LAYOUT_MODEL:
    sys.modules.setdefault(_name, None)  # type: ignore[arg-type]  # Python's sign for "not to be imported"
