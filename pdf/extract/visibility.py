"""Find what is visible of a page: hidden text, and the boxes of pictures as their clips crop them.

Invisible text is kept out of units, so that it is neither searched nor cited.

Text is hidden if it is off the page or outside its CropBox; below 2 pt among larger
text; in the colour of its background; under an opaque shape; or not painted (render
mode 3, no opacity) with no picture of it beneath. Unpainted text over its own picture
is an OCR layer, and is kept. MuPDF does not return text in hidden optional-content
layers and outside the CropBox; such words are only counted.

Candidates are found by geometry alone, which is fast on most pages; the page is
rendered only for candidates, and the picture decides.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple, TypeVar

import numpy as np
import pymupdf
from numpy.typing import NDArray
from pymupdf import mupdf

from pdf.geometry import PageFrame, Rect, bounding_box

# Largest difference in a channel (0..255) of two colours that look the same.
SAME_COLOR = 24
# Longest side of the picture of a page (pixels), and its largest scale (pixels per point).
PICTURE_PIXELS, PICTURE_SCALE = 1800.0, 1.0
# More areas than this, or areas within this share of the page, are rendered in one picture.
ONE_BY_ONE, ONE_PICTURE = 12, 0.25
# Margin rendered around an area against rounding (points).
MARGIN = 2.0


def without_ink(page: pymupdf.Page, frame: PageFrame, areas: Sequence[Rect]) -> list[bool]:
    """Return for each area (page space) whether its picture, without its edges, has only one colour."""
    drawn = page.get_displaylist()
    together = bounding_box(areas)
    if len(areas) > ONE_BY_ONE or together.area <= ONE_PICTURE * frame.width * frame.height:
        part = _Part(drawn, frame, together)
        return [not part.has_ink(area) for area in areas]
    return [not _Part(drawn, frame, area).has_ink(area) for area in areas]


class _Part:
    """The picture of a part of the page, in pixel coordinates of the picture of the whole page."""

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
        """Return whether the area (page space), without its edges, shows more than one colour."""
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
        lightest, darkest = (
            part.max(axis=0).max(axis=0),
            part.min(axis=0).min(axis=0),
        )  # faster than both axes
        return bool((lightest.astype(int) - darkest > SAME_COLOR).any())


class VisiblePicture(NamedTuple):
    """The box (page space) in which a picture is seen; a stencil is painted in one colour."""

    rect: Rect
    is_stencil: bool


class _PictureBoxes(mupdf.FzDevice2):
    """A MuPDF device that records the boxes of pictures within the clips around them; it decodes none."""

    def __init__(self, area: Rect) -> None:
        super().__init__()
        self.pictures: list[VisiblePicture] = []
        self._clips = [area]  # each within the one before
        self.use_virtual_fill_image()
        self.use_virtual_fill_image_mask()
        self.use_virtual_clip_path()
        self.use_virtual_clip_stroke_path()
        self.use_virtual_clip_text()
        self.use_virtual_clip_stroke_text()
        self.use_virtual_clip_image_mask()
        self.use_virtual_begin_mask()
        self.use_virtual_pop_clip()

    def fill_image(self, _context: Any, _image: Any, matrix: Any, *_: Any) -> None:
        self._add(matrix, is_stencil=False)

    def fill_image_mask(self, _context: Any, _image: Any, matrix: Any, *_: Any) -> None:
        self._add(matrix, is_stencil=True)

    def _add(self, matrix: Any, is_stencil: bool) -> None:
        rect = _intersection(self._clips[-1], _unit_square(matrix))
        if rect.x0 < rect.x1 and rect.y0 < rect.y1:
            self.pictures.append(VisiblePicture(rect, is_stencil))

    def clip_path(self, _context: Any, path: Any, _even_odd: int, matrix: Any, _scissor: Any) -> None:
        box = mupdf.ll_fz_bound_path(path, None, matrix)
        self._clips.append(_intersection(self._clips[-1], (box.x0, box.y0, box.x1, box.y1)))

    def clip_image_mask(self, _context: Any, _image: Any, matrix: Any, _scissor: Any) -> None:
        self._clips.append(_intersection(self._clips[-1], _unit_square(matrix)))

    def _clip_as_before(self, *_: Any) -> None:
        """Take the clip for that around it: one pop_clip follows each of these."""
        self._clips.append(self._clips[-1])

    clip_stroke_path = clip_text = clip_stroke_text = begin_mask = _clip_as_before

    def pop_clip(self, _context: Any) -> None:
        if len(self._clips) > 1:
            self._clips.pop()


def _unit_square(matrix: Any) -> tuple[float, float, float, float]:
    """Return the box of a picture: the unit square, transformed by the matrix."""
    square = mupdf.FzRect(mupdf.FzRect.Fixed_UNIT)  # kept: its C struct ends with it
    box = mupdf.ll_fz_transform_rect(square.internal(), matrix)
    return box.x0, box.y0, box.x1, box.y1


def visible_pictures(page: pymupdf.Page, area: Rect) -> list[VisiblePicture]:
    """Return the pictures of the page in the area (page space) as their clips crop them, in drawing order.

    Raises MuPDF's exceptions on damaged pages.
    """
    rotation = page.rotation
    if rotation:
        page.set_rotation(0)
    device = _PictureBoxes(area)
    try:
        mupdf.fz_run_page(page.this, device, mupdf.FzMatrix(), mupdf.FzCookie())
        mupdf.fz_close_device(device)
    finally:
        if rotation:
            page.set_rotation(rotation)
    return device.pictures


# Smaller letters are illegible (points of page space).
SMALLEST_SIZE = 2.0
# A shape hides letters when it covers more than this share of their height, and this width (points).
COVERED_HEIGHT, COVERED_WIDTH = 0.6, 3.0
# Shapes up to this thickness are lines (points).
THINNEST = 2.5
_WHITE = 0xFFFFFF
_FAR = 1e7
# Actions of Document.set_layer_ui_config.
_ON, _OFF = 0, 2
_PAIRS_AT_ONCE = 200_000

# (number of the text block, number of the line in it), as in MuPDF's words.
LineKey = tuple[int, int]
_Drawable = TypeVar("_Drawable", "_Span", "_Shape")


class _Span(NamedTuple):
    """Letters of one style. ``order`` is their place in drawing order, shapes included."""

    rect: tuple[float, float, float, float]
    order: int
    line: LineKey


class _Shape(NamedTuple):
    """A filled, opaque shape that is thicker than a line. ``whole``: it fills its rectangle."""

    rect: tuple[float, float, float, float]
    order: int
    color: int
    whole: bool


class _Drawn(NamedTuple):
    """The text and shapes of a page, sorted by the way in which text may be hidden.

    ``painted`` is by colour; ``covers`` are the shapes drawn where text had been drawn before.
    """

    painted: dict[int, list[_Span]]
    unpainted: list[_Span]
    tiny: list[_Span]
    off_page: list[LineKey]
    shapes: list[_Shape]
    covers: list[_Shape]


class HiddenText:
    """The areas of one page where text is hidden, by line."""

    def __init__(self, areas: Iterable[tuple[LineKey, Rect]] = ()) -> None:
        self._areas: dict[LineKey, list[Rect]] = {}
        for line, area in areas:
            self._areas.setdefault(line, []).append(area)

    def __bool__(self) -> bool:
        return bool(self._areas)

    def touches(self, line: LineKey) -> bool:
        """Return whether any of the line may be hidden."""
        return line in self._areas

    def covers(self, line: LineKey, x0: float, y0: float, x1: float, y1: float) -> bool:
        """Return whether the center of a word of that line is hidden."""
        areas = self._areas.get(line)
        if not areas:
            return False
        x, y = (x0 + x1) / 2, (y0 + y1) / 2
        return any(area.contains(x, y) for area in areas)


def hidden_text(page: pymupdf.Page, blocks: Sequence[dict[str, Any]], frame: PageFrame) -> HiddenText:
    """Return the hidden text of the page.

    ``blocks``: the blocks of its ``extractDICT``, with vectors, in drawing order.
    """
    if not _may_hide(blocks, frame):
        return HiddenText()
    drawn = _drawn(blocks, frame)
    areas = [(line, area) for line in drawn.off_page for area in _outside(frame)]
    if len(drawn.tiny) <= 10 * sum(map(len, drawn.painted.values())):  # else the page is to be enlarged
        areas += [(span.line, Rect(*span.rect)) for span in drawn.tiny]
    candidates = [(span.line, Rect(*span.rect)) for span in drawn.unpainted]
    candidates += _background_colored(drawn.painted, drawn.shapes)
    if drawn.covers:
        candidates += _covered(_all(drawn.painted), drawn.covers)
    if candidates:
        invisible = without_ink(page, frame, [area for _, area in candidates])
        areas += itertools.compress(candidates, invisible)
    if drawn.unpainted:
        areas += _laid_over(drawn.unpainted, _all(drawn.painted))
    return HiddenText(areas)


def words_outside_crop(page: pymupdf.Page, frame: PageFrame) -> int:
    """Return the number of words outside the CropBox. MuPDF omits them, so the page is read again."""
    everything = page.get_textpage(clip=pymupdf.INFINITE_RECT(), flags=pymupdf.TEXT_PRESERVE_WHITESPACE)
    page_rect = Rect(0, 0, frame.width, frame.height)
    return sum(
        not page_rect.contains((x0 + x1) / 2, (y0 + y1) / 2)
        for x0, y0, x1, y1, *_ in everything.extractWORDS()
    )


def hides_layers(document: pymupdf.Document) -> bool:
    """Return whether any optional-content layer is off."""
    return not all(layer["on"] for layer in document.get_ocgs().values())


def words_in_hidden_layers(page: pymupdf.Page, shown: int) -> int:
    """Return how many more words than ``shown`` the page has with all optional-content layers on."""
    document = page.parent
    if not hides_layers(document):
        return 0
    hidden = [layer["number"] for layer in document.layer_ui_configs() if not layer["on"]]
    _switch(document, hidden, _ON)
    try:
        flags = pymupdf.TEXT_PRESERVE_WHITESPACE | pymupdf.TEXT_CLIP
        everything = page.get_textpage(clip=pymupdf.INFINITE_RECT(), flags=flags).extractWORDS()
    finally:
        _switch(document, hidden, _OFF)
    return max(0, len(everything) - shown)


def _switch(document: pymupdf.Document, layers: Sequence[int], action: int) -> None:
    for layer in layers:
        document.set_layer_ui_config(layer, action)


def _may_hide(blocks: Sequence[dict[str, Any]], frame: PageFrame) -> bool:
    """Return whether anything on the page could be hidden: a fast check, which suffices for most pages."""
    width, height = frame.width, frame.height
    left, top, right, bottom = _FAR, _FAR, -_FAR, -_FAR  # around the text so far
    colors = {_WHITE}
    covers: list[_Shape] = []
    texts: list[_Span] = []
    for order, block in enumerate(blocks):
        x0, y0, x1, y1 = rect = block["bbox"]
        if block["type"] == 0:
            if x0 < 0 or y0 < 0 or x1 > width or y1 > height:
                return True
            left, top = x0 if x0 < left else left, y0 if y0 < top else top
            right, bottom = x1 if x1 > right else right, y1 if y1 > bottom else bottom
            texts.append(_Span(rect, order, (len(texts), 0)))
        elif x1 - x0 > THINNEST and y1 - y0 > THINNEST and _is_opaque_fill(block):
            if x0 < right and x1 > left and y0 < bottom and y1 > top:
                covers.append(_Shape(rect, order, block["color"], block["isrect"]))
            colors.add(block["color"])
    return any(_drawn_over(covers, texts)) or _may_be_invisible(blocks, colors)


def _may_be_invisible(blocks: Sequence[dict[str, Any]], backgrounds: Iterable[int]) -> bool:
    """Return whether any letters are tiny, not painted, or in the colour of a background."""
    spans = [
        span for block in blocks if block["type"] == 0 for line in block["lines"] for span in line["spans"]
    ]
    types = {(span["size"], span["alpha"], span["color"]) for span in spans}
    doubtful = {
        (size, alpha, color)
        for size, alpha, color in types
        if size < SMALLEST_SIZE or alpha == 0 or any(_look_alike(color, other) for other in backgrounds)
    }
    return bool(doubtful) and any(
        (span["size"], span["alpha"], span["color"]) in doubtful and not span["text"].isspace()
        for span in spans
    )  # spaces need not be visible


def _is_opaque_fill(block: dict[str, Any]) -> bool:
    return block["type"] == 3 and not block["stroked"] and block["alpha"] == 255


def _drawn(blocks: Sequence[dict[str, Any]], frame: PageFrame) -> _Drawn:
    """Sort the blocks of a page by the way in which text may be hidden."""
    drawn = _Drawn({}, [], [], [], [], [])
    text_block = -1
    left, top, right, bottom = _FAR, _FAR, -_FAR, -_FAR  # around the text so far
    for order, block in enumerate(blocks):
        x0, y0, x1, y1 = rect = block["bbox"]
        if x1 - x0 > THINNEST and y1 - y0 > THINNEST and _is_opaque_fill(block):
            shape = _Shape(rect, order, block["color"], block["isrect"])
            drawn.shapes.append(shape)
            if x0 < right and x1 > left and y0 < bottom and y1 > top:
                drawn.covers.append(shape)
        elif block["type"] == 0:
            text_block += 1
            left, top, right, bottom = min(left, x0), min(top, y0), max(right, x1), max(bottom, y1)
            crosses = x0 < 0 or y0 < 0 or x1 > frame.width or y1 > frame.height
            for number, line in enumerate(block["lines"]):
                if crosses:
                    drawn.off_page.append((text_block, number))
                for span in line["spans"]:
                    _sort_span(drawn, span, _Span(span["bbox"], order, (text_block, number)))
    return drawn


def _sort_span(drawn: _Drawn, span: dict[str, Any], placed: _Span) -> None:
    if span["size"] < SMALLEST_SIZE:
        x0, y0, x1, y1 = placed.rect
        smaller = min if len(span["text"]) > 1 else max  # a letter, such as "t", may be narrow
        if smaller(x1 - x0, y1 - y0) < 1.5 * SMALLEST_SIZE:  # Type 3 fonts of size 1 have large letters
            drawn.tiny.append(placed)
            return
    if span["alpha"] == 0:
        drawn.unpainted.append(placed)
    else:
        drawn.painted.setdefault(span["color"], []).append(placed)


def _all(painted: dict[int, list[_Span]]) -> list[_Span]:
    return [span for spans in painted.values() for span in spans]


def _outside(frame: PageFrame) -> list[Rect]:
    """Return the four areas around the page."""
    return [
        Rect(-_FAR, -_FAR, 0, _FAR),
        Rect(-_FAR, -_FAR, _FAR, 0),
        Rect(frame.width, -_FAR, _FAR, _FAR),
        Rect(-_FAR, frame.height, _FAR, _FAR),
    ]


def _laid_over(unpainted: Sequence[_Span], painted: Sequence[_Span]) -> Iterator[tuple[LineKey, Rect]]:
    """Yield unpainted letters over painted ones, which are what the picture shows there."""
    for span, _, common in _find_overlaps(unpainted, painted):
        if common.area > 0.5 * Rect(*span.rect).area:
            yield span.line, Rect(*span.rect)


def _background_colored(
    painted: dict[int, list[_Span]], shapes: Sequence[_Shape]
) -> Iterator[tuple[LineKey, Rect]]:
    """Yield letters in the colour of the last rectangle drawn before them, or of the white page."""
    rectangles = [shape for shape in shapes if shape.whole]
    backgrounds = {shape.color for shape in rectangles} | {_WHITE}
    for color, spans in painted.items():
        similar = {background for background in backgrounds if _look_alike(color, background)}
        if not similar:
            continue
        for span, background in zip(spans, _backgrounds(spans, rectangles), strict=True):
            if background in similar:
                yield span.line, Rect(*span.rect)


def _backgrounds(spans: Sequence[_Span], shapes: Sequence[_Shape]) -> Iterator[int]:
    """Yield the colour behind the center of each span."""
    if not shapes:
        yield from [_WHITE] * len(spans)
        return
    x0, y0, x1, y1 = np.array([shape.rect for shape in shapes]).T
    orders = np.array([shape.order for shape in shapes])
    for batch in _batches(spans, len(shapes)):
        boxes = np.array([span.rect for span in batch])
        x, y = (boxes[:, :2] + boxes[:, 2:]).T[:, :, None] / 2
        under = (x0 <= x) & (x <= x1) & (y0 <= y) & (y <= y1)
        under &= orders < np.array([span.order for span in batch])[:, None]
        last = under.shape[1] - 1 - under[:, ::-1].argmax(axis=1)
        for index, found in zip(last.tolist(), under.any(axis=1).tolist(), strict=True):
            yield shapes[index].color if found else _WHITE


def _covered(spans: Sequence[_Span], covers: Sequence[_Shape]) -> Iterator[tuple[LineKey, Rect]]:
    """Yield the areas where a shape was drawn over letters."""
    for _, span, common in _drawn_over(covers, spans):
        tall = common.height > COVERED_HEIGHT * (span.rect[3] - span.rect[1])
        if tall and common.width > COVERED_WIDTH:
            yield span.line, common


def _drawn_over(covers: Sequence[_Shape], spans: Sequence[_Span]) -> Iterator[tuple[_Shape, _Span, Rect]]:
    """Yield each shape and span drawn before it that overlap by more than a point, and their intersection."""
    return _find_overlaps(covers, spans, later=True)


def _find_overlaps(
    ones: Sequence[_Drawable], others: Sequence[_Span], later: bool = False
) -> Iterator[tuple[_Drawable, _Span, Rect]]:
    """Yield each pair that overlaps by more than a point, and their intersection.

    ``later``: only pairs whose first was drawn after the second.
    """
    if not ones or not others:
        return
    x0, y0, x1, y1 = np.ascontiguousarray(np.array([other.rect for other in others]).T)
    orders = np.array([other.order for other in others])
    for batch in _batches(ones, len(others)):
        a, b, c, d = np.array([one.rect for one in batch]).T[:, :, None]
        over = np.minimum(d, y1) - np.maximum(b, y0) > 1.0
        over &= np.minimum(c, x1) - np.maximum(a, x0) > 1.0
        if later:
            over &= orders < np.array([one.order for one in batch])[:, None]
        for one, other in np.argwhere(over).tolist():
            yield batch[one], others[other], _intersection(batch[one].rect, others[other].rect)


def _batches(drawn: Sequence[_Drawable], pairs_each: int) -> Iterator[Sequence[_Drawable]]:
    """Split into batches, so that the matrix of a batch and ``pairs_each`` others stays bounded."""
    size = max(1, _PAIRS_AT_ONCE // pairs_each)
    return (drawn[start : start + size] for start in range(0, len(drawn), size))


def _intersection(a: tuple[float, ...], b: tuple[float, ...]) -> Rect:
    return Rect(max(a[0], b[0]), max(a[1], b[1]), min(a[2], b[2]), min(a[3], b[3]))


def _look_alike(a: int, b: int) -> bool:
    """Return whether two colours (0xRRGGBB) look the same."""
    return a == b or all(abs((a >> shift & 255) - (b >> shift & 255)) <= SAME_COLOR for shift in (16, 8, 0))
