"""Accept an upload: recognise its format, scan it for viruses, store it, queue it."""

from __future__ import annotations

import codecs
import hashlib
import logging
import re
import shutil
import socket
import struct
import unicodedata
from contextlib import closing
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path, PurePath
from typing import TYPE_CHECKING

from django.conf import settings
from django.core.files.base import File
from django.db import IntegrityError, transaction
from django.db.models import Q

from documents.failures import shortage
from documents.files.url_fetch import HEAD, file_name, parsed
from documents.ingestion.queue import enqueue
from documents.models import Document
from pdf.failures import FailureCode, begins_as_pdf

if TYPE_CHECKING:
    from django.contrib.auth.models import User


# --- Formats ---

UTF16 = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)


class Converter(StrEnum):
    """The converter of a format to PDF."""

    NONE = "none"  # already a PDF
    IMAGE = "image"
    BOOK = "book"  # MuPDF opens it as pages
    TEXT = "text"
    MARKDOWN = "markdown"
    HTML = "html"
    OFFICE = "office"  # LibreOffice, where it is installed


@dataclass(frozen=True, slots=True)
class Format:
    """A file format: label, file name suffixes, and the byte signatures it begins with.

    ``signatures`` is empty for text formats, which have none but contain no NUL.
    """

    label: str
    suffixes: tuple[str, ...]
    converter: Converter
    signatures: tuple[bytes, ...] = ()

    def fits(self, head: bytes) -> bool:
        if self.signatures:
            return head.startswith(self.signatures)
        return b"\0" not in head or head.startswith(UTF16)


ZIP = (b"PK\x03\x04",)
PDF = Format("PDF", (".pdf",), Converter.NONE, (b"%PDF-",))
OTHERS = (
    Format("PNG", (".png",), Converter.IMAGE, (b"\x89PNG\r\n\x1a\n",)),
    Format("JPEG", (".jpg", ".jpeg"), Converter.IMAGE, (b"\xff\xd8\xff",)),
    Format("TIFF", (".tif", ".tiff"), Converter.IMAGE, (b"II*\0", b"MM\0*")),
    Format("GIF", (".gif",), Converter.IMAGE, (b"GIF87a", b"GIF89a")),
    Format("BMP", (".bmp",), Converter.IMAGE, (b"BM",)),
    Format("EPUB", (".epub",), Converter.BOOK, ZIP),
    Format("XPS", (".xps", ".oxps"), Converter.BOOK, ZIP),
    Format("Text", (".txt", ".text"), Converter.TEXT),
    Format("Markdown", (".md", ".markdown"), Converter.MARKDOWN),
    Format("HTML", (".html", ".htm", ".xhtml"), Converter.HTML),
    Format("Word", (".docx",), Converter.OFFICE, ZIP),
    Format("PowerPoint", (".pptx",), Converter.OFFICE, ZIP),
    Format("Excel", (".xlsx",), Converter.OFFICE, ZIP),
    Format("OpenDocument", (".odt", ".odp", ".ods"), Converter.OFFICE, ZIP),
)


def recognise(name: str, head: bytes) -> Format | None:
    """Return the format by name and the first ``HEAD`` bytes, or None. A PDF may have any name.

    A PDF with a damaged header is recognised by its name and its first object.
    """
    if PDF.signatures[0] in head or (name.lower().endswith(PDF.suffixes) and begins_as_pdf(head)):
        return PDF
    named = named_as(name)
    return named if named and named.fits(head) else None


def named_as(name: str) -> Format | None:
    """Return the format of the name's suffix, other than PDF, or None."""
    suffix = PurePath(name).suffix.lower()
    return next((format for format in OTHERS if suffix in format.suffixes), None)


def accepted() -> tuple[Format, ...]:
    """Return the formats this server can read."""
    return (PDF, *(format for format in OTHERS if not all(map(office_lacks, format.suffixes))))


# --- Office files: LibreOffice, if it is installed, converts them ---

NOT_INSTALLED = "Office files need LibreOffice, which this server does not have. Save the file as PDF first."
PARTS = {
    **dict.fromkeys((".docx", ".odt"), "Writer"),
    **dict.fromkeys((".xlsx", ".ods"), "Calc"),
    **dict.fromkeys((".pptx", ".odp"), "Impress"),
}
"""The LibreOffice component for each suffix; systems install them separately."""
LACKS = "Files like this need LibreOffice {}, which this server does not have. Save the file as PDF first."


