"""The cited words as a picture, for chats, mails and reports."""

from __future__ import annotations

from chat.models import Citation
from documents.models import Page
from documents.pictures import HEAD, PALE, STRONG, Dpi, Highlight, PictureFailed, page_picture


def citation_picture(citation: Citation, *, dpi: Dpi = 144, crop: bool = True) -> bytes:
    """A PNG of the cited page: the passage pale, the anchor strong. Raises PictureFailed.

    Cut, it shows the anchor; the anchor's whole row when it is the cell of a table.
    """
    if citation.durability == Citation.Durability.GONE:
        raise PictureFailed("The cited words are no longer in the document.")
    page = Page.objects.filter(document=citation.document_id, number=citation.page_number)
    found = page.select_related("document").defer("text", "word_boxes").first()
    if found is None:
        raise PictureFailed("The cited page is no longer in the document.")
    layers = [
        Highlight(citation.unit_rects, PALE, framed=bool(citation.head_rects)),
        Highlight(citation.head_rects, HEAD, framed=False),
        Highlight(citation.rects, STRONG),
    ]
    return page_picture(found, layers, dpi=dpi, crop=crop)
