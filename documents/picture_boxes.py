"""Boxes on a page as a part of an address: what of a page's picture is to be lit."""

from __future__ import annotations

from collections.abc import Sequence

UNMARKED = "none"
MOST_BOXES = 200
PARTS = 100_000

Boxes = Sequence[Sequence[float]]
"""[x0, y0, x1, y1] in 0..1 of the page as a viewer shows it, origin top left."""


def written_boxes(boxes: Boxes) -> str:
    """``12101-9284-68308-11079_…``: hundred-thousandths of the page, as an address may hold them."""
    return "_".join("-".join(str(round(side * PARTS)) for side in box) for box in boxes[:MOST_BOXES])


def read_boxes(text: str) -> list[tuple[float, float, float, float]]:
    """The inverse of ``written_boxes``. Raises ValueError with a sentence for people."""
    if text in ("", UNMARKED):
        return []
    boxes = []
    for written in text.split("_")[:MOST_BOXES]:
        try:
            x0, y0, x1, y1 = (int(side) / PARTS for side in written.split("-"))
        except ValueError:
            raise ValueError(f"“{written[:60]}” is not a box such as 0-0-50000-9000.") from None
        if not (0 <= x0 <= x1 <= 1 and 0 <= y0 <= y1 <= 1):
            raise ValueError(f"“{written[:60]}” does not lie on the page: its sides go to 100,000.")
        boxes.append((x0, y0, x1, y1))
    return boxes
