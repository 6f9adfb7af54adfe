"""Serializers that refuse what they do not know, and references that only reach what the caller may see."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django.db import models
from django.http import QueryDict
from rest_framework import exceptions, serializers
from rest_framework.request import Request

NO_SUCH_FIELD = "This field does not exist or cannot be set."
JSON_TYPES: list[tuple[type[serializers.Field], tuple[type, ...], str]] = [
    (serializers.BooleanField, (bool,), "This must be true or false."),
    (serializers.CharField, (str,), "This must be a string."),
    (serializers.IntegerField, (int,), "This must be a whole number."),
    (serializers.ManyRelatedField, (list,), "This must be a list."),
]


class Strict:
    """For serializers: what is unknown, read-only or of another JSON type is an error, never bent to fit."""

    def to_internal_value(self, data: Any) -> Any:
        if isinstance(data, Mapping):
            fields = {field.field_name: field for field in self._writable_fields}  # type: ignore[attr-defined]
            errors = {str(name): [NO_SUCH_FIELD] for name in data if name not in fields}
            if not isinstance(data, QueryDict):  # a form has only strings
                wrong = ((name, wrong_type(fields[name], data[name])) for name in fields if name in data)
                errors |= {name: [message] for name, message in wrong if message}
            if errors:
                raise serializers.ValidationError(errors)
        return super().to_internal_value(data)  # type: ignore[misc]


def wrong_type(field: serializers.Field, value: Any) -> str:
    """Why the JSON value is not of the field's type, or ''."""
    if isinstance(field, serializers.ListField) and isinstance(value, list) and field.child:
        return next((message for item in value if (message := wrong_type(field.child, item))), "")
    for kind, types, message in JSON_TYPES:
        if isinstance(field, kind):
            fits = isinstance(value, types) and (bool in types or not isinstance(value, bool))
            return "" if value is None or fits else message
    return ""


class VisibleRelated(serializers.PrimaryKeyRelatedField):
    """The id of a row that the caller may see. Any other is answered by 404, as if it did not exist.

    ``rights`` names the QuerySet method that says who may refer to it.
    """

    def __init__(self, **options: Any) -> None:
        self.rights = options.pop("rights", "visible_to")
        super().__init__(**options)

    def get_queryset(self) -> models.QuerySet:
        rows = super().get_queryset()
        assert rows is not None
        request: Request | None = self.context.get("request")
        if request is None:  # the schema is made without one
            return rows.none()
        return getattr(rows, self.rights)(request.user)

    def run_validation(self, data: Any = serializers.empty) -> Any:
        """An empty string is not the same as null."""
        if data == "":
            raise serializers.ValidationError("This must be an id.")
        return super().run_validation(data)

    def to_internal_value(self, data: Any) -> Any:
        try:
            return super().to_internal_value(data)
        except serializers.ValidationError as error:
            if "does_not_exist" in str(error.get_codes()):
                raise exceptions.NotFound from None
            raise
