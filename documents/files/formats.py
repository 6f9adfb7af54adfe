"""Accepted file formats, and the conversion of office files to PDF by LibreOffice."""

from __future__ import annotations

import codecs
import contextlib
import os
import shutil
import signal
import subprocess
import sys
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path, PurePath
from tempfile import TemporaryDirectory

import msgspec
from django.conf import settings

from pdf.failures import PROCESSOR_SECONDS, FailureCode, ParseFailure, begins_as_pdf, file_failure
from pdf.sandbox.messages import MIB, wall_seconds
from pdf.sandbox.office_server import REFUSED, OfficeLimits

HEAD = 1024  # bytes that must contain '%PDF-' (PDF 32000-1, annex H.3.4.1)
UTF16 = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)


class Converter(StrEnum):
    """What converts the file to PDF."""

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
    maker: Converter
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


# --- Office files: LibreOffice, if installed, converts Word, PowerPoint, Excel and OpenDocument ---
#
# It runs in a separate session without network, with limits on memory, time and output. Each file gets a new
# profile: macros are disabled, links to other files are not followed.

MEMORY_BYTES = 4096 * MIB  # address space: LibreOffice maps 2 GB before it opens a file
OUT_OF_TIME = {128 + signal.SIGXCPU, 256 - signal.SIGXCPU}  # exit codes by a shell and by Python
NOT_INSTALLED = "Office files need LibreOffice, which this server does not have. Save the file as PDF first."
REGISTRY = """<?xml version="1.0" encoding="UTF-8"?>
<oor:items xmlns:oor="http://openoffice.org/2001/registry">{items}</oor:items>
"""
ITEM = (
    '<item oor:path="/org.openoffice.Office.{path}">'
    '<prop oor:name="{name}" oor:op="fuse"><value>{value}</value></prop></item>'
)
CHOICES = (
    ("Common/Security/Scripting", "DisableMacrosExecution", "true"),
    ("Common/Security/Scripting", "BlockUntrustedRefererLinks", "true"),
    ("Common/Security/Scripting", "MacroSecurityLevel", "3"),
    ("Writer/Content/Update", "Link", "0"),  # never
    ("Calc/Content/Update", "Link", "2"),  # never
)


def is_office_installed() -> bool:
    return bool(program())


PARTS = {
    **dict.fromkeys((".docx", ".odt"), "Writer"),
    **dict.fromkeys((".xlsx", ".ods"), "Calc"),
    **dict.fromkeys((".pptx", ".odp"), "Impress"),
}
"""The LibreOffice component for each suffix; systems install them separately."""
LACKS = "Files like this need LibreOffice {}, which this server does not have. Save the file as PDF first."


def office_lacks(suffix: str) -> str:
    """Return why files with this suffix cannot be converted here, or ''."""
    part = PARTS.get(suffix.lower())
    if part is None:
        return ""
    if not is_office_installed():
        return NOT_INSTALLED
    registry = Path(program()).resolve().parent.parent / "share" / "registry"  # one file per component
    is_known = (registry / "main.xcd").exists()
    return LACKS.format(part) if is_known and not (registry / f"{part.lower()}.xcd").exists() else ""


def program() -> str:
    """Return LibreOffice's path, or ''."""
    return shutil.which(settings.LIBREOFFICE) or ""


def office_to_pdf(source: Path, suffix: str) -> bytes:
    """Convert the file to PDF. Raises ParseFailure. Leaves no process and no file behind."""
    if lacking := office_lacks(suffix):
        raise ParseFailure(FailureCode.NOT_A_PDF, lacking)
    with TemporaryDirectory(prefix="pincite-office-") as name:
        folder = Path(name)
        copy = folder / f"document{suffix}"
        shutil.copyfile(source, copy)
        write_profile(folder / "profile")
        status, output = run(command(folder, copy), folder)
        if status == REFUSED:
            raise ParseFailure(FailureCode.TOO_LARGE, output[:200])
        if status in OUT_OF_TIME:
            limit = PROCESSOR_SECONDS.format(settings.CONVERT_SECONDS)
            raise ParseFailure(FailureCode.TOOK_TOO_LONG, file_failure(FailureCode.TOOK_TOO_LONG, limit))
        made = copy.with_suffix(".pdf")
        if not made.exists():
            raise ParseFailure(FailureCode.DAMAGED, detail="LibreOffice made no PDF")
        return made.read_bytes()


def write_profile(folder: Path) -> None:
    items = "".join(ITEM.format(path=path, name=name, value=value) for path, name, value in CHOICES)
    (folder / "user").mkdir(parents=True)
    (folder / "user" / "registrymodifications.xcu").write_text(REGISTRY.format(items=items))


def command(folder: Path, copy: Path) -> list[str]:
    limits = OfficeLimits(MEMORY_BYTES, settings.UPLOAD_MAX_BYTES * 2, int(settings.CONVERT_SECONDS))
    confined = [sys.executable, "-s", "-m", "pdf.sandbox.office_server", str(os.getpid())]
    options = ["--headless", "--norestore", "--nolockcheck", "--nodefault", "--nologo"]
    return [
        *(*confined, msgspec.json.encode(limits).decode(), str(folder), program()),
        *(f"-env:UserInstallation={(folder / 'profile').as_uri()}", *options),
        *("--convert-to", "pdf", "--outdir", str(folder), str(copy)),
    ]


def run(arguments: list[str], folder: Path) -> tuple[int, str]:
    """Return exit status and output. Raises ParseFailure when the conversion takes too long."""
    environment = {"PYTHONPATH": str(settings.BASE_DIR), "PATH": "/usr/bin:/bin", "LANG": "C.UTF-8"}
    process = subprocess.Popen(
        arguments,
        cwd=settings.BASE_DIR,
        env=environment | {"HOME": str(folder), "TMPDIR": str(folder)},
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    wall = wall_seconds(settings.CONVERT_SECONDS)  # ``office_server`` limits the CPU time
    try:
        output, _ = process.communicate(timeout=wall)
        return process.returncode, output.decode(errors="replace")
    except subprocess.TimeoutExpired:
        message = file_failure(FailureCode.TOOK_TOO_LONG, f"{wall:.0f} seconds")
        raise ParseFailure(FailureCode.TOOK_TOO_LONG, message, "LibreOffice") from None
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
