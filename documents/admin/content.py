"""Pages, units and chunks in the admin, each drawn on its page."""

from __future__ import annotations

import json
from typing import Any

from django.contrib import admin
from django.core.exceptions import PermissionDenied
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404
from django.urls import URLPattern, path
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString

from documents.admin.base import CommonValuesFilter, PlacedAdmin, link_to
from documents.chunk_metadata import chunk_metadata
from documents.files.page_pictures import PictureFailed, page_drawing
from documents.models import CitationUnit, Page, RetrievalChunk


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
        "location",
        "neighbours",
    )

    def get_queryset(self, request: HttpRequest) -> QuerySet[CitationUnit]:
        return super().get_queryset(request).select_related("document", "chunk")

    @admin.display(description="unit")
    def short(self, unit: CitationUnit) -> str:
        return unit.content[:80]

    @admin.display(description="chunk")
    def of_chunk(self, unit: CitationUnit) -> str:
        return link_to(unit.chunk)

    @admin.display(description="neighbours")
    def neighbours(self, unit: CitationUnit) -> SafeString:
        around = CitationUnit.objects.neighbours(unit).order_by("position")
        return linked_list((link_to(other, other.content[:100]),) for other in around)


@admin.register(RetrievalChunk)
class ChunkAdmin(PlacedAdmin):
    """Chunks; ``retrieval`` adds their vectors through ``panels``."""

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
        "known",
        "units_list",
        "before_and_after",
    )

    def get_queryset(self, request: HttpRequest) -> QuerySet[RetrievalChunk]:
        return super().get_queryset(request).select_related("document")

    @admin.display(description="metadata")
    def known(self, chunk: RetrievalChunk) -> str:
        known = chunk_metadata(chunk, list(chunk.units.all()))
        return format_html("<pre>{}</pre>", json.dumps(known, indent=1, ensure_ascii=False))

    @admin.display(description="chunk")
    def short(self, chunk: RetrievalChunk) -> str:
        return chunk.content[:80]

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


@admin.register(Page)
class PageAdmin(PlacedAdmin):
    """Pages. The list defers texts and word boxes; the page view draws them as layers."""

    list_display = [
        "number",
        "of_document",
        "label",
        "size",
        "rotation",
        "ocr",
        "confidence",
        "hidden_words",
        "failure",
    ]
    list_display_links = ["number"]
    list_filter = ["ocr", "rotation", ("failure", admin.EmptyFieldListFilter)]
    search_fields = ["number"]
    id_paths, title_path = ("document",), "document"
    search_help_text = "id or title of its document"
    list_select_related = ["document"]
    ordering = ["document_id", "number"]
    fields = (
        "of_document",
        "number",
        "label",
        "size",
        "rotation",
        "ocr",
        "confidence",
        "hidden_words",
        "failure",
        "text",
    )

    @admin.display(description="size in points")
    def size(self, page: Page) -> str:
        return f"{page.width:.0f} × {page.height:.0f}"

    def get_queryset(self, request: HttpRequest) -> QuerySet[Page]:
        rows = super().get_queryset(request).select_related("document")
        if request.resolver_match and request.resolver_match.url_name == "documents_page_changelist":
            return rows.defer("text", "word_boxes", "furniture", "figures")
        return rows

    def get_urls(self) -> list[URLPattern]:
        picture = self.admin_site.admin_view(self.picture)
        return [path("<int:pk>/picture/", picture, name="documents_page_picture"), *super().get_urls()]

    def picture(self, request: HttpRequest, pk: int) -> HttpResponse:
        """Return the page as PNG, rendered in the sandbox."""
        if not self.has_view_permission(request):
            raise PermissionDenied
        page = get_object_or_404(Page.objects.select_related("document").only("number", "document"), pk=pk)
        try:
            png = page_drawing(page.document, page.number, 144)
        except PictureFailed as failed:
            return HttpResponse(str(failed), status=422, content_type="text/plain; charset=utf-8")
        return HttpResponse(png, content_type="image/png", headers={"Cache-Control": "private, max-age=3600"})
