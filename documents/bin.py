"""Deleting with undo: a document is hidden at once, and really removed by the sweep some days later."""

from __future__ import annotations

from django.db import IntegrityError, transaction
from django.utils import timezone

from documents.models import Document


def put_in_bin(document: Document) -> None:
    Document.objects.filter(pk=document.pk, deleted_at=None).update(deleted_at=timezone.now())


def take_out_of_bin(document: Document) -> bool:
    """False when the same file was uploaded again meanwhile: then there is nothing to bring back."""
    try:
        with transaction.atomic():
            Document.objects.filter(pk=document.pk).update(deleted_at=None)
    except IntegrityError:
        return False
    return True
