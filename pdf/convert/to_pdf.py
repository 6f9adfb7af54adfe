"""Convert images, e-books, text, Markdown and HTML to PDF. For the confined readers only.

Files are opened from bytes, not by path, so that they cannot refer to other
files of this machine. HTML is sanitised and rendered without images and scripts.
"""

from __future__ import annotations

import codecs
import io
from html import escape
from pathlib import Path

import nh3
import pymupdf
from markdown_it import MarkdownIt

from pdf.convert.depth_limits import check_archive, check_depth, check_size
from pdf.convert.pdf_writer import A4, MARGIN
from pdf.failures import FailureCode, ParseFailure
from pdf.sandbox.messages import ConvertRequest

BOOK_PAGE, BOOK_SIZE = (420.0, 595.0), 11.0  # A5, and the font size in points, for reflowable books
STYLE = """
body { font-family: sans-serif; font-size: 10.5pt; line-height: 1.4; }
h1 { font-size: 20pt; } h2 { font-size: 15pt; } h3 { font-size: 12.5pt; } h4, h5, h6 { font-size: 10.5pt; }
p, ul, ol, table, pre { margin-top: 0; margin-bottom: 7pt; }
pre, code { font-family: monospace; font-size: 9pt; } pre, .lines { white-space: pre-wrap; }
td, th { padding: 2pt 6pt; border: 0.5pt solid #999; } th { text-align: left; }
"""
UNREAD = {"script", "style", "title", "template", "noscript"}
TAGS = nh3.ALLOWED_TAGS - {"img", "map", "area", "wbr"}


def convert(request: ConvertRequest) -> bytes:
    """Return the PDF. Raises ParseFailure."""
    content = Path(request.path).read_bytes()
    try:
        made = _made(request, content)
    except (ParseFailure, MemoryError):
        raise
    except Exception as error:  # MuPDF raises many types
        raise ParseFailure(FailureCode.DAMAGED, detail=repr(error)) from None
    if not made.page_count:
        raise ParseFailure(FailureCode.NO_PAGES)
    made.subset_fonts()
    return bytes(made.tobytes(garbage=3, deflate=True))


def _made(request: ConvertRequest, content: bytes) -> pymupdf.Document:
    if request.maker == "image":
        return _of_images(content, request.filetype, request.limits.pages)
    if request.maker == "book":
        check_archive(content)
        return _of_book(content, request.filetype, request.limits.pages)
    check_size(content)
    text = decoded(content)
    make = {"text": _html_of_text, "markdown": _html_of_markdown, "html": _html_of_html}[request.maker]
    return _of_html(make(text), request.limits.pages)


def decoded(content: bytes) -> str:
    """Decode by byte order mark, else as UTF-8, else as Windows-1252."""
    if content.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return content.decode("utf-16", "replace")
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError:
        return content.decode("cp1252", "replace")


def _of_images(content: bytes, filetype: str, most_pages: int) -> pymupdf.Document:
    """Return one page per image, at most A4: the declared resolution of images is unreliable."""
    pictures = _opened(content, filetype, most_pages)
    drawn = pymupdf.open("pdf", pictures.convert_to_pdf())
    made = pymupdf.open()
    for index in range(drawn.page_count):
        width, height = drawn[index].rect.width, drawn[index].rect.height
        scale = min(1.0, A4[1] / max(width, height), A4[0] / min(width, height))
        page = made.new_page(width=width * scale, height=height * scale)
        page.show_pdf_page(page.rect, drawn, index)
    return made


def _of_book(content: bytes, filetype: str, most_pages: int) -> pymupdf.Document:
    book = _opened(content, filetype, most_pages)
    made = pymupdf.open("pdf", book.convert_to_pdf())
    made.set_toc([entry for entry in book.get_toc() if entry[2] > 0])
    title = (book.metadata or {}).get("title") or ""
    made.set_metadata({"title": title, "author": (book.metadata or {}).get("author") or ""})
    return made


def _opened(content: bytes, filetype: str, most_pages: int) -> pymupdf.Document:
    document = pymupdf.open(stream=content, filetype=filetype)
    if document.is_reflowable:
        document.layout(width=BOOK_PAGE[0], height=BOOK_PAGE[1], fontsize=BOOK_SIZE)
    if document.page_count > most_pages:
        raise ParseFailure(FailureCode.TOO_MANY_PAGES)
    return document


def _html_of_text(text: str) -> str:
    """Return a paragraph for each block between empty lines, with its line breaks."""
    paragraphs = "\n".join(line.rstrip() for line in text.splitlines()).split("\n\n")
    return "".join(
        f'<p class="lines">{escape(part.strip(chr(10)))}</p>' for part in paragraphs if part.strip()
    )


def _html_of_markdown(text: str) -> str:
    markdown = MarkdownIt("commonmark", {"html": False}).enable(["table", "strikethrough"])
    return _html_of_html(markdown.render(text))


def _html_of_html(text: str) -> str:
    check_depth(text.encode())
    return nh3.clean(text, tags=TAGS, clean_content_tags=UNREAD, attributes={}, url_schemes=set())


def _of_html(html: str, most_pages: int) -> pymupdf.Document:
    """Render HTML to A4 pages; no external resource is loaded."""
    sheet = pymupdf.Rect(0, 0, *A4)
    inside = pymupdf.Rect(MARGIN, MARGIN, A4[0] - MARGIN, A4[1] - MARGIN)
    story, out = pymupdf.Story(html=html, user_css=STYLE), io.BytesIO()
    writer = pymupdf.DocumentWriter(out)
    for _ in range(most_pages):
        device = writer.begin_page(sheet)
        more, _filled = story.place(inside)
        story.draw(device)
        writer.end_page()
        if not more:
            break
    else:
        raise ParseFailure(FailureCode.TOO_MANY_PAGES)
    writer.close()
    return pymupdf.open("pdf", out.getvalue())
