"""Which units speak of this: embedding spaces, vectors, and the searches that were made."""

from __future__ import annotations

import uuid
from typing import TYPE_CHECKING, Self

from django.conf import settings
from django.db import models
from django.db.models import Q
from pgvector.django import VectorField

from documents.models import RetrievalChunk

if TYPE_CHECKING:
    from django.contrib.auth.models import AnonymousUser, User


class EmbeddingSpace(models.Model):
    """One embedding model's vectors. Several live side by side; the active one answers."""

    name = models.CharField(max_length=60, unique=True)
    provider = models.CharField(max_length=20)
    model = models.CharField(max_length=120)
    dimensions = models.IntegerField()
    active = models.BooleanField(default=False)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["active"], condition=Q(active=True), name="one_active_space")
        ]

    def __str__(self) -> str:
        return self.name


class ChunkVector(models.Model):
    """The vector of one chunk in one space."""

    chunk = models.ForeignKey(RetrievalChunk, on_delete=models.CASCADE, related_name="vectors")
    space = models.ForeignKey(EmbeddingSpace, on_delete=models.CASCADE, related_name="vectors")
    embedding = VectorField()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["chunk", "space"], name="one_vector_per_space")]

    def __str__(self) -> str:
        return f"{self.chunk_id} in {self.space_id}"


class SearchQueryQuerySet(models.QuerySet["SearchQuery"]):
    def visible_to(self, user: User | AnonymousUser) -> Self:
        return self.filter(user=user) if user.is_authenticated else self.none()


class SearchQuery(models.Model):
    """One search: who asked what, what was derived from it, what ran and for how long."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="searches")
    query = models.TextField()
    derived = models.JSONField(default=dict, blank=True)
    filters = models.JSONField(default=dict, blank=True)
    strategies = models.JSONField(default=list, blank=True, help_text="[{name, ran, ms, added, reason}, …]")
    hit_count = models.IntegerField(default=0)
    milliseconds = models.FloatField(default=0)
    created_at = models.DateTimeField(auto_now_add=True)

    objects = SearchQueryQuerySet.as_manager()

    class Meta:
        ordering = ["-created_at"]
        indexes = [models.Index(fields=["user", "-created_at"])]

    def __str__(self) -> str:
        return self.query[:80]
