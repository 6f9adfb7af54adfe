"""Lists in pages by cursor: stable while rows come and go, and as fast on the last page as on the first."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from django.core.exceptions import ValidationError
from django.db import DataError, models
from rest_framework import exceptions
from rest_framework.pagination import CursorPagination
from rest_framework.request import Request

from documents.api.filters import refuse_unknown

if TYPE_CHECKING:
    from rest_framework.views import APIView


class CursorPages(CursorPagination):
    """``?cursor=…&limit=…``; the answer holds ``next``, ``previous`` and ``results``."""

    page_size = 50
    max_page_size = 500
    page_size_query_param = "limit"
    ordering = "-created_at"
    template = None
    own_parameters = ("cursor", "limit", "format")

    def paginate_queryset(
        self, queryset: Any, request: Request, view: APIView | None = None
    ) -> list[Any] | None:
        if view is not None:
            refuse_unknown(request, view, self.own_parameters)
        try:
            return super().paginate_queryset(queryset, request, view)
        except (ValueError, ValidationError, DataError):  # a cursor somebody made up
            raise exceptions.ValidationError({"cursor": ["This cursor cannot be read."]}) from None

    def get_ordering(self, request: Request, queryset: models.QuerySet, view: APIView) -> tuple[str, ...]:
        """The order asked for, else the view's own; the key comes last, so that no two rows tie."""
        ordering: Sequence[str] = super().get_ordering(request, queryset, view)
        own = getattr(view, "page_ordering", None)
        if own and not request.query_params.get("ordering"):
            ordering = own
        return (*ordering, "pk") if "pk" not in ordering else tuple(ordering)

    def get_page_size(self, request: Request) -> int | None:
        text = request.query_params.get("limit")
        if text is None:
            return self.page_size
        if not text.isascii() or not text.isdigit() or not 1 <= int(text[:9]) <= self.max_page_size:
            raise exceptions.ValidationError({"limit": [f"A number from 1 to {self.max_page_size}."]})
        return int(text)

    def get_schema_operation_parameters(self, view: APIView) -> list[dict[str, Any]]:
        limit = {"type": "integer", "minimum": 1, "maximum": self.max_page_size, "default": self.page_size}
        return [
            {
                "name": "cursor",
                "in": "query",
                "required": False,
                "description": "Where to go on: taken from `next` or `previous`.",
                "schema": {"type": "string"},
            },
            {
                "name": "limit",
                "in": "query",
                "required": False,
                "description": "Rows a page.",
                "schema": limit,
            },
        ]
