"""Pictures of pages: with highlights, cropped around them, or as thumbnails.

The sandbox renders the hostile page, and the ``pictures`` cache keeps the image.
Highlights are painted here, on pixels only.
"""

from __future__ import annotations

import io
import logging
import os
import threading
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import Any, Literal
from uuid import UUID

import numpy as np
from django.core.cache import caches
from django.core.files.base import ContentFile
from django.db import transaction
from PIL import Image, ImageChops, ImageDraw

from documents.ingestion.parser import local_file, parse_limits
from documents.models import Document, Page
from pdf.api import draw_plain_page
from pdf.failures import ParseFailure
from pdf.geometry import PageFrame, Rect, bounding_box

MARGIN = 36.0  # points around the highlights
LEAST = 0.6  # of the page's width: neighbouring words give context
REACH = 7.0  # points an edge may move to lie between two lines
HEAD_MARGIN = 4.0  # points around column headers further above
FOLD = 10.0  # points between the headers and the crop; a smaller gap is not folded
FOLD_LINE = "#b9b3a6"

Box = tuple[int, int, int, int]


def pixels(fractions: Rect, image: Image.Image) -> Box:
    """Convert display fractions to pixels: left, top, right, bottom."""
    return (
        round(fractions.x0 * image.width),
        round(fractions.y0 * image.height),
        round(fractions.x1 * image.width),
        round(fractions.y1 * image.height),
    )


def crop_around(image: Image.Image, frame: PageFrame, area: Rect, heads: Iterable[Rect] = ()) -> Image.Image:
    """Crop to ``area`` with its surroundings; column headers above are joined to it by a fold.

    ``area`` and ``heads`` are display fractions.
    """
    left, top, right, bottom = _around(image, frame, area)
    above = [head for head in heads if head.y1 <= area.y0 and pixels(head, image)[1] < top]
    if not above:
        return image.crop((left, top, right, bottom))
    point = image.height / frame.display_size[1]
    _, start, _, end = pixels(bounding_box(above), image)
    start = _between_lines(image, left, right, round(start - HEAD_MARGIN * point), HEAD_MARGIN * point)
    end = _between_lines(image, left, right, round(end + HEAD_MARGIN * point), HEAD_MARGIN * point)
    fold = round(FOLD * point)
    if top - end < fold:
        return image.crop((left, start, right, bottom))
    folded = Image.new("RGB", (right - left, end - start + fold + bottom - top), "white")
    folded.paste(image.crop((left, start, right, end)))
    folded.paste(image.crop((left, top, right, bottom)), (0, end - start + fold))
    middle, dash = end - start + fold // 2, max(2, round(3 * point))
    draw = ImageDraw.Draw(folded)
    for x in range(0, folded.width, 2 * dash):
        draw.line((x, middle, x + dash, middle), fill=FOLD_LINE, width=max(1, round(point / 2)))
    return folded


def _around(image: Image.Image, frame: PageFrame, area: Rect) -> Box:
    """Return the area with a margin, at least ``LEAST`` wide, with edges between lines of text."""
    across, down = (MARGIN / side for side in frame.display_size)
    missing = max(0.0, LEAST - (area.width + 2 * across)) / 2
    left, right = area.x0 - across - missing, area.x1 + across + missing
    shift = max(0.0, -left) - max(0.0, right - 1)
    wanted = Rect(left + shift, area.y0 - down, right + shift, area.y1 + down)
    x0, y0, x1, y1 = pixels(wanted, image)
    x0, x1 = max(0, x0), min(image.width, x1)
    reach = REACH * image.height / frame.display_size[1]
    return x0, _between_lines(image, x0, x1, y0, reach), x1, _between_lines(image, x0, x1, y1, reach)


def _between_lines(image: Image.Image, left: int, right: int, y: int, reach: float) -> int:
    """Return the lightest row of pixels near ``y``, the nearest of several."""
    if not 0 < y < image.height:
        return min(max(y, 0), image.height)
    first, last = max(0, y - round(reach)), min(image.height, y + round(reach) + 1)
    rows = np.asarray(image.crop((left, first, right, last)).convert("L")).mean(axis=1)
    whitest = np.flatnonzero(rows >= rows.max() - 1)
    return first + int(whitest[np.abs(whitest - (y - first)).argmin()])


