"""Read the content of a page before layout: words with their type, rulings, fills and pictures.

One MuPDF text page has all of it: words, spans and, with ``TEXT_COLLECT_VECTORS``,
the vector graphics, so that the page's content is interpreted once. All rectangles
are in page space.

Where a document's structure tree is sound (``pdf.tags.elements``), the page's content
is interpreted once into a display list, and that list is read twice: without and with
structure elements. No word, box or order depends on the second reading: it only tells
the element of each word. Other documents are read once.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from functools import cache, partial
from itertools import pairwise, product
from typing import Any, NamedTuple

import pymupdf

from pdf.extract.open_document import with_sound_boxes
from pdf.extract.right_to_left import right_to_left_lines
from pdf.extract.visibility import (
    VisiblePicture,
    hidden_text,
    hides_layers,
    visible_pictures,
    words_in_hidden_layers,
    words_outside_crop,
)
from pdf.extract.words import RawWord, read_words
from pdf.geometry import Box, PageFrame, Rect, bounding_box, rect_of
from pdf.tags.elements import Element, RoleMap, TaggedPage, readable_tags, with_tags

# --- Charts and diagrams drawn with lines and fills, as regions of the page ---
#
# Table rulings, underlines, frames and shading are parallel to the page's edges. A chart also has other
# paths: slanted lines, curves, or bars that share a baseline and differ in length. Paths near one another
# that include such a path are a figure; its words stay in units.

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
# A fill with a larger share covered by words is a highlight or a table's shading.
BAR_TEXT = 0.3
# Of more paths, as maps have, only every n-th is read; a page with MANY_PATHS is assumed to show a chart.
MOST_MARKS = 5000
MANY_PATHS = 1000
# Largest thickness of a ruling; largest width of a stroke beyond its path (points).
RULING_THICKNESS, STROKE = 2.5, 5.0
_WHITE_FILL = (1.0, 1.0, 1.0)


class VectorShape(NamedTuple):
    """One drawn path: its box, and its lines and curves as PyMuPDF gives them."""

    rect: Rect
    items: Sequence[Sequence[Any]]

    def is_slanted_or_curved(self) -> bool:
        """Return whether any part is not parallel to the page's edges, as rulings, frames and fills are."""
        return any(_is_slanted_or_curved(item, self.rect) for item in self.items)


