"""The PDF of a document: fetched by address, converted, unlocked, or given a text layer."""

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
MADE_FROM = {  # what to say when a PDF cannot be made: the codes' own sentences speak of a PDF
    FailureCode.DAMAGED: "No PDF could be made of this file. It may be damaged.",
    FailureCode.NO_PAGES: "There is nothing in this file to read.",
    FailureCode.TOO_MANY_PAGES: "This file makes more pages than this server accepts. Split it first.",
    FailureCode.TOOK_TOO_LONG: "Making a PDF of this file took too long.",
    FailureCode.TOO_MUCH_MEMORY: "Making a PDF of this file took too much memory.",
}


def obtain_pdf(lease: Lease) -> Document:
    """The document with a PDF to read, stored when there was none.

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
    """The record of a paper as its file."""
    from documents.papers.record_pdf import record_sheet  # MuPDF, which nothing else here needs

    sheet = record_sheet(record_of(document))
    document.file.save("", ContentFile(sheet), save=False)
    keep(lease, document, sha256=hashlib.sha256(sheet).hexdigest(), size=len(sheet))


def make_pdf(lease: Lease, document: Document) -> None:
    with local_file(document.original) as path:
        try:
            content = pdf_of(path, str(document.original.name))
        except ParseFailure as failure:
            message = made_from(failure)
            raise ParseFailure(failure.code, message, failure.detail) from None
    document.file.save("", ContentFile(content), save=False)
    keep(lease, document)


def made_from(failure: ParseFailure) -> str:
    """Why no PDF could be made. A limit that was met is named: "… took more than …"."""
    if failure.code in MADE_FROM and failure.message == failure.code.label:
        return MADE_FROM[failure.code]
    return failure.message.replace("Reading this PDF", "Making a PDF of this file")


def pdf_of(path: Path, name: str) -> bytes:
    """The PDF made of the file, whose kind its name tells. Raises ParseFailure."""
    format, suffix = named_as(name), PurePath(name).suffix
    if format is None:
        raise ParseFailure(FailureCode.NOT_A_PDF)
    if format.maker == Converter.OFFICE:
        return office_to_pdf(path, suffix)
    limits = msgspec.structs.replace(parse_limits(), base_seconds=settings.CONVERT_SECONDS)
    return convert_file(path, cast(Making, format.maker.value), suffix[1:], limits=limits)


def keep(lease: Lease, document: Document, **values: object) -> None:
    """Writes the stored file's name to the row, or removes the file when that cannot be."""
    try:
        lease.update(file=document.file.name, progress=0, **values)
    except IntegrityError:  # the same file was uploaded meanwhile
        remove_files([document.file])
        raise IngestionFailure(FailureCode.INTERNAL, "You already have this document.") from None
    except BaseException:
        remove_files([document.file])
        raise


logger = logging.getLogger(__name__)


def store_text_layer(lease: Lease, document: Document, parsed: ParsedDocument) -> None:
    """Stores the copy where pages were recognised, in place of an earlier one. Raises LostLease.

    Without the copy the document is as readable as its file; so a copy that cannot be made is only logged.
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


# --- Files that need a password: once a user gives it, the decrypted file is stored ---
#
# The password is stored nowhere: not in the row, not in the queue, not in a log.


def unlock(document: Document, password: str) -> None:
    """Stores the file without its password in place of it. Raises ParseFailure when the password is wrong.

    ``sha256`` stays that of the file which was uploaded: the same file is still recognised as the same.
    """
    locked, storage = str(document.file.name), document.file.storage
    with local_file(document.file) as path:
        data = without_password(path, password, limits=parse_limits())
    document.file.save("", ContentFile(data), save=False)
    same = Document.objects.filter(pk=document.pk, file=locked, deleted_at=None)
    replaced = same.update(file=document.file.name)
    storage.delete(locked if replaced else str(document.file.name))