Dpi = Literal[72, 144, 216]
RESOLUTIONS: tuple[Dpi, ...] = (72, 144, 216)
KEPT_SECONDS = 7 * 24 * 3600
LINE = 1.5  # points: thickness of an underline
Colour = tuple[int, ...]  # red, green, blue; 0..255
STRONG: Colour = (255, 214, 74)


class PictureFailed(Exception):
    """The page cannot be rendered; the message is for the user."""


@dataclass(frozen=True, slots=True)
class Highlight:
    """Rectangles in page space, painted like a text marker.

    Attributes:
        underline: colour of a line along the lower edge, as displayed.
        framed: a crop contains them.
        headers: they head a row or a column; a crop joins those above it to it by a fold.
    """

    rects: Sequence[Sequence[float]]
    colour: Colour
    underline: Colour | None = None
    framed: bool = True
    headers: bool = False


def page_picture(
    page: Page, highlights: Iterable[Highlight] = (), *, dpi: Dpi = 144, crop: bool = False
) -> bytes:
    """Return a PNG of the page as displayed; ``crop`` cuts it around the framed highlights.

    Raises PictureFailed.
    """
    layers = list(highlights)
    drawn = page_drawing(page.document, page.number, dpi)
    if not any(layer.rects for layer in layers):
        return drawn
    image = Image.open(io.BytesIO(drawn)).convert("RGB")
    image = ImageChops.multiply(image, highlight_layer(image, page.frame, layers))  # text stays black
    return png(cropped(image, page.frame, layers) if crop else image)


def cropped(image: Image.Image, frame: PageFrame, layers: Sequence[Highlight]) -> Image.Image:
    """Crop around the framed highlights, or around all where none is framed."""
    framed = [layer for layer in layers if layer.framed and layer.rects] or layers
    beside = [layer for layer in layers if layer not in framed]
    areas, lines, heads = (
        [frame.to_display(Rect(*rect)) for layer in part for rect in layer.rects]
        for part in (framed, beside, [layer for layer in beside if layer.headers])
    )
    return crop_around(image, frame, _with_lines_beside(bounding_box(areas), frame, lines), heads)


def _with_lines_beside(area: Rect, frame: PageFrame, lines: Iterable[Rect]) -> Rect:
    """Return the area, widened so that the least crop shows more of its lines and less of the margins."""
    beside = [line for line in lines if line.y0 < area.y1 and line.y1 > area.y0]
    whole = bounding_box([area, *beside])
    room = LEAST / 2 - MARGIN / frame.display_size[0]
    if whole.width <= 2 * room:
        return Rect(whole.x0, area.y0, whole.x1, area.y1)
    center, _ = area.center
    wider = 2 * (min(max(center, whole.x0 + room), whole.x1 - room) - center)
    return Rect(area.x0 + min(0.0, wider), area.y0, area.x1 + max(0.0, wider), area.y1)


MOST_PIXELS = 1568  # of the longer side: vision models scale larger images down
CLOSE_UP = 0.6  # of the page's longer side: smaller regions are rendered at a higher resolution


def region_picture(document: Document, number: int, box: Sequence[float]) -> bytes:
    """Return a PNG of a part of a page; ``box`` in display fractions. Raises PictureFailed."""
    part = Rect(*box)
    drawn = page_drawing(document, number, 216 if max(part.width, part.height) < CLOSE_UP else 144)
    image = Image.open(io.BytesIO(drawn)).convert("RGB")
    left, top, right, bottom = pixels(part, image)
    image = image.crop((left, top, max(right, left + 1), max(bottom, top + 1)))
    image.thumbnail((MOST_PIXELS, MOST_PIXELS))
    return png(image)


# Limits pages drawn at the same time: another process would take longer to start than a page to wait.
_drawing_slots = threading.BoundedSemaphore(os.cpu_count() or 1)
_PATIENCE = 2.0  # seconds: pages that take long must not hold up all others


@contextmanager
def _turn_to_draw() -> Iterator[None]:
    has_turn = _drawing_slots.acquire(timeout=_PATIENCE)
    try:
        yield
    finally:
        if has_turn:
            _drawing_slots.release()


