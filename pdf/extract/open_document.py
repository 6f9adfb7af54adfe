"""Open a file that claims to be a PDF, read its metadata, outline and language, and repair its page boxes.

Only the sandboxed readers call this: the file is untrusted.
"""

from __future__ import annotations

import io
from collections.abc import Callable, Iterator
from functools import partial
from typing import NamedTuple
from xml.etree import ElementTree

import pymupdf
from pymupdf import mupdf

from pdf.failures import FailureCode, ParseFailure
from pdf.geometry import Box, PageFrame
from pdf.sandbox.messages import About
from pdf.structure import OutlineEntry
from pdf.tags.elements import readable_tags

_LONGEST = 200_000  # characters of XMP; only packets with thumbnails are longer
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
    """Return ``title``, ``author`` (names joined by ``; ``) and ``doi`` (as written), as far as given.

    Returns {} for malformed XML. Only the sandboxed readers call this: the XML is untrusted.
    """
    if not 0 < len(xml) <= _LONGEST or "<!" in xml:  # XMP needs no DTD, and entities can be an attack
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
    """Yield name and value of each field: an element with one value or a list, or an attribute."""
    for element in root.iter():
        if name := _FIELDS.get(element.tag):
            values = [item.text for item in element.iter(f"{_RDF}li")] or [element.text]
            yield name, "; ".join(value.strip() for value in values if value and value.strip())
        for attribute, value in element.attrib.items():
            if name := _FIELDS.get(attribute):
                yield name, value.strip()


# MuPDF would write thousands of messages about one file to standard error.
pymupdf.TOOLS.mupdf_display_errors(False)
pymupdf.TOOLS.mupdf_display_warnings(False)

_UNSTORABLE = dict.fromkeys([0, *range(0xD800, 0xE000)])
_LONGEST_TITLE = 500
_MOST_ENTRIES = 5000
# A deeper page tree is cyclic.
_DEEPEST_TREE = 30


def open_document(path: str, password: str | None, most_pages: int) -> pymupdf.Document:
    """Open the file as a PDF with at least one page and at most ``most_pages``. Raises ParseFailure.

    Where MuPDF finds no page, the pages that PDFium finds are copied into a new PDF in memory. Page boxes
    and rotations are kept, so that coordinates are those of the file; outline and metadata are lost.
    """
    try:
        return _opened(pymupdf.open, path, password, most_pages)
    except ParseFailure as failure:
        if failure.code not in (FailureCode.DAMAGED, FailureCode.NO_PAGES):
            raise
        copy = _copied_by_pdfium(path, password, most_pages)
        if copy is None:
            raise
        return _opened(partial(pymupdf.open, stream=copy), None, None, most_pages)


def _opened(
    opener: Callable[..., pymupdf.Document], path: str | None, password: str | None, most_pages: int
) -> pymupdf.Document:
    try:
        document = opener(path, filetype="pdf")
    except Exception as error:  # MuPDF raises many kinds
        raise ParseFailure(FailureCode.DAMAGED, detail=repr(error)) from None
    if not document.is_pdf:
        raise ParseFailure(FailureCode.NOT_A_PDF)
    if document.needs_pass and not document.authenticate(password or ""):
        if not _seals_attachments_alone(document):
            raise ParseFailure(FailureCode.PASSWORD_PROTECTED)
        document.is_encrypted = False
        document.init_doc()
    try:
        count = _stated_count(document) or _recounted(document, most_pages)
    except Exception as error:
        raise ParseFailure(FailureCode.DAMAGED, detail=repr(error)) from None
    if count < 1:
        raise ParseFailure(FailureCode.NO_PAGES if _page_tree(document) else FailureCode.DAMAGED)
    if count > most_pages:
        raise ParseFailure(FailureCode.TOO_MANY_PAGES)
    return document


