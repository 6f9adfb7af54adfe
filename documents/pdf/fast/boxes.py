"""The boxes of a page as a viewer takes them, where MuPDF takes them otherwise."""

from __future__ import annotations

import pymupdf

from documents.pdf.geometry import PageFrame

# Boxes this much smaller than a point are empty.
_EMPTY = 0.01


def page_frame(page: pymupdf.Page) -> PageFrame:
    """How the page lies in its file; its CropBox cut to the MediaBox, as viewers do."""
    unit = user_unit(page)
    media, crop = page.mediabox, page.cropbox
    # PyMuPDF turns the y of its cropbox over at the top of the MediaBox.
    x0, x1 = max(crop.x0, media.x0), min(crop.x1, media.x1)
    y0, y1 = max(media.y1 - crop.y1, media.y0), min(media.y1 - crop.y0, media.y1)
    if x1 - x0 < _EMPTY or y1 - y0 < _EMPTY:
        x0, y0, x1, y1 = media
    return PageFrame(
        width=(x1 - x0) * unit,
        height=(y1 - y0) * unit,
        rotation=page.rotation % 360,
        crop_x=x0,
        crop_y=y0,
        user_unit=unit,
    )


def with_sound_boxes(page: pymupdf.Page) -> tuple[pymupdf.Page, PageFrame]:
    """The page and its frame, its CropBox replaced by the MediaBox where nothing of it lies on the page.

    MuPDF reads such a page as an empty letter page, pdf.js falls back to the
    MediaBox. Only the open document is changed, never its file.
    """
    frame = page_frame(page)
    shown = page.rect.width, page.rect.height
    if all(abs(a - b) < 1 for a, b in zip(shown, frame.display_size, strict=True)):
        return page, frame
    document, number = page.parent, page.number
    document.xref_set_key(page.xref, "CropBox", "[{} {} {} {}]".format(*page.mediabox))
    return document[number], frame


def user_unit(page: pymupdf.Page) -> float:
    """Points per unit of user space; 1.0 where the file says nothing of use."""
    kind, value = page.parent.xref_get_key(page.xref, "UserUnit")
    try:
        unit = float(value) if kind in ("int", "float", "real") else 1.0
    except ValueError:
        return 1.0
    return unit if unit > 0 else 1.0
