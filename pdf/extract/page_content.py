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

import math
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cache, partial
from typing import Any, NamedTuple

import pymupdf
from pymupdf import mupdf

from pdf.extract.figures import RULING_THICKNESS, SMALLEST_SIDE, WHITE, find_charts
from pdf.extract.open_document import with_sound_boxes
from pdf.extract.right_to_left import right_to_left_lines
from pdf.extract.type3 import join_torn, with_glyph_sizes
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


class DocumentFeatures(NamedTuple):
    """Features of a document that decide how its pages are read.

    Attributes:
        labels: it has page labels.
        hides_layers: some of its optional content is off.
        role_map: the standard types of its own structure types; None where its tags are not read.
        has_fields: it is a form to be filled in.
    """

    labels: bool = True
    hides_layers: bool = True
    role_map: RoleMap | None = None
    has_fields: bool = True


def document_features(document: pymupdf.Document, tags: bool = True) -> DocumentFeatures:
    """Return the document's features; on a damaged document, those that make each page be examined."""
    try:
        return DocumentFeatures(
            bool(document.get_page_labels()),
            hides_layers(document),
            readable_tags(document) if tags else None,
            bool(document.is_form_pdf),
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
# Maximum extent of an axis-parallel segment in the other direction (points).
AXIS_PARALLEL = 0.5
_RESOURCES = mupdf.PDF_ENUM_NAME_Resources
# The keys of a picture's size, and their abbreviations.
_WIDTH = mupdf.PDF_ENUM_NAME_Width, mupdf.PDF_ENUM_NAME_W
_HEIGHT = mupdf.PDF_ENUM_NAME_Height, mupdf.PDF_ENUM_NAME_H
_FIGURE_WORDS = {"Figure", "FIGURE", "Fig.", "FIG.", "Abbildung", "Abb.", "Рис.", "الشكل", "図", "图"}


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
        fields: boxes of the fields of a form.
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
    fields: list[Rect] = field(default_factory=list)

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
    resized = with_glyph_sizes(blocks)
    raw.words, raw.hidden_words = read_words(words, blocks, hidden, frame, leftwards)
    if tagged is not None:
        raw.elements, owners = tagged.elements(_FLAGS & ~pymupdf.TEXT_COLLECT_VECTORS, traits.role_map or {})
        raw.words = with_tags(raw.words, words, owners)
    if resized:
        raw.words = join_torn(raw.words, resized)
    if cropped:
        raw.hidden_words += words_outside_crop(page, frame)
    if traits.hides_layers:
        raw.hidden_words += words_in_hidden_layers(page, len(words))
    fields = _fields(page) if traits.has_fields else []
    if fields:
        raw.fields = [rect for rect, _ in fields]
        raw.words = _with_states(raw.words, fields)
    drawings = cache(partial(_drawings, page))
    shapes = [block for block in blocks if block["type"] == 3 and block["alpha"]]
    paths = with_exact_strokes(shapes, drawings)
    raw.rulings, raw.fills = _line_art(paths, frame)
    if fields:
        raw.rulings, raw.fills = (_without_boxes(rects, fields) for rects in (raw.rulings, raw.fills))
    raw.drawings = find_charts(paths, drawings, raw.fills, raw.words, frame)
    sizes = _picture_sizes(page)
    raw.shows_pictures = any(width >= FEW_PIXELS and height >= FEW_PIXELS / 3 for width, height in sizes)
    matters = bool(sizes) and _pictures_matter(raw.words)
    drawn = _pictures(page, frame) if matters or raw.shows_pictures else []
    raw.is_scan = _is_scan(drawn, blocks, frame)
    raw.images = [picture.rect for picture in drawn] if matters else _pictures_in_text(drawn, frame)
    return raw


def _textpage(page: pymupdf.Page, flags: int) -> pymupdf.TextPage:
    return page.get_textpage(clip=pymupdf.INFINITE_RECT(), flags=flags)


# --- Fields of forms ---

# Types of fields: check boxes and radio buttons. Annotation flags of a field that is not shown: hidden, not
# viewed. Maximum distance of the drawn edge of a box from its field (points). Signs of its states.
_TICKABLE = 2, 5
_NOT_SHOWN = 2 | 32
BOX_EDGE = 2.0
# Maximum number of fields on a page whose states are read.
MOST_FIELDS = 400
TICKED, EMPTY = "☑", "☐"


class _Field(NamedTuple):
    """A field of a form: its box, and its sign if it is a check box or radio button, else ''."""

    rect: Rect
    sign: str


def _fields(page: pymupdf.Page) -> list[_Field]:
    """Return the fields that are shown, in page space; [] on a damaged form."""
    try:
        return [
            _Field(rect_of(widget.rect), _sign(page, widget))
            for widget in page.widgets()
            if not _number(page, widget, "F") & _NOT_SHOWN
        ]
    except Exception:  # MuPDF raises many kinds; the words are readable without fields
        return []


def _number(page: pymupdf.Page, widget: pymupdf.Widget, key: str) -> int:
    """Return a number of the field's dictionary; 0 if it has none."""
    kind, value = page.parent.xref_get_key(widget.xref, key)
    return int(value) if kind == "int" else 0


def _sign(page: pymupdf.Page, widget: pymupdf.Widget) -> str:
    """Return the state that the page shows, which may differ from the field's value."""
    if widget.field_type not in _TICKABLE:
        return ""
    kind, shown = page.parent.xref_get_key(widget.xref, "AS")
    ticked = shown != "/Off" if kind == "name" else widget.field_value not in ("", "Off", False, None)
    return TICKED if ticked else EMPTY


def _with_states(words: list[RawWord], fields: Sequence[_Field]) -> list[RawWord]:
    """Return the words with the signs of check boxes and radio buttons, each beside its label.

    None is added where a printed word shows the state, nor on a page without words, which may be a scan.
    """
    found = list(words)
    last_line = max([word.line for word in words], default=0)
    for rect, sign in fields[:MOST_FIELDS] if words else ():
        if not sign or any(rect.contains(*word.rect.center) for word in words):
            continue
        place, label = min(enumerate(found), key=lambda item: _distance(item[1], rect))
        if _distance(label, rect) == math.inf:  # no word is on a level with the box
            last_line += 1
            found.append(RawWord(*rect, sign, label.style, rect.y1, last_line))
            continue
        after = label.turn == 0 and label.rect.center < rect.center
        word = RawWord(*rect, sign, label.style, label.baseline, label.line, label.turn)
        found.insert(place + after, word)
    return found


def _distance(word: RawWord, rect: Rect) -> float:
    """Return how far a word is from a box along its line (points); infinity on another level."""
    along, across = word.rect.overlap_x(rect), word.rect.overlap_y(rect)
    if word.turn in (90, 270):
        along, across = across, along
    return -along if across > 0 else math.inf


def _without_boxes(rects: Sequence[Rect], fields: Sequence[_Field]) -> list[Rect]:
    """Return the rulings or fills that do not draw a check box or radio button: it is no cell."""
    boxes = [rect for rect, sign in fields[:MOST_FIELDS] if sign]
    return [rect for rect in rects if not any(_is_part(rect, box) for box in boxes)]


def _is_part(rect: Rect, box: Rect) -> bool:
    return (
        box.x0 - BOX_EDGE <= rect.x0
        and rect.x1 <= box.x1 + BOX_EDGE
        and box.y0 - BOX_EDGE <= rect.y0
        and rect.y1 <= box.y1 + BOX_EDGE
    )


# --- Drawings and pictures ---


def _drawings(page: pymupdf.Page) -> list[dict[str, Any]]:
    """Return the page's ``get_cdrawings``, or [] where they cannot be read. This interprets it again."""
    try:
        return page.get_cdrawings()
    except Exception:  # MuPDF raises many kinds; the words are readable without vector graphics
        return []


def _picture_sizes(page: pymupdf.Page) -> list[tuple[int, int]]:
    """Return width and height (pixels) of the pictures in the page's resources, drawn or not.

    They are those of ``page.get_images``, in a third of its time.
    """
    item = pymupdf._as_pdf_page(page).obj()
    return _sizes_in(mupdf.pdf_dict_get_inheritable(item, _RESOURCES), set())


def _sizes_in(resources: mupdf.PdfObj, seen: set[int]) -> list[tuple[int, int]]:
    """Return the sizes of the pictures in the resources and in those of their forms.

    ``seen``: the object numbers of forms examined before; the search ends at one of them.
    """
    named = mupdf.pdf_dict_get(resources, mupdf.PDF_ENUM_NAME_XObject)
    objects = [mupdf.pdf_dict_get_val(named, i) for i in range(mupdf.pdf_dict_len(named))]
    sizes = [
        (
            mupdf.pdf_to_int(mupdf.pdf_dict_geta(each, *_WIDTH)),
            mupdf.pdf_to_int(mupdf.pdf_dict_geta(each, *_HEIGHT)),
        )
        for each in objects
        if mupdf.pdf_name_eq(mupdf.pdf_dict_get(each, mupdf.PDF_ENUM_NAME_Subtype), mupdf.PDF_ENUM_NAME_Image)
    ]
    for form in objects:
        inner = mupdf.pdf_dict_get(form, _RESOURCES)
        if inner.m_internal:
            number = mupdf.pdf_to_num(form)
            if number in seen:
                break
            seen.add(number)
            sizes += _sizes_in(inner, seen)
    return sizes


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


def with_exact_strokes(
    paths: list[dict[str, Any]], drawings: Callable[[], list[dict[str, Any]]]
) -> list[dict[str, Any]]:
    """Return the paths; where a stroke's box is broad, all strokes with the boxes that are painted.

    MuPDF grows a stroke's box on all sides by its line width as written, before the matrix: a ruling of one
    point under ``0.1 0 0 0.1 0 0 cm`` becomes a box of twenty. Thin boxes are right in any case. Other boxes
    are computed from the paths, which are read then: axis-parallel segments, rectangles, and the rest whole.
    """
    if not any(path["stroked"] and not _is_thin(path["bbox"]) for path in paths):
        return paths
    exact = [stroke for path in drawings() if "s" in path["type"] for stroke in _strokes(path)]
    return [path for path in paths if not path["stroked"]] + exact


def _is_thin(box: Box) -> bool:
    x0, y0, x1, y1 = box
    return x1 - x0 <= RULING_THICKNESS or y1 - y0 <= RULING_THICKNESS


def _strokes(path: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the strokes of one path of ``get_cdrawings`` in the form of ``extractDICT``."""
    if not path.get("stroke_opacity", 1.0):
        return []
    half = (path.get("width") or 0.0) / 2
    color = int("".join(f"{round(255 * part):02x}" for part in path.get("color") or (0.0, 0.0, 0.0)), 16)
    strokes: list[dict[str, Any]] = []
    for item in path["items"]:
        box = _stroked_box(item, half)
        if box is None:
            return [{"bbox": path["rect"], "stroked": True, "isrect": False, "color": color}]
        is_area = item[0] == "l" and not _is_thin(box)  # a stroke broader than a ruling paints an area
        strokes.append({"bbox": box, "stroked": not is_area, "isrect": True, "color": color})
    return strokes


def _stroked_box(item: Sequence[Any], half: float) -> Box | None:
    """Return the box of an axis-parallel segment with its width, or of a rectangle's path; else None."""
    if item[0] == "re":
        return rect_of(tuple(item[1]))
    points = item[1] if item[0] == "qu" else item[1:]
    xs, ys = [point[0] for point in points], [point[1] for point in points]
    x0, y0, x1, y1 = min(xs), min(ys), max(xs), max(ys)
    if item[0] == "qu":
        corners = {(x0, y0), (x1, y0), (x0, y1), (x1, y1)}
        return rect_of((x0, y0, x1, y1)) if set(zip(xs, ys, strict=True)) <= corners else None
    if item[0] != "l" or min(x1 - x0, y1 - y0) > AXIS_PARALLEL:
        return None
    if x1 - x0 >= y1 - y0:
        return rect_of((x0, (y0 + y1) / 2 - half, x1, (y0 + y1) / 2 + half))
    return rect_of(((x0 + x1) / 2 - half, y0, (x0 + x1) / 2 + half, y1))


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
        thin = _is_thin(box)
        if path["color"] == WHITE:
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
