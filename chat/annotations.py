"""Annotations of users: made from a selection, a drawing or the PDF; re-anchored after parsing; exported."""

from __future__ import annotations

import logging
import re
from collections.abc import Iterable, Iterator, Sequence
from html import escape
from itertools import groupby, pairwise
from typing import Any
from uuid import UUID
from xml.etree import ElementTree as ET

import numpy as np
from django.contrib.auth.models import User
from django.db import DatabaseError
from django.utils import timezone

from chat.citations.snapshots import PIECES, near, reanchor_citations
from chat.citations.stored_citations import reader_query
from chat.citations.stored_pages import StoredPages, locate
from chat.exports.markdown import escaped
from chat.models import Annotation, Citation
from chat.models.note import AnnotationQuerySet
from citing.anchoring.find_quote import Anchor, find_quote
from citing.anchoring.page_text import PageText, Span, highlight_rects, text_of
from documents.ingestion.parser import local_file, parse_limits
from documents.models import Document
from pdf.api import annotate_file, annotations_in
from pdf.geometry import Rect, bounding_box
from pdf.sandbox.messages import HeldAnnotation, HighlightedPage, PdfHighlight
from text.terms import one_line

logger = logging.getLogger(__name__)

LONGEST_QUOTE = 20_000  # characters: a page of small print
LONGEST_COMMENT = 20_000
MOST_BOXES = 2000  # of one selection on one page
AROUND = 60  # characters stored before and after the quote, to distinguish equal words
MOST_ON_DOCUMENT = 10_000
MOST_POINTS = 20_000  # of one drawing
RGB = {
    Annotation.Colour.YELLOW: (1.0, 0.88, 0.35),
    Annotation.Colour.GREEN: (0.6, 0.88, 0.58),
    Annotation.Colour.BLUE: (0.58, 0.79, 0.98),
    Annotation.Colour.PINK: (0.98, 0.62, 0.76),
    Annotation.Colour.PURPLE: (0.78, 0.68, 0.97),
}
Strokes = Sequence[Sequence[tuple[float, float]]]


class NothingSelected(Exception):
    """No word of the page is in the selection."""


def annotate(owner: User, document: Document, page: int, boxes: Sequence[Rect], **look: str) -> Annotation:
    """Store an annotation on the words in ``boxes`` (display fractions). Raises NothingSelected."""
    on = next((one for one in StoredPages(document.pk).all if one.number == page), None)
    spans = spans_in(on, [on.frame.from_display(box) for box in boxes]) if on else []
    if on is None or not spans:
        raise NothingSelected
    return _stored(owner, document, on, spans, **look)


def annotate_quote(owner: User, document: Document, quote: str, **look: str) -> list[Annotation]:
    """Store an annotation on each page that the quote runs over. Raises NothingSelected."""
    anchor = locate(document.pk, quote)
    if anchor is None or anchor.verdict == "partial":
        raise NothingSelected
    return [_stored(owner, document, part.page, list(part.spans), **look) for part in anchor.parts]


def draw(owner: User, document: Document, page: int, strokes: Strokes, **look: str) -> Annotation:
    """Store a drawing (points in page space). Raises NothingSelected: no points, or no such page."""
    points = [[(round(x, 2), round(y, 2)) for x, y in stroke] for stroke in strokes if stroke]
    if not points or not document.pages.filter(number=page).exists():
        raise NothingSelected
    ink = {"rects": [list(_around(points))], "strokes": points, "kind": Annotation.Kind.INK}
    return Annotation.objects.create(owner=owner, document=document, page_number=page, **look | ink)


def _around(strokes: Strokes) -> Rect:
    return bounding_box(Rect(x, y, x, y) for stroke in strokes for x, y in stroke)


def take_over(owner: User, document: Document) -> list[Annotation]:
    """Store the PDF's annotations as the user's, unless stored before. Raises ParseFailure."""
    with local_file(document.file) as path:
        held = annotations_in(path, limits=parse_limits()).annotations
    known = set(taken_over(owner, document).values_list("source", flat=True))
    pages = StoredPages(document.pk)
    by_number = {page.number: page for page in pages.all}
    left = MOST_ON_DOCUMENT - Annotation.objects.filter(owner=owner, document=document).count()
    wanted = [one for one in held if one.xref not in known and one.page in by_number][: max(left, 0)]
    pages.read_boxes({one.page for one in wanted})
    return Annotation.objects.bulk_create(
        [_taken(owner, document, by_number[one.page], one) for one in wanted], batch_size=500
    )


