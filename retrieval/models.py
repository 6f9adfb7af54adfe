"""Which units speak of this: embedding spaces, vectors, and the searches that were made."""

from __future__ import annotations

import uuid
from typing import TYPE_CHECKING, Self

from django.conf import settings
from django.db import models
from django.db.models import Q
from pgvector.django import HalfVectorField

from documents.models import Document, RetrievalChunk

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


class IndexedDocument(models.Model):
    """A document that can be searched by words.

    Its passages and postings come and go with it, always in one transaction: to have the database look
    it up for each of them would cost as much as to write them.
    """

    id = models.AutoField(primary_key=True)  # four bytes, because every posting list carries it
    document = models.OneToOneField(Document, on_delete=models.CASCADE, related_name="keyword_index")
    passage_count = models.IntegerField()
    chunk_count = models.IntegerField()
    analysis_version = models.SmallIntegerField()
    names = models.TextField(blank=True, help_text="what people may call the document and its makers")
    indexed_at = models.DateTimeField(auto_now=True)

    def __str__(self) -> str:
        return f"{self.document_id}: {self.passage_count} passages"


class Passage(models.Model):
    """A stretch of one page, about 2,000 characters: what keyword search ranks.

    Chunks of a few table rows are too short to be ranked by words alone; the
    passage is what stands around them. Positions are those of its units, both
    ends included.
    """

    pk = models.CompositePrimaryKey("entry_id", "ordinal")
    entry = models.ForeignKey(
        IndexedDocument, on_delete=models.CASCADE, related_name="passages", db_constraint=False
    )
    ordinal = models.IntegerField(help_text="position in the document, from 0")
    page_number = models.IntegerField()
    first_position = models.IntegerField()
    last_position = models.IntegerField()

    class Meta:
        indexes = [models.Index(fields=["entry", "first_position"])]

    def __str__(self) -> str:
        return f"p. {self.page_number}, units {self.first_position}–{self.last_position}"


class Posting(models.Model):
    """The passages of one document that hold one term, and how much each speaks of it.

    ``packed`` is what ``retrieval.postings`` packs; ``term`` is ``analysis.term_number``. The index by
    term holds all that a search reads: a term's rows lie side by side in it, and in the table apart.
    """

    pk = models.CompositePrimaryKey("entry_id", "term", "part")
    entry = models.ForeignKey(
        IndexedDocument,
        on_delete=models.CASCADE,
        related_name="postings",
        db_index=False,
        db_constraint=False,
    )
    term = models.IntegerField()
    part = models.SmallIntegerField(help_text="from 0; a row must fit an index entry")
    packed = models.BinaryField()

    class Meta:
        indexes = [models.Index(fields=["term"], include=["entry", "packed"], name="postings_by_term")]

    def __str__(self) -> str:
        return f"{self.term} in {self.entry_id}"


class ChunkVector(models.Model):
    """The vector of one chunk in one space.

    ``document`` is the chunk's, so that filters meet the index; the database checks the chunk.
    """

    chunk = models.ForeignKey(
        RetrievalChunk, on_delete=models.CASCADE, related_name="vectors", db_index=False
    )
    document = models.ForeignKey(
        Document, on_delete=models.CASCADE, related_name="vectors", db_index=False, db_constraint=False
    )
    space = models.ForeignKey(
        EmbeddingSpace, on_delete=models.CASCADE, related_name="vectors", db_index=False
    )
    embedding = HalfVectorField()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["chunk", "space"], name="one_vector_per_space")]
        indexes = [models.Index(fields=["document", "space"])]

    def __str__(self) -> str:
        return f"{self.chunk_id} in {self.space_id}"


class SearchQueryQuerySet(models.QuerySet["SearchQuery"]):
    def visible_to(self, user: User | AnonymousUser) -> Self:
        return self.filter(user=user) if user.is_authenticated else self.none()

    def latest_of_each(self) -> Self:
        """The last search of each wording, newest first."""
        last = self.order_by("query", "-created_at").distinct("query")
        return self.filter(pk__in=last.values("pk")).order_by("-created_at")


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
        verbose_name_plural = "search queries"
        ordering = ["-created_at"]
        indexes = [models.Index(fields=["user", "-created_at"]), models.Index(fields=["created_at"])]

    def __str__(self) -> str:
        return self.query[:80]
