"""The files of a document: download, convert, decrypt, add a text layer, replace by a new version."""

from __future__ import annotations

import contextlib
import hashlib
import logging
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path, PurePath
from tempfile import TemporaryDirectory
from typing import cast

import msgspec
from django.conf import settings
from django.core.files.base import ContentFile, File
from django.db import IntegrityError, transaction
from django.db.models import QuerySet

from documents.failures import IngestionFailure
from documents.files.page_pictures import forget_pictures
from documents.files.uploads import (
    Converter,
    UploadRefused,
    clean_name,
    inspect,
    named_as,
    office_lacks,
    office_program,
    refuse_duplicate,
)
from documents.files.url_fetch import NOT_A_PDF, TOO_LARGE, FetchRefused, fetch
from documents.ingestion.leases import Lease, LostLease
from documents.ingestion.parser import local_file, parse_limits, progress_of
from documents.ingestion.queue import enqueue
from documents.library import remove_files
from documents.models import Document, PreviousVersion
from documents.models.document import files_of
from documents.papers.bibliography import record_of, record_sheet
from pdf.api import add_text_layer, convert_file, without_password
from pdf.failures import PROCESSOR_SECONDS, FailureCode, ParseFailure, file_failure
from pdf.sandbox.messages import MIB, Maker, wall_seconds
from pdf.sandbox.office_server import REFUSED, OfficeLimits
from pdf.sandbox.progress import Progress, processor_seconds
from pdf.structure import ParsedDocument