def taken_over(owner: User, document: Document) -> AnnotationQuerySet:
    """Return the user's annotations that came from the PDF, including deleted ones."""
    return Annotation.objects.filter(owner=owner, document=document, source__isnull=False)


def _taken(owner: User, document: Document, page: PageText, held: HeldAnnotation) -> Annotation:
    spans = spans_in(page, held.rects) if held.kind in ("highlight", "underline") else []
    place = {"page_number": page.number, "rects": [list(rect) for rect in held.rects]}
    return Annotation(
        owner=owner,
        document=document,
        kind="highlight" if held.kind == "note" else held.kind,
        colour=_nearest(held.colour),
        comment=held.note[:LONGEST_COMMENT].replace("\x00", "").replace("\r", "\n").strip(),
        strokes=held.strokes,
        source=held.xref,
        **(_words_at(page, spans) if spans else place),
    )


def _nearest(colour: tuple[float, float, float] | None) -> str:
    """Return the nearest of our colours in RGB."""
    if colour is None:
        return Annotation.Colour.YELLOW
    faded = [0.5 + 0.5 * part for part in colour]  # ours are pale
    return min(RGB, key=lambda name: sum((a - b) ** 2 for a, b in zip(RGB[name], faded, strict=True)))


def spans_in(page: PageText, rects: Iterable[Rect]) -> list[Span]:
    """Return the character ranges of words in the rectangles (page space), one per run of words."""
    chosen = sorted({index for rect in rects for index in _words_in(page, rect)})
    if not chosen:
        return []
    breaks = [at for at, (one, other) in enumerate(pairwise(chosen), 1) if other != one + 1]
    runs = [chosen[start:end] for start, end in pairwise([0, *breaks, len(chosen)])]
    return [(page.words[run[0]].char_start, page.words[run[-1]].char_end) for run in runs]


def _words_in(page: PageText, rect: Rect) -> list[int]:
    """Return the words whose middle is in the rectangle, or that contain its middle."""
    if not page.words:
        return []
    inside = ((page.centers >= rect[:2]) & (page.centers <= rect[2:])).all(1)
    around = ((page.boxes[:, :2] <= rect.center) & (page.boxes[:, 2:] >= rect.center)).all(1)
    return [int(index) for index in np.flatnonzero(inside | around)]


def _stored(owner: User, document: Document, page: PageText, spans: list[Span], **look: str) -> Annotation:
    return Annotation.objects.create(owner=owner, document=document, **_words_at(page, spans), **look)


def _words_at(page: PageText, spans: list[Span]) -> dict[str, Any]:
    """Return the fields of an annotation on words of the page."""
    start, end = spans[0][0], spans[-1][1]
    return {
        "quote": text_of(page, spans)[:LONGEST_QUOTE],
        "context": page.text[max(0, start - AROUND) : end + AROUND][: LONGEST_QUOTE + 2 * AROUND],
        "page_number": page.number,
        "char_start": start,
        "rects": [list(rect) for rect in highlight_rects(page, spans)],
    }


def reanchor_annotations(document: Document) -> None:
    """Move the document's annotations to the present place of their words."""
    annotations = list(Annotation.objects.filter(document=document))
    if not annotations:
        return
    pages = StoredPages(document.pk)
    pages.read_boxes({annotation.page_number for annotation in annotations})
    for annotation in annotations:
        _reanchor(annotation, pages.all)
    stored = ["page_number", "char_start", "rects", "durability"]
    Annotation.objects.bulk_update(annotations, stored, batch_size=500)


