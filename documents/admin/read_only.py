"""Read-only lists of the admin that stay fast with millions of rows."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from typing import Any
from uuid import UUID

from django.contrib import admin
from django.contrib.admin.filters import AllValuesFieldListFilter
from django.core.paginator import Paginator
from django.db import connection, models
from django.db.models import Q
from django.http import HttpRequest
from django.urls import reverse
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.translation import gettext

from documents.models import Document

EXACT_BELOW = 10_000  # rows; an exact count of more is not worth its cost


def estimated_rows(model: type[models.Model]) -> int:
    """Return PostgreSQL's estimate of the number of rows; -1 before the first ANALYZE."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT reltuples::bigint FROM pg_class WHERE oid = %s::regclass", [model._meta.db_table]
        )
        return int(cursor.fetchone()[0])


class EstimatingPaginator(Paginator):
    """A paginator that counts up to ``EXACT_BELOW``, and estimates the size of a larger unfiltered table."""

    @cached_property
    def count(self) -> int:
        rows = self.object_list
        if not isinstance(rows, models.QuerySet):
            return super().count
        counted = rows.order_by()[:EXACT_BELOW].count()
        if counted < EXACT_BELOW or rows.query.where:
            return counted
        return max(counted, estimated_rows(rows.model))


class CommonValuesFilter(AllValuesFieldListFilter):
    """A filter by a column's values: all of a small table, PostgreSQL's statistics for a large one.

    ``SELECT DISTINCT`` would read every row.
    """

    def __init__(
        self, field: Any, request: Any, params: Any, model: Any, model_admin: Any, field_path: str
    ) -> None:
        super().__init__(field, request, params, model, model_admin, field_path)
        if estimated_rows(model) >= EXACT_BELOW:
            self.lookup_choices = common_values(model, field)  # type: ignore[assignment]  # any iterable will do

    def choices(self, changelist: Any) -> Iterator[Any]:
        """Return Django's choices, with a label for the empty value."""
        for choice in super().choices(changelist):
            value, *count = str(choice["display"]).split(" (")
            yield choice if value else choice | {"display": " (".join([gettext("empty"), *count])}


def common_values(model: type[models.Model], field: models.Field) -> list[str]:
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT unnest(most_common_vals::text::text[]) FROM pg_stats "
            "WHERE schemaname = current_schema() AND tablename = %s AND attname = %s ORDER BY 1",
            [model._meta.db_table, field.column],
        )
        return [value for (value,) in cursor.fetchall()]


class ReadOnlyAdmin(admin.ModelAdmin):
    """A read-only list that can be searched by indexed columns only.

    A typed id is looked up in ``id_paths``, anything else as a title in ``title_path`` (to a document).
    """

    show_full_result_count = False
    paginator = EstimatingPaginator
    list_per_page = 50
    id_paths: tuple[str, ...] = ()
    title_path = ""

    def get_search_results(
        self, request: HttpRequest, queryset: models.QuerySet, search_term: str
    ) -> tuple[models.QuerySet, bool]:
        typed = search_term.strip()
        if not typed or not (self.id_paths or self.title_path):
            return super().get_search_results(request, queryset, search_term)
        if (found := uuid_in(typed)) and self.id_paths:
            return queryset.filter(Q(*((path, found) for path in self.id_paths), _connector=Q.OR)), False
        if not self.title_path:
            return queryset.none(), False
        titled = Document.objects.filter(title__icontains=typed).values("pk")
        return queryset.filter(**{f"{self.title_path}__in": titled}), False

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        """Rows are deleted with their parent, never from their own page."""
        match, meta = request.resolver_match, self.opts
        on_own_page = match is not None and (match.url_name or "").startswith(
            f"{meta.app_label}_{meta.model_name}_"
        )
        return not on_own_page and super().has_delete_permission(request, obj)


def uuid_in(text: str) -> UUID | None:
    try:
        return UUID(text)
    except ValueError:
        return None


def link_to(row: models.Model | None, text: str = "") -> SafeString | str:
    """Return a link to the row's admin page."""
    if row is None:
        return "–"
    meta = row._meta
    url = reverse(f"admin:{meta.app_label}_{meta.model_name}_change", args=[row.pk])
    return format_html('<a href="{}">{}</a>', url, text or str(row) or "…")


def link_to_list(model: type[models.Model], text: str, **filters: Any) -> SafeString:
    """Return a link to the model's admin list, filtered."""
    meta = model._meta
    url = reverse(f"admin:{meta.app_label}_{meta.model_name}_changelist", query=filters)
    return format_html('<a href="{}">{}</a>', url, text)
