"""What stands on a page before anything is made of it: words with their type, rulings, fills, pictures.

One MuPDF text page gives all of it: its words, its spans and, with
``TEXT_COLLECT_VECTORS``, its line art, so that the page's content is interpreted
once. All rectangles are in page space.

Where a document's structure tree is worth it (``pdf.tags.elements``), the page's content is
interpreted once into a list of what it draws, and that list is read twice: as it
stands, and by the elements of the structure. No word, box or order depends on the
second reading: it only says which element each word belongs to. Elsewhere nothing
of this is done.
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
from pdf.extract.visibility import hidden_text, hides_layers, words_in_hidden_layers, words_outside_crop
from pdf.extract.words import RawWord, read_words
from pdf.geometry import Box, PageFrame, Rect, bounding_box, rect_of
from pdf.tags.elements import Element, RoleMap, TaggedPage, readable_tags, with_tags

# --- Charts and diagrams drawn with lines and fills, as regions of the page ---
#
# What rules a table, underlines a word, frames or shades a text runs along the page's edges. A chart also
# holds ink that does not: slanted lines, curves, or bars that share a baseline and differ in length. Marks
# that touch and hold such ink are a figure; its words stay in units.

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
_WHITE_FILL = (1.0, 1.0, 1.0)


class VectorShape(NamedTuple):
    """One drawn path, and the lines and curves it is made of."""

    rect: Rect
    items: Sequence[Sequence[Any]]

    def runs_freely(self) -> bool:
        """Whether it does not run along the page's edges, as rulings, frames and fills do."""
        return any(_runs_freely(item, self.rect) for item in self.items)


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
    """Regions of the page, in page space, that are drawn figures; labels beside the plot are not in them.

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
            or any(region.contains(*shape.rect.center) and shape.runs_freely() for shape in shapes)
        )
    ]


def _shape(path: dict[str, Any], frame: PageFrame) -> VectorShape | None:
    """The path as far as it lies on the page; None for what nobody sees and for the page's background."""
    rect = _on_page(path["rect"], frame)
    if rect is None or (path["type"] == "f" and tuple(path.get("fill") or ()) == _WHITE_FILL):
        return None
    return VectorShape(rect, path["items"])


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
        and _are_separated(sorted((rect.x0, rect.x1) if upright else (rect.y0, rect.y1) for rect in group))
        and all(_text_share(rect, words) <= BAR_TEXT for rect in group)
        for rect in group
    ]


def _differ(lengths: Sequence[float]) -> bool:
    """Whether there are at least ``FEWEST_LENGTHS`` clearly different ones."""
    return len({round(length / (3 * EVEN)) for length in lengths}) >= FEWEST_LENGTHS


def _are_separated(spans: Sequence[tuple[float, float]]) -> bool:
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


# --- The content of a page ---


class DocumentFeatures(NamedTuple):
    """What the reading of a page depends on.

    Attributes:
        labels: its pages have numbers of their own.
        hides_layers: some optional content is off.
        role_map: what its own structure types stand for; None where its tags are not read.
    """

    labels: bool = True
    hides_layers: bool = True
    role_map: RoleMap | None = None


def document_features(document: pymupdf.Document, tags: bool = True) -> DocumentFeatures:
    """The file's traits; where they cannot be told, those that leave the question to each page."""
    try:
        return DocumentFeatures(
            bool(document.get_page_labels()),
            hides_layers(document),
            readable_tags(document) if tags else None,
        )
    except Exception:  # MuPDF raises many kinds; a damaged catalog is no reason to read no page
        return DocumentFeatures()


__all__ = ["RawPage", "read_page"]

# Letters without a meaning come as U+FFFD, not as their number in the font, which would read as a letter.
_FLAGS = (pymupdf.TEXTFLAGS_WORDS | pymupdf.TEXT_COLLECT_VECTORS) & ~(
    pymupdf.TEXT_PRESERVE_LIGATURES | pymupdf.TEXT_CID_FOR_UNKNOWN_UNICODE
)

# White rulings stand at most this far out of the coloured cells that they part (points).
SEAM = 2.0
# A page of fewer words may be a scan.
FEW_WORDS = 60
# A picture of fewer pixels across holds no words.
FEW_PIXELS = 100
# Fewer nearly square boxes are taken as they are: to read how they are drawn takes as long as the words.
FEWEST_SQUARES = 8
_FIGURE_WORDS = {"Figure", "FIGURE", "Fig.", "FIG.", "Abbildung", "Abb.", "Рис.", "الشكل", "図", "图"}
_WHITE = 0xFFFFFF


