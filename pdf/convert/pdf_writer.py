"""Write annotations and text layers into PDFs, read annotations, and render pages as pictures.

For the confined readers only.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

import pymupdf

from pdf.extract.open_document import open_document
from pdf.geometry import PageFrame, Rect
from pdf.sandbox.messages import (
    AnnotateRequest,
    EvidenceRequest,
    HeldAnnotation,
    HeldAnnotations,
    HeldRequest,
    HighlightedFile,
    HighlightedPage,
    PdfHighlight,
)
from pdf.structure import ParsedPage, Word

A4 = (595.0, 842.0)
MARGIN = 54.0  # points
LABEL_SIZE = 8.0  # points; the citation number before the words
INK_WIDTH = 2.0  # points
MOST_HELD = 10_000
KINDS = {
    "Highlight": "highlight",
    "Underline": "underline",
    "Squiggly": "underline",
    "StrikeOut": "underline",
    "Ink": "ink",
    "Text": "note",
}
STYLE = """
body { font-family: sans-serif; font-size: 10.5pt; line-height: 1.35; }
h1 { font-size: 16pt; } h4 { font-size: 11pt; margin-bottom: 2pt; }
sup { font-size: 7pt; } .sources { font-size: 9pt; } td, th { padding: 2pt 6pt; }
"""


def annotated_pdf(request: EvidenceRequest) -> bytes:
    """Return a PDF of the HTML and the cited pages. Raises ParseFailure when a file cannot be opened."""
    bound = _from_html(request.html)
    contents = [[1, "Answer", 1]]
    for file in request.files:
        contents += _append(bound, file, request.limits.pages)
    bound.set_toc(contents)
    return bytes(bound.tobytes(garbage=3, deflate=True))


def with_annotations(request: AnnotateRequest) -> bytes:
    """Return the file with the marks added as annotations. Raises ParseFailure."""
    document = open_document(request.path, None, request.limits.pages)
    if request.without:
        _remove(document, set(request.without))
    for marked in request.pages:
        if 1 <= marked.number <= document.page_count:
            _annotate(document[marked.number - 1], marked)
    return bytes(document.tobytes(garbage=1, deflate=True))


def held_annotations(request: HeldRequest) -> HeldAnnotations:
    """Return the file's highlights, underlines, drawings and notes. Raises ParseFailure."""
    document = open_document(request.path, None, request.limits.pages)
    _, identity = document.xref_get_key(-1, "ID")
    found = [held for page in document.pages() if page.first_annot for held in _held(page)]
    return HeldAnnotations(_fingerprint(identity), tuple(found[:MOST_HELD]))


_IDENTITY = re.compile(r"\[\s*(?:<(?P<hex>[0-9A-Fa-f]{32})>|\((?P<text>(?:\\.|[^\\)])*)\))", re.DOTALL)
_ESCAPED = re.compile(r"\\([0-7]{3}|.)", re.DOTALL)
_CONTROLS = {"n": "\n", "r": "\r", "t": "\t", "b": "\b", "f": "\f"}


def _fingerprint(identity: str) -> str:
    """Return the first of a file's two IDs in hex, which MuPDF prints as text where it can; '' without."""
    found = _IDENTITY.match(identity)
    if found is None or found["hex"]:
        return found["hex"].lower() if found else ""
    plain = _ESCAPED.sub(
        lambda m: chr(int(m[1], 8)) if m[1].isdigit() else _CONTROLS.get(m[1], m[1]), found["text"]
    )
    return plain.encode("latin-1", "replace").hex() if len(plain) == 16 else ""


def _held(page: pymupdf.Page) -> Iterator[HeldAnnotation]:
    page.set_rotation(0)
    for annotation in page.annots():
        kind = KINDS.get(annotation.type[1])
        if kind is None:
            continue
        points, colour = annotation.vertices or [], annotation.colors["stroke"] or ()
        is_ink, quads = kind == "ink", [points[at : at + 4] for at in range(0, len(points), 4)]
        rects = [pymupdf.Quad(quad).rect for quad in quads if len(quad) == 4 and not is_ink]
        yield HeldAnnotation(
            page=page.number + 1,
            xref=annotation.xref,
            kind=kind,  # type: ignore[arg-type]
            rects=tuple(Rect(*rect) for rect in rects or [annotation.rect]),
            strokes=tuple(tuple((x, y) for x, y in stroke) for stroke in points) if is_ink else (),
            colour=tuple(colour) if len(colour) == 3 else None,
            note=annotation.info["content"],
        )


def _remove(document: pymupdf.Document, xrefs: set[int]) -> None:
    for page in document.pages():
        for annotation in list(page.annots()) if page.first_annot else []:
            if annotation.xref in xrefs:
                page.delete_annot(annotation)


def _from_html(html: str) -> pymupdf.Document:
    """Render HTML to A4 pages."""
    page = pymupdf.Rect(0, 0, *A4)
    inside = pymupdf.Rect(MARGIN, MARGIN, A4[0] - MARGIN, A4[1] - MARGIN)
    story = pymupdf.Story(html=html, user_css=STYLE)
    return story.write_with_links(lambda number, filled: (page, inside, None))


def _append(bound: pymupdf.Document, file: HighlightedFile, most_pages: int) -> list[list[object]]:
    """Copy the marked pages, without links, forms and other annotations. Return their outline entries."""
    source = open_document(file.path, None, most_pages)
    entries: list[list[object]] = []
    for marked in file.pages:
        if not 1 <= marked.number <= source.page_count:
            continue
        index = marked.number - 1
        bound.insert_pdf(source, from_page=index, to_page=index, links=False, annots=False, widgets=False)
        _annotate(bound[-1], marked)
        entries.append([1, f"{file.title}, p. {marked.number}", bound.page_count])
    return entries


