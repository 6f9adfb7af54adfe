"""The kinds of files that are accepted. What is no PDF becomes one when it is taken in."""

from __future__ import annotations

import codecs
from dataclasses import dataclass
from enum import StrEnum
from pathlib import PurePath

HEAD = 1024  # bytes that are looked at: '%PDF-' must stand in them (PDF 32000-1, annex H.3.4.1)
UTF16 = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)


class Maker(StrEnum):
    """Who makes the PDF."""

    NOBODY = "nobody"  # it is one
    IMAGE = "image"
    BOOK = "book"  # MuPDF opens it as pages
    TEXT = "text"
    MARKDOWN = "markdown"
    HTML = "html"
    OFFICE = "office"  # LibreOffice, where it is installed


@dataclass(frozen=True, slots=True)
class Format:
    """A kind of file: its name for people, what its names end in, what its bytes begin with.

    ``signatures`` is empty for text, which may begin with anything but has no NUL.
    """

    label: str
    suffixes: tuple[str, ...]
    maker: Maker
    signatures: tuple[bytes, ...] = ()

    def fits(self, head: bytes) -> bool:
        if self.signatures:
            return head.startswith(self.signatures)
        return b"\0" not in head or head.startswith(UTF16)


ZIP = (b"PK\x03\x04",)
PDF = Format("PDF", (".pdf",), Maker.NOBODY, (b"%PDF-",))
OTHERS = (
    Format("PNG", (".png",), Maker.IMAGE, (b"\x89PNG\r\n\x1a\n",)),
    Format("JPEG", (".jpg", ".jpeg"), Maker.IMAGE, (b"\xff\xd8\xff",)),
    Format("TIFF", (".tif", ".tiff"), Maker.IMAGE, (b"II*\0", b"MM\0*")),
    Format("GIF", (".gif",), Maker.IMAGE, (b"GIF87a", b"GIF89a")),
    Format("BMP", (".bmp",), Maker.IMAGE, (b"BM",)),
    Format("EPUB", (".epub",), Maker.BOOK, ZIP),
    Format("XPS", (".xps", ".oxps"), Maker.BOOK, ZIP),
    Format("Text", (".txt", ".text"), Maker.TEXT),
    Format("Markdown", (".md", ".markdown"), Maker.MARKDOWN),
    Format("HTML", (".html", ".htm", ".xhtml"), Maker.HTML),
    Format("Word", (".docx",), Maker.OFFICE, ZIP),
    Format("PowerPoint", (".pptx",), Maker.OFFICE, ZIP),
    Format("Excel", (".xlsx",), Maker.OFFICE, ZIP),
    Format("OpenDocument", (".odt", ".odp", ".ods"), Maker.OFFICE, ZIP),
)


def recognise(name: str, head: bytes) -> Format | None:
    """The kind of a file by its name and its first ``HEAD`` bytes; a PDF is one whatever its name."""
    if PDF.signatures[0] in head:
        return PDF
    named = named_as(name)
    return named if named and named.fits(head) else None


def named_as(name: str) -> Format | None:
    """The kind that a file name claims, PDF left out."""
    suffix = PurePath(name).suffix.lower()
    return next((format for format in OTHERS if suffix in format.suffixes), None)


def accepted(with_office: bool) -> tuple[Format, ...]:
    """What can be uploaded here."""
    return (PDF, *(format for format in OTHERS if with_office or format.maker != Maker.OFFICE))