def _copied_by_pdfium(path: str, password: str | None, most_pages: int) -> bytes | None:
    """Return a new PDF with the pages that PDFium finds in the file; None where it finds none.

    Raises ParseFailure where there are more than ``most_pages``.
    """
    import pypdfium2  # imported here because few files need it, and it delays the start of the child process

    try:
        with pypdfium2.PdfDocument(path, password=password) as found, pypdfium2.PdfDocument.new() as copy:
            if len(found) > most_pages:
                raise ParseFailure(FailureCode.TOO_MANY_PAGES)
            copy.import_pages(found)
            written = io.BytesIO()
            copy.save(written)
            return written.getvalue() if len(copy) else None
    except pypdfium2.PdfiumError:
        return None


def _seals_attachments_alone(document: pymupdf.Document) -> bool:
    """Return whether only embedded files are encrypted, not strings and streams (PDF 32000-1, 7.6.5)."""
    encryption = mupdf.pdf_dict_gets(mupdf.pdf_trailer(pymupdf._as_pdf_document(document)), "Encrypt")
    if mupdf.pdf_to_int(mupdf.pdf_dict_gets(encryption, "V")) < 4:
        return False
    filters = (mupdf.pdf_dict_gets(encryption, name) for name in ("StmF", "StrF"))
    return all(mupdf.pdf_is_null(name) or mupdf.pdf_to_name(name) == "Identity" for name in filters)


def _page_tree(document: pymupdf.Document) -> mupdf.PdfObj | None:
    """Return the root of the page tree, or None where the catalog names none."""
    trailer = mupdf.pdf_trailer(pymupdf._as_pdf_document(document))
    root = mupdf.pdf_dict_gets(mupdf.pdf_dict_gets(trailer, "Root"), "Pages")
    return root if mupdf.pdf_is_dict(root) else None


def _stated_count(document: pymupdf.Document) -> int:
    """Return the page tree's own count of pages; 0 where it is unreadable or the first page does not load."""
    try:
        count = int(document.page_count)
        if count:
            document.load_page(0)
        return count
    except Exception:  # MuPDF raises many kinds
        return 0


def _recounted(document: pymupdf.Document, most_pages: int) -> int:
    """Count the leaves of a page tree whose own count is missing or wrong, as poppler and PDFium do.

    The cross-reference table is rebuilt first where it leads to no page tree. Only the open document is
    changed, never its file. Raises MuPDF's exceptions on damaged files.
    """
    if _page_tree(document) is None and not document.is_repaired:
        mupdf.pdf_repair_xref(pymupdf._as_pdf_document(document))
    root = _page_tree(document)
    if root is not None:
        _count_leaves(root, most_pages + 1)
    return int(document.page_count)


def _count_leaves(node: mupdf.PdfObj, most: int, above: tuple[int, ...] = ()) -> int:
    """Set ``Count`` of ``node`` and the nodes below to their pages, and return it; stop at ``most``.

    Kids that refer to a node ``above`` (object numbers) are removed: MuPDF finds no page beside them.
    """
    kids = mupdf.pdf_dict_gets(node, "Kids")
    if not mupdf.pdf_is_array(kids):
        return int(mupdf.pdf_is_dict(node))
    above = (*above, mupdf.pdf_to_num(node))
    for n in reversed(range(mupdf.pdf_array_len(kids))):
        if mupdf.pdf_to_num(mupdf.pdf_array_get(kids, n)) in above:
            mupdf.pdf_array_delete(kids, n)
    found = 0
    for n in range(min(mupdf.pdf_array_len(kids), most) if len(above) <= _DEEPEST_TREE else 0):
        if found >= most:
            break
        found += _count_leaves(mupdf.pdf_array_get(kids, n), most - found, above)
    mupdf.pdf_dict_puts(node, "Count", mupdf.pdf_new_int(found))
    return found


def about(document: pymupdf.Document) -> About:
    """Return metadata, outline, language and flags, without characters that the database rejects."""
    return About(
        _metadata(document),
        _outline(document),
        clean(document.language or "")[:12],
        _is_tagged(document),
        bool(document.needs_pass) and _seals_attachments_alone(document),
    )


def _is_tagged(document: pymupdf.Document) -> bool:
    try:
        return readable_tags(document) is not None
    except Exception:  # MuPDF raises many kinds; a damaged structure tree counts as missing
        return False


def clean(text: str) -> str:
    """Return the text without NUL and lone surrogates."""
    return text.translate(_UNSTORABLE)