def _reanchor(annotation: Annotation, pages: Sequence[PageText]) -> None:
    if not annotation.quote:
        return
    same = [page for page in pages if page.number == annotation.page_number]
    anchors = _anchors(annotation, same) or _anchors(annotation, pages)
    if not anchors:
        annotation.durability = (
            Citation.Durability.GONE
        )  # its rectangles are kept, in case the words come back
        return
    part = anchors[0].parts[0]
    on_page = [anchor.parts[0] for anchor in anchors if anchor.parts[0].page.number == part.page.number]
    rects = [rect for found in on_page for rect in found.rects]
    is_same = part.page.number == annotation.page_number and near(annotation.rects, rects)
    annotation.durability = Citation.Durability.SAME if is_same else Citation.Durability.MOVED
    annotation.page_number, annotation.char_start = part.page.number, part.spans[0][0]
    annotation.rects = [list(rect) for rect in rects]


def _anchors(annotation: Annotation, pages: Sequence[PageText]) -> list[Anchor]:
    """Return the place of each piece of the quote; empty unless all are found."""
    found = [find_quote(pages, piece, annotation.context) for piece in annotation.quote.split(PIECES)]
    anchors = [anchor for anchor in found if anchor is not None and anchor.verdict != "partial"]
    return anchors if len(anchors) == len(found) else []


# --- Exports: Markdown, the PDF with annotations, RDF for Zotero, JSON for Hypothesis ---


_NOT_XML = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]")
NAMESPACES = {
    "rdf": "http://www.w3.org/1999/02/22-rdf-syntax-ns#",
    "z": "http://www.zotero.org/namespaces/export#",
    "dcterms": "http://purl.org/dc/terms/",
    "dc": "http://purl.org/dc/elements/1.1/",
    "bib": "http://purl.org/net/biblio#",
    "foaf": "http://xmlns.com/foaf/0.1/",
}


def as_markdown(document: Document, annotations: Sequence[Annotation], address: str) -> str:
    """Return a heading for each page, a quotation with a link for each annotation, its comment below.

    ``address`` opens the document.
    """
    parts = [f"# {escaped(one_line(document.title))}"]
    for number, on_page in groupby(annotations, key=lambda annotation: annotation.page_number):
        parts.append(f"## Page {number}")
        for annotation in on_page:
            gone = " *(no longer in the document)*" if annotation.is_gone else ""
            link = f"[p. {number}]({_reader_link(address, annotation)})"
            parts.append(f"> {escaped(one_line(annotation.quote)) or '*(drawing)*'} {link}{gone}")
            parts += [escaped(one_line(line)) for line in annotation.comment.splitlines() if line.strip()]
    return "\n\n".join(parts) + "\n"


def _reader_link(address: str, annotation: Annotation) -> str:
    return f"{address}?{reader_query(annotation.page_number, annotation.quote)}"


def as_hypothesis(document: Document, annotations: Sequence[Annotation], author: str) -> dict[str, Any]:
    """Return the annotations as Hypothesis' client exports and imports them. Raises ParseFailure."""
    with local_file(document.file) as path:
        fingerprint = annotations_in(path, limits=parse_limits()).fingerprint
    uri = f"urn:x-pdf:{fingerprint or document.sha256}"
    about = {"title": [document.title], "link": [{"href": uri}]}
    rows = [
        {
            "id": str(annotation.pk),
            "created": annotation.created_at.isoformat(),
            "updated": annotation.updated_at.isoformat(),
            "user": f"acct:{author}@pincite",
            "uri": uri,
            "text": annotation.comment,
            "tags": [],
            "document": about,
            "target": [{"source": uri, "selector": list(_selectors(annotation))}],
        }
        for annotation in annotations
    ]
    return {
        "export_date": timezone.now().isoformat(),
        "export_userid": f"acct:{author}@pincite",
        "client_version": "Pincite",
        "annotations": rows,
    }


def _selectors(annotation: Annotation) -> Iterator[dict[str, Any]]:
    yield {"type": "PageSelector", "index": annotation.page_number - 1}
    if annotation.quote:
        before, quote, after = annotation.context.partition(annotation.quote)
        around = {"prefix": before[-32:], "suffix": after[:32]} if quote else {}
        yield {"type": "TextQuoteSelector", "exact": annotation.quote} | around


