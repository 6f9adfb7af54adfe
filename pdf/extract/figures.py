"""Find the figures of a page: charts drawn with lines and fills, and photographs in the picture of a scan.

Table rulings, underlines, frames and shading are parallel to the page's edges. A chart also has other paths:
slanted lines, curves, or bars that share a baseline and differ in length; or points that are signs. Paths
near one another that include such a path are a figure; its words stay in units.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import pairwise
from typing import Any
from unicodedata import category

import numpy as np
import pymupdf
from numpy.typing import NDArray

from pdf.extract.words import RawWord
from pdf.geometry import Box, PageFrame, Rect, bounding_box, rect_of

# --- Charts and diagrams ---

# Paths at most this far apart are one region; a region with a smaller side is a logo or ornament (points).
GAP = 10.0
SMALLEST_SIDE = 40.0
# A path over more than this share of the page is its frame or background.
BACKGROUND = 0.8
# A region with a larger share covered by words is framed or decorated text.
TEXT_SHARE = 0.3
# A line is slanted when its width and height are both larger (points); a curve over a smaller share of
# its path's width or height is a rounded corner.
SLANT = 2.0
CORNER = 0.25
# Bars: at least so many fills of one thickness on one baseline, of so many lengths; equal within EVEN points.
FEWEST_BARS = 3
FEWEST_LENGTHS = 3
# So many bars may touch, as those of a histogram.
MANY_BARS = 12
EVEN = 1.0
# Points of a plot: fewest signs; fewest places in x and in y, as a share of them or of MOST_PLACES.
FEWEST_POINTS, SCATTERED, MOST_PLACES = 30, 0.3, 100
# A fill with a larger share covered by words is a highlight or a table's shading.
BAR_TEXT = 0.3
# Of more paths, as maps have, only every n-th is read; a page with MANY_PATHS is assumed to show a chart.
MOST_MARKS = 5000
MANY_PATHS = 1000
# Largest thickness of a ruling; largest width of a stroke beyond its path (points).
RULING_THICKNESS, STROKE = 2.5, 5.0
WHITE = 0xFFFFFF
_WHITE_FILL = (1.0, 1.0, 1.0)


def find_charts(
    paths: Sequence[dict[str, Any]],
    drawings: Callable[[], Sequence[dict[str, Any]]],
    fills: Sequence[Rect],
    words: Sequence[RawWord],
    frame: PageFrame,
) -> list[Rect]:
    """Return the regions of the page (page space) that are drawn figures, without labels beside the plot.

    ``paths``: the paths of the page's ``extractDICT``. ``drawings`` returns its ``get_cdrawings``; it is
    called only where the boxes of the paths allow a chart, as it takes as long as to read the words.
    """
    found_bars, signs = bars(fills, words), _signs(words)
    if not _may_show_charts(paths, found_bars, signs, words, frame):
        return []
    shapes = [(rect, path["items"]) for path in drawings() if (rect := _visible_box(path, frame))]
    shapes = shapes[:: len(shapes) // MOST_MARKS + 1]
    return [
        region
        for region in _joined([rect for rect, _ in shapes])
        if min(region.width, region.height) >= SMALLEST_SIDE
        and _text_share(region, words) <= TEXT_SHARE
        and (
            any(region.contains(*bar.center) for bar in found_bars)
            or _is_plotted(region, signs)
            or any(
                region.contains(*rect.center) and any(_is_slanted_or_curved(item, rect) for item in items)
                for rect, items in shapes
            )
        )
    ]


def _may_show_charts(
    paths: Sequence[dict[str, Any]],
    found_bars: Sequence[Rect],
    signs: Sequence[Rect],
    words: Sequence[RawWord],
    frame: PageFrame,
) -> bool:
    """Return whether the page may show charts, by the boxes of its paths.

    A chart is a region, neither too small nor full of words, with bars or with paths other than lines and
    rectangles.
    """
    seeds = [rect_of(path["bbox"]) for path in paths if not path["isrect"]]
    seeds = [rect for rect in seeds if min(rect.width, rect.height) > RULING_THICKNESS]
    seeds += found_bars
    if not (seeds or signs) or len(paths) > MANY_PATHS:
        return bool(seeds or signs)
    marks = []
    for path in paths:
        if path["stroked"] or path["color"] != WHITE:
            if rect := _on_page(path["bbox"], frame):
                marks.append(rect)
            elif path["stroked"] and not path["isrect"]:  # mitres make a stroke's box as large as the page
                return True
    return any(
        min(region.width, region.height) >= SMALLEST_SIDE - STROKE
        and (any(region.contains(*seed.center) for seed in seeds) or _is_plotted(region, signs))
        and _text_share(region, words) <= 2 * TEXT_SHARE
        for region in _joined(marks)
    )


def _visible_box(path: dict[str, Any], frame: PageFrame) -> Rect | None:
    """Return the path's box on the page; None for a white fill and for the page's background."""
    if path["type"] == "f" and tuple(path.get("fill") or ()) == _WHITE_FILL:
        return None
    return _on_page(path["rect"], frame)


def _on_page(box: Box, frame: PageFrame) -> Rect | None:
    """Return the box clipped to the page; None where that is empty or most of the page."""
    left, top, right, bottom = box
    page_width, page_height = frame.width, frame.height
    x0, y0 = 0.0 if left < 0.0 else left, 0.0 if top < 0.0 else top  # min and max take twice as long
    x1, y1 = page_width if right > page_width else right, page_height if bottom > page_height else bottom
    width, height = x1 - x0, y1 - y0
    if width < 0 or height < 0 or width * height > BACKGROUND * page_width * page_height:
        return None
    return rect_of((x0, y0, x1, y1))


def _is_slanted_or_curved(item: Sequence[Any], path: Rect) -> bool:
    """Return whether an item of the path is a slanted line or a curve larger than a rounded corner.

    Rulings, frames and fills are parallel to the page's edges.
    """
    if item[0] not in ("l", "c"):
        return False
    xs, ys = [point[0] for point in item[1:]], [point[1] for point in item[1:]]
    width, height = max(xs) - min(xs), max(ys) - min(ys)
    if item[0] == "l":
        return min(width, height) > SLANT
    return min(width, height) > SLANT and (width > CORNER * path.width and height > CORNER * path.height)


def bars(fills: Sequence[Rect], words: Sequence[RawWord]) -> list[Rect]:
    """Return the fills that are bars: of one thickness, on one baseline, separate, of different lengths.

    They have little text over them. The shading of a table's rows and columns has equal lengths, or its
    parts touch.
    """
    if len(fills) < FEWEST_BARS:
        return []
    by_baseline: dict[tuple[bool, int, int], list[Rect]] = {}  # upright, baseline, thickness
    for rect in fills:
        x0, y0, x1, y1 = rect
        by_baseline.setdefault((True, round(y1 / EVEN), round((x1 - x0) / EVEN)), []).append(rect)
        by_baseline.setdefault((False, round(x0 / EVEN), round((y1 - y0) / EVEN)), []).append(rect)
    groups = {key: set(rects) for key, rects in by_baseline.items() if len(rects) >= FEWEST_BARS}
    return [
        rect
        for (upright, _, _), group in groups.items()
        if len(group) >= FEWEST_BARS
        and _differ([rect.height if upright else rect.width for rect in group])
        and (
            len(group) >= MANY_BARS
            or _are_separated(sorted((rect.x0, rect.x1) if upright else (rect.y0, rect.y1) for rect in group))
        )
        and all(_text_share(rect, words) <= BAR_TEXT for rect in group)
        for rect in group
    ]


def _is_plotted(region: Rect, signs: Sequence[Rect]) -> bool:
    """Return whether the region has points that are signs, as R draws them: many, at many places in x and y.

    Check marks and bullets of a table or list share few places.
    """
    found = [sign for sign in signs if region.contains(*sign.center)]
    if len(found) < FEWEST_POINTS:
        return False
    places = len({round(sign.x0) for sign in found}), len({round(sign.y0) for sign in found})
    return min(places) >= SCATTERED * min(len(found), MOST_PLACES)


def _signs(words: Sequence[RawWord]) -> list[Rect]:
    """Return the boxes of lone signs, if there are enough of them to be points of a plot."""
    single = [word for word in words if len(word.text) == 1]
    found = [word.rect for word in single if _is_sign(word)] if len(single) >= FEWEST_POINTS else []
    return found if len(found) >= FEWEST_POINTS else []


def _is_sign(word: RawWord) -> bool:
    """Return whether it is one symbol: a circle or a plus, not a dash, a bracket or a currency."""
    return len(word.text) == 1 and not word.text.isalnum() and category(word.text) in ("So", "Sm")


def _differ(lengths: Sequence[float]) -> bool:
    """Return whether there are clearly different lengths: ``FEWEST_LENGTHS``, or more of ``MANY_BARS``."""
    fewest = FEWEST_LENGTHS if len(lengths) < MANY_BARS else 2 * FEWEST_LENGTHS
    return len({round(length / (3 * EVEN)) for length in lengths}) >= fewest


def _are_separated(spans: Sequence[tuple[float, float]]) -> bool:
    return all(following[0] - span[1] > EVEN for span, following in pairwise(spans))


def _text_share(region: Rect, words: Iterable[RawWord]) -> float:
    """Return the share (0..1) of the region's area that boxes of words cover."""
    x0, y0, x1, y1 = region
    inside = [
        word
        for word in words
        if x0 <= (word.x0 + word.x1) / 2 <= x1 and y0 <= (word.y0 + word.y1) / 2 <= y1 and not _is_sign(word)
    ]
    return sum((word.x1 - word.x0) * (word.y1 - word.y0) for word in inside) / max(region.area, 1.0)


