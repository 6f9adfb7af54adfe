"""The cited words as a picture, for chats, mails and reports."""

from __future__ import annotations

from PIL.ImageColor import getrgb

from chat.claims import CONTRADICTED
from chat.models import Citation
from documents.models import Page
from documents.pictures import Dpi, Highlight, PictureFailed, page_picture

# Pale and strong, by a citation's number: the same in static/css/chat.css.
COLOURS = (
    ("#fff3bf", "#ffd43b"),
    ("#dcecfd", "#8fc3fb"),
    ("#dff5e3", "#92deaa"),
    ("#fde3ec", "#fba9c4"),
    ("#ece5fb", "#c5adf7"),
    ("#ffe8d6", "#ffbb85"),
)
CONTRADICTED_COLOURS = ("#ffe8e6", "#ffb3ae")


def colours_of(citation: Citation) -> tuple[str, str]:
    """Those of its number; a contradicted claim has its own, and what was only found stays pale."""
    if citation.verdict in CONTRADICTED:
        return CONTRADICTED_COLOURS
    pale, strong = COLOURS[(citation.number - 1) % len(COLOURS)]
    return (pale, pale) if citation.verdict == Citation.Verdict.FOUND else (pale, strong)


def citation_picture(citation: Citation, *, dpi: Dpi = 144, crop: bool = True) -> bytes:
    """A PNG of the cited page in the citation's colour: the passage pale, the anchor strong.

    Raises PictureFailed. Cut, it shows the anchor; the anchor's whole row when it is the cell of a table.
    """
    if citation.durability == Citation.Durability.GONE:
        raise PictureFailed("The cited words are no longer in the document.")
    page = Page.objects.filter(document=citation.document_id, number=citation.page_number)
    found = page.select_related("document").defer("text", "word_boxes").first()
    if found is None:
        raise PictureFailed("The cited page is no longer in the document.")
    pale, strong = map(getrgb, colours_of(citation))
    layers = [
        Highlight(citation.unit_rects, pale, framed=bool(citation.head_rects)),
        Highlight(citation.head_rects, pale, underline=strong, framed=False),
        Highlight(citation.rects, strong),
    ]
    return page_picture(found, layers, dpi=dpi, crop=crop)
