"""Takes a file from anybody: a browser, the API, the command line. One door, one set of checks."""

from __future__ import annotations

import hashlib
import re
import unicodedata
from dataclasses import dataclass
from typing import TYPE_CHECKING

from django.conf import settings
from django.core.files.base import File
from django.db import IntegrityError, transaction

from documents.models import Document
from documents.pdf.failures import FailureCode
from documents.queue import enqueue

if TYPE_CHECKING:
    from django.contrib.auth.models import User

HEADER_WINDOW = 1024  # bytes in which '%PDF-' must stand (PDF 32000-1, annex H.3.4.1)
INVISIBLE = {"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"}  # control, bidi override, surrogate, unassigned


class UploadRefused(Exception):
    """The file was not taken. ``code`` is ``empty``, ``not_a_pdf``, ``too_large`` or ``duplicate``."""

    def __init__(self, code: str, message: str, existing: Document | None = None) -> None:
        self.code = code
        self.message = message
        self.existing = existing
        super().__init__(message)


@dataclass(frozen=True, slots=True)
class Fingerprint:
    sha256: str
    size: int


def store_upload(owner: User, file: File, name: str, *, queued: bool = True) -> Document:
    """Stores the file as a document of the owner and puts it in the queue. Raises UploadRefused.

    ``queued=False`` leaves it to the caller to ingest the document.
    """
    fingerprint = inspect(file)
    refuse_duplicate(owner, fingerprint)
    name = clean_name(name)
    document = Document(
        owner=owner,
        title=Document.title_from(name),
        original_name=name,
        sha256=fingerprint.sha256,
        size=fingerprint.size,
    )
    document.file.save(name, file, save=False)
    try:
        with transaction.atomic():
            document.save(force_insert=True)
            if queued:
                enqueue(document)
    except IntegrityError:  # the same file came twice at once
        document.file.delete(save=False)
        refuse_duplicate(owner, fingerprint)
        raise
    except BaseException:
        document.file.delete(save=False)
        raise
    return document


def inspect(file: File) -> Fingerprint:
    """Reads the file once, to its end or to the limit. Raises UploadRefused."""
    digest, size, head = hashlib.sha256(), 0, b""
    file.seek(0)
    for part in file.chunks():
        size += len(part)
        if size > settings.UPLOAD_MAX_BYTES:
            limit = settings.UPLOAD_MAX_BYTES // (1024 * 1024)
            raise UploadRefused(
                FailureCode.TOO_LARGE, f"This file is larger than the {limit} MB this server accepts."
            )
        if len(head) < HEADER_WINDOW:
            head += part[:HEADER_WINDOW]
        digest.update(part)
    file.seek(0)
    if not size:
        raise UploadRefused("empty", "This file is empty.")
    if b"%PDF-" not in head[:HEADER_WINDOW]:
        raise UploadRefused(FailureCode.NOT_A_PDF, FailureCode.NOT_A_PDF.label)
    return Fingerprint(digest.hexdigest(), size)


def refuse_duplicate(owner: User, fingerprint: Fingerprint) -> None:
    """Only among the owner's own documents: nothing tells what others have."""
    existing = Document.objects.filter(owner=owner, sha256=fingerprint.sha256, deleted_at=None).first()
    if existing is not None:
        raise UploadRefused("duplicate", f"You already have this document: “{existing.title}”.", existing)


def clean_name(name: str) -> str:
    """The file's name for people: no path, no control or direction characters, at most 255 characters."""
    base = re.split(r"[/\\]", name.encode("utf-8", "replace").decode())[-1]
    visible = "".join(
        " " if char.isspace() else char
        for char in unicodedata.normalize("NFC", base)
        if char.isspace() or unicodedata.category(char) not in INVISIBLE
    )
    stem = " ".join(visible.split()).strip(". ")
    return shortened(stem) or "document.pdf"


def shortened(name: str, limit: int = 255) -> str:
    """Keeps the extension when it cuts."""
    if len(name) <= limit:
        return name
    return name[: limit - 4] + ".pdf" if name.lower().endswith(".pdf") else name[:limit]
