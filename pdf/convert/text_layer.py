"""Lays recognised words under their page as text that is not painted: it can be selected and found."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import pymupdf

from pdf.geometry import PageFrame
from pdf.structure import ParsedPage, Word

# A word's box is so much higher than its type size.
_BOX_OVER_SIZE = 1.2
# pymupdf.PDF_ENCRYPT_KEEP, which its types leave out.
_KEEP_ENCRYPTION = 0
# Of the PDF standard's 14 fonts, and the one PyMuPDF offers for everything else; neither is embedded.
_LATIN, _OTHER = "helv", "china-s"


def with_text_layer(document: pymupdf.Document, pages: Iterable[ParsedPage]) -> bytes:
    """The document with the words of its recognised pages laid under them."""
    for page in pages:
        if page.ocr and page.words:
            _lay(document[page.number - 1], page)
    return document.tobytes(deflate=True, encryption=_KEEP_ENCRYPTION)


def _lay(page: pymupdf.Page, parsed: ParsedPage) -> None:
    """Writes in PDF user space, which needs no thought of rotation or crop."""
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
    """The operators that show one word stretched to its box. Text runs as the displayed page is read."""
    name = _LATIN if _is_latin(text) else _OTHER
    encoded = text.encode("cp1252") if name == _LATIN else text.encode("utf-16-be")
    box = frame.to_user_space(word.rect)
    along, across = (box.width, box.height) if frame.rotation in (0, 180) else (box.height, box.width)
    size, natural = across / _BOX_OVER_SIZE, fonts[name].text_length(text, 1)
    if size <= 0 or natural <= 0:
        return ""
    stretch = 100 * along / (natural * size)
    a, b, x, y = _placement(frame.rotation, box, 0.2 * across)
    # A space after each word: viewers join what stands on one line.
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
    """Cosine and sine of the writing direction in user space, and where the baseline begins."""
    x0, y0, x1, y1 = box
    if rotation == 90:
        return 0, 1, x1 - descent, y0
    if rotation == 180:
        return -1, 0, x1, y1 - descent
    if rotation == 270:
        return 0, -1, x0 + descent, y1
    return 1, 0, x0, y0 + descent
