"""Rows of search: embedding spaces, vectors, indexed words, and past searches."""

from __future__ import annotations

import uuid
from typing import Self

from django.conf import settings
from django.contrib.postgres.fields import ArrayField
from django.contrib.postgres.indexes import GinIndex
from django.contrib.postgres.search import SearchVectorField
from django.db import models
from django.db.models import Q
from django.db.models.expressions import RawSQL
from django.utils.translation import gettext_lazy as _
from pgvector.django import HalfVectorField

from documents.models import Document, RetrievalChunk
from documents.models.library import OwnedQuerySet, Row

ANALYSIS_VERSION = 6
"""Of the indexed terms and their weights. Documents of older versions are indexed again in the background."""
KEPT_CHARACTERS = 2000
"""Of a query, how many the history keeps."""


class EmbeddingSpace(models.Model):
    """The vectors of one embedding model. There may be several; the active one is searched."""

    name = models.CharField(max_length=60, unique=True)
    provider = models.CharField(max_length=20)
    model = models.CharField(max_length=120)
    dimensions = models.IntegerField()
    active = models.BooleanField(default=False)
    wanted = models.BooleanField(default=False, help_text="the library is moving into it")
    busy_until = models.DateTimeField(null=True, help_text="a worker embeds for it, or waits after a failure")
    failure = models.CharField(max_length=200, blank=True, help_text="why the last round of moving ended")
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["active"], condition=Q(active=True), name="one_active_space")
        ]

    def __str__(self) -> str:
        return self.name


class IndexedDocument(models.Model):
    """A document that can be found by words: its names and its fields.

    The rows of its chunks are created and deleted in the same transaction.
    """

    id = models.AutoField(primary_key=True)
    document = models.OneToOneField(Document, on_delete=models.CASCADE, related_name="keyword_index")
    chunk_count = models.IntegerField()
    analysis_version = models.SmallIntegerField()
    language = models.CharField(max_length=12, blank=True, help_text="in which its words were analysed")
    fields = ArrayField(models.TextField(), default=list, help_text="packs of ``domains`` that it is of")
    names = models.TextField(blank=True, help_text="what people may call the document and its makers")
    words = SearchVectorField(null=True, help_text="A names, D abstract and first page")
    name_terms = models.BinaryField(default=bytes, help_text="``bm25.pack_terms`` of the names")
    cover_terms = models.BinaryField(default=bytes, help_text="of the abstract and the first page")
    indexed_at = models.DateTimeField(auto_now=True)

    class Meta:
        indexes = [
            GinIndex(fields=["words"], name="document_words"),
            GinIndex(RawSQL("ts_filter(words, '{a}')", ()), name="document_names"),
        ]

    def __str__(self) -> str:
        return f"{self.document_id}: {self.chunk_count} chunks"


class IndexedChunk(models.Model):
    """The words of a retrieval chunk: a weighted tsvector, and its terms with their BM25F impacts.

    ``retrieval.index.full_text`` writes and reads it. The database does not check the chunk's key: searches
    ignore rows of deleted chunks, and indexing the document again deletes them.
    """

    pk = models.CompositePrimaryKey("document_id", "chunk_id")
    document = models.ForeignKey(
        Document, on_delete=models.CASCADE, related_name="indexed_chunks", db_index=False, db_constraint=False
    )
    chunk_id = models.UUIDField()
    words = SearchVectorField(help_text="A the document's names, B headings and captions, D the body")
    terms = models.BinaryField(help_text="``bm25.pack_terms``")

    class Meta:
        indexes = [GinIndex(fields=["words"], name="chunk_words")]

    def __str__(self) -> str:
        return f"words of {self.chunk_id}"


class ChunkVector(models.Model):
    """The vector of a chunk in a space; of a long one several, by windows of its text.

    ``document`` is the chunk's document, so that filters can use the index; the database checks the chunk's
    key.
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
    window = models.SmallIntegerField(db_default=0, help_text="which part of the chunk, from 0")
    embedding = HalfVectorField()

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["chunk", "document", "space", "window"], name="one_vector_per_window"
            )
        ]
        indexes = [models.Index(fields=["document", "space"])]

    def __str__(self) -> str:
        return f"{self.chunk_id} in {self.space_id}"


class OfUserQuerySet(OwnedQuerySet[Row]):
    owner_field = "user"


class SavedSearch(models.Model):
    """A saved search: its words and filters, as the query string of the search page."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    user = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="saved_searches"
    )
    name = models.CharField(max_length=120)
    query = models.TextField(help_text="q=tides&year=1998")
    created_at = models.DateTimeField(auto_now_add=True)

    objects = OfUserQuerySet["SavedSearch"].as_manager()

    class Meta:
        verbose_name_plural = "saved searches"
        ordering = ["name"]
        constraints = [models.UniqueConstraint(fields=["user", "name"], name="one_saved_search_of_a_name")]

    def __str__(self) -> str:
        return self.name


class SearchQueryQuerySet(OfUserQuerySet["SearchQuery"]):
    def latest_of_each(self) -> Self:
        """Return the last search of each query text, newest first."""
        last = self.order_by("query", "-created_at").distinct("query")
        return self.filter(pk__in=last.values("pk")).order_by("-created_at")


class SearchQuery(models.Model):
    """A past search: user, query, derived queries, strategies and times."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)

    class Source(models.TextChoices):
        PAGE = "page", _("search page")
        API = "api", _("API")
        CHAT = "chat", _("conversation")

    class Type(models.TextChoices):
        SEARCH = "search", _("Search")
        QUESTION = "question", _("Question")
        FOLLOW_UP = "follow_up", _("follow-up question")

    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="searches")
    query = models.TextField()
    query_type = models.CharField(max_length=10, choices=Type, default=Type.SEARCH)
    source = models.CharField(max_length=6, choices=Source, default=Source.PAGE)
    parent = models.ForeignKey(
        "self",
        null=True,
        blank=True,
        on_delete=models.SET_NULL,
        related_name="follow_ups",
        help_text="the search that a follow-up question rests on",
    )
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
