"""PDFs drawn by tests at known coordinates."""

from __future__ import annotations

import pymupdf

LEFT, TOP, SIZE, LEADING = 72.0, 90.0, 11.0, 14.0


def draw_pdf(*pages: str, title: str = "", **saving: object) -> bytes:
    """A4 pages, one line per line of text: first baseline at y = 90 pt, then every 14 pt, from x = 72 pt.

    An empty line leaves a gap, which ends a paragraph. A line that begins with
    '# ' is drawn in 18 pt bold. ``saving`` goes to ``Document.tobytes``.
    """
    document = pymupdf.open()
    for text in pages or ("",):
        page = document.new_page()
        for number, line in enumerate(text.splitlines()):
            heading = line.startswith("# ")
            page.insert_text(
                (LEFT, TOP + LEADING * number),
                line.removeprefix("# "),
                fontsize=18 if heading else SIZE,
                fontname="hebo" if heading else "helv",
            )
    if title:
        document.set_metadata({"title": title})
    return bytes(document.tobytes(**saving))
