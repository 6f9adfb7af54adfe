"""Searches, embedding spaces and vectors in the admin."""

from __future__ import annotations

import numpy as np
from django.contrib import admin
from django.utils.html import format_html_join
from django.utils.safestring import SafeString
from pgvector.django import CosineDistance

from documents.admin.base import ReadOnlyAdmin, link_to
from documents.admin.documents import ChunkAdmin
from documents.models import RetrievalChunk
from retrieval.models import ChunkVector, EmbeddingSpace, SearchQuery

NEAREST = 8


@admin.register(EmbeddingSpace)
class EmbeddingSpaceAdmin(ReadOnlyAdmin):
    list_display = ["name", "provider", "model", "dimensions", "active", "created_at"]


@admin.register(SearchQuery)
class SearchQueryAdmin(ReadOnlyAdmin):
    list_display = ["short", "user", "hit_count", "rounded", "slowest", "created_at"]
    list_filter = ["created_at"]
    search_fields = ["user__username"]
    search_help_text = "username"
    ordering = ["-created_at"]
    list_select_related = ["user"]
    fields = ("query", "user", "derived", "filters", "hit_count", "milliseconds", "strategy_table")

    @admin.display(description="query")
    def short(self, search: SearchQuery) -> str:
        return search.query[:80]

    @admin.display(description="ms", ordering="milliseconds")
    def rounded(self, search: SearchQuery) -> str:
        return f"{search.milliseconds:.0f}"

    @admin.display(description="slowest strategy")
    def slowest(self, search: SearchQuery) -> str:
        ran = [strategy for strategy in search.strategies if strategy.get("ran")]
        found = max(ran, key=milliseconds_of, default=None)
        return f"{found['name']} {milliseconds_of(found):.0f} ms" if found else "–"

    @admin.display(description="strategies")
    def strategy_table(self, search: SearchQuery) -> SafeString:
        return format_html_join(
            "",
            "<div>{} · {} · {} ms · +{} {}</div>",
            (
                (
                    strategy.get("name", ""),
                    "ran" if strategy.get("ran") else "did not run",
                    f"{milliseconds_of(strategy):.1f}",
                    strategy.get("added", 0),
                    strategy.get("reason", ""),
                )
                for strategy in search.strategies
            ),
        )


def milliseconds_of(strategy: dict[str, object]) -> float:
    return float(str(strategy.get("milliseconds", strategy.get("ms", 0)) or 0))


class ChunkWithVectorsAdmin(ChunkAdmin):
    """A chunk with its vectors: their norms, and the nearest chunks of the same document."""

    fields = (*ChunkAdmin.fields, "vectors_list", "nearest")

    @admin.display(description="vectors")
    def vectors_list(self, chunk: RetrievalChunk) -> SafeString:
        rows = ChunkVector.objects.filter(chunk=chunk).select_related("space")
        return format_html_join(
            "", "<div>{}: {} dimensions, norm {}</div>", ((row.space, *shape_of(row)) for row in rows)
        )

    @admin.display(description="nearest chunks (cosine distance)")
    def nearest(self, chunk: RetrievalChunk) -> SafeString:
        own = ChunkVector.objects.filter(chunk=chunk, space__active=True).first()
        if own is None:
            return SafeString("–")
        same = {"document": chunk.document_id, "chunk__document": chunk.document_id}  # for Citus: one node
        others = ChunkVector.objects.filter(**same, space=own.space_id)
        near = (
            others.exclude(chunk=chunk)
            .annotate(distance=CosineDistance("embedding", own.embedding))
            .order_by("distance")
            .select_related("chunk")[:NEAREST]
        )
        return format_html_join(
            "",
            "<div>{} {}</div>",
            ((f"{row.distance:.3f}", link_to(row.chunk, row.chunk.content[:90])) for row in near),
        )


def shape_of(row: ChunkVector) -> tuple[int, str]:
    values = np.asarray(row.embedding, float)
    return len(values), f"{np.linalg.norm(values):.3f}"


admin.site.unregister(RetrievalChunk)
admin.site.register(RetrievalChunk, ChunkWithVectorsAdmin)
