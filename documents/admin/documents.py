"""Documents, tags and collections in the admin; pages, units and chunks, each drawn on its page."""

from __future__ import annotations

import json
from collections.abc import Iterable
from uuid import UUID

from django.contrib import admin, messages
from django.core.exceptions import PermissionDenied
from django.db.models import Count, QuerySet
from django.http import HttpRequest, HttpResponse, StreamingHttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import URLPattern, path, reverse
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString

from documents.access import end_grant, grants_of
from documents.admin.base import (
    CommonValuesFilter,
    EstimatingPaginator,
    Overlay,
    PlacedAdmin,
    highlight_units,
    link_to,
    link_to_list,
    page_overlay,
)
from documents.files.page_pictures import PictureFailed, page_drawing
from documents.ingestion.pipeline import ingest_again
from documents.library import delete_document
from documents.models import CitationUnit, Collection, Document, EventKind, Page, RetrievalChunk, Tag
from documents.models.content import chunk_metadata
from documents.models.security import record
from documents.signals import document_parsed


@admin.register(Document)
class DocumentAdmin(admin.ModelAdmin):
    list_display = ["title", "owner", "state", "page_count", "unit_count", "seconds", "created_at"]
    list_filter = [
        "status",
        ("failure_code", CommonValuesFilter),
        "kind",
        ("parser_name", CommonValuesFilter),
        ("language", CommonValuesFilter),
        "created_at",
    ]
    search_fields = ["title", "original_name", "owner__username", "doi", "sha256", "id__exact"]
    list_select_related = ["owner"]
    show_full_result_count = False
    paginator = EstimatingPaginator
    list_per_page = 50
    actions = ["read_again", "index_again", "export_units"]
    readonly_fields = (
        *("id", "owner", "access", "kind", "file", "sha256", "size", "status", "progress"),
        *("failure_code", "failure_message", "failed_pages", "counts", "stage_seconds", "parser_name"),
        *("parser_version", "attempts", "lease", "lease_holder", "lease_expires_at", "started_at"),
        *("created_at", "updated_at", "indexed_at"),
    )
    fieldsets = [
        (None, {"fields": ["title", "authors", "year", "doi", "language", "abstract", "tldr"]}),
        ("Processing", {"fields": readonly_fields}),
    ]

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def get_queryset(self, request: HttpRequest) -> QuerySet[Document]:
        return super().get_queryset(request).filter(pk__in=Document.objects.sources())

    @admin.display(description="status", ordering="status")
    def state(self, document: Document) -> str:
        """Return the status, with the code of a failure."""
        state = document.get_status_display()
        return f"{state}: {document.failure_code.replace('_', ' ')}" if document.failure_code else state

    @admin.display(description="seconds")
    def seconds(self, document: Document) -> str:
        """Return the seconds of all stages; a stage with a colon in its name is part of another."""
        stages = [spent for stage, spent in document.stage_seconds.items() if ":" not in stage]
        return f"{sum(stages):.1f}" if stages else "–"

    @admin.display(description="content")
    def counts(self, document: Document) -> str:
        made = [
            (Page, document.page_count),
            (CitationUnit, document.unit_count),
            (RetrievalChunk, document.chunk_count),
        ]
        links = [
            link_to_list(
                model, f"{count:,} {model._meta.verbose_name_plural}", document__id__exact=document.pk
            )
            for model, count in made
        ]
        return format_html_join(" · ", "{}", [(link,) for link in links])

    @admin.display(description="who has access")
    def access(self, document: Document) -> str:
        others = len(grants_of(document)) - 1
        text = f"the owner, and others by {others} grants" if others else "only the owner"
        return format_html(
            '<a href="{}">{}</a>', reverse("admin:documents_document_access", args=[document.pk]), text
        )

    def get_urls(self) -> list[URLPattern]:
        page = self.admin_site.admin_view(self.access_page)
        return [path("<uuid:pk>/access/", page, name="documents_document_access"), *super().get_urls()]

    def access_page(self, request: HttpRequest, pk: UUID) -> HttpResponse:
        """List who has access to the document; a POST ends one grant (``way``)."""
        document = get_object_or_404(Document.objects.select_related("owner"), pk=pk)
        if not self.has_view_permission(request, document):
            raise PermissionDenied
        may_end = self.has_change_permission(request, document)
        if request.method == "POST":
            if not may_end:
                raise PermissionDenied
            if end_grant(document, request.POST.get("way", "")):
                self.log_change(request, document, "Ended a grant of access to the document.")
                messages.success(request, "Access ended.")
            return redirect("admin:documents_document_access", pk)
        page = self.admin_site.each_context(request) | {
            "title": f"Who has access to “{document}”",
            "document": document,
            "ways": grants_of(document),
            "may_end": may_end,
            "opts": self.opts,
        }
        return render(request, "admin/documents/document/access.html", page)

    @admin.action(description="Re-process", permissions=["change"])
    def read_again(self, request: HttpRequest, documents: QuerySet[Document]) -> None:
        done = [ingest_again(document) for document in documents]
        said = f"{sum(done)} queued, {len(done) - sum(done)} already in progress."
        self.message_user(request, said, messages.SUCCESS)

    @admin.action(description="Embed again", permissions=["change"])
    def index_again(self, request: HttpRequest, documents: QuerySet[Document]) -> None:
        ready = documents.filter(status=Document.Status.READY)
        for document in ready:
            document_parsed.send(Document, document=document)
        self.message_user(request, f"{len(ready)} embedded again.", messages.SUCCESS)

    @admin.action(description="Export units as JSON lines", permissions=["view"])
    def export_units(
        self, request: HttpRequest, documents: QuerySet[Document]
    ) -> HttpResponse | StreamingHttpResponse:
        units = CitationUnit.objects.filter(document__in=documents).values(
            "document_id",
            "id",
            "page_number",
            "paragraph_index",
            "unit_type",
            "section_path",
            "content",
            "rects",
        )
        record(EventKind.EXPORTED, f"units of {documents.count()} documents")
        lines = (json.dumps(unit, default=str, ensure_ascii=False) + "\n" for unit in units.iterator(2000))
        headers = {"Content-Disposition": 'attachment; filename="units.jsonl"'}
        return StreamingHttpResponse(lines, content_type="application/jsonl", headers=headers)

    def get_deleted_objects(
        self, documents: Iterable[Document], request: HttpRequest
    ) -> tuple[list[str], dict[str, int], set[str], list[str]]:
        """Return counts: a list of a hundred thousand rows would be useless."""
        listed = list(documents)
        lines = [f"{row.title}: {row.page_count:,} pages, {row.unit_count:,} units" for row in listed]
        return lines, {"documents": len(listed)}, set(), []

    def delete_model(self, request: HttpRequest, document: Document) -> None:
        delete_document(document)

    def delete_queryset(self, request: HttpRequest, documents: QuerySet[Document]) -> None:
        for document in documents:
            delete_document(document)