def is_office_installed() -> bool:
    return bool(office_program())


def office_lacks(suffix: str) -> str:
    """Return why files with this suffix cannot be converted here, or ''."""
    part = PARTS.get(suffix.lower())
    if part is None:
        return ""
    if not is_office_installed():
        return NOT_INSTALLED
    registry = Path(office_program()).resolve().parent.parent / "share" / "registry"  # one file per component
    is_known = (registry / "main.xcd").exists()
    return LACKS.format(part) if is_known and not (registry / f"{part.lower()}.xcd").exists() else ""


def office_program() -> str:
    """Return LibreOffice's path, or ''."""
    return shutil.which(settings.LIBREOFFICE) or ""


# --- Virus scan: ClamAV, if PINCITE_CLAMD is set ---
#
# clamd's INSTREAM protocol: each chunk is preceded by its length, an empty chunk ends the file, and clamd
# responds with one line.

logger = logging.getLogger(__name__)
CHUNK = 1 << 16  # bytes
SECONDS = 60.0  # socket timeout
LONGEST_ANSWER = 4096  # bytes
FOUND, CLEAN, TOO_LARGE = " FOUND", ": OK", "size limit exceeded"

INFECTED = "This file was refused: the virus scanner found {name} in it."
UNREACHABLE = "The virus scanner cannot be reached, so no file is accepted at the moment. Try again later."
TOO_LARGE_TO_SCAN = "This file is larger than the virus scanner accepts."


def scan(file: File) -> None:
    """Scan the file, if a scanner is configured. Raises UploadRefused."""
    if not settings.CLAMD:
        return
    file.seek(0)
    try:
        verdict = ask(file)
    except OSError as error:
        logger.error("the virus scanner at %s does not answer: %s", settings.CLAMD, error)
        raise UploadRefused("not_scanned", UNREACHABLE) from error
    finally:
        file.seek(0)
    if verdict.endswith(FOUND):
        name = verdict.removesuffix(FOUND).partition(": ")[2]
        logger.warning("the virus scanner found %s", name)
        raise UploadRefused("infected", INFECTED.format(name=name[:80]))
    if TOO_LARGE in verdict:
        raise UploadRefused("not_scanned", TOO_LARGE_TO_SCAN)
    if not verdict.endswith(CLEAN):
        logger.error("the virus scanner answered %r", verdict)
        raise UploadRefused("not_scanned", UNREACHABLE)


def ask(file: File) -> str:
    """Return clamd's response: ``stream: OK`` or ``stream: <name> FOUND``. Raises OSError."""
    with closing(connect()) as connection:
        try:
            connection.sendall(b"zINSTREAM\0")
            for chunk in file.chunks(CHUNK):
                connection.sendall(struct.pack("!I", len(chunk)) + chunk)
            connection.sendall(struct.pack("!I", 0))
        except BrokenPipeError:  # clamd responds early to a file that is too large
            pass
        answer = b""
        while b"\0" not in answer and len(answer) < LONGEST_ANSWER and (part := connection.recv(1024)):
            answer += part
    return answer.partition(b"\0")[0].decode(errors="replace").strip()


def connect() -> socket.socket:
    """Connect to ``host:port``, or to the Unix socket at an absolute path."""
    if settings.CLAMD.startswith("/"):
        connection = socket.socket(socket.AF_UNIX)
        connection.settimeout(SECONDS)
        connection.connect(settings.CLAMD)
        return connection
    host, _, port = settings.CLAMD.rpartition(":")
    return socket.create_connection((host.strip("[]"), int(port)), timeout=SECONDS)


NOT_ACCEPTED = "This file is not a PDF or another supported file type. Export it as PDF first."
INVISIBLE = {"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"}  # control, bidi override, surrogate, unassigned


class UploadRefused(Exception):
    """The upload was refused. Codes: ``empty``, ``not_a_pdf``, ``too_large``, ``no_room``, ``duplicate``,
    ``infected`` and ``not_scanned``."""

    def __init__(self, code: str, message: str, existing: Document | None = None) -> None:
        self.code = code
        self.message = message
        self.existing = existing
        super().__init__(message)


