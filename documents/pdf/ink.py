"""Whether anything is seen at some places of a page: the page is drawn there, and the picture decides."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import pymupdf
from numpy.typing import NDArray

from documents.pdf.geometry import PageFrame, Rect, bounding_box

# How far two colours may differ in a channel (0..255) and still look the same.
SAME_COLOR = 24
# The longest side of the picture of a page, and its finest scale (pixels per point).
PICTURE_PIXELS, PICTURE_SCALE = 1800.0, 1.0
# More places than this, or places within this share of the page, are drawn in one picture around them.
ONE_BY_ONE, ONE_PICTURE = 12, 0.25
# Drawn around a place (points), so that no rounding cuts it.
MARGIN = 2.0


def without_ink(page: pymupdf.Page, frame: PageFrame, areas: Sequence[Rect]) -> list[bool]:
    """For each area, in page space, whether nothing stands out within it, its very edge left out."""
    drawn = page.get_displaylist()
    together = bounding_box(areas)
    if len(areas) > ONE_BY_ONE or together.area <= ONE_PICTURE * frame.width * frame.height:
        part = _Part(drawn, frame, together)
        return [not part.has_ink(area) for area in areas]
    return [not _Part(drawn, frame, area).has_ink(area) for area in areas]


class _Part:
    """A part of the page as a viewer shows it; all measures are of the picture of the whole page."""

    def __init__(self, drawn: pymupdf.DisplayList, frame: PageFrame, area: Rect) -> None:
        self._frame = frame
        width, height = frame.display_size
        scale = min(PICTURE_SCALE, PICTURE_PIXELS / max(width, height))
        x0, y0, x1, y1 = frame.to_display(area)
        clip = pymupdf.Rect(
            x0 * width - MARGIN, y0 * height - MARGIN, x1 * width + MARGIN, y1 * height + MARGIN
        )
        pixmap = drawn.get_pixmap(matrix=pymupdf.Matrix(scale, scale), clip=clip & drawn.rect)
        self._size = math.ceil(width * scale - 0.001), math.ceil(height * scale - 0.001)
        self._left, self._top = pixmap.x, pixmap.y
        self._pixels: NDArray[np.uint8] = np.frombuffer(pixmap.samples, np.uint8).reshape(
            pixmap.height, pixmap.width, pixmap.n
        )

    def has_ink(self, area: Rect) -> bool:
        width, height = self._size
        x0, y0, x1, y1 = self._frame.to_display(area)
        inset_x, inset_y = 0.1 * min(y1 - y0, x1 - x0), 0.1 * (y1 - y0)
        left, right = int((x0 + inset_x) * width), int((x1 - inset_x) * width) + 1
        top, bottom = int((y0 + inset_y) * height), int((y1 - inset_y) * height) + 1
        part = self._pixels[
            max(0, top - self._top) : max(0, bottom - self._top),
            max(0, left - self._left) : max(0, right - self._left),
        ]
        if not part.size:
            return False
        return bool((part.max(axis=(0, 1)).astype(int) - part.min(axis=(0, 1)) > SAME_COLOR).any())