def _joined(rects: Sequence[Rect]) -> list[Rect]:
    """Return the boxes around groups of rectangles that are within ``GAP`` points, directly or by others."""
    regions: list[Rect] = []
    for rect in rects:
        if regions and _encloses(regions[-1], rect):  # usual for rectangles drawn one after the other
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


# --- Photographs and coloured charts in a scan ---
#
# The picture of the page is divided into cells. A cell whose pixels differ from the paper and that has no
# words belongs to a picture; neighbouring cells are one. Text differs from the paper in fewer pixels, shading
# has one colour, and line drawings leave most of their area to the paper. Limits are from 48 scans: slides,
# photographs, manuals, reports and standards on white, yellowed, grey and unevenly lit paper. NumPy and not
# OpenCV, which only the recogniser loads: a scan with a text layer is parsed without it.

# Resolution of the examined picture, and side of a cell (pixels).
_PICTURE_DPI, _CELL = 50, 4
# A pixel off the paper differs by more in one channel (0..255), a cell in a larger share of its pixels.
_OFF_PAPER, _FILLED = 40, 0.6
# Light falls off to this share of the paper's, towards the spine of a book.
_DIMMEST = 0.65
# Darker paper (mean channel), or more colourful paper (difference of channels), is the ground of a picture;
# old paper is yellow to brown.
_DARKEST, _COLOURFUL, _COLOURFUL_IF_WARM, _NEUTRAL = 120, 30, 90, 4
# Cells across the smallest picture (40 points).
_LEAST_CELLS = 7
# Cells without words or paper up to this distance (cells) belong to the same picture.
_CELL_GAP = 2
# Least share of a picture's box that it fills, largest share with words, and largest share of one colour,
# from which channels differ by at most so much.
_LEAST_FILL, _MOST_WORDS, _ONE_COLOUR, _SAME_COLOUR = 0.5, 0.3, 0.8, 16

