"""A document's file replaced by another: the document, its collections, tags, shares and citations stay.

What was cited is found again in the new file by the same signal that follows
every reading (``signals.document_parsed``).
"""

from __future__ import annotations

from django.core.files.base import File
from django.db import transaction

from documents.deletion import remove_files
from documents.models import Document
from documents.pictures import forget_pictures
from documents.queue import enqueue
from documents.uploads import clean_name, inspect, refuse_duplicate


def replace_file(document: Document, file: File, name: str = "") -> None:
    """Puts the file in the place of the document's own and the document in the queue.

    A worker that reads the old file stores nothing more. The document answers
    again once the new one is read. Without a name only a PDF will do. Raises
    UploadRefused, and then nothing has changed.
    """
    found = inspect(file, name and clean_name(name))
    refuse_duplicate(document.owner, found)
    with transaction.atomic():
        row = Document.objects.select_for_update(of=("self",)).get(pk=document.pk)
        before, pages = [row.file, row.original, row.text_layer, row.thumbnail], row.page_count
        row.file = row.original = row.text_layer = row.thumbnail = ""
        kept = row.file if found.is_pdf else row.original
        kept.save(name or "document.pdf", file, save=False)
        row.original_name = clean_name(name) if name else row.original_name
        row.sha256, row.size, row.kind = found.sha256, found.size, Document.Kind.PDF
        row.status, row.progress, row.attempts, row.lease = Document.Status.UPLOADED, 0, 0, None
        row.failure_code, row.failure_message, row.indexed_at = "", "", None
        try:
            row.save()
        except BaseException:
            kept.delete(save=False)
            raise
        row.pages.update(recognised=b"")  # what was recognised in the old file says nothing of the new one
        enqueue(row)
        transaction.on_commit(lambda: remove_files(before))
        transaction.on_commit(lambda: forget_pictures(row.pk, pages))
