"""Charts and diagrams drawn with lines and fills, as regions of the page.

What rules a table, underlines a word, frames or shades a text runs along the
page's edges. A chart also holds ink that does not: slanted lines, curves, or
bars that share a baseline and differ in length. Marks that hang together and
hold such ink are a figure; its words stay where they are, in units.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import Any, NamedTuple

import pymupdf

from pdf.extract.words import RawWord
from pdf.geometry import Box, PageFrame, Rect, bounding_box, rect_of

# Marks at most this far apart hang together; a smaller region is a logo or an ornament (points).
GAP = 10.0
SMALLEST_SIDE = 40.0
# Marks over more than this share of the page are its frame or background.
BACKGROUND = 0.8
# Words over a greater share of a region are text that is framed or decorated.
TEXT_SHARE = 0.3
# A line is slanted when both of its legs are longer (points); a curve over less of its path is a corner.
SLANT = 2.0
CORNER = 0.25
# Bars: at least so many fills as thick and on one baseline, of so many lengths; equal within EVEN points.
FEWEST_BARS = 3
FEWEST_LENGTHS = 3
EVEN = 1.0
# A fill with words over more of it is a highlight or a table's shading.
BAR_TEXT = 0.3
# Of more marks, on maps, only every n-th is looked at; with so many paths a page is taken to show a chart.
MOST_MARKS = 5000
MANY_PATHS = 1000
# A ruling is a drawn line or a rectangle this thin; ink is at most so much wider than its path (points).
RULING_THICKNESS, STROKE = 2.5, 5.0
_WHITE = (1.0, 1.0, 1.0)
_WHITE_RGB = 0xFFFFFF


class VectorShape(NamedTuple):
    """One drawn path. ``free``: it does not run along the page's edges, as rulings, frames and fills do."""

    rect: Rect
    free: bool


def may_show_charts(
    paths: Sequence[dict[str, Any]], fills: Sequence[Rect], words: Sequence[RawWord], frame: PageFrame
) -> bool:
    """A look at the boxes of what is drawn, which the text page has: to read paths takes as long as words.

    Whether bars, or paths that are more than lines and rectangles, hang together with others in a region
    that is neither too small nor full of words.
    """
    seeds = [rect_of(path["bbox"]) for path in paths if not path["isrect"]]
    seeds = [rect for rect in seeds if min(rect.width, rect.height) > RULING_THICKNESS] + bars(fills, words)
    if not seeds or len(paths) > MANY_PATHS:
        return bool(seeds)
    marks = []
    for path in paths:
        if rect := _on_page(path["bbox"], frame):
            if path["stroked"] or path["color"] != _WHITE_RGB:
                marks.append(rect)
        elif path["stroked"] and not path["isrect"]:  # mitres can make a stroke's box as large as the page
            return True
    return any(
        min(region.width, region.height) >= SMALLEST_SIDE - STROKE
        and any(region.contains(*seed.center) for seed in seeds)
        and _text_share(region, words) <= 2 * TEXT_SHARE
        for region in _joined(marks)
    )