Pixels = NDArray[np.uint8]
Cells = NDArray[np.bool_]


def pictures_of_scan(page: pymupdf.Page, frame: PageFrame, words: Sequence[RawWord]) -> list[Rect]:
    """Return the boxes (page space) of the photographs and coloured charts in the picture of the page."""
    pixmap = page.get_pixmap(dpi=_PICTURE_DPI, alpha=False, colorspace=pymupdf.csRGB)
    image = np.frombuffer(pixmap.samples, np.uint8).reshape(pixmap.height, pixmap.width, 3)
    found = pictures_in(image, [frame.to_display(word.rect) for word in words])
    return [frame.from_display(box) for box in found]


def pictures_in(image: Pixels, words: Iterable[Rect]) -> list[Rect]:
    """Return the pictures in an RGB image of about ``_PICTURE_DPI``; all rectangles are display fractions.

    The whole image, if its ground is dark or colourful, as on slides.
    """
    rows, columns = image.shape[0] // _CELL, image.shape[1] // _CELL
    if min(rows, columns) < _LEAST_CELLS:
        return []
    image = image[: rows * _CELL, : columns * _CELL]
    paper = _paper(image)
    if paper is None:
        return [Rect(0.0, 0.0, 1.0, 1.0)]
    text = np.zeros((rows, columns), np.bool_)
    for x0, y0, x1, y1 in words:
        left, top = max(0, round(x0 * columns)), max(0, round(y0 * rows))
        text[top : round(y1 * rows), left : round(x1 * columns)] = True
    filled = ~text & (_share_off_paper(image, paper) > _FILLED)
    found = []
    for y0, x0, y1, x1, area in _regions(_closed(filled)):
        part = np.s_[y0:y1, x0:x1]
        if (
            min(y1 - y0, x1 - x0) >= _LEAST_CELLS
            and area >= _LEAST_FILL * (y1 - y0) * (x1 - x0)
            and text[part].mean() <= _MOST_WORDS
            and not _has_one_colour(image[y0 * _CELL : y1 * _CELL, x0 * _CELL : x1 * _CELL], filled[part])
        ):
            found.append(Rect(x0 / columns, y0 / rows, x1 / columns, y1 / rows))
    return found


