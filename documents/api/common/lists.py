"""Filters, ordering and cursor pagination of lists. Unknown parameters are errors."""

from __future__ import annotations

import uuid
from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING, Any

import django_filters
from django import forms
from django.core.exceptions import ValidationError
from django.db import DataError, models
from django_filters.rest_framework import DjangoFilterBackend
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import extend_schema_field
from rest_framework import exceptions
from rest_framework.filters import OrderingFilter
from rest_framework.pagination import CursorPagination
from rest_framework.request import Request

from text.numbers import whole_number

if TYPE_CHECKING:
    from rest_framework.views import APIView


class Ordering(OrderingFilter):
    """``?ordering=-title``: one of the view's ``ordering_fields``; a minus reverses it."""

    ordering_description = "One of these; a minus reverses the order."

    def get_ordering(self, request: Request, queryset: models.QuerySet, view: APIView) -> Any:
        asked = request.query_params.get(self.ordering_param)
        if asked is None:
            return self.get_default_ordering(view)
        if asked not in self._choices(view):
            raise exceptions.ValidationError({"ordering": [f"One of: {', '.join(self._choices(view))}."]})
        return [asked]

    def get_schema_operation_parameters(self, view: APIView) -> list[dict[str, Any]]:
        if not (choices := self._choices(view)):
            return []
        [ordering] = super().get_schema_operation_parameters(view)
        ordering["schema"]["enum"] = choices
        return [ordering]

    def _choices(self, view: APIView) -> list[str]:
        fields = getattr(view, "ordering_fields", ())
        return [f"{sign}{field}" for field in fields for sign in ("", "-")]

    def parameters(self, view: APIView) -> Collection[str]:
        return [self.ordering_param] if self._choices(view) else []


class FilterBackend(DjangoFilterBackend):
    """django-filter's backend, with an error for an empty value of a filter that is not text."""

    def parameters(self, view: APIView) -> Collection[str]:
        filterset_class = self.get_filterset_class(view)
        return filterset_class.base_filters if filterset_class else []

    def get_filterset(self, request: Request, queryset: models.QuerySet, view: APIView) -> Any:
        filterset = super().get_filterset(request, queryset, view)
        for name, declared in filterset.filters.items() if filterset else ():
            is_text = isinstance(declared, django_filters.CharFilter)
            if request.query_params.get(name) == "" and not is_text:
                raise exceptions.ValidationError({name: ["Give a value, or leave it out."]})
        return filterset


def refuse_unknown(request: Request, view: APIView, known: Collection[str]) -> None:
    """Refuse unknown parameters: a misspelt filter would return everything.

    ``known``: parameters besides those of the view's filter backends.
    """
    backends = getattr(view, "filter_backends", ())
    names = {name for backend in backends for name in backend().parameters(view)}.union(known)
    if unknown := [name for name in request.query_params if name not in names]:
        raise exceptions.ValidationError({name: ["There is no such parameter."] for name in unknown})


@extend_schema_field(OpenApiTypes.BOOL)
class TrueFalseFilter(django_filters.TypedChoiceFilter):
    """A filter that accepts only ``true`` and ``false``."""

    def __init__(self, **options: Any) -> None:
        choices = [("true", "true"), ("false", "false")]
        super().__init__(choices=choices, coerce=lambda value: value == "true", **options)


@extend_schema_field(OpenApiTypes.INT)
class WholeNumberFilter(django_filters.NumberFilter):
    """A filter that accepts only whole numbers."""

    field_class = forms.IntegerField


class VisibleFilter(django_filters.UUIDFilter):
    """Filter by a related row; 404 unless the caller may see it."""

    def __init__(self, model: type[models.Model], **options: Any) -> None:
        self.related = model
        super().__init__(**options)

    def filter(self, rows: models.QuerySet, value: uuid.UUID | None) -> models.QuerySet:
        if value is None:
            return rows
        user = self.parent.request.user
        if not self.related.objects.visible_to(user).filter(pk=value).exists():  # type: ignore[attr-defined]
            raise exceptions.NotFound
        return super().filter(rows, value)


class CursorPages(CursorPagination):
    """``?cursor=…&limit=…``; the response holds ``next``, ``previous`` and ``results``."""

    page_size = 50
    max_page_size = 500
    page_size_query_param = "limit"
    page_size_query_description = "Rows per page."
    cursor_query_description = "Start of the page: the value in `next` or `previous`."
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
        except (ValueError, ValidationError, DataError):  # a malformed cursor
            raise exceptions.ValidationError({"cursor": ["This cursor cannot be read."]}) from None

    def get_ordering(self, request: Request, queryset: models.QuerySet, view: APIView) -> tuple[str, ...]:
        """Return the requested order or the view's; the primary key comes last to break ties."""
        ordering: Sequence[str] = super().get_ordering(request, queryset, view)
        own = getattr(view, "page_ordering", None)
        if own and not request.query_params.get("ordering"):
            ordering = own
        return (*ordering, "pk") if "pk" not in ordering else tuple(ordering)

    def get_page_size(self, request: Request) -> int | None:
        text = request.query_params.get("limit")
        if text is None:
            return self.page_size
        if (size := whole_number(text, self.max_page_size, least=1)) is None:
            raise exceptions.ValidationError({"limit": [f"A number from 1 to {self.max_page_size}."]})
        return size

    def get_schema_operation_parameters(self, view: APIView) -> list[dict[str, Any]]:
        cursor, limit = super().get_schema_operation_parameters(view)
        limit["schema"] |= {"minimum": 1, "maximum": self.max_page_size, "default": self.page_size}
        return [cursor, limit]
