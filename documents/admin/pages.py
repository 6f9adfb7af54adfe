"""Pages in the admin: each with its picture and what the program sees on it."""

from __future__ import annotations

from django.contrib import admin
from django.core.exceptions import PermissionDenied
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404
from django.urls import URLPattern, path

from documents.admin.placed import PlacedAdmin
from documents.admin.reading import link_to
from documents.models import Page
from documents.pictures import PictureFailed, page_drawing


@admin.register(Page)
class PageAdmin(PlacedAdmin):
    """The list leaves texts and word boxes in the database; the page view draws them as layers."""

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

    @admin.display(description="document")
    def of_document(self, page: Page) -> str:
        return link_to(page.document, page.document.title[:60])

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
        """The page as PNG, drawn in the confined child."""
        if not self.has_view_permission(request):
            raise PermissionDenied
        page = get_object_or_404(Page.objects.select_related("document").only("number", "document"), pk=pk)
        try:
            png = page_drawing(page.document, page.number, 144)
        except PictureFailed as failed:
            return HttpResponse(str(failed), status=422, content_type="text/plain; charset=utf-8")
        return HttpResponse(png, content_type="image/png", headers={"Cache-Control": "private, max-age=3600"})