def _metadata(document: pymupdf.Document) -> dict[str, str]:
    """Return the document information dictionary, completed by XMP."""
    found = read_xmp(document.get_xml_metadata() or "") | {
        key: value for key, value in (document.metadata or {}).items() if value
    }
    return {key: clean(value)[:2000] for key, value in found.items() if isinstance(value, str) and value}


def _outline(document: pymupdf.Document) -> tuple[OutlineEntry, ...]:
    entries = document.get_toc(simple=True)[:_MOST_ENTRIES]
    return tuple(OutlineEntry(level, clean(title)[:_LONGEST_TITLE], page) for level, title, page in entries)


# --- The boxes of pages ---

# A box with a smaller side (points) is empty.
_EMPTY = 0.01
# A CropBox over a smaller share of the MediaBox crops the page.
_WHOLE = 0.999


def _boxes(page: pymupdf.Page) -> tuple[Box, Box]:
    """Return MediaBox and CropBox like ``page.mediabox`` and ``page.cropbox``, in a fifth of their time."""
    item = pymupdf._as_pdf_page(page).obj()
    media, crop = pymupdf.JM_mediabox(item), pymupdf.JM_cropbox(item)
    return (media.x0, media.y0, media.x1, media.y1), (crop.x0, crop.y0, crop.x1, crop.y1)


def _frame(page: pymupdf.Page, media: Box, crop: Box) -> PageFrame:
    """Return the page's frame, its CropBox clipped to the MediaBox, as viewers do."""
    unit, (left, bottom, right, top) = user_unit(page), media
    # PyMuPDF measures the y of the CropBox downwards from the top of the MediaBox.
    x0, x1 = max(crop[0], left), min(crop[2], right)
    y0, y1 = max(top - crop[3], bottom), min(top - crop[1], top)
    if x1 - x0 < _EMPTY or y1 - y0 < _EMPTY:
        x0, y0, x1, y1 = media
    return PageFrame(
        width=(x1 - x0) * unit,
        height=(y1 - y0) * unit,
        rotation=page.rotation % 360,
        crop_x=x0,
        crop_y=y0,
        user_unit=unit,
    )


class SoundPage(NamedTuple):
    """A page, its frame, and whether its CropBox is smaller than the MediaBox."""

    page: pymupdf.Page
    frame: PageFrame
    cropped: bool


def with_sound_boxes(page: pymupdf.Page) -> SoundPage:
    """Return the page, its CropBox replaced by the MediaBox where the two do not overlap.

    MuPDF reads such a page as an empty letter page, pdf.js falls back to the
    MediaBox. Only the open document is changed, never its file.
    """
    media, crop = _boxes(page)
    frame = _frame(page, media, crop)
    x0, y0, x1, y1 = media
    cropped = frame.width * frame.height <= _WHOLE * (x1 - x0) * (y1 - y0) * frame.user_unit**2
    if _is_shown_as(page, *frame.display_size):
        return SoundPage(page, frame, cropped)
    document, number = page.parent, page.number
    document.xref_set_key(page.xref, "CropBox", "[{} {} {} {}]".format(*media))
    return SoundPage(document[number], frame, cropped)


def _is_shown_as(page: pymupdf.Page, width: float, height: float) -> bool:
    """Return whether MuPDF's page has this size (points); ``page.rect`` is slower, and so is read last."""
    shown = pymupdf.mupdf.fz_bound_page(page.this)
    if abs(shown.x1 - width) < 1 and abs(shown.y1 - height) < 1:
        return True
    return abs(page.rect.x1 - width) < 1 and abs(page.rect.y1 - height) < 1


def user_unit(page: pymupdf.Page) -> float:
    """Return the points per unit of user space; 1.0 where ``UserUnit`` is missing or invalid."""
    if not pymupdf.mupdf.pdf_dict_gets(pymupdf._as_pdf_page(page).obj(), "UserUnit").m_internal:
        return 1.0
    kind, value = page.parent.xref_get_key(page.xref, "UserUnit")
    try:
        unit = float(value) if kind in ("int", "float", "real") else 1.0
    except ValueError:
        return 1.0
    return unit if unit > 0 else 1.0
