"""Pictures of pages with some of their words lit.

The page itself is drawn in the confined child (it is hostile) and kept in the
``pictures`` cache; the rectangles are painted here, on pixels only.
"""

from __future__ import annotations

import io
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Literal
from uuid import UUID

from django.core.cache import caches
from PIL import Image, ImageChops, ImageDraw

from documents.configured import parse_limits
from documents.cropping import cut_out, pixels
from documents.models import Document, Page
from documents.pdf.failures import ParseFailure
from documents.pdf.geometry import PageFrame, Rect, bounding_box
from documents.pdf.parsing import draw_plain_page
from documents.reading import local_file

Dpi = Literal[72, 144, 216]
RESOLUTIONS: tuple[Dpi, ...] = (72, 144, 216)
KEPT_SECONDS = 7 * 24 * 3600
LINE = 1.5  # points: of what is underlined
Colour = tuple[int, ...]  # red, green, blue; 0..255
STRONG: Colour = (255, 214, 74)


class PictureFailed(Exception):
    """The page cannot be drawn; the message is for people."""


@dataclass(frozen=True, slots=True)
class Highlight:
    """Rectangles in page space, laid over the page like a text marker.

    Attributes:
        underline: colour of a line along the lower edge, as the viewer shows it.
        framed: a picture that is cut is cut around them; heads of a column are folded down to it.
    """

    rects: Sequence[Sequence[float]]
    colour: Colour
    underline: Colour | None = None
    framed: bool = True


def page_picture(
    page: Page, highlights: Iterable[Highlight] = (), *, dpi: Dpi = 144, crop: bool = False
) -> bytes:
    """A PNG of the page as a viewer shows it, cut to the surroundings of its framed highlights with ``crop``.

    Raises PictureFailed.
    """
    layers = list(highlights)
    drawn = page_drawing(page.document, page.number, dpi)
    if not any(layer.rects for layer in layers):
        return drawn
    image = Image.open(io.BytesIO(drawn)).convert("RGB")
    image = ImageChops.multiply(image, light(image, page.frame, layers))  # the words stay black
    return png(cropped(image, page.frame, layers) if crop else image)


def cropped(image: Image.Image, frame: PageFrame, layers: Sequence[Highlight]) -> Image.Image:
    """The surroundings of what is framed; of all that is lit where nothing is."""
    framed = [layer for layer in layers if layer.framed and layer.rects] or layers
    beside = [layer for layer in layers if layer not in framed]
    lit, heads = (
        [frame.to_display(Rect(*rect)) for layer in part for rect in layer.rects] for part in (framed, beside)
    )
    return cut_out(image, frame, bounding_box(lit), heads)


def page_drawing(document: Document, number: int, dpi: Dpi) -> bytes:
    """The page without highlights, from the cache when it was drawn before. Raises PictureFailed."""
    if not document.file:
        raise PictureFailed("This document has no file, so its pages cannot be drawn.")
    cache, key = caches["pictures"], cache_key(document.pk, number, dpi)
    drawn: bytes | None = cache.get(key)
    if drawn is None:
        try:
            with local_file(document.file) as path:
                drawn = draw_plain_page(path, number, dpi=dpi, limits=parse_limits())
        except ParseFailure as failure:
            raise PictureFailed(failure.message) from None
        with suppress(OSError):  # a full disk: it is drawn again next time
            cache.set(key, drawn, KEPT_SECONDS)
    return drawn


def cache_key(document_id: UUID, number: int, dpi: int) -> str:
    return f"page-{document_id}-{number}-{dpi}"


def forget_pictures(document_id: UUID, page_count: int) -> None:
    """Removes what the cache holds of a document."""
    numbers = range(1, page_count + 1)
    caches["pictures"].delete_many(
        cache_key(document_id, number, dpi) for number in numbers for dpi in RESOLUTIONS
    )


def light(image: Image.Image, frame: PageFrame, layers: Iterable[Highlight]) -> Image.Image:
    """What the picture is multiplied with: white, and each layer's colour over those before it."""
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
