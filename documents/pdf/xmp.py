"""XMP, the metadata that a PDF carries as XML (ISO 16684-1): the few fields that name a work."""

from __future__ import annotations

from collections.abc import Iterator
from xml.etree import ElementTree

_LONGEST = 200_000  # characters; thumbnails make it longer, and nothing else does
_RDF = "{http://www.w3.org/1999/02/22-rdf-syntax-ns#}"
_DC = "{http://purl.org/dc/elements/1.1/}"
_PRISM = "{http://prismstandard.org/namespaces/basic/%s/}doi"
_FIELDS = {
    f"{_DC}title": "title",
    f"{_DC}creator": "author",
    f"{_DC}identifier": "doi",
    **{_PRISM % version: "doi" for version in ("1.2", "2.0", "2.1", "3.0")},
    "{http://ns.adobe.com/pdfx/1.3/}doi": "doi",
    "{http://www.crossref.org/crossmark/1.0/}DOI": "doi",
}


def read_xmp(xml: str) -> dict[str, str]:
    """``title``, ``author`` (names joined by ``; ``) and ``doi`` (as written) where they are given.

    {} for what is no XML. For the confined readers only: the XML is the document's.
    """
    if not 0 < len(xml) <= _LONGEST or "<!" in xml:  # a packet has no use for a DTD, nor for its entities
        return {}
    try:
        root = ElementTree.fromstring(xml.strip().removeprefix("\ufeff"))
    except ElementTree.ParseError:
        return {}
    found: dict[str, str] = {}
    for name, text in _fields(root):
        if text and (name != "doi" or "10." in text):
            found.setdefault(name, text)
    return found


def _fields(root: ElementTree.Element) -> Iterator[tuple[str, str]]:
    """A field is an element, of one value or a list, or an attribute of its description."""
    for element in root.iter():
        if name := _FIELDS.get(element.tag):
            values = [item.text for item in element.iter(f"{_RDF}li")] or [element.text]
            yield name, "; ".join(value.strip() for value in values if value and value.strip())
        for attribute, value in element.attrib.items():
            if name := _FIELDS.get(attribute):
                yield name, value.strip()
