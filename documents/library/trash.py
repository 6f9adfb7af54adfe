"""Delete documents: first reversibly, then for good with rows, vectors and files."""

from __future__ import annotations

import logging

from django.db import IntegrityError, transaction
from django.db.models.fields.files import FieldFile
from django.utils import timezone

from documents.models import Document, PreviousVersion
from documents.signals import document_deleted


def move_to_trash(document: Document) -> None:
    Document.objects.filter(pk=document.pk, deleted_at=None).update(deleted_at=timezone.now())


def restore_from_trash(document: Document) -> bool:
    """False when the same file was uploaded again meanwhile: then there is nothing to bring back."""
    try:
        with transaction.atomic():
            Document.objects.filter(pk=document.pk).update(deleted_at=None)
    except IntegrityError:
        return False
    return True


logger = logging.getLogger(__name__)


def delete_document(document: Document) -> None:
    """Removes the document and all that was made of it. A worker that holds it stores nothing more."""
    with transaction.atomic():
        locked = Document.objects.select_for_update(of=("self",)).filter(pk=document.pk).first()
        if locked is None:
            return
        document_deleted.send(Document, document_id=locked.pk)
        files = [locked.file, locked.original, locked.text_layer, locked.thumbnail]
        if version := PreviousVersion.objects.filter(document=locked).first():
            files += version.files
        locked.delete()
        transaction.on_commit(lambda: remove_files(files))


def remove_files(files: list[FieldFile]) -> None:
    """Removes stored files; one that cannot be removed is logged, and the sweep of the storage finds it."""
    for file in files:
        if not file.name:
            continue
        try:
            file.storage.delete(file.name)
        except OSError:
            logger.exception("could not remove %s", file.name)
