"""Filters and ordering of lists; both refuse what they do not know."""

from __future__ import annotations

import uuid
from typing import TYPE_CHECKING, Any

import django_filters
from django.db import models
from django_filters.rest_framework import DjangoFilterBackend
from rest_framework import exceptions
from rest_framework.filters import OrderingFilter
from rest_framework.request import Request

if TYPE_CHECKING:
    from rest_framework.views import APIView


class Ordering(OrderingFilter):
    """``?ordering=-title``: one of the view's ``ordering_fields``, with or without a minus."""

    ordering_description = "One of these; a minus turns the order round."

    def get_ordering(self, request: Request, queryset: models.QuerySet, view: APIView) -> Any:
        asked = request.query_params.get(self.ordering_param)
        if asked is None:
            return self.get_default_ordering(view)
        if asked not in self._choices(view):
            raise exceptions.ValidationError({"ordering": [f"One of: {', '.join(self._choices(view))}."]})
        return [asked]

    def get_schema_operation_parameters(self, view: APIView) -> list[dict[str, Any]]:
        choices = self._choices(view)
        if not choices:
            return []
        return [
            {
                "name": self.ordering_param,
                "in": "query",
                "required": False,
                "description": self.ordering_description,
                "schema": {"type": "string", "enum": choices},
            }
        ]

    def _choices(self, view: APIView) -> list[str]:
        fields = getattr(view, "ordering_fields", ())
        return [f"{sign}{field}" for field in fields for sign in ("", "-")]


class Filters(DjangoFilterBackend):
    """An empty value is an error where a string would not do, not a filter that is silently left out."""

    def get_filterset(self, request: Request, queryset: models.QuerySet, view: APIView) -> Any:
        filterset = super().get_filterset(request, queryset, view)
        for name, declared in filterset.filters.items() if filterset else ():
            is_text = isinstance(declared, django_filters.CharFilter)
            if request.query_params.get(name) == "" and not is_text:
                raise exceptions.ValidationError({name: ["Give a value, or leave it out."]})
        return filterset


class VisibleFilter(django_filters.UUIDFilter):
    """Rows that belong to the given one, which the caller must be able to see: 404 otherwise."""

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
