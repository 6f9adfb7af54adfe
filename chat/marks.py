"""Which answers rest on a document: the marks in the reader's margin."""

from __future__ import annotations

import msgspec
from django.contrib.auth.models import User

from chat.models import Citation
from chat.showing import shown_citations
from documents.models import Document

MOST_MARKS = 2000


class Mark(msgspec.Struct, frozen=True):
    """One citation, at the height of its words. ``top`` and ``bottom`` are display fractions of the page."""

    citation: str
    page: int
    number: int
    top: float
    bottom: float
    claim: str
    conversation: str
    href: str


def marks_on(document: Document, user: User) -> list[Mark]:
    """The user's own citations of the document, the latest first. Two queries."""
    rows = Citation.objects.visible_to(user).filter(document=document).select_related("message__conversation")
    listed = list(rows.order_by("-created_at")[:MOST_MARKS])
    return [
        Mark(
            citation=shown.id,
            page=shown.page,
            number=shown.number,
            top=min(box[1] for box in boxes),
            bottom=max(box[3] for box in boxes),
            claim=shown.claim[:200] or shown.quote[:200],
            conversation=row.message.conversation.title,
            href=shown.href,
        )
        for row, shown in zip(listed, shown_citations(listed), strict=True)
        if (boxes := shown.rects or shown.unit_rects)
    ]
