"""Failure codes and their messages, and the check of a PDF's header."""

from __future__ import annotations

import re
from enum import StrEnum
from pathlib import Path


class FailureCode(StrEnum):
    """A failure code; ``label`` is its message for users, at most 200 characters."""

    label: str

    def __new__(cls, value: str, label: str) -> FailureCode:
        member = str.__new__(cls, value)
        member._value_ = value
        member.label = label
        return member

    NOT_A_PDF = "not_a_pdf", "This file is not a PDF. Upload the PDF itself, or export it as PDF first."
    DAMAGED = "damaged", "This PDF is damaged and cannot be read. Download it again, or save a new copy."
    NO_PAGES = "no_pages", "This PDF has no pages."
    PASSWORD_PROTECTED = (
        "password_protected",
        "This PDF needs a password. Enter it, or upload a copy without one.",
    )
    NO_TEXT = "no_text", "No text could be found or recognised in this PDF."
    TOO_LARGE = "too_large", "This file is larger than this server accepts."
    TOO_MANY_PAGES = "too_many_pages", "This PDF has more pages than this server accepts. Split it first."
    TOOK_TOO_LONG = "took_too_long", "Reading this PDF took too long. It may be damaged or very complex."
    TOO_MUCH_MEMORY = "too_much_memory", "Reading this PDF took too much memory. It may be damaged."
    EMBEDDING_FAILED = (
        "embedding_failed",
        "The text was read, but the embedding service did not answer. Try again in a few minutes.",
    )
    INTERNAL = "internal", "Something went wrong on the server while reading this PDF. Try again."


class ParseFailure(Exception):
    """The document cannot be parsed. ``message`` is for users, ``detail`` for the log only."""

    def __init__(self, code: FailureCode, message: str = "", detail: str = "") -> None:
        self.code = code
        self.message = message or code.label
        self.detail = detail
        super().__init__(self.message)


PROCESSOR_SECONDS = "{:g} seconds of processor time"
MEGABYTES = "{} MB of memory"
_MORE = {
    FailureCode.TOOK_TOO_LONG: "Reading this {} took more than {}. It may be damaged or very complex.",
    FailureCode.TOO_MUCH_MEMORY: "Reading this {} took more than {}. It may be damaged.",
}
PAGE_FAILURES = {
    FailureCode.TOOK_TOO_LONG: "Reading this page took too long.",
    FailureCode.TOO_MUCH_MEMORY: "Reading this page took too much memory.",
    FailureCode.TOO_LARGE: "This page holds more words than this server accepts.",
    FailureCode.INTERNAL: "The layout of this page could not be determined.",
}
# A page that keeps its words, but has no tables, columns and paragraphs.
PLAIN_LINES = "The layout of this page could not be determined. Its text is stored line by line."


RECOGNITION_FAILURES = {
    FailureCode.TOOK_TOO_LONG: "Recognising the text of this page took too long.",
    FailureCode.TOO_MUCH_MEMORY: "Recognising the text of this page took too much memory.",
    FailureCode.INTERNAL: "Recognising the text of this page was interrupted each time.",
}


def file_failure(code: FailureCode, limit: str = "") -> str:
    """Return the message for a file. ``limit`` names the limit that was exceeded, if any."""
    return _MORE[code].format("PDF", limit) if limit and code in _MORE else code.label


def page_failure(code: FailureCode, limit: str = "") -> str:
    """Return the message for a page. ``limit`` names the limit that was exceeded, if any."""
    if limit and code in _MORE:
        return _MORE[code].format("page", limit)
    return PAGE_FAILURES.get(code, "This page is damaged and cannot be read.")


def recognition_failure(code: FailureCode) -> str:
    """Return the message for a page whose OCR failed."""
    return RECOGNITION_FAILURES.get(code, "The text in the image of this page could not be recognised.")


# ISO 32000-1, annex H (implementation note 13): the header may be anywhere in the first 1,024 bytes.
HEADER_WINDOW = 1024
_OBJECT = re.compile(rb"(?:^|[\x00\s])\d+ 0 obj\b")


def begins_as_pdf(head: bytes) -> bool:
    """Return whether the first ``HEADER_WINDOW`` bytes are a PDF's, even with a damaged header."""
    return b"%PDF-" in head or bool(_OBJECT.search(head))


def check_header(path: Path) -> None:
    """Raise ParseFailure unless the file begins as a PDF: MuPDF may open other formats and crash."""
    try:
        with path.open("rb") as stream:
            head = stream.read(HEADER_WINDOW)
    except OSError as error:
        raise ParseFailure(FailureCode.INTERNAL, "This file cannot be opened.", str(error)) from None
    if not begins_as_pdf(head):
        raise ParseFailure(FailureCode.NOT_A_PDF)