def find_charts(
    page: pymupdf.Page, fills: Sequence[Rect], words: Sequence[RawWord], frame: PageFrame
) -> list[Rect]:
    """Regions of the page, in page space, that are drawn figures; labels beside the plot are not in them."""
    try:
        paths = page.get_cdrawings()
    except Exception:  # any: line art that cannot be read costs the page no word
        return []
    marks = [mark for path in paths if (mark := _mark(path, frame))]
    marks = marks[:: len(marks) // MOST_MARKS + 1]
    seeds = [mark.rect for mark in marks if mark.free] + bars(fills, words)
    if not seeds:
        return []
    regions = _joined([mark.rect for mark in marks])
    return [
        region
        for region in regions
        if min(region.width, region.height) >= SMALLEST_SIDE
        and any(region.contains(*seed.center) for seed in seeds)
        and _text_share(region, words) <= TEXT_SHARE
    ]


def _mark(path: dict[str, Any], frame: PageFrame) -> VectorShape | None:
    """The path as far as it lies on the page; None for what nobody sees and for the page's background."""
    rect = _on_page(path["rect"], frame)
    if rect is None or (path["type"] == "f" and tuple(path.get("fill") or ()) == _WHITE):
        return None
    return VectorShape(rect, any(_runs_freely(item, rect) for item in path["items"]))


def _on_page(box: Box, frame: PageFrame) -> Rect | None:
    """The part of the box that lies on the page; None where there is none, or it is most of the page."""
    left, top, right, bottom = box
    x0, y0 = max(left, 0.0), max(top, 0.0)
    x1, y1 = min(right, frame.width), min(bottom, frame.height)
    width, height = x1 - x0, y1 - y0
    if width < 0 or height < 0 or width * height > BACKGROUND * frame.width * frame.height:
        return None
    return rect_of((x0, y0, x1, y1))


def _runs_freely(item: Sequence[Any], path: Rect) -> bool:
    """Whether a piece of the path is a slanted line or a curve that is more than a rounded corner."""
    if item[0] not in ("l", "c"):
        return False
    xs, ys = [point[0] for point in item[1:]], [point[1] for point in item[1:]]
    width, height = max(xs) - min(xs), max(ys) - min(ys)
    if item[0] == "l":
        return min(width, height) > SLANT
    return min(width, height) > SLANT and (width > CORNER * path.width and height > CORNER * path.height)


def bars(fills: Sequence[Rect], words: Sequence[RawWord]) -> list[Rect]:
    """Fills that begin on a common line, equally thick, apart, of different lengths, with little text over.

    The shading of a table's rows and columns is as long in each, or its pieces touch.
    """
    if len(fills) < FEWEST_BARS:
        return []
    alike: dict[tuple[bool, int, int], list[Rect]] = {}
    for rect in fills:
        x0, y0, x1, y1 = rect
        alike.setdefault((True, round(y1 / EVEN), round((x1 - x0) / EVEN)), []).append(rect)
        alike.setdefault((False, round(x0 / EVEN), round((y1 - y0) / EVEN)), []).append(rect)
    groups = {key: set(rects) for key, rects in alike.items() if len(rects) >= FEWEST_BARS}
    return [
        rect
        for (upright, _, _), group in groups.items()
        if len(group) >= FEWEST_BARS
        and _differ([rect.height if upright else rect.width for rect in group])
        and _stand_apart(sorted((rect.x0, rect.x1) if upright else (rect.y0, rect.y1) for rect in group))
        and all(_text_share(rect, words) <= BAR_TEXT for rect in group)
        for rect in group
    ]


def _differ(lengths: Sequence[float]) -> bool:
    """Whether there are at least ``FEWEST_LENGTHS`` clearly different ones."""
    return len({round(length / (3 * EVEN)) for length in lengths}) >= FEWEST_LENGTHS


def _stand_apart(spans: Sequence[tuple[float, float]]) -> bool:
    return all(following[0] - span[1] > EVEN for span, following in pairwise(spans))


def _text_share(region: Rect, words: Iterable[RawWord]) -> float:
    """Share of the region that boxes of words cover."""
    inside = [word for word in words if region.contains((word.x0 + word.x1) / 2, (word.y0 + word.y1) / 2)]
    return sum((word.x1 - word.x0) * (word.y1 - word.y0) for word in inside) / max(region.area, 1.0)


def _joined(rects: Sequence[Rect]) -> list[Rect]:
    """Boxes around the rectangles that are near one another, through one another."""
    regions: list[Rect] = []
    for rect in rects:
        if regions and _encloses(regions[-1], rect):  # as most do that are drawn one after the other
            continue
        while near := _near(rect, regions):
            regions = [region for region in regions if region not in near]
            rect = bounding_box([rect, *near])
        regions.append(rect)
    return regions


def _encloses(region: Rect, rect: Rect) -> bool:
    left, top, right, bottom = region
    x0, y0, x1, y1 = rect
    return left <= x0 and x1 <= right and top <= y0 and y1 <= bottom


def _near(rect: Rect, regions: Sequence[Rect]) -> list[Rect]:
    left, top, right, bottom = rect.x0 - GAP, rect.y0 - GAP, rect.x1 + GAP, rect.y1 + GAP
    return [
        region
        for region in regions
        if left <= region[2] and region[0] <= right and top <= region[3] and region[1] <= bottom
    ]
