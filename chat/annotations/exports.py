"""A person's annotations of a document: Markdown, its PDF, RDF for Zotero, JSON for Hypothesis."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from html import escape
from itertools import groupby
from typing import Any
from xml.etree import ElementTree as ET

from django.utils import timezone

from chat.annotations.annotation_commands import RGB
from chat.citations.deep_links import reader_query
from chat.exports.markdown import escaped, one_line
from chat.models import Annotation
from documents.ingestion.parser import local_file, parse_limits
from documents.models import Document
from pdf.api import annotate_file, annotations_in
from pdf.geometry import Rect
from pdf.sandbox.messages import Highlight, HighlightedPage

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
    """A heading for each page, a quotation with a link for each annotation, its comment below.

    ``address`` opens the document.
    """
    parts = [f"# {escaped(one_line(document.title))}"]
    for number, on_page in groupby(annotations, key=lambda annotation: annotation.page_number):
        parts.append(f"## Page {number}")
        for annotation in on_page:
            gone = " *(no longer in the document)*" if annotation.is_gone else ""
            link = f"[p. {number}]({_opening(address, annotation)})"
            parts.append(f"> {escaped(one_line(annotation.quote)) or '*(drawing)*'} {link}{gone}")
            parts += [escaped(one_line(line)) for line in annotation.comment.splitlines() if line.strip()]
    return "\n\n".join(parts) + "\n"


def _opening(address: str, annotation: Annotation) -> str:
    return f"{address}?{reader_query(annotation.page_number, annotation.quote)}"


def as_hypothesis(document: Document, annotations: Sequence[Annotation], author: str) -> dict[str, Any]:
    """The annotations as Hypothesis' client exports and imports them. Raises ParseFailure."""
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
    """An item with a note that holds the annotations, in Zotero's RDF. ``address`` opens the document."""
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
    """HTML, as Zotero keeps notes."""
    lines = [f"<h1>{escape(document.title)}</h1>"]
    for annotation in annotations:
        comment = f"<br>{escape(annotation.comment)}" if annotation.comment else ""
        quote = escape(one_line(annotation.quote)) or "(drawing)"
        place = f'<a href="{escape(_opening(address, annotation))}">p. {annotation.page_number}</a>'
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
    """The document's PDF with the annotations in it, less its own ``without``. Raises ParseFailure."""
    found = [annotation for annotation in annotations if not annotation.is_gone]
    pages = [
        HighlightedPage(number, tuple(_mark(annotation, author) for annotation in on_page))
        for number, on_page in groupby(found, key=lambda annotation: annotation.page_number)
    ]
    with local_file(document.file) as path:
        return annotate_file(path, pages, without=without, limits=parse_limits())


def _mark(annotation: Annotation, author: str) -> Highlight:
    rects = tuple(Rect(*rect) for rect in annotation.rects)
    is_underline = annotation.kind == Annotation.Kind.UNDERLINE
    colour = RGB[Annotation.Colour(annotation.colour)]
    strokes = tuple(tuple((x, y) for x, y in stroke) for stroke in annotation.strokes)
    if strokes:
        colour = tuple(0.55 * part for part in colour)  # type: ignore[assignment]  # thin lines want more ink
    return Highlight("", rects, annotation.comment, colour, is_underline, author, strokes)
