"""The PDF of a document: download, convert, decrypt, add a text layer."""

from __future__ import annotations

import hashlib
import logging
from pathlib import Path, PurePath
from typing import cast

import msgspec
from django.conf import settings
from django.core.files.base import ContentFile
from django.db import IntegrityError

from documents.failures import IngestionFailure
from documents.files.formats import Converter, named_as, office_to_pdf
from documents.files.uploads import UploadRefused, inspect, refuse_duplicate
from documents.files.url_fetch import NOT_A_PDF, TOO_LARGE, FetchRefused, fetch
from documents.ingestion.leases import Lease, LostLease
from documents.ingestion.parser import local_file, parse_limits, progress_of
from documents.library.trash import remove_files
from documents.models import Document
from documents.papers.record import record_of
from pdf.api import add_text_layer, convert_file, without_password
from pdf.failures import FailureCode, ParseFailure
from pdf.sandbox.messages import Maker as Making
from pdf.structure import ParsedDocument

FETCH_FAILURES = {NOT_A_PDF: FailureCode.NOT_A_PDF, TOO_LARGE: FailureCode.TOO_LARGE}
CONVERSION_MESSAGES = {  # the codes' own messages are about PDFs
    FailureCode.DAMAGED: "No PDF could be made of this file. It may be damaged.",
    FailureCode.NO_PAGES: "There is nothing in this file to read.",
    FailureCode.TOO_MANY_PAGES: "This file makes more pages than this server accepts. Split it first.",
    FailureCode.TOOK_TOO_LONG: "Making a PDF of this file took too long.",
    FailureCode.TOO_MUCH_MEMORY: "Making a PDF of this file took too much memory.",
}


def obtain_pdf(lease: Lease) -> Document:
    """Return the document with a PDF; download, draw or convert it where it has none.

    Raises IngestionFailure, ParseFailure, LostLease.
    """
    if lease.row.get().awaits_fetching:
        fetch_file(lease, lease.row.get())
    if lease.row.get().awaits_drawing:
        draw_sheet(lease, lease.row.get())
    document = lease.row.get()
    if document.original and not document.file:
        make_pdf(lease, document)
    return document


def fetch_file(lease: Lease, document: Document) -> None:
    try:
        with fetch(document.source_url, progress_of(lease)) as fetched:
            found = inspect(fetched.file)
            refuse_duplicate(document.owner, found)
            document.file.save(fetched.name, fetched.file, save=False)
    except FetchRefused as refused:
        raise IngestionFailure(
            FETCH_FAILURES.get(refused.message, FailureCode.INTERNAL), refused.message
        ) from None
    except UploadRefused as refused:
        raise IngestionFailure(FailureCode.INTERNAL, refused.message[:200]) from None
    keep(lease, document, sha256=found.sha256, size=found.size)


def draw_sheet(lease: Lease, document: Document) -> None:
    """Draw a paper's record as its file."""
    from documents.papers.record_pdf import record_sheet  # imports MuPDF

    sheet = record_sheet(record_of(document))
    document.file.save("", ContentFile(sheet), save=False)
    keep(lease, document, sha256=hashlib.sha256(sheet).hexdigest(), size=len(sheet))


def make_pdf(lease: Lease, document: Document) -> None:
    with local_file(document.original) as path:
        try:
            content = pdf_of(path, str(document.original.name))
        except ParseFailure as failure:
            message = conversion_message(failure)
            raise ParseFailure(failure.code, message, failure.detail) from None
    document.file.save("", ContentFile(content), save=False)
    keep(lease, document)


def conversion_message(failure: ParseFailure) -> str:
    """Return why the conversion failed. A limit that was exceeded is named: "… took more than …"."""
    if failure.code in CONVERSION_MESSAGES and failure.message == failure.code.label:
        return CONVERSION_MESSAGES[failure.code]
    return failure.message.replace("Reading this PDF", "Making a PDF of this file")


def pdf_of(path: Path, name: str) -> bytes:
    """Convert the file, whose format its name gives, to PDF. Raises ParseFailure."""
    format, suffix = named_as(name), PurePath(name).suffix
    if format is None:
        raise ParseFailure(FailureCode.NOT_A_PDF)
    if format.maker == Converter.OFFICE:
        return office_to_pdf(path, suffix)
    limits = msgspec.structs.replace(parse_limits(), base_seconds=settings.CONVERT_SECONDS)
    return convert_file(path, cast(Making, format.maker.value), suffix[1:], limits=limits)


def keep(lease: Lease, document: Document, **values: object) -> None:
    """Write the stored file's name to the row; delete the file when that fails."""
    try:
        lease.update(file=document.file.name, progress=0, **values)
    except IntegrityError:  # a concurrent upload of the same file
        remove_files([document.file])
        raise IngestionFailure(FailureCode.INTERNAL, "You already have this document.") from None
    except BaseException:
        remove_files([document.file])
        raise


logger = logging.getLogger(__name__)


def store_text_layer(lease: Lease, document: Document, parsed: ParsedDocument) -> None:
    """Store a copy of the file with the recognised text, replacing an earlier one. Raises LostLease.

    The copy is optional, so a failure to make it is only logged.
    """
    before = document.text_layer.name
    document.text_layer.name = ""
    if any(page.ocr for page in parsed.pages):
        try:
            with local_file(document.file) as path:
                data = add_text_layer(path, parsed.pages, limits=parse_limits())
            document.text_layer.save("", ContentFile(data), save=False)
        except (ParseFailure, OSError) as error:
            logger.warning("document %s: no text layer: %s", document.pk, error)
    try:
        lease.update(text_layer=document.text_layer.name)
    except LostLease:
        remove_files([document.text_layer])
        raise
    if before:
        document.text_layer.storage.delete(before)


# --- Encrypted files: the decrypted file is stored, the password is not (nor queued or logged) ---


def unlock(document: Document, password: str) -> None:
    """Replace the file by its decrypted copy. Raises ParseFailure when the password is wrong.

    ``sha256`` stays that of the uploaded file, to detect duplicates.
    """
    locked, storage = str(document.file.name), document.file.storage
    with local_file(document.file) as path:
        data = without_password(path, password, limits=parse_limits())
    document.file.save("", ContentFile(data), save=False)
    same = Document.objects.filter(pk=document.pk, file=locked, deleted_at=None)
    replaced = same.update(file=document.file.name)
    storage.delete(locked if replaced else str(document.file.name))
