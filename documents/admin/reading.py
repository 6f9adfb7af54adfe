"""What the read-only lists of the admin share: no counting of whole tables, no query per row."""

from __future__ import annotations

from functools import cached_property
from typing import Any

from django.contrib import admin
from django.core.paginator import Paginator
from django.db import connection, models
from django.http import HttpRequest
from django.urls import reverse
from django.utils.html import format_html
from django.utils.safestring import SafeString

EXACT_BELOW = 10_000  # rows; counting more costs more than anybody gains by the exact number


class EstimatingPaginator(Paginator):
    """Counts small results exactly and takes PostgreSQL's estimate for a whole large table."""

    @cached_property
    def count(self) -> int:
        rows = self.object_list
        if not isinstance(rows, models.QuerySet) or rows.query.where:
            return super().count
        with connection.cursor() as cursor:
            cursor.execute(
                "SELECT reltuples::bigint FROM pg_class WHERE oid = %s::regclass", [rows.model._meta.db_table]
            )
            (estimate,) = cursor.fetchone()
        return int(estimate) if estimate >= EXACT_BELOW else super().count


class ReadOnlyAdmin(admin.ModelAdmin):
    """A list to find and read rows that only the program writes."""

    show_full_result_count = False
    paginator = EstimatingPaginator
    list_per_page = 50

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        """Rows go with what they belong to, never one by one from their own pages."""
        match, meta = request.resolver_match, self.opts
        on_own_page = match is not None and (match.url_name or "").startswith(
            f"{meta.app_label}_{meta.model_name}_"
        )
        return not on_own_page and super().has_delete_permission(request, obj)


def link_to(row: models.Model | None, text: str = "") -> SafeString | str:
    """A link to the row's own page in the admin."""
    if row is None:
        return "–"
    meta = row._meta
    url = reverse(f"admin:{meta.app_label}_{meta.model_name}_change", args=[row.pk])
    return format_html('<a href="{}">{}</a>', url, text or str(row) or "…")


def link_to_list(model: type[models.Model], text: str, **filters: Any) -> SafeString:
    """A link to a list of the admin, filtered."""
    meta = model._meta
    url = reverse(f"admin:{meta.app_label}_{meta.model_name}_changelist", query=filters)
    return format_html('<a href="{}">{}</a>', url, text)