def as_zotero(document: Document, annotations: Sequence[Annotation], address: str) -> bytes:
    """Return an item with a note that holds the annotations, in Zotero's RDF; ``address`` is its link."""
    for prefix, uri in NAMESPACES.items():
        ET.register_namespace(prefix, uri)
    root = ET.Element(_rdf("rdf:RDF"))
    item = _element(root, "bib:Document", about="#item_1")
    _element(item, "z:itemType", "document")
    if document.authors:
        listed = _element(_element(item, "bib:authors"), "rdf:Seq")
        for name in document.authors:
            given, _, surname = name.rpartition(" ")
            person = _element(_element(listed, "rdf:li"), "foaf:Person")
            _element(person, "foaf:surname", surname)
            if given:
                _element(person, "foaf:givenName", given)
    _element(item, "dc:title", document.title)
    if document.year:
        _element(item, "dc:date", str(document.year))
    located = _element(_element(item, "dc:identifier"), "dcterms:URI")
    _element(located, "rdf:value", address)
    _element(item, "dcterms:isReferencedBy").set(_rdf("rdf:resource"), "#note_1")
    note = _element(root, "bib:Memo", about="#note_1")
    _element(note, "rdf:value", _as_note(document, annotations, address))
    return ET.tostring(root, encoding="utf-8", xml_declaration=True)


def _as_note(document: Document, annotations: Sequence[Annotation], address: str) -> str:
    """Return HTML, the format of Zotero's notes."""
    lines = [f"<h1>{escape(document.title)}</h1>"]
    for annotation in annotations:
        comment = f"<br>{escape(annotation.comment)}" if annotation.comment else ""
        quote = escape(one_line(annotation.quote)) or "(drawing)"
        place = f'<a href="{escape(_reader_link(address, annotation))}">p. {annotation.page_number}</a>'
        lines.append(f"<p>“{quote}” ({place}){comment}</p>".replace("\n", "<br>"))
    return "\n".join(lines)


def _element(parent: ET.Element, name: str, text: str | None = None, about: str | None = None) -> ET.Element:
    element = ET.SubElement(parent, _rdf(name))
    element.text = _NOT_XML.sub("", text) if text else None
    if about:
        element.set(_rdf("rdf:about"), about)
    return element


def _rdf(name: str) -> str:
    prefix, _, local = name.partition(":")
    return f"{{{NAMESPACES[prefix]}}}{local}"


def as_pdf(
    document: Document, annotations: Sequence[Annotation], author: str, without: Sequence[int] = ()
) -> bytes:
    """Return the PDF with the annotations added, and its own of ``without`` removed. Raises ParseFailure."""
    found = [annotation for annotation in annotations if not annotation.is_gone]
    pages = [
        HighlightedPage(number, tuple(_mark(annotation, author) for annotation in on_page))
        for number, on_page in groupby(found, key=lambda annotation: annotation.page_number)
    ]
    with local_file(document.file) as path:
        return annotate_file(path, pages, without=without, limits=parse_limits())


def _mark(annotation: Annotation, author: str) -> PdfHighlight:
    rects = tuple(Rect(*rect) for rect in annotation.rects)
    is_underline = annotation.kind == Annotation.Kind.UNDERLINE
    colour = RGB[Annotation.Colour(annotation.colour)]
    strokes = tuple(tuple((x, y) for x, y in stroke) for stroke in annotation.strokes)
    if strokes:
        colour = tuple(0.55 * part for part in colour)  # type: ignore[assignment]  # thin lines need a darker colour
    return PdfHighlight("", rects, annotation.comment, colour, is_underline, author, strokes)


# --- After a document was deleted, or parsed again ---


def mark_deleted(document_id: UUID, **signal: Any) -> None:
    """Receiver of ``document_deleted``: the words of its citations are nowhere else."""
    Citation.objects.filter(document=document_id).update(durability=Citation.Durability.GONE)


def reanchor_parsed_document(document: Document, **signal: Any) -> None:
    """Re-anchor the document's citations and annotations.

    A failure does not fail the document.
    """
    for reanchor in (reanchor_citations, reanchor_annotations):
        try:
            reanchor(document)
        except DatabaseError:
            raise
        except Exception:
            logger.exception("%s of %s failed", reanchor.__name__, document.pk)