def _has_one_colour(image: Pixels, cells: Cells) -> bool:
    """Return whether most of the image's cells have its median colour, as shading and solid areas have."""
    height, width = cells.shape
    colours = image.reshape(height, _CELL, width, _CELL, 3)[:, ::2, :, ::2].mean(axis=(1, 3))[cells]
    if not len(colours):
        return True
    same = np.abs(colours - np.median(colours, axis=0)).max(axis=1) <= _SAME_COLOUR
    return float(same.mean()) > _ONE_COLOUR


def _paper(image: Pixels) -> NDArray[np.float64] | None:
    """Return the colour of the paper, the most frequent brightness; None where it is no colour of paper."""
    sample = image[::4, ::4].reshape(-1, 3)
    brightness = sample.max(axis=1) >> 4
    frequency = np.convolve(np.bincount(brightness, minlength=16), [1, 1, 1], "same")
    is_paper = abs(brightness.astype(np.int16) - int(frequency.argmax())) <= 1
    paper: NDArray[np.float64] = np.median(sample[is_paper], axis=0)
    red, green, blue = paper
    warm = red >= green - _NEUTRAL and green >= blue - _NEUTRAL
    most = _COLOURFUL_IF_WARM if warm else _COLOURFUL
    return None if paper.mean() < _DARKEST or np.ptp(paper) > most else paper


def _share_off_paper(image: Pixels, paper: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the share of each cell's pixels that differ from the paper, which is dimmer in some columns."""
    height, width = image.shape[:2]
    brightest = np.percentile(image[::8].max(axis=2), 85, axis=0)
    smooth = np.convolve(np.pad(brightest, 8, mode="edge"), np.ones(17) / 17, "valid")
    light = np.clip(smooth / paper.max(), _DIMMEST, 1)
    off = np.zeros((height, width), np.bool_)
    for channel, value in enumerate(paper):
        plane, ground = np.ascontiguousarray(image[:, :, channel]), (light * value).astype(np.int16)
        off |= plane < np.clip(ground - _OFF_PAPER, 0, 255).astype(np.uint8)
        off |= plane > np.clip(ground + _OFF_PAPER, 0, 255).astype(np.uint8)
    count = np.add.reduceat(off, np.arange(0, height, _CELL), axis=0, dtype=np.uint8)
    return np.add.reduceat(count, np.arange(0, width, _CELL), axis=1) / _CELL**2


def _closed(cells: Cells) -> Cells:
    """Return the cells with their gaps filled (morphological closing with a square)."""
    return ~_grown(~_grown(cells))


def _grown(cells: Cells) -> Cells:
    height, width = cells.shape
    padded = np.pad(cells, _CELL_GAP)
    shifts = range(2 * _CELL_GAP + 1)
    wide = np.logical_or.reduce([padded[:, shift : shift + width] for shift in shifts])
    return np.logical_or.reduce([wide[shift : shift + height] for shift in shifts])


def _regions(cells: Cells) -> Iterator[tuple[int, int, int, int, int]]:
    """Yield top, left, bottom, right (exclusive) and number of cells of each group of touching cells."""
    edges = np.diff(np.pad(cells.astype(np.int8), ((0, 0), (1, 1))), axis=1)
    above: list[tuple[int, int, int]] = []  # start, end and number of the runs of the row before
    parents: list[int] = []
    boxes: list[tuple[int, int, int, int, int]] = []

    def root(run: int) -> int:
        while parents[run] != run:
            run = parents[run]
        return run

    for y, row in enumerate(edges):
        runs = []
        for start, end in zip((row > 0).nonzero()[0].tolist(), (row < 0).nonzero()[0].tolist(), strict=True):
            run = len(parents)
            parents.append(run)
            boxes.append((y, start, y + 1, end, end - start))
            runs.append((start, end, run))
            for touching in {root(other) for left, right, other in above if left <= end and start <= right}:
                (ya, xa, yb, xb, n), (yc, xc, yd, xd, m) = boxes[run], boxes[touching]
                boxes[run] = min(ya, yc), min(xa, xc), max(yb, yd), max(xb, xd), n + m
                parents[touching] = run
        above = runs
    yield from (box for run, box in enumerate(boxes) if parents[run] == run)
