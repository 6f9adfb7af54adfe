"""Write annotations and text layers into PDFs, read annotations, and render pages as pictures.

For the confined readers only.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence

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
from pdf.structure import Layer, ParsedPage, Word

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
    fingerprint = re.match(r"\[\s*<([0-9A-Fa-f]{32})>", identity)
    found = [held for page in document.pages() if page.first_annot for held in _held(page)]
    return HeldAnnotations(fingerprint[1].lower() if fingerprint else "", tuple(found[:MOST_HELD]))


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


Color = tuple[float, float, float]
# Longest side of the picture in pixels.
_LONGEST_SIDE = 1600.0
_MOST_PIXELS = 25e6
_GREY, _GREEN, _ORANGE, _VIOLET, _RED = (
    (0.6, 0.6, 0.6),
    (0, 0.6, 0.2),
    (1, 0.5, 0),
    (0.6, 0, 0.8),
    (0.85, 0, 0.1),
)
_UNIT_COLORS: dict[str, Color] = {
    "prose": (0.1, 0.3, 0.9),
    "heading": (0.85, 0, 0.1),
    "list": (0, 0.5, 0.6),
    "table": (0.1, 0.6, 0.1),
    "caption": (0.7, 0.4, 0),
    "footnote": (0.5, 0.5, 0),
    "code": (0.3, 0.3, 0.3),
    "formula": (0.8, 0, 0.6),
}


def page_picture(page: pymupdf.Page, parsed: ParsedPage, layers: Iterable[Layer]) -> bytes:
    """Return a PNG of the page as displayed, with the layers drawn over it."""
    canvas = _Canvas(page, parsed)
    for layer in layers:
        _LAYERS[layer](canvas, parsed)
    return canvas.png()


def plain_picture(page: pymupdf.Page, dpi: int) -> bytes:
    """Return a PNG of the page as displayed, with at most ``_MOST_PIXELS`` pixels."""
    area = max(1.0, page.rect.width * page.rect.height)
    scale = min(dpi / 72, (_MOST_PIXELS / area) ** 0.5)
    picture = page.get_pixmap(matrix=pymupdf.Matrix(scale, scale), alpha=False)
    return bytes(picture.tobytes("png"))


class _Canvas:
    """A rendered page to draw on; its methods take rectangles in page space."""

    def __init__(self, page: pymupdf.Page, parsed: ParsedPage) -> None:
        self._frame = parsed.frame
        self._width, self._height = parsed.frame.display_size
        self._scale = _LONGEST_SIDE / max(self._width, self._height)
        rendered = page.get_pixmap(matrix=pymupdf.Matrix(self._scale, self._scale), alpha=False)
        self._page = pymupdf.open().new_page(width=self._width, height=self._height)
        self._page.insert_image(self._page.rect, pixmap=rendered, keep_proportion=False)
        self._shape = self._page.new_shape()

    def box(self, rect: Rect, color: Color, width: float = 0.6, fill: float = 0.0) -> None:
        """Draw a rectangle; ``width`` of the border in points, ``fill``: opacity inside."""
        self._shape.draw_rect(self._displayed(rect))
        self._shape.finish(
            color=color if width else None, fill=color if fill else None, fill_opacity=fill, width=width
        )

    def label(self, rect: Rect, text: str, color: Color) -> None:
        """Write small text above the rectangle's top left corner."""
        corner = self._displayed(rect).tl + pymupdf.Point(0, -1)
        self._shape.insert_text(corner, text, fontsize=5, color=color)

    def path(self, points: Sequence[tuple[float, float]], color: Color) -> None:
        displayed = [self._displayed(Rect(x, y, x, y)).tl for x, y in points]
        if len(displayed) > 1:
            self._shape.draw_polyline(displayed)
            self._shape.finish(color=color, width=0.8, closePath=False, stroke_opacity=0.7)
        for point in displayed:
            self._shape.draw_circle(point, 1.5)
            self._shape.finish(color=None, fill=color)

    def png(self) -> bytes:
        self._shape.commit()
        return bytes(self._page.get_pixmap(matrix=pymupdf.Matrix(self._scale, self._scale)).tobytes("png"))

    def _displayed(self, rect: Rect) -> pymupdf.Rect:
        x0, y0, x1, y1 = self._frame.to_display(rect)
        return pymupdf.Rect(x0 * self._width, y0 * self._height, x1 * self._width, y1 * self._height)


def _words(canvas: _Canvas, page: ParsedPage) -> None:
    for word in page.words:
        canvas.box(word.rect, _GREY, 0.3)


def _lines(canvas: _Canvas, page: ParsedPage) -> None:
    for unit in page.units:
        for rect in unit.rects:
            canvas.box(rect, _GREEN, 0, fill=0.12)


def _units(canvas: _Canvas, page: ParsedPage) -> None:
    for unit in page.units:
        color = _UNIT_COLORS[unit.type]
        canvas.box(unit.bbox, color, 0.9)
        level = "" if unit.level is None else f" {unit.level}"
        canvas.label(unit.bbox, f"{unit.index} {unit.type}{level}", color)


def _tables(canvas: _Canvas, page: ParsedPage) -> None:
    for unit in page.units:
        for cell in unit.table.cells if unit.table else ():
            if cell.rect:
                canvas.box(cell.rect, _UNIT_COLORS["table"], 0.5, fill=0.25 if cell.header else 0.08)


def _furniture(canvas: _Canvas, page: ParsedPage) -> None:
    for piece in page.furniture:
        for rect in piece.rects:
            canvas.box(rect, _ORANGE, 0.6, fill=0.2)


def _figures(canvas: _Canvas, page: ParsedPage) -> None:
    for figure in page.figures:
        canvas.box(figure.rect, _VIOLET, 1.2)
        canvas.label(figure.rect, f"figure {figure.caption[:60]}", _VIOLET)


def _order(canvas: _Canvas, page: ParsedPage) -> None:
    canvas.path([unit.bbox.center for unit in page.units], _RED)


_LAYERS: dict[Layer, Callable[[_Canvas, ParsedPage], None]] = {
    "words": _words,
    "lines": _lines,
    "units": _units,
    "tables": _tables,
    "furniture": _furniture,
    "figures": _figures,
    "order": _order,
}
