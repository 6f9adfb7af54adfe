"""A person's annotations of a document as Markdown, and as annotations in its PDF."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby

from chat.exports.markdown import escaped, one_line
from chat.models import Annotation
from documents.ingestion.parser import local_file, parse_limits
from documents.models import Document
from pdf.api import annotate_file
from pdf.geometry import Rect
from pdf.sandbox.messages import Highlight, HighlightedPage

RGB = {
    Annotation.Colour.YELLOW: (1.0, 0.88, 0.35),
    Annotation.Colour.GREEN: (0.6, 0.88, 0.58),
    Annotation.Colour.BLUE: (0.58, 0.79, 0.98),
    Annotation.Colour.PINK: (0.98, 0.62, 0.76),
    Annotation.Colour.PURPLE: (0.78, 0.68, 0.97),
}


def as_markdown(document: Document, annotations: Sequence[Annotation]) -> str:
    """A heading for each page, a quotation for each annotation, its comment below."""
    parts = [f"# {escaped(one_line(document.title))}"]
    for number, on_page in groupby(annotations, key=lambda annotation: annotation.page_number):
        parts.append(f"## Page {number}")
        for annotation in on_page:
            gone = " *(no longer in the document)*" if annotation.is_gone else ""
            parts.append(f"> {escaped(one_line(annotation.quote))}{gone}")
            parts += [escaped(one_line(line)) for line in annotation.comment.splitlines() if line.strip()]
    return "\n\n".join(parts) + "\n"


def as_pdf(document: Document, annotations: Sequence[Annotation], author: str) -> bytes:
    """The document's PDF with the annotations in it. Raises ParseFailure."""
    found = [annotation for annotation in annotations if not annotation.is_gone]
    pages = [
        HighlightedPage(number, tuple(_mark(annotation, author) for annotation in on_page))
        for number, on_page in groupby(found, key=lambda annotation: annotation.page_number)
    ]
    with local_file(document.file) as path:
        return annotate_file(path, pages, limits=parse_limits())


def _mark(annotation: Annotation, author: str) -> Highlight:
    rects = tuple(Rect(*rect) for rect in annotation.rects)
    is_underline = annotation.kind == Annotation.Kind.UNDERLINE
    colour = RGB[Annotation.Colour(annotation.colour)]
    return Highlight("", rects, annotation.comment, colour, is_underline, author)