def _annotate(page: pymupdf.Page, marked: HighlightedPage) -> None:
    """Add the marks with the page's rotation removed, i.e. in page space."""
    rotation = page.rotation
    page.set_rotation(0)
    for mark in marked.marks:
        _highlight(page, mark)
    page.set_rotation(rotation)


def _highlight(page: pymupdf.Page, mark: PdfHighlight) -> None:
    if not mark.rects:
        return
    if mark.strokes:
        annotation = page.add_ink_annot([list(stroke) for stroke in mark.strokes])
        annotation.set_border(width=INK_WIDTH)
    else:
        add = page.add_underline_annot if mark.underline else page.add_highlight_annot
        annotation = add(quads=[pymupdf.Rect(*rect).quad for rect in mark.rects])
    annotation.set_colors(stroke=mark.colour)
    annotation.set_info(title=mark.author or f"[{mark.label}]", content=mark.note)
    annotation.update()
    if mark.label:
        _label(page, mark.rects[0], mark.label)


def _label(page: pymupdf.Page, beside: Rect, label: str) -> None:
    """Print the citation's number before its words."""
    width = LABEL_SIZE * (0.6 * len(label) + 0.6)
    x = max(0.0, beside.x0 - width - 1)
    box = pymupdf.Rect(x, beside.y0 - LABEL_SIZE / 2, x + width, beside.y0 + LABEL_SIZE * 0.9)
    note = page.add_freetext_annot(box, label, fontsize=LABEL_SIZE - 1, text_color=(0.55, 0.3, 0))
    note.set_info(title=f"[{label}]")
    note.update()


# --- Text layers: recognised words as invisible text, which can be selected and searched ---

# Height of a word's box / its font size.
_BOX_OVER_SIZE = 1.2
# pymupdf.PDF_ENCRYPT_KEEP, which is missing in its types.
_KEEP_ENCRYPTION = 0
# One of the PDF standard's 14 fonts, and PyMuPDF's for all other scripts; neither is embedded.
_LATIN, _OTHER = "helv", "china-s"


def with_text_layer(document: pymupdf.Document, pages: Iterable[ParsedPage]) -> bytes:
    """Return the document with a text layer on its recognised pages."""
    for page in pages:
        if page.ocr and page.words:
            _lay(document[page.number - 1], page)
    return document.tobytes(deflate=True, encryption=_KEEP_ENCRYPTION)


def _lay(page: pymupdf.Page, parsed: ParsedPage) -> None:
    """Add the text layer in PDF user space, which is independent of rotation and crop."""
    fonts = {name: pymupdf.Font(name) for name in (_LATIN, _OTHER)}
    lines = [
        _show(parsed.text[word.char_start : word.char_end], word, parsed.frame, fonts)
        for word in parsed.words
    ]
    for name in fonts:
        page.insert_font(fontname=name)
    page.wrap_contents()
    content = "q BT 3 Tr\n" + "\n".join(line for line in lines if line) + "\nET Q\n"
    document = page.parent
    layer = document.get_new_xref()
    document.update_object(layer, "<<>>")
    document.update_stream(layer, content.encode("ascii"))
    streams = " ".join(f"{xref} 0 R" for xref in (*page.get_contents(), layer))
    document.xref_set_key(page.xref, "Contents", f"[{streams}]")


def _show(text: str, word: Word, frame: PageFrame, fonts: dict[str, pymupdf.Font]) -> str:
    """Return the PDF operators for one word, stretched to its box, in the reading direction as displayed."""
    name = _LATIN if _is_latin(text) else _OTHER
    encoded = text.encode("cp1252") if name == _LATIN else text.encode("utf-16-be")
    box = frame.to_user_space(word.rect)
    along, across = (box.width, box.height) if frame.rotation in (0, 180) else (box.height, box.width)
    size, natural = across / _BOX_OVER_SIZE, fonts[name].text_length(text, 1)
    if size <= 0 or natural <= 0:
        return ""
    stretch = 100 * along / (natural * size)
    a, b, x, y = _placement(frame.rotation, box, 0.2 * across)
    # A space after each word: viewers join the words of a line.
    space = "<20>" if name == _LATIN else "<0020>"
    return (
        f"/{name} {size:.2f} Tf {stretch:.2f} Tz {a} {b} {-b} {a} {x:.2f} {y:.2f} Tm "
        f"<{encoded.hex()}> Tj {space} Tj"
    )


def _is_latin(text: str) -> bool:
    try:
        text.encode("cp1252")
    except UnicodeEncodeError:
        return False
    return True


def _placement(rotation: int, box: Sequence[float], descent: float) -> tuple[int, int, float, float]:
    """Return cosine and sine of the writing direction in user space, and the start of the baseline."""
    x0, y0, x1, y1 = box
    if rotation == 90:
        return 0, 1, x1 - descent, y0
    if rotation == 180:
        return -1, 0, x1, y1 - descent
    if rotation == 270:
        return 0, -1, x0 + descent, y1
    return 1, 0, x0, y0 + descent


_MOST_PIXELS = 25e6


def plain_picture(page: pymupdf.Page, dpi: int) -> bytes:
    """Return a PNG of the page as displayed, with at most ``_MOST_PIXELS`` pixels."""
    area = max(1.0, page.rect.width * page.rect.height)
    scale = min(dpi / 72, (_MOST_PIXELS / area) ** 0.5)
    picture = page.get_pixmap(matrix=pymupdf.Matrix(scale, scale), alpha=False)
    return bytes(picture.tobytes("png"))
