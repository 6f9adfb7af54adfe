"""The admin of reviews, for reading."""

from __future__ import annotations

from django.contrib import admin

from documents.admin.base import ReadOnlyAdmin, link_to_list
from reviews.models import Review, ReviewCell


@admin.register(Review)
class ReviewAdmin(ReadOnlyAdmin):
    list_display = ["name", "owner", "collection", "provider", "updated_at"]
    list_filter = ["updated_at"]
    search_fields = ["name", "owner__username", "id__exact"]
    list_select_related = ["owner", "collection"]
    ordering = ["-updated_at"]
    fields = (
        *("owner", "name", "collection", "provider", "created_at", "updated_at", "deleted_at"),
        "cells_link",
    )

    @admin.display(description="cells")
    def cells_link(self, review: Review) -> str:
        return link_to_list(ReviewCell, "its cells", row__review__id__exact=review.pk)


@admin.register(ReviewCell)
class ReviewCellAdmin(ReadOnlyAdmin):
    list_display = ["column", "row__document", "state", "text", "answered_by", "mark", "updated_at"]
    list_filter = ["state", "mark", "updated_at"]
    search_fields = ["id__exact"]
    id_paths = ("pk", "row__review")
    list_select_related = ["column", "row__document"]
    ordering = ["-updated_at"]
