"""Units and chunks in the admin, each shown on its page."""

from __future__ import annotations

from typing import Any

from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest
from django.utils.html import format_html_join
from django.utils.safestring import SafeString

from documents.admin.placed import PlacedAdmin
from documents.admin.reading import CommonValuesFilter, link_to
from documents.models import CitationUnit, RetrievalChunk


@admin.register(CitationUnit)
class UnitAdmin(PlacedAdmin):
    list_display = ["short", "unit_type", "of_document", "page_number", "paragraph_index", "section_title"]
    list_filter = ["unit_type", ("section_type", CommonValuesFilter), "continues"]
    search_fields = ["id"]
    id_paths, title_path = ("pk", "document", "chunk"), "document"
    search_help_text = "its id, the id of its chunk, or id or title of its document"
    ordering = ["document_id", "position"]
    fields = (
        "of_document",
        "of_chunk",
        "unit_type",
        "content",
        "page_number",
        "paragraph_index",
        "position",
        "char_start",
        "char_end",
        "line_start",
        "line_end",
        "heading_level",
        "section_path",
        "section_type",
        "continues",
        "table_index",
        "table_row",
        "cells",
        "neighbours",
    )

    def get_queryset(self, request: HttpRequest) -> QuerySet[CitationUnit]:
        return super().get_queryset(request).select_related("document", "chunk")

    @admin.display(description="unit")
    def short(self, unit: CitationUnit) -> str:
        return unit.content[:80]

    @admin.display(description="document")
    def of_document(self, unit: CitationUnit) -> str:
        return link_to(unit.document, unit.document.title[:60])

    @admin.display(description="chunk")
    def of_chunk(self, unit: CitationUnit) -> str:
        return link_to(unit.chunk)

    @admin.display(description="neighbours")
    def neighbours(self, unit: CitationUnit) -> SafeString:
        around = CitationUnit.objects.neighbours(unit).order_by("position")
        return linked_list((link_to(other, other.content[:100]),) for other in around)


@admin.register(RetrievalChunk)
class ChunkAdmin(PlacedAdmin):
    """Vectors are the business of ``retrieval``, which adds them through ``panels``."""

    list_display = ["short", "chunk_type", "of_document", "index", "page_start", "page_end", "token_count"]
    list_filter = [("chunk_type", CommonValuesFilter), ("section_type", CommonValuesFilter)]
    search_fields = ["id"]
    id_paths, title_path = ("pk", "document"), "document"
    search_help_text = "its id, or id or title of its document; the words are for the search page"
    ordering = ["document_id", "index"]
    fields: tuple[str, ...] = (
        "of_document",
        "index",
        "chunk_type",
        "context_header",
        "content",
        "summary",
        "section_path",
        "section_type",
        "page_start",
        "page_end",
        "token_count",
        "metadata",
        "units_list",
        "before_and_after",
    )

    def get_queryset(self, request: HttpRequest) -> QuerySet[RetrievalChunk]:
        return super().get_queryset(request).select_related("document")

    @admin.display(description="chunk")
    def short(self, chunk: RetrievalChunk) -> str:
        return chunk.content[:80]

    @admin.display(description="document")
    def of_document(self, chunk: RetrievalChunk) -> str:
        return link_to(chunk.document, chunk.document.title[:60])

    @admin.display(description="units")
    def units_list(self, chunk: RetrievalChunk) -> SafeString:
        return linked_list((link_to(unit, unit.content[:100]),) for unit in chunk.units.order_by("position"))

    @admin.display(description="neighbours")
    def before_and_after(self, chunk: RetrievalChunk) -> SafeString:
        around = RetrievalChunk.objects.filter(
            document=chunk.document_id, index__in=(chunk.index - 1, chunk.index + 1)
        )
        return linked_list((link_to(other, f"#{other.index} {other.content[:100]}"),) for other in around)


def linked_list(items: Any) -> SafeString:
    return format_html_join("", "<div>{}</div>", items)