class OwnedAdmin(admin.ModelAdmin):
    """Rows that users make for themselves."""

    search_fields = ["name", "owner__username"]
    list_select_related = ["owner"]
    readonly_fields = ["owner"]

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False


@admin.register(Collection)
class CollectionAdmin(OwnedAdmin):
    """The owner of a collection reads its documents, so administrators do not choose one."""

    list_display = ["name", "owner", "document_count", "created_at"]

    def get_queryset(self, request: HttpRequest) -> QuerySet[Collection]:
        return super().get_queryset(request).annotate(document_count=Count("documents"))

    @admin.display(ordering="document_count")
    def document_count(self, collection: Collection) -> int:
        return collection.document_count  # type: ignore[attr-defined]


@admin.register(Tag)
class TagAdmin(OwnedAdmin):
    list_display = ["name", "owner", "colour"]


@admin.register(CitationUnit)
class UnitAdmin(PlacedAdmin):
    list_display = ["__str__", "unit_type", "of_document", "page_number", "paragraph_index", "section_title"]
    list_filter = ["unit_type", ("section_type", CommonValuesFilter), "continues"]
    search_fields = ["id"]
    id_paths, title_path = ("pk", "document", "chunk"), "document"
    search_help_text = "id of the unit or its chunk, or id or title of its document"
    ordering = ["document_id", "position"]
    fields = (
        *("document", "chunk", "unit_type", "content", "page_number", "paragraph_index"),
        *("position", "char_start", "char_end", "line_start", "line_end", "heading_level"),
        *("section_path", "section_type", "continues", "table_index", "table_row", "cells", "location"),
        "neighbours",
    )

    @admin.display(description="neighbours")
    def neighbours(self, unit: CitationUnit) -> SafeString:
        around = CitationUnit.objects.neighbours(unit).order_by("position")
        return linked_list(map(link_to, around))


