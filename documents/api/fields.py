"""Serializers that refuse what they do not know, and references that only reach what the caller may see."""

from __future__ import annotations

from typing import Any

from django.db import models
from rest_framework import exceptions, serializers
from rest_framework.request import Request


class Strict:
    """For serializers: a field that is unknown or read-only is an error, never silently dropped."""

    def to_internal_value(self, data: Any) -> Any:
        if isinstance(data, dict) or hasattr(data, "keys"):
            writable = {field.field_name for field in self._writable_fields}  # type: ignore[attr-defined]
            if refused := sorted(set(data) - writable):
                raise serializers.ValidationError(
                    {name: ["This field does not exist or cannot be set."] for name in map(str, refused)}
                )
        return super().to_internal_value(data)  # type: ignore[misc]


class VisibleRelated(serializers.PrimaryKeyRelatedField):
    """The id of a row that the caller may see. Any other is answered by 404, as if it did not exist.

    ``rights`` names the QuerySet method that says who may refer to it.
    """

    def __init__(self, **options: Any) -> None:
        self.rights = options.pop("rights", "visible_to")
        super().__init__(**options)

    def get_queryset(self) -> models.QuerySet:
        rows = super().get_queryset()
        request: Request | None = self.context.get("request")
        if request is None:
            return rows.none()
        return getattr(rows, self.rights)(request.user)

    def to_internal_value(self, data: Any) -> Any:
        try:
            return super().to_internal_value(data)
        except serializers.ValidationError as error:
            if "does_not_exist" in str(error.get_codes()):
                raise exceptions.NotFound from None
            raise
