"""PyMuPDF's layout model: which boxes a page has, of what kind, in which order.

It takes about a quarter of a second of CPU time a page and a second to load. It
runs in a confined reader; what becomes of its boxes is said in ``fast.modelled``.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from functools import cache

import pymupdf

from documents.pdf import LAYOUT_MODEL
from documents.pdf.fast.modelled import ModelBox
from documents.pdf.geometry import PageFrame, normalized


def model_boxes(page: pymupdf.Page, frame: PageFrame) -> list[ModelBox]:
    """The page's boxes in the model's reading order, in page space."""
    _load_model()
    page.get_layout()
    found: Sequence[tuple[float, float, float, float, str]] = page.layout_information or ()
    shown = page.rect
    boxes = []
    for x0, y0, x1, y1, kind in found:
        display = normalized(x0 / shown.width, y0 / shown.height, x1 / shown.width, y1 / shown.height)
        boxes.append(ModelBox(frame.from_display(display), kind))
    return boxes


@cache
def _load_model() -> None:
    for name in LAYOUT_MODEL:
        if sys.modules.get(name, ...) is None:
            del sys.modules[name]
    import pymupdf.layout  # noqa: F401  its import tells PyMuPDF of the model
