"""Units and chunks in the admin, each shown on its page."""

from __future__ import annotations

from typing import Any

from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.utils.html import format_html_join
from django.utils.safestring import SafeString

from documents.admin.overlays import Overlay, lit_overlay
from documents.admin.reading import ReadOnlyAdmin, link_to
from documents.models import CitationUnit, Page, RetrievalChunk


class OnItsPage(ReadOnlyAdmin):
    """A row whose own page in the admin shows where it stands."""

    change_form_template = "admin/documents/on_page.html"

    def overlays(self, row: Any) -> list[Overlay]:
        raise NotImplementedError

    def change_view(
        self,
        request: HttpRequest,
        object_id: str,
        form_url: str = "",
        extra_context: dict[str, Any] | None = None,
    ) -> HttpResponse:
        row = self.get_object(request, object_id)
        overlays = self.overlays(row) if row else []
        return super().change_view(
            request, object_id, form_url, {"overlays": overlays, **(extra_context or {})}
        )


def overlays_of(units: list[CitationUnit]) -> list[Overlay]:
    """The pages these units of one document stand on, with their lines lit. One query."""
    numbers = {unit.page_number for unit in units}
    pages = Page.objects.filter(document=units[0].document_id, number__in=numbers) if units else []
    return [
        lit_overlay(page, [rect for unit in units if unit.page_number == page.number for rect in unit.rects])
        for page in pages
    ]


@admin.register(CitationUnit)
class UnitAdmin(OnItsPage):
    list_display = ["short", "unit_type", "of_document", "page_number", "paragraph_index", "section_title"]
    list_filter = ["unit_type", "section_type", "continues"]
    search_fields = ["content", "document__title__icontains", "document__id__exact", "id__exact"]
    search_help_text = "words of the unit, title or id of its document, or its id"
    ordering = ["document_id", "position"]
    readonly_fields = (
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
    fields = readonly_fields

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

    def overlays(self, row: CitationUnit) -> list[Overlay]:
        return overlays_of([row])


@admin.register(RetrievalChunk)
class ChunkAdmin(OnItsPage):
    """Vectors are the business of ``retrieval``, which adds them through ``panels``."""

    list_display = ["short", "chunk_type", "of_document", "index", "page_start", "page_end", "token_count"]
    list_filter = ["chunk_type", "section_type"]
    search_fields = ["content", "document__title__icontains", "document__id__exact", "id__exact"]
    search_help_text = "words of the chunk, title or id of its document, or its id"
    ordering = ["document_id", "index"]
    readonly_fields: tuple[str, ...] = (
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
    fields: tuple[str, ...] = readonly_fields

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

    def overlays(self, row: RetrievalChunk) -> list[Overlay]:
        return overlays_of(list(row.units.order_by("position")))


def linked_list(items: Any) -> SafeString:
    return format_html_join("", "<div>{}</div>", items)
