"""The picture of a document's first page: drawn when somebody first looks at it, then kept as a file."""

from __future__ import annotations

import io
import logging

from django.core.files.base import ContentFile
from PIL import Image

from documents.models import Document
from documents.pictures import page_drawing

logger = logging.getLogger(__name__)
WIDTH = 360  # pixels: a card on a dense screen


def thumbnail_of(document: Document) -> bytes:
    """WebP. Raises PictureFailed when the page cannot be drawn."""
    if document.thumbnail:
        with document.thumbnail.open("rb") as file:
            return bytes(file.read())
    picture = scaled_down(page_drawing(document, 1, 72))
    try:
        document.thumbnail.save(f"{document.pk.hex}.webp", ContentFile(picture), save=False)
    except OSError as error:  # a full disk: it is drawn again next time
        logger.warning("document %s: its thumbnail could not be kept: %s", document.pk, error)
        return picture
    Document.objects.filter(pk=document.pk).update(thumbnail=document.thumbnail.name)
    return picture


def scaled_down(png: bytes) -> bytes:
    image = Image.open(io.BytesIO(png)).convert("RGB")
    image.thumbnail((WIDTH, WIDTH * 2))
    out = io.BytesIO()
    image.save(out, "WEBP", quality=82, method=4)
    return out.getvalue()
