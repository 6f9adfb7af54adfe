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
from dataclasses import dataclass, field
from functools import partial
from typing import Any, NamedTuple

import pymupdf

from pdf.extract.charts import RULING_THICKNESS, find_charts, may_show_charts
from pdf.extract.right_to_left import right_to_left_lines
from pdf.extract.visibility import hidden_text, hides_layers, words_in_hidden_layers, words_outside_crop
from pdf.extract.words import RawWord, read_words
from pdf.geometry import Box, PageFrame, Rect, bounding_box, rect_of
from pdf.tags.elements import Element, RoleMap, TaggedPage, readable_tags, with_tags


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


# Boxes this much smaller than a point are empty.
_EMPTY = 0.01
# A CropBox over a smaller share of the MediaBox cuts something off.
_WHOLE = 0.999


def page_frame(page: pymupdf.Page) -> PageFrame:
    """How the page lies in its file; its CropBox cut to the MediaBox, as viewers do."""
    return _frame(page, *_boxes(page))


def _boxes(page: pymupdf.Page) -> tuple[Box, Box]:
    """MediaBox and CropBox as ``page.mediabox`` and ``page.cropbox``, which take five times as long."""
    item = pymupdf._as_pdf_page(page).obj()
    media, crop = pymupdf.JM_mediabox(item), pymupdf.JM_cropbox(item)
    return (media.x0, media.y0, media.x1, media.y1), (crop.x0, crop.y0, crop.x1, crop.y1)


def _frame(page: pymupdf.Page, media: Box, crop: Box) -> PageFrame:
    unit, (left, bottom, right, top) = user_unit(page), media
    # PyMuPDF turns the y of its cropbox over at the top of the MediaBox.
    x0, x1 = max(crop[0], left), min(crop[2], right)
    y0, y1 = max(top - crop[3], bottom), min(top - crop[1], top)
    if x1 - x0 < _EMPTY or y1 - y0 < _EMPTY:
        x0, y0, x1, y1 = media
    return PageFrame(
        width=(x1 - x0) * unit,
        height=(y1 - y0) * unit,
        rotation=page.rotation % 360,
        crop_x=x0,
        crop_y=y0,
        user_unit=unit,
    )


class SoundPage(NamedTuple):
    """A page, how it lies in its file, and whether its CropBox cuts anything off."""

    page: pymupdf.Page
    frame: PageFrame
    cropped: bool


def with_sound_boxes(page: pymupdf.Page) -> SoundPage:
    """The page, its CropBox replaced by the MediaBox where nothing of it lies on the page.

    MuPDF reads such a page as an empty letter page, pdf.js falls back to the
    MediaBox. Only the open document is changed, never its file.
    """
    media, crop = _boxes(page)
    frame = _frame(page, media, crop)
    x0, y0, x1, y1 = media
    cropped = frame.width * frame.height <= _WHOLE * (x1 - x0) * (y1 - y0) * frame.user_unit**2
    if _is_shown_as(page, *frame.display_size):
        return SoundPage(page, frame, cropped)
    document, number = page.parent, page.number
    document.xref_set_key(page.xref, "CropBox", "[{} {} {} {}]".format(*media))
    return SoundPage(document[number], frame, cropped)


def _is_shown_as(page: pymupdf.Page, width: float, height: float) -> bool:
    """Whether MuPDF's page is of this size (points); asked first for what ``page.rect`` is made of."""
    shown = pymupdf.mupdf.fz_bound_page(page.this)
    if abs(shown.x1 - width) < 1 and abs(shown.y1 - height) < 1:
        return True
    return abs(page.rect.x1 - width) < 1 and abs(page.rect.y1 - height) < 1


def user_unit(page: pymupdf.Page) -> float:
    """Points per unit of user space; 1.0 where the file says nothing of use."""
    if not pymupdf.mupdf.pdf_dict_gets(pymupdf._as_pdf_page(page).obj(), "UserUnit").m_internal:
        return 1.0
    kind, value = page.parent.xref_get_key(page.xref, "UserUnit")
    try:
        unit = float(value) if kind in ("int", "float", "real") else 1.0
    except ValueError:
        return 1.0
    return unit if unit > 0 else 1.0


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
    paths = [block for block in blocks if block["type"] == 3 and block["alpha"]]
    raw.rulings, raw.fills = _line_art(paths, frame)
    if may_show_charts(paths, raw.fills, raw.words, frame):
        raw.drawings = find_charts(page, raw.fills, raw.words, frame)
    pictures = page.get_images()
    raw.shows_pictures = any(
        width >= FEW_PIXELS and height >= FEW_PIXELS / 3 for _, _, width, height, *_ in pictures
    )
    if pictures and _pictures_matter(raw.words):
        raw.images = [Rect(*info["bbox"]) for info in page.get_image_info()]
    return raw


def _textpage(page: pymupdf.Page, flags: int) -> pymupdf.TextPage:
    return page.get_textpage(clip=pymupdf.INFINITE_RECT(), flags=flags)


def _pictures_matter(words: list[RawWord]) -> bool:
    """Whether the page may be a scan or name a figure; to find pictures costs as much as to read the text."""
    return len(words) < FEW_WORDS or not _FIGURE_WORDS.isdisjoint([word.text for word in words])


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