@dataclass(frozen=True, slots=True)
class Inspected:
    """Digest, size in bytes and format of a file."""

    sha256: str
    size: int
    format: Format

    @property
    def is_pdf(self) -> bool:
        return self.format.converter == Converter.NONE


def store_upload(owner: User, file: File, name: str, *, queued: bool = True) -> Document:
    """Store the file as a document of the owner and queue it. Raises UploadRefused.

    With ``queued=False`` the caller ingests the document.
    """
    name = clean_name(name)
    found = inspect(file, name)
    refuse_duplicate(owner, found)
    document = Document(
        owner=owner,
        title=Document.title_from(name),
        original_name=name,
        sha256=found.sha256,
        size=found.size,
    )
    kept = document.file if found.is_pdf else document.original
    try:
        kept.save(name, file, save=False)
    except OSError as error:
        if not (message := shortage(error)):
            raise
        raise UploadRefused("no_room", message) from error
    try:
        with transaction.atomic():
            document.save(force_insert=True)
            if queued:
                enqueue(document)
    except IntegrityError:  # a concurrent upload of the same file
        kept.delete(save=False)
        refuse_duplicate(owner, found)
        raise
    except BaseException:
        kept.delete(save=False)
        raise
    return document


def store_address(owner: User, url: str) -> Document:
    """Create a document that a worker will download from the URL. Raises FetchRefused for an invalid URL."""
    name = clean_name(file_name(parsed(url)))
    with transaction.atomic():
        document = Document.objects.create(
            owner=owner, title=Document.title_from(name), original_name=name, source_url=url
        )
        enqueue(document)
    return document


def inspect(file: File, name: str = "") -> Inspected:
    """Read the file once, up to the size limit. Without a name it must be a PDF.

    Raises UploadRefused.
    """
    digest, size, head = hashlib.sha256(), 0, b""
    file.seek(0)
    for part in file.chunks():
        size += len(part)
        if size > settings.UPLOAD_MAX_BYTES:
            limit = settings.UPLOAD_MAX_BYTES // (1024 * 1024)
            raise UploadRefused(
                FailureCode.TOO_LARGE, f"This file is larger than the {limit} MB this server accepts."
            )
        if len(head) < HEAD:
            head += part[:HEAD]
        digest.update(part)
    file.seek(0)
    if not size:
        raise UploadRefused("empty", "This file is empty.")
    found = Inspected(digest.hexdigest(), size, accepted_format(name, head[:HEAD]))
    scan(file)
    return found


def accepted_format(name: str, head: bytes) -> Format:
    """Return the format, if this server can read it. Raises UploadRefused."""
    found = recognise(name, head)
    if found is None:
        raise UploadRefused(FailureCode.NOT_A_PDF, NOT_ACCEPTED)
    if found.converter == Converter.OFFICE and (lacking := office_lacks(PurePath(name).suffix)):
        raise UploadRefused(FailureCode.NOT_A_PDF, lacking)
    return found


def refuse_duplicate(owner: User, found: Inspected) -> None:
    """Raise UploadRefused for a duplicate. Compare the owner's documents only, to reveal no others."""
    same = Q(sha256=found.sha256) | Q(previous_version__sha256=found.sha256)
    existing = Document.objects.filter(same, owner=owner, deleted_at=None).first()
    if existing is not None:
        raise UploadRefused("duplicate", f"You already have this document: “{existing.title}”.", existing)


def clean_name(name: str) -> str:
    """Return the name to display: no path, no control or bidi characters, at most 255 characters."""
    base = re.split(r"[/\\]", name.encode("utf-8", "replace").decode())[-1]
    visible = "".join(
        " " if char.isspace() else char
        for char in unicodedata.normalize("NFC", base)
        if char.isspace() or unicodedata.category(char) not in INVISIBLE
    )
    stem = " ".join(visible.split()).strip(". ")
    return shortened(stem) or "document.pdf"


def shortened(name: str, limit: int = 255) -> str:
    """Truncate the name, but keep the suffix of an accepted format."""
    if len(name) <= limit:
        return name
    suffix = PurePath(name).suffix if name.lower().endswith(".pdf") or named_as(name) else ""
    return name[: limit - len(suffix)] + suffix