@admin.register(RetrievalChunk)
class ChunkAdmin(PlacedAdmin):
    """Chunks; ``retrieval`` adds their vectors through ``panels``."""

    list_display = ["short", "chunk_type", "of_document", "index", "page_start", "page_end", "token_count"]
    list_filter = [("chunk_type", CommonValuesFilter), ("section_type", CommonValuesFilter)]
    search_fields = ["id"]
    id_paths, title_path = ("pk", "document"), "document"
    search_help_text = "id of the chunk, or id or title of its document; search its text on the search page"
    ordering = ["document_id", "index"]
    fields: tuple[str, ...] = (
        *("document", "index", "chunk_type", "context_header", "content", "summary", "section_path"),
        *("section_type", "page_start", "page_end", "token_count", "known", "units_list"),
        "before_and_after",
    )

    @admin.display(description="metadata")
    def known(self, chunk: RetrievalChunk) -> str:
        known = chunk_metadata(chunk, list(chunk.units.all()))
        return format_html("<pre>{}</pre>", json.dumps(known, indent=1, ensure_ascii=False))

    @admin.display(description="chunk")
    def short(self, chunk: RetrievalChunk) -> str:
        return chunk.content[:80]

    @admin.display(description="units")
    def units_list(self, chunk: RetrievalChunk) -> SafeString:
        return linked_list(map(link_to, chunk.units.order_by("position")))

    def overlays(self, row: RetrievalChunk) -> list[Overlay]:
        return highlight_units(list(row.units.order_by("position")))

    @admin.display(description="neighbours")
    def before_and_after(self, chunk: RetrievalChunk) -> SafeString:
        around = RetrievalChunk.objects.filter(
            document=chunk.document_id, index__in=(chunk.index - 1, chunk.index + 1)
        )
        return linked_list(link_to(other, f"#{other.index} {other.content}") for other in around)


def linked_list(items: Iterable[str]) -> SafeString:
    return format_html_join("", "<div>{}</div>", ((item,) for item in items))


@admin.register(Page)
class PageAdmin(PlacedAdmin):
    """Pages. The list defers texts and word boxes; the page view draws them as layers."""

    list_display = [
        *("number", "of_document", "label", "size", "rotation", "ocr", "confidence", "hidden_words"),
        "failure",
    ]
    list_display_links = ["number"]
    list_filter = ["ocr", "rotation", ("failure", admin.EmptyFieldListFilter)]
    search_fields = ["number"]
    id_paths, title_path = ("document",), "document"
    search_help_text = "id or title of its document"
    ordering = ["document_id", "number"]
    fields = (
        *("of_document", "number", "label", "size", "rotation", "ocr", "confidence", "hidden_words"),
        *("failure", "text"),
    )

    def overlays(self, row: Page) -> list[Overlay]:
        return [page_overlay(row)]

    @admin.display(description="size in points")
    def size(self, page: Page) -> str:
        return f"{page.width:.0f} × {page.height:.0f}"

    def get_queryset(self, request: HttpRequest) -> QuerySet[Page]:
        rows = super().get_queryset(request)
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
