"""Moves the library into another embedding space while the old one goes on answering."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from django.db.models import Exists, OuterRef, QuerySet

from documents.models import Document, RetrievalChunk
from retrieval.indexing import Stale, embed_document
from retrieval.models import ChunkVector, EmbeddingSpace
from retrieval.spaces import activate, build_vector_index, open_space

ROUNDS = 5
"""Looks for documents that came in meanwhile; what comes after the last is left to ``backfill``."""


@dataclass(frozen=True, slots=True)
class Progress:
    """``remaining`` counts documents that still lack vectors."""

    document: Document
    embedded: int
    remaining: int


def reindex(name: str, on_progress: Callable[[Progress], None] | None = None) -> EmbeddingSpace:
    """Embeds what the space lacks, builds its index, and switches to it; may be stopped and repeated.

    ``name`` is ``provider`` or ``provider:model``. Raises ProviderError: what was
    embedded stays, and the old space goes on answering.
    """
    space = open_space(name)
    for _ in range(ROUNDS):
        lacking = list(documents_lacking(space))
        for number, document in enumerate(lacking, 1):
            try:
                embedded = embed_document(document, space)
            except Stale:
                continue
            if on_progress:
                on_progress(Progress(document, embedded, len(lacking) - number))
        if not lacking:
            break
    build_vector_index(space)
    activate(space)
    return space


def documents_lacking(space: EmbeddingSpace) -> QuerySet[Document]:
    """Documents with a chunk that has no vector in the space."""
    vector = ChunkVector.objects.filter(chunk=OuterRef("pk"), space=space)
    without = RetrievalChunk.objects.filter(~Exists(vector), document=OuterRef("pk"))
    return Document.objects.filter(Exists(without), deleted_at=None).order_by("created_at")
