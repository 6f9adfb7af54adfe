"""The RetrievalChunk: what is searched."""

from __future__ import annotations

import uuid
from typing import TYPE_CHECKING, Self

from django.contrib.postgres.fields import ArrayField
from django.db import models

from documents.models.document import Document

if TYPE_CHECKING:
    from django.contrib.auth.models import AnonymousUser, User


class ChunkQuerySet(models.QuerySet["RetrievalChunk"]):
    def visible_to(self, user: User | AnonymousUser) -> Self:
        return self.filter(document__in=Document.objects.visible_to(user))


class RetrievalChunk(models.Model):
    """A few consecutive units of one section; ``context_header`` says where it stands."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    document = models.ForeignKey(Document, on_delete=models.CASCADE, related_name="chunks")
    index = models.IntegerField(help_text="position in the document, from 0")
    unit_ids = ArrayField(models.UUIDField(), default=list)

    content = models.TextField()
    context_header = models.TextField(blank=True, help_text="title › section path › table caption")
    summary = models.TextField(blank=True, help_text="written by a model, when one is configured")
    chunk_type = models.CharField(max_length=12, default="prose")
    section_path = ArrayField(models.TextField(), default=list)
    section_type = models.CharField(max_length=20, blank=True)
    page_start = models.IntegerField()
    page_end = models.IntegerField()
    token_count = models.IntegerField()
    metadata = models.JSONField(default=dict, blank=True)

    objects = ChunkQuerySet.as_manager()

    class Meta:
        ordering = ["document", "index"]
        constraints = [models.UniqueConstraint(fields=["document", "index"], name="one_chunk_per_index")]

    def __str__(self) -> str:
        return f"{self.context_header} #{self.index}"
