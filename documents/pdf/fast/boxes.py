"""The boxes of a page as a viewer takes them, where MuPDF takes them otherwise."""

from __future__ import annotations

from typing import NamedTuple

import pymupdf

from documents.pdf.geometry import Box, PageFrame

# Boxes this much smaller than a point are empty.
_EMPTY = 0.01
# A CropBox over a smaller share of the MediaBox cuts something off.
_WHOLE = 0.999


def page_frame(page: pymupdf.Page) -> PageFrame:
    """How the page lies in its file; its CropBox cut to the MediaBox, as viewers do."""
    return _frame(page, *_boxes(page))


def _boxes(page: pymupdf.Page) -> tuple[Box, Box]:
    """MediaBox and CropBox as ``page.mediabox`` and ``page.cropbox``, which take five times as long."""
    item = pymupdf._as_pdf_page(page).obj()
    media, crop = pymupdf.JM_mediabox(item), pymupdf.JM_cropbox(item)
    return (media.x0, media.y0, media.x1, media.y1), (crop.x0, crop.y0, crop.x1, crop.y1)


def _frame(page: pymupdf.Page, media: Box, crop: Box) -> PageFrame:
    unit, (left, bottom, right, top) = user_unit(page), media
    # PyMuPDF turns the y of its cropbox over at the top of the MediaBox.
    x0, x1 = max(crop[0], left), min(crop[2], right)
    y0, y1 = max(top - crop[3], bottom), min(top - crop[1], top)
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


class SoundPage(NamedTuple):
    """A page, how it lies in its file, and whether its CropBox cuts anything off."""

    page: pymupdf.Page
    frame: PageFrame
    cropped: bool


def with_sound_boxes(page: pymupdf.Page) -> SoundPage:
    """The page, its CropBox replaced by the MediaBox where nothing of it lies on the page.

    MuPDF reads such a page as an empty letter page, pdf.js falls back to the
    MediaBox. Only the open document is changed, never its file.
    """
    media, crop = _boxes(page)
    frame = _frame(page, media, crop)
    x0, y0, x1, y1 = media
    cropped = frame.width * frame.height <= _WHOLE * (x1 - x0) * (y1 - y0) * frame.user_unit**2
    if _is_shown_as(page, *frame.display_size):
        return SoundPage(page, frame, cropped)
    document, number = page.parent, page.number
    document.xref_set_key(page.xref, "CropBox", "[{} {} {} {}]".format(*media))
    return SoundPage(document[number], frame, cropped)


def _is_shown_as(page: pymupdf.Page, width: float, height: float) -> bool:
    """Whether MuPDF's page is of this size (points); asked first for what ``page.rect`` is made of."""
    shown = pymupdf.mupdf.fz_bound_page(page.this)
    if abs(shown.x1 - width) < 1 and abs(shown.y1 - height) < 1:
        return True
    return abs(page.rect.x1 - width) < 1 and abs(page.rect.y1 - height) < 1


def user_unit(page: pymupdf.Page) -> float:
    """Points per unit of user space; 1.0 where the file says nothing of use."""
    if not pymupdf.mupdf.pdf_dict_gets(pymupdf._as_pdf_page(page).obj(), "UserUnit").m_internal:
        return 1.0
    kind, value = page.parent.xref_get_key(page.xref, "UserUnit")
    try:
        unit = float(value) if kind in ("int", "float", "real") else 1.0
    except ValueError:
        return 1.0
    return unit if unit > 0 else 1.0