def page_drawing(document: Document, number: int, dpi: Dpi) -> bytes:
    """Return the page without highlights as PNG, from the cache or the sandbox. Raises PictureFailed."""
    if not document.file:
        raise PictureFailed("This document has no file, so its pages cannot be drawn.")
    cache, key = caches["pictures"], cache_key(document.pk, number, dpi)
    drawn: bytes | None = cache.get(key)
    if drawn is None:
        try:
            with local_file(document.file) as path, _turn_to_draw():
                drawn = draw_plain_page(path, number, dpi=dpi, limits=parse_limits())
        except ParseFailure as failure:
            raise PictureFailed(failure.message) from None
        with suppress(OSError):  # a full disk: it is rendered again next time
            cache.set(key, drawn, KEPT_SECONDS)
    return drawn


def cache_key(document_id: UUID, number: int, dpi: int) -> str:
    return f"page-{document_id}-{number}-{dpi}"


def forget_pictures(document_id: UUID, page_count: int) -> None:
    """Remove the document's pictures from the cache."""
    numbers = range(1, page_count + 1)
    caches["pictures"].delete_many(
        cache_key(document_id, number, dpi) for number in numbers for dpi in RESOLUTIONS
    )


def forget_deleted_pictures(document_id: UUID, **signal: Any) -> None:
    """Receiver of ``document_deleted``."""
    pages = Document.objects.filter(pk=document_id).values_list("page_count", flat=True).first() or 0
    transaction.on_commit(lambda: forget_pictures(document_id, pages))


def highlight_layer(image: Image.Image, frame: PageFrame, layers: Iterable[Highlight]) -> Image.Image:
    """Return the image to multiply with: white, with each layer's colour over those before it."""
    overlay = Image.new("RGB", image.size, "white")
    draw = ImageDraw.Draw(overlay)
    for layer in layers:
        for rect in layer.rects:
            x0, y0, x1, y1 = pixels(frame.to_display(Rect(*rect)), image)
            draw.rectangle((x0, y0, x1, y1), fill=layer.colour)
            if layer.underline:
                thick = max(1, round(LINE * image.height / frame.display_size[1]))
                draw.rectangle((x0, y1 - thick, x1, y1), fill=layer.underline)
    return overlay


def png(image: Image.Image) -> bytes:
    out = io.BytesIO()
    image.save(out, "PNG", compress_level=6)
    return out.getvalue()


logger = logging.getLogger(__name__)
WIDTH = 360  # pixels: a card on a dense screen


def thumbnail_of(document: Document) -> bytes:
    """Return the first page as WebP, stored or rendered. Raises PictureFailed."""
    if document.thumbnail:
        with document.thumbnail.open("rb") as file:
            return bytes(file.read())
    picture = scaled_down(page_drawing(document, 1, 72))
    try:
        document.thumbnail.save(f"{document.pk.hex}.webp", ContentFile(picture), save=False)
    except OSError as error:  # a full disk: it is rendered again next time
        logger.warning("document %s: its thumbnail could not be stored: %s", document.pk, error)
        return picture
    Document.objects.filter(pk=document.pk).update(thumbnail=document.thumbnail.name)
    return picture


def scaled_down(png: bytes) -> bytes:
    image = Image.open(io.BytesIO(png)).convert("RGB")
    image.thumbnail((WIDTH, WIDTH * 2))
    out = io.BytesIO()
    image.save(out, "WEBP", quality=82, method=4)
    return out.getvalue()


# Highlights as a part of a URL.
UNMARKED = "none"
MOST_BOXES = 200
PARTS = 100_000

Boxes = Sequence[Sequence[float]]
"""[x0, y0, x1, y1] in display fractions, origin top left."""


def written_boxes(boxes: Boxes) -> str:
    """Format boxes for a URL: ``12101-9284-68308-11079_…``, in hundred-thousandths of the page."""
    return "_".join("-".join(str(round(side * PARTS)) for side in box) for box in boxes[:MOST_BOXES])


def read_boxes(text: str) -> list[tuple[float, float, float, float]]:
    """Parse the output of ``written_boxes``. Raises ValueError with a message for the user."""
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
