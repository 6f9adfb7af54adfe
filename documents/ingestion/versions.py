"""Replace a document's file, but keep its collections, tags, shares and citations.

Citations are re-anchored in the new file after parsing (``signals.document_parsed``).
Until then the old file is kept (``PreviousVersion``), and restored if parsing fails.
"""

from __future__ import annotations

from django.core.files.base import File
from django.db import transaction
from django.db.models import QuerySet
from django.db.models.fields.files import FieldFile

from documents.files.page_pictures import forget_pictures
from documents.files.uploads import clean_name, inspect, refuse_duplicate
from documents.ingestion.queue import enqueue
from documents.library.trash import remove_files
from documents.models import Document, PreviousVersion

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
        transaction.on_commit(lambda: remove_files(version.files))


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
    version.set_back(document)
    document.status, document.progress, document.attempts = Document.Status.READY, 1, 0
    document.lease, document.lease_holder, document.lease_expires_at = None, "", None
    document.failure_code, document.failure_message = code, f"{UNREAD}{reason}"[:200]
    document.save()
    version.delete()
    transaction.on_commit(lambda: remove_files(refused))
    transaction.on_commit(lambda: forget_pictures(document.pk, pages))


def files_of(document: Document) -> list[FieldFile]:
    """Return the document's stored files by their current names."""
    return [document.file, document.original, document.text_layer, document.thumbnail]