FETCH_FAILURES = {NOT_A_PDF: FailureCode.NOT_A_PDF, TOO_LARGE: FailureCode.TOO_LARGE}
CONVERSION_MESSAGES = {  # the codes' own messages are about PDFs
    FailureCode.DAMAGED: "This file could not be converted to PDF. It may be damaged.",
    FailureCode.NO_PAGES: "There is nothing in this file to read.",
    FailureCode.TOO_MANY_PAGES: "As a PDF, this file exceeds the page limit of this server. Split it first.",
    FailureCode.TOOK_TOO_LONG: "Converting this file to PDF took too long.",
    FailureCode.TOO_MUCH_MEMORY: "Converting this file to PDF took too much memory.",
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
    if format.converter == Converter.OFFICE:
        return office_to_pdf(path, suffix)
    limits = msgspec.structs.replace(parse_limits(), base_seconds=settings.CONVERT_SECONDS)
    return convert_file(path, cast(Maker, format.converter.value), suffix[1:], limits=limits)


# --- Conversion of office files by LibreOffice ---
#
# It runs in a separate session without network, with limits on memory, time and output. Each file gets a new
# profile: macros are disabled, links to other files are not followed.

MEMORY_BYTES = 4096 * MIB  # address space: LibreOffice maps 2 GB before it opens a file
OUT_OF_TIME = {128 + signal.SIGXCPU, 256 - signal.SIGXCPU}  # exit codes by a shell and by Python
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


def office_to_pdf(source: Path, suffix: str) -> bytes:
    """Convert the file to PDF. Raises ParseFailure. Leaves no process and no file behind."""
    if lacking := office_lacks(suffix):
        raise ParseFailure(FailureCode.NOT_A_PDF, lacking)
    with TemporaryDirectory(prefix="pincite-office-") as name:
        folder = Path(name)
        copy = folder / f"document{suffix}"
        shutil.copyfile(source, copy)
        _write_profile(folder / "profile")
        status, output = _run_office(_office_command(folder, copy), folder)
        if status == REFUSED:
            raise ParseFailure(FailureCode.TOO_LARGE, output[:200])
        if status in OUT_OF_TIME:
            limit = PROCESSOR_SECONDS.format(settings.CONVERT_SECONDS)
            raise ParseFailure(FailureCode.TOOK_TOO_LONG, file_failure(FailureCode.TOOK_TOO_LONG, limit))
        made = copy.with_suffix(".pdf")
        if not made.exists():
            raise ParseFailure(FailureCode.DAMAGED, detail="LibreOffice made no PDF")
        return made.read_bytes()


def _write_profile(folder: Path) -> None:
    items = "".join(ITEM.format(path=path, name=name, value=value) for path, name, value in CHOICES)
    (folder / "user").mkdir(parents=True)
    (folder / "user" / "registrymodifications.xcu").write_text(REGISTRY.format(items=items))


def _office_command(folder: Path, copy: Path) -> list[str]:
    limits = OfficeLimits(MEMORY_BYTES, settings.UPLOAD_MAX_BYTES * 2, int(settings.CONVERT_SECONDS))
    confined = [sys.executable, "-s", "-m", "pdf.sandbox.office_server", str(os.getpid())]
    options = ["--headless", "--norestore", "--nolockcheck", "--nodefault", "--nologo"]
    return [
        *(*confined, msgspec.json.encode(limits).decode(), str(folder), office_program()),
        *(f"-env:UserInstallation={(folder / 'profile').as_uri()}", *options),
        *("--convert-to", "pdf", "--outdir", str(folder), str(copy)),
    ]


def _run_office(arguments: list[str], folder: Path) -> tuple[int, str]:
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
    try:
        output = _output_of(process)
        return process.returncode, output.decode(errors="replace")
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def _output_of(process: subprocess.Popen[bytes]) -> bytes:
    """Return all output. Raises ParseFailure for a process that is stuck; it limits its CPU time itself."""
    began, progress = time.monotonic(), Progress(lambda: processor_seconds([process.pid]))
    while True:
        try:
            return process.communicate(timeout=LOOK_SECONDS)[0]
        except subprocess.TimeoutExpired:
            waited = time.monotonic() - began
            if waited > wall_seconds(settings.CONVERT_SECONDS) or progress.is_stuck:
                message = file_failure(FailureCode.TOOK_TOO_LONG, f"{waited:.0f} seconds")
                raise ParseFailure(FailureCode.TOOK_TOO_LONG, message, "LibreOffice") from None


LOOK_SECONDS = 1.0  # between two looks whether LibreOffice makes progress


# --- The stored files of a document ---


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


# --- Replacement of a document's file, which keeps its collections, tags, shares and citations ---
#
# Citations are re-anchored in the new file after parsing (``signals.document_parsed``). Until then the old
# file is kept (``PreviousVersion``), and restored if parsing fails.

UNREAD = "The new version could not be read, so the document is as it was. "


def replace_file(document: Document, file: File, name: str = "") -> None:
    """Replace the document's file and queue the document. Raises UploadRefused, and changes nothing then.

    A worker that is reading the old file loses its lease. The document is searchable again once the new file
    is read. Without a name it must be a PDF.
    """
    found = inspect(file, name and clean_name(name))
    refuse_duplicate(document.owner, found)
    with transaction.atomic():
        row = Document.objects.select_for_update(of=("self",)).get(pk=document.pk)
        before, pages = files_of(row), row.page_count
        kept_before = keep_version(row)
        row.file = row.original = row.text_layer = row.thumbnail = ""
        kept = row.file if found.is_pdf else row.original
        kept.save(name or "document.pdf", file, save=False)
        if "payload" in row.metadata and not row.sha256:  # the PDF of the imported blocks
            row.metadata["payload_pdf"] = found.sha256
        row.original_name = clean_name(name) if name else row.original_name
        row.sha256, row.size, row.kind = found.sha256, found.size, Document.Kind.PDF
        row.status, row.progress, row.attempts, row.lease = Document.Status.UPLOADED, 0, 0, None
        row.failure_code, row.failure_message, row.indexed_at = "", "", None
        try:
            row.save()
        except BaseException:
            kept.delete(save=False)
            raise
        row.pages.update(recognised=b"", tries=0)  # OCR results of the old file
        enqueue(row)
        if not kept_before:
            transaction.on_commit(lambda: remove_files(before))
        transaction.on_commit(lambda: forget_pictures(row.pk, pages))


def keep_version(document: Document) -> bool:
    """Save the previous version of a locked, searchable document. Return False where there is none."""
    if document.indexed_at is None:
        return False
    PreviousVersion.of(document).save()
    return True


def forget_previous(document: Document) -> None:
    """Delete the previous version and its files, once the transaction is committed."""
    version = PreviousVersion.objects.filter(document=document).first()
    if version is not None:
        version.delete()
        transaction.on_commit(lambda: remove_files(files_of(version)))


def restore_previous(documents: QuerySet[Document], code: str, reason: str) -> int:
    """Restore documents whose new file could not be read, with the reason. Return their number."""
    with transaction.atomic():
        replaced = documents.filter(previous_version__isnull=False).select_related("previous_version")
        rows = list(replaced.select_for_update(of=("self",)))
        for document in rows:
            _restore_previous(document, code, reason)
    return len(rows)


def _restore_previous(document: Document, code: str, reason: str) -> None:
    version, refused = document.previous_version, files_of(document)
    pages = max(document.page_count, version.page_count)
    version.restore(document)
    document.status, document.progress, document.attempts = Document.Status.READY, 1, 0
    document.lease, document.lease_holder, document.lease_expires_at = None, "", None
    document.failure_code, document.failure_message = code, f"{UNREAD}{reason}"[:200]
    document.save()
    version.delete()
    transaction.on_commit(lambda: remove_files(refused))
    transaction.on_commit(lambda: forget_pictures(document.pk, pages))
