"""Addresses of what agents are given: the reader open at the words, and a picture of them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from urllib.parse import urlencode
from uuid import UUID

from agents.results import Part
from documents.files.page_pictures import UNMARKED, Boxes, written_boxes
from pdf.geometry import PageFrame

PICTURE_URI = "pincite://documents/{document}/pages/{page}/picture/{boxes}"
PAGE_URI = "pincite://documents/{document}/pages/{page}"


@dataclass(frozen=True, slots=True)
class Addresses:
    """Makes addresses. ``base`` is the site's address without a slash at its end.

    Attributes:
        resources: name pictures by the URI of their MCP resource, not by an address of the API.
    """

    base: str
    resources: bool = False

    def document(self, document: UUID | str) -> str:
        return f"{self.base}/documents/{document}/"

    def place(self, document: UUID | str, page: int, unit: UUID | str = "", citation: UUID | str = "") -> str:
        """The reader, open at the page, with the unit or the citation lit."""
        named = {"page": page, "unit": unit, "citation": citation}
        query = urlencode({name: value for name, value in named.items() if value})
        return f"{self.document(document)}?{query}"

    def conversation(self, conversation: UUID | str) -> str:
        return f"{self.base}/conversations/{conversation}/"

    def picture(self, document: UUID | str, page: int, boxes: Boxes) -> str:
        """A picture of the page with these parts of it lit (0..1 of the page as shown)."""
        written = written_boxes(boxes)
        if self.resources:
            return PICTURE_URI.format(document=document, page=page, boxes=written or UNMARKED)
        query = f"?boxes={written}" if written else ""
        return f"{self.base}/api/documents/{document}/pages/{page}/image/{query}"


def part(page: int, frame: PageFrame, rects: Iterable[Sequence[float]]) -> Part:
    return Part(page=page, rects=[list(box) for box in frame.display_boxes(rects)])