@dataclass(slots=True)
class RawPage:
    """One page before layout. Words in the order of drawing; all rectangles in page space.

    Attributes:
        rulings: drawn lines and thin rectangles.
        fills: filled rectangles that are not thin, the page's white background left out.
        images: where pictures stand.
        drawings: where charts and diagrams are drawn.
        ocr: the words were recognised from the picture of the page.
        shows_pictures: it may show pictures that are large enough to hold words.
        hidden_words: words that were left out because nobody can see them.
        trimmed: every word is known to lie on the page.
        failure: why the page could not be read, or ''.
        elements: the structure elements that have words on the page, as the author's tags name them.
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
    shows_pictures: bool = False
    hidden_words: int = 0
    trimmed: bool = False
    failure: str = ""
    elements: list[Element] = field(default_factory=list)

    @property
    def turn(self) -> int:
        """The direction most of the text runs in, in degrees clockwise."""
        turns = [word.turn for word in self.words]
        if 2 * turns.count(0) > len(turns):  # as on nearly every page
            return 0
        upright = {turn: count for turn, count in Counter(turns).items() if turn % 90 == 0}
        return max(upright, key=upright.__getitem__, default=self.frame.rotation * -1 % 360)


def read_page(page: pymupdf.Page, traits: DocumentFeatures = DocumentFeatures()) -> RawPage:  # noqa: B008 (immutable)
    """Everything that stands on the page. Raises what PyMuPDF raises on damaged pages.

    ``traits`` of its file need not be known; they save the asking.
    """
    page, frame, cropped = with_sound_boxes(page)
    tagged = None if traits.role_map is None else TaggedPage(page)
    # Clipped by nothing: what lies off the page shall be counted as hidden.
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
    if pictures and _pictures_matter(raw.words):
        raw.images = [Rect(*info["bbox"]) for info in page.get_image_info()]
    return raw


def _textpage(page: pymupdf.Page, flags: int) -> pymupdf.TextPage:
    return page.get_textpage(clip=pymupdf.INFINITE_RECT(), flags=flags)


def _drawings(page: pymupdf.Page) -> list[dict[str, Any]]:
    """The page's ``get_cdrawings``, or none where they cannot be read. It is interpreted again."""
    try:
        return page.get_cdrawings()
    except Exception:  # any: line art that cannot be read costs the page no word
        return []


def _pictures_matter(words: list[RawWord]) -> bool:
    """Whether the page may be a scan or name a figure; to find pictures costs as much as to read the text."""
    return len(words) < FEW_WORDS or not _FIGURE_WORDS.isdisjoint([word.text for word in words])


def with_broad_strokes(
    paths: list[dict[str, Any]], drawings: Callable[[], list[dict[str, Any]]]
) -> list[dict[str, Any]]:
    """The paths, with the ink of the strokes that are shorter than their pen is broad: of upright rulings.

    MuPDF's box around such a stroke is nearly a square, as broad as two pens, and seems a box that is drawn.
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
    """The ink of straight strokes that are no longer than a ruling is thin, and shorter than their pen."""
    pen = (path.get("width") or 0.0) / 2
    if path["type"] != "s" or pen <= RULING_THICKNESS / 2 or any(path["lineCap"]):
        return []
    strokes = []
    for item in path["items"]:
        if item[0] == "l":
            (ax, ay), (bx, by) = item[1:]
            if ay == by and 0 < abs(bx - ax) <= RULING_THICKNESS:
                strokes.append(Rect(min(ax, bx), ay - pen, max(ax, bx), ay + pen))
            elif ax == bx and 0 < abs(by - ay) <= RULING_THICKNESS:
                strokes.append(Rect(ax - pen, min(ay, by), ax + pen, max(ay, by)))
    return strokes


def _line_art(paths: list[dict[str, Any]], frame: PageFrame) -> tuple[list[Rect], list[Rect]]:
    """Rulings (the edges of drawn boxes too) and fills. White ones are background but for what they part."""
    rulings: list[Rect] = []
    fills: list[Rect] = []
    pale: list[Rect] = []
    whole_page = 0.9 * frame.width * frame.height
    for path in paths:
        x0, y0, x1, y1 = box = path["bbox"]
        thin = x1 - x0 <= RULING_THICKNESS or y1 - y0 <= RULING_THICKNESS
        if path["color"] == _WHITE:
            if thin:
                pale.append(rect_of(box))
        elif thin:
            rulings.append(rect_of(box))
        elif path["stroked"]:
            if path["isrect"]:
                rulings += _edges(rect_of(box))
        elif (x1 - x0) * (y1 - y0) < whole_page:
            fills.append(rect_of(box))
    return rulings + _seen_between(fills, pale), fills


def _seen_between(fills: list[Rect], pale: list[Rect]) -> list[Rect]:
    """White rulings that can be seen, for they part coloured cells of a table."""
    if not pale or len(fills) < 2:
        return []
    shaded = bounding_box(fills)
    return [
        ruling
        for ruling in pale
        if shaded.x0 - SEAM <= ruling.x0
        and ruling.x1 <= shaded.x1 + SEAM
        and shaded.y0 - SEAM <= ruling.y0
        and ruling.y1 <= shaded.y1 + SEAM
    ]


def _edges(rect: Rect) -> list[Rect]:
    x0, y0, x1, y1 = rect
    return [Rect(x0, y0, x1, y0), Rect(x0, y1, x1, y1), Rect(x0, y0, x0, y1), Rect(x1, y0, x1, y1)]