def may_show_charts(
    paths: Sequence[dict[str, Any]], fills: Sequence[Rect], words: Sequence[RawWord], frame: PageFrame
) -> bool:
    """Return whether the page may show charts, by the boxes of its paths.

    The text page has these boxes; to read the paths takes as long as to read the words. A chart is a
    region, neither too small nor full of words, with bars or with paths other than lines and rectangles.
    """
    seeds = [rect_of(path["bbox"]) for path in paths if not path["isrect"]]
    seeds = [rect for rect in seeds if min(rect.width, rect.height) > RULING_THICKNESS] + bars(fills, words)
    if not seeds or len(paths) > MANY_PATHS:
        return bool(seeds)
    marks = []
    for path in paths:
        if rect := _on_page(path["bbox"], frame):
            if path["stroked"] or path["color"] != _WHITE:
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
    paths: Sequence[dict[str, Any]], fills: Sequence[Rect], words: Sequence[RawWord], frame: PageFrame
) -> list[Rect]:
    """Return the regions of the page (page space) that are drawn figures, without labels beside the plot.

    ``paths``: the page's ``get_cdrawings``.
    """
    shapes = [shape for path in paths if (shape := _shape(path, frame))]
    shapes = shapes[:: len(shapes) // MOST_MARKS + 1]
    found_bars = bars(fills, words)
    return [
        region
        for region in _joined([shape.rect for shape in shapes])
        if min(region.width, region.height) >= SMALLEST_SIDE
        and _text_share(region, words) <= TEXT_SHARE
        and (
            any(region.contains(*bar.center) for bar in found_bars)
            or any(region.contains(*shape.rect.center) and shape.is_slanted_or_curved() for shape in shapes)
        )
    ]


def _shape(path: dict[str, Any], frame: PageFrame) -> VectorShape | None:
    """Return the path clipped to the page; None for a white fill and for the page's background."""
    rect = _on_page(path["rect"], frame)
    if rect is None or (path["type"] == "f" and tuple(path.get("fill") or ()) == _WHITE_FILL):
        return None
    return VectorShape(rect, path["items"])


def _on_page(box: Box, frame: PageFrame) -> Rect | None:
    """Return the box clipped to the page; None where that is empty or most of the page."""
    left, top, right, bottom = box
    x0, y0 = max(left, 0.0), max(top, 0.0)
    x1, y1 = min(right, frame.width), min(bottom, frame.height)
    width, height = x1 - x0, y1 - y0
    if width < 0 or height < 0 or width * height > BACKGROUND * frame.width * frame.height:
        return None
    return rect_of((x0, y0, x1, y1))


def _is_slanted_or_curved(item: Sequence[Any], path: Rect) -> bool:
    """Return whether an item of the path is a slanted line or a curve larger than a rounded corner."""
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


def _differ(lengths: Sequence[float]) -> bool:
    """Return whether there are clearly different lengths: ``FEWEST_LENGTHS``, or more of ``MANY_BARS``."""
    fewest = FEWEST_LENGTHS if len(lengths) < MANY_BARS else 2 * FEWEST_LENGTHS
    return len({round(length / (3 * EVEN)) for length in lengths}) >= fewest


def _are_separated(spans: Sequence[tuple[float, float]]) -> bool:
    return all(following[0] - span[1] > EVEN for span, following in pairwise(spans))


def _text_share(region: Rect, words: Iterable[RawWord]) -> float:
    """Return the share (0..1) of the region's area that boxes of words cover."""
    inside = [
        word
        for word in words
        if region.contains((word.x0 + word.x1) / 2, (word.y0 + word.y1) / 2)
        and (len(word.text) > 1 or word.text.isalnum())  # R plots points with signs
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


# --- The content of a page ---


class DocumentFeatures(NamedTuple):
    """Features of a document that decide how its pages are read.

    Attributes:
        labels: it has page labels.
        hides_layers: some of its optional content is off.
        role_map: the standard types of its own structure types; None where its tags are not read.
    """

    labels: bool = True
    hides_layers: bool = True
    role_map: RoleMap | None = None


def document_features(document: pymupdf.Document, tags: bool = True) -> DocumentFeatures:
    """Return the document's features; on a damaged document, those that make each page be examined."""
    try:
        return DocumentFeatures(
            bool(document.get_page_labels()),
            hides_layers(document),
            readable_tags(document) if tags else None,
        )
    except Exception:  # MuPDF raises many kinds; the pages may be readable despite a damaged catalog
        return DocumentFeatures()


__all__ = ["RawPage", "read_page"]

# Letters without a Unicode value come as U+FFFD, not as their glyph number, which would read as a letter.
_FLAGS = (pymupdf.TEXTFLAGS_WORDS | pymupdf.TEXT_COLLECT_VECTORS) & ~(
    pymupdf.TEXT_PRESERVE_LIGATURES | pymupdf.TEXT_CID_FOR_UNKNOWN_UNICODE
)

# White rulings extend at most this far beyond the coloured cells that they separate (points).
SEAM = 2.0
# A page with fewer words may be a scan.
FEW_WORDS = 60
# A picture with fewer pixels across contains no legible words.
FEW_PIXELS = 100
# A larger picture on a page with text, as a share of the page, is its background.
LARGEST_PICTURE = 0.5
# Pictures over a larger share of a page whose text is invisible are its scan.
SCAN_SHARE = 0.7
# Fewer nearly square boxes are not examined: to read the page's paths takes as long as to read its words.
FEWEST_SQUARES = 8
_FIGURE_WORDS = {"Figure", "FIGURE", "Fig.", "FIG.", "Abbildung", "Abb.", "Рис.", "الشكل", "図", "图"}
_WHITE = 0xFFFFFF


@dataclass(slots=True)
class RawPage:
    """One page before layout. Words are in drawing order; all rectangles in page space.

    Attributes:
        rulings: drawn lines and thin rectangles.
        fills: filled rectangles that are not thin, without the page's white background.
        images: boxes of pictures.
        drawings: boxes of charts and diagrams.
        ocr: the words were recognised from the picture of the page.
        is_scan: the words are an invisible layer over the picture of the page.
        shows_pictures: it may show pictures that are large enough to contain words.
        hidden_words: number of words left out because they are invisible.
        trimmed: every word is known to lie on the page.
        failure: why the page could not be read, or ''.
        elements: the structure elements that have words on the page.
    """

    number: int
    frame: PageFrame
    label: str = ""
    words: list[RawWord] = field(default_factory=list)
    rulings: list[Rect] = field(default_factory=list)
    fills: list[Rect] = field(default_factory=list)
    images: list[Rect] = field(default_factory=list)
    drawings: list[Rect] = field(default_factory=list)
    ocr: bool = False
    is_scan: bool = False
    shows_pictures: bool = False
    hidden_words: int = 0
    trimmed: bool = False
    failure: str = ""
    elements: list[Element] = field(default_factory=list)

    @property
    def turn(self) -> int:
        """Return the direction of most of the text, in degrees clockwise."""
        turns = [word.turn for word in self.words]
        if 2 * turns.count(0) > len(turns):  # as on nearly every page
            return 0
        upright = {turn: count for turn, count in Counter(turns).items() if turn % 90 == 0}
        return max(upright, key=upright.__getitem__, default=self.frame.rotation * -1 % 360)


def read_page(page: pymupdf.Page, traits: DocumentFeatures = DocumentFeatures()) -> RawPage:  # noqa: B008 (immutable)
    """Return the content of the page. Raises PyMuPDF's exceptions on damaged pages.

    ``traits`` are the features of its document; the default examines each page, which is slower.
    """
    page, frame, cropped = with_sound_boxes(page)
    tagged = None if traits.role_map is None else TaggedPage(page)
    # Not clipped: words off the page are counted as hidden.
    read = tagged.textpage if tagged else partial(_textpage, page)
    textpage = read(_FLAGS)
    blocks = textpage.extractDICT()["blocks"]
    raw = RawPage(number=page.number + 1, frame=frame, trimmed=True)
    if traits.labels:
        raw.label = page.get_label() or ""
    hidden = hidden_text(page, blocks, frame)
    words = textpage.extractWORDS()
    leftwards = right_to_left_lines(words, read, _FLAGS)
    raw.words, raw.hidden_words = read_words(words, blocks, hidden, frame, leftwards)
    if tagged is not None:
        raw.elements, owners = tagged.elements(_FLAGS & ~pymupdf.TEXT_COLLECT_VECTORS, traits.role_map or {})
        raw.words = with_tags(raw.words, words, owners)
    if cropped:
        raw.hidden_words += words_outside_crop(page, frame)
    if traits.hides_layers:
        raw.hidden_words += words_in_hidden_layers(page, len(words))
    drawings = cache(partial(_drawings, page))
    shapes = [block for block in blocks if block["type"] == 3 and block["alpha"]]
    paths = with_broad_strokes(shapes, drawings)
    raw.rulings, raw.fills = _line_art(paths, frame)
    if may_show_charts(paths, raw.fills, raw.words, frame):
        raw.drawings = find_charts(drawings(), raw.fills, raw.words, frame)
    pictures = page.get_images()
    raw.shows_pictures = any(
        width >= FEW_PIXELS and height >= FEW_PIXELS / 3 for _, _, width, height, *_ in pictures
    )
    matters = bool(pictures) and _pictures_matter(raw.words)
    drawn = _pictures(page, frame) if matters or raw.shows_pictures else []
    raw.is_scan = _is_scan(drawn, blocks, frame)
    raw.images = [picture.rect for picture in drawn] if matters else _pictures_in_text(drawn, frame)
    return raw


def _textpage(page: pymupdf.Page, flags: int) -> pymupdf.TextPage:
    return page.get_textpage(clip=pymupdf.INFINITE_RECT(), flags=flags)


def _drawings(page: pymupdf.Page) -> list[dict[str, Any]]:
    """Return the page's ``get_cdrawings``, or [] where they cannot be read. This interprets it again."""
    try:
        return page.get_cdrawings()
    except Exception:  # MuPDF raises many kinds; the words are readable without vector graphics
        return []


def _pictures(page: pymupdf.Page, frame: PageFrame) -> list[VisiblePicture]:
    """Return the pictures as far as they are seen on the page; [] where it is damaged."""
    try:
        return visible_pictures(page, Rect(0.0, 0.0, frame.width, frame.height))
    except Exception:  # MuPDF raises many kinds; the words are readable without pictures
        return []


def _is_scan(drawn: Sequence[VisiblePicture], blocks: Sequence[dict[str, Any]], frame: PageFrame) -> bool:
    """Return whether most of the text is invisible and pictures, perhaps in strips, cover the page."""
    if sum(picture.rect.area for picture in drawn) <= SCAN_SHARE * frame.width * frame.height:
        return False
    lines = [line for block in blocks if block["type"] == 0 for line in block["lines"]]
    painted = [span["alpha"] > 0 for line in lines for span in line["spans"]]
    return 2 * sum(painted) < len(painted)


def _pictures_in_text(drawn: Sequence[VisiblePicture], frame: PageFrame) -> list[Rect]:
    """Return the boxes (page space) of pictures that are not the text's background."""
    return [
        rect
        for rect, is_stencil in drawn
        if not is_stencil
        and min(rect.width, rect.height) >= SMALLEST_SIDE
        and rect.area < LARGEST_PICTURE * frame.width * frame.height
    ]


def _pictures_matter(words: list[RawWord]) -> bool:
    """Return whether the page may be a scan or mentions a figure; finding pictures is as slow as reading."""
    return len(words) < FEW_WORDS or not _FIGURE_WORDS.isdisjoint([word.text for word in words])


def with_broad_strokes(
    paths: list[dict[str, Any]], drawings: Callable[[], list[dict[str, Any]]]
) -> list[dict[str, Any]]:
    """Return the paths, with exact boxes for strokes that are shorter than their line width.

    Upright rulings are drawn so. MuPDF's box around such a stroke is nearly a square of twice the line
    width, and would be taken for a drawn box.
    """
    squares = [path for path in paths if _is_nearly_square(path)]
    if len(squares) < FEWEST_SQUARES:
        return paths
    strokes = [stroke for path in drawings() for stroke in _broad_strokes(path)]
    inks = {(round(x), round(y)): ink for ink in strokes for x, y in [ink.center]}
    found: dict[int, Rect] = {}
    for path in squares:
        x, y = rect_of(path["bbox"]).center
        for key in product((round(x - 0.25), round(x + 0.25)), (round(y - 0.25), round(y + 0.25))):
            if key in inks:
                found[id(path)] = inks[key]
    return [{**path, "bbox": found[id(path)]} if id(path) in found else path for path in paths]


def _is_nearly_square(path: dict[str, Any]) -> bool:
    x0, y0, x1, y1 = path["bbox"]
    width, height = x1 - x0, y1 - y0
    return (
        path["stroked"]
        and min(width, height) > RULING_THICKNESS
        and 0 < abs(width - height) <= RULING_THICKNESS
    )


def _broad_strokes(path: dict[str, Any]) -> list[Rect]:
    """Return the painted boxes of straight strokes no longer than a ruling is thick, but wider than that."""
    half_width = (path.get("width") or 0.0) / 2
    if path["type"] != "s" or half_width <= RULING_THICKNESS / 2 or any(path["lineCap"]):
        return []
    strokes = []
    for item in path["items"]:
        if item[0] == "l":
            (ax, ay), (bx, by) = item[1:]
            if ay == by and 0 < abs(bx - ax) <= RULING_THICKNESS:
                strokes.append(Rect(min(ax, bx), ay - half_width, max(ax, bx), ay + half_width))
            elif ax == bx and 0 < abs(by - ay) <= RULING_THICKNESS:
                strokes.append(Rect(ax - half_width, min(ay, by), ax + half_width, max(ay, by)))
    return strokes


def _line_art(paths: list[dict[str, Any]], frame: PageFrame) -> tuple[list[Rect], list[Rect]]:
    """Return rulings, with the edges of drawn boxes, and fills.

    White paths are background, except rulings that separate fills.
    """
    rulings: list[Rect] = []
    fills: list[Rect] = []
    white_rulings: list[Rect] = []
    whole_page = 0.9 * frame.width * frame.height
    for path in paths:
        x0, y0, x1, y1 = box = path["bbox"]
        thin = x1 - x0 <= RULING_THICKNESS or y1 - y0 <= RULING_THICKNESS
        if path["color"] == _WHITE:
            if thin:
                white_rulings.append(rect_of(box))
        elif thin:
            rulings.append(rect_of(box))
        elif path["stroked"]:
            if path["isrect"]:
                rulings += _edges(rect_of(box))
        elif (x1 - x0) * (y1 - y0) < whole_page:
            fills.append(rect_of(box))
    return rulings + _visible_between(fills, white_rulings), fills


def _visible_between(fills: list[Rect], white_rulings: list[Rect]) -> list[Rect]:
    """Return the white rulings that are visible because they separate coloured cells of a table."""
    if not white_rulings or len(fills) < 2:
        return []
    shaded = bounding_box(fills)
    return [
        ruling
        for ruling in white_rulings
        if shaded.x0 - SEAM <= ruling.x0
        and ruling.x1 <= shaded.x1 + SEAM
        and shaded.y0 - SEAM <= ruling.y0
        and ruling.y1 <= shaded.y1 + SEAM
    ]


def _edges(rect: Rect) -> list[Rect]:
    x0, y0, x1, y1 = rect
    return [Rect(x0, y0, x1, y0), Rect(x0, y1, x1, y1), Rect(x0, y0, x0, y1), Rect(x1, y0, x1, y1)]
