"""Rectangles, and the conversions between the three coordinate spaces.

* **Page space**: PDF points (times UserUnit), origin at the top left of the
  CropBox, y down, page not rotated. Used by PyMuPDF's ``get_text`` and in the
  database.
* **PDF user space**: used by pdf.js's viewport. Origin and scale are those
  of the file, y up, CropBox offset included.
* **Display fractions**: 0..1 of the page as a viewer shows it (cropped and
  rotated), origin top left.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import NamedTuple

import msgspec

Box = tuple[float, float, float, float]  # x0, y0, x1, y1; of ``display_boxes`` in display fractions


class Rect(NamedTuple):
    """An axis-parallel rectangle; ``x0 <= x1`` and ``y0 <= y1``. Immutable.

    A NamedTuple, because a page has thousands of them: it is created four
    times as fast as a frozen dataclass, and unpacks.
    """

    x0: float
    y0: float
    x1: float
    y1: float

    @property
    def width(self) -> float:
        return self.x1 - self.x0

    @property
    def height(self) -> float:
        return self.y1 - self.y0

    @property
    def area(self) -> float:
        return self.width * self.height

    @property
    def center(self) -> tuple[float, float]:
        return (self.x0 + self.x1) / 2, (self.y0 + self.y1) / 2

    def union(self, other: Rect) -> Rect:
        return Rect(
            min(self.x0, other.x0), min(self.y0, other.y0), max(self.x1, other.x1), max(self.y1, other.y1)
        )

    def overlap_x(self, other: Rect) -> float:
        """Return the overlap on the x axis; negative is the gap between the two."""
        return min(self.x1, other.x1) - max(self.x0, other.x0)

    def overlap_y(self, other: Rect) -> float:
        """Return the overlap on the y axis; negative is the gap between the two."""
        return min(self.y1, other.y1) - max(self.y0, other.y0)

    def overlaps(self, other: Rect) -> bool:
        """Return whether the two have an area in common."""
        return self.overlap_x(other) > 0 and self.overlap_y(other) > 0

    def contains(self, x: float, y: float) -> bool:
        return self.x0 <= x <= self.x1 and self.y0 <= y <= self.y1


# A Rect from a tuple, in a third of the constructor's time.
rect_of: Callable[[Box], Rect] = partial(tuple.__new__, Rect)


def normalized(x0: float, y0: float, x1: float, y1: float) -> Rect:
    """Return the Rect of any two opposite corners."""
    return Rect(min(x0, x1), min(y0, y1), max(x0, x1), max(y0, y1))


def bounding_box(rects: Iterable[Rect]) -> Rect:
    """Return the bounding box. Raises ValueError without rectangles."""
    x0s, y0s, x1s, y1s = zip(*rects, strict=True)
    return rect_of((min(x0s), min(y0s), max(x1s), max(y1s)))


class PageFrame(msgspec.Struct, frozen=True):
    """The geometry of one page; converts between the three spaces.

    Attributes:
        width, height: size of the CropBox in page space (points times UserUnit), not rotated.
        rotation: 0, 90, 180 or 270 degrees clockwise, as a viewer turns the page.
        crop_x, crop_y: lower left corner of the CropBox in PDF user space.
        user_unit: points per unit of user space (PDF 32000-1, 14.11.2).
    """

    width: float
    height: float
    rotation: int = 0
    crop_x: float = 0.0
    crop_y: float = 0.0
    user_unit: float = 1.0

    @property
    def display_size(self) -> tuple[float, float]:
        """Width and height of the page as shown, in points."""
        return (self.height, self.width) if self.rotation in (90, 270) else (self.width, self.height)

    def to_display(self, rect: Rect) -> Rect:
        """Convert from page space to display fractions."""
        x0, x1 = rect.x0 / self.width, rect.x1 / self.width
        y0, y1 = rect.y0 / self.height, rect.y1 / self.height
        if self.rotation == 90:
            return Rect(1 - y1, x0, 1 - y0, x1)
        if self.rotation == 180:
            return Rect(1 - x1, 1 - y1, 1 - x0, 1 - y0)
        if self.rotation == 270:
            return Rect(y0, 1 - x1, y1, 1 - x0)
        return Rect(x0, y0, x1, y1)

    def display_boxes(self, rects: Iterable[Sequence[float]]) -> tuple[Box, ...]:
        """Convert from page space to display fractions, rounded to 1/100,000 of the page, for browsers."""
        found = (self.to_display(Rect(*rect)) for rect in rects)
        return tuple((round(r.x0, 5), round(r.y0, 5), round(r.x1, 5), round(r.y1, 5)) for r in found)

    def from_display(self, rect: Rect) -> Rect:
        """Convert from display fractions to page space."""
        x0, y0, x1, y1 = rect
        if self.rotation == 90:
            x0, y0, x1, y1 = y0, 1 - x1, y1, 1 - x0
        elif self.rotation == 180:
            x0, y0, x1, y1 = 1 - x1, 1 - y1, 1 - x0, 1 - y0
        elif self.rotation == 270:
            x0, y0, x1, y1 = 1 - y1, x0, 1 - y0, x1
        return Rect(x0 * self.width, y0 * self.height, x1 * self.width, y1 * self.height)

    def to_user_space(self, rect: Rect) -> Rect:
        """Convert from page space to PDF user space (y up)."""
        scale = self.user_unit
        return Rect(
            self.crop_x + rect.x0 / scale,
            self.crop_y + (self.height - rect.y1) / scale,
            self.crop_x + rect.x1 / scale,
            self.crop_y + (self.height - rect.y0) / scale,
        )
