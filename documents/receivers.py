"""Receivers of ``document_parsed`` and ``document_deleted``."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from django.db import transaction
from django.dispatch import receiver

from documents.files.page_pictures import forget_pictures
from documents.importers.block_import import forget_payload
from documents.models import Document
from documents.papers.acquisition import mark_abstracts
from documents.signals import document_deleted, document_parsed


@receiver(document_parsed)
def mark_abstract(sender: type[Document], document: Document, **more: Any) -> None:
    mark_abstracts(document)


@receiver(document_deleted)
def forget_its_pictures(sender: type[Document], document_id: UUID, **more: Any) -> None:
    pages = Document.objects.filter(pk=document_id).values_list("page_count", flat=True).first() or 0
    transaction.on_commit(lambda: forget_pictures(document_id, pages))


document_deleted.connect(forget_payload)
