"""Strict serializers, fields that accept visible rows only, and the base of views below a document."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Any
from uuid import UUID

from django.db import models
from django.http import QueryDict
from django.shortcuts import get_object_or_404
from rest_framework import exceptions, serializers, viewsets
from rest_framework.generics import GenericAPIView
from rest_framework.permissions import SAFE_METHODS, BasePermission
from rest_framework.relations import MANY_RELATION_KWARGS, ManyRelatedField
from rest_framework.request import Request
from rest_framework.views import APIView

from documents.ingestion.recognition import prioritise_pages
from documents.models import Document, Page
from documents.models.library import uuid_or_none

NO_SUCH_FIELD = "This field does not exist or cannot be set."
JSON_TYPES: list[tuple[type[serializers.Field], tuple[type, ...], str]] = [
    (serializers.BooleanField, (bool,), "This must be true or false."),
    (serializers.CharField, (str,), "This must be a string."),
    (serializers.IntegerField, (int,), "This must be a whole number."),
    (serializers.ManyRelatedField, (list,), "This must be a list."),
]


class Strict:
    """Serializer mixin: unknown or read-only fields and other JSON types are errors; nothing is coerced."""

    def to_internal_value(self, data: Any) -> Any:
        if isinstance(data, Mapping):
            fields = {field.field_name: field for field in self._writable_fields}  # type: ignore[attr-defined]
            errors = {str(name): [NO_SUCH_FIELD] for name in data if name not in fields}
            if not isinstance(data, QueryDict):  # forms contain only strings
                wrong = ((name, wrong_type(fields[name], data[name])) for name in fields if name in data)
                errors |= {name: [message] for name, message in wrong if message}
            if errors:
                raise serializers.ValidationError(errors)
        return super().to_internal_value(data)  # type: ignore[misc]


def wrong_type(field: serializers.Field, value: Any) -> str:
    """Return why the JSON value is not of the field's type, or ''."""
    if isinstance(field, serializers.ListField) and isinstance(value, list) and field.child:
        return next((message for item in value if (message := wrong_type(field.child, item))), "")
    for kind, types, message in JSON_TYPES:
        if isinstance(field, kind):
            fits = isinstance(value, types) and (bool in types or not isinstance(value, bool))
            return "" if value is None or fits else message
    return ""


def valid(sent: serializers.BaseSerializer) -> dict[str, Any]:
    """Return the values of a request. Raises ValidationError."""
    sent.is_valid(raise_exception=True)
    return dict(sent.validated_data)


class TwoNumbers(serializers.ListField):
    """A list of two whole numbers, such as a first and a last line."""

    def __init__(self, **options: Any) -> None:
        super().__init__(child=serializers.IntegerField(), min_length=2, max_length=2, **options)


class MissingIsNotFound(serializers.RelatedField):
    """Answer 404, not 400, to a reference to a missing row. The first base of a field."""

    def to_internal_value(self, data: Any) -> Any:
        try:
            return super().to_internal_value(data)
        except serializers.ValidationError as error:
            if "does_not_exist" in str(error.get_codes()):
                raise exceptions.NotFound from None
            raise


class VisibleRelated(MissingIsNotFound, serializers.PrimaryKeyRelatedField):
    """The id of a row the caller may see; 404 for any other, as if it did not exist.

    ``rights`` names the QuerySet method that filters by permission.
    """

    def __init__(self, **options: Any) -> None:
        self.rights = options.pop("rights", "visible_to")
        super().__init__(**options)

    @classmethod
    def many_init(cls, *args: Any, **options: Any) -> VisibleRelatedList:
        listed = {name: value for name, value in options.items() if name in MANY_RELATION_KWARGS}
        return VisibleRelatedList(child_relation=cls(*args, **options), **listed)

    def get_queryset(self) -> models.QuerySet:
        rows = super().get_queryset()
        assert rows is not None
        request: Request | None = self.context.get("request")
        if request is None:  # while the schema is generated
            return rows.none()
        return getattr(rows, self.rights)(request.user)

    def run_validation(self, data: Any = serializers.empty) -> Any:
        """Refuse an empty string, which DRF would treat as null."""
        if data == "":
            raise serializers.ValidationError("This must be an id.")
        return super().run_validation(data)


MOST_RELATED = 1000  # ids in one list


class VisibleRelatedList(ManyRelatedField):
    """A list of ids, read in one query: DRF makes one for each id."""

    def to_internal_value(self, data: Any) -> list[models.Model]:
        if isinstance(data, list) and len(data) > MOST_RELATED:
            raise serializers.ValidationError(f"Give at most {MOST_RELATED} ids.")
        if not data or not all(isinstance(one, str) and uuid_or_none(one) for one in data):
            return list(super().to_internal_value(data))  # raises the error of one
        queryset = self.child_relation.get_queryset()
        assert queryset is not None
        rows = queryset.in_bulk([UUID(one) for one in data])
        return [rows.get(UUID(one)) or self.child_relation.to_internal_value(one) for one in data]


if TYPE_CHECKING:
    from rest_framework.generics import GenericAPIView

    View = GenericAPIView
else:
    View = object


class MayEdit(BasePermission):
    """Editors may change a row; only its owner may delete it."""

    message = "You may read this, but not change it."

    def has_object_permission(self, request: Request, view: APIView, row: Any) -> bool:
        if request.method in SAFE_METHODS:
            return True
        if row.owner_id == request.user.pk:
            return True
        editable_by = getattr(type(row).objects, "editable_by", None)
        if request.method == "DELETE" or editable_by is None:
            return False
        return bool(editable_by(request.user).filter(pk=row.pk).exists())


class PlainView(GenericAPIView):
    """A view that returns no list: without pages and filters."""

    pagination_class = None
    filter_backends: list[Any] = []


class VisibleRows(View):
    """Mixin of views of those rows of ``queryset`` that the caller may see."""

    def get_queryset(self) -> models.QuerySet:
        visible: models.QuerySet = super().get_queryset().visible_to(self.request.user)  # type: ignore[attr-defined]
        return visible


class RowsViewSet(VisibleRows, viewsets.ModelViewSet):
    """Base of viewsets. Deleting a row that can be hidden hides it; nothing is replaced as a whole by PUT."""

    http_method_names = ["get", "post", "patch", "delete", "head", "options"]

    def perform_destroy(self, row: Any) -> None:
        getattr(row, "hide", row.delete)()


class DocumentPart(View):
    """Mixin of views under ``/api/documents/<uuid:document_id>/…``."""

    @cached_property
    def document(self) -> Document:
        if getattr(self, "swagger_fake_view", False):  # while the schema is generated
            return Document()
        document_id: UUID = self.kwargs["document_id"]
        return get_object_or_404(Document.objects.visible_to(self.request.user), pk=document_id)

    @cached_property
    def page(self) -> Page:
        """Return the page in the path. If it awaits OCR, move it to the front of the queue."""
        if getattr(self, "swagger_fake_view", False):
            return Page()
        page = get_object_or_404(Page.objects.filter(document=self.document), number=self.kwargs["number"])
        if page.awaits:
            prioritise_pages(self.document, page.number)
        return page
