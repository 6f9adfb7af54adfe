"""`/api/collections/…`, `/api/tags/…`, `/api/shares/…`, `/api/documents/{id}/access/…`."""

from __future__ import annotations

from typing import Any

import django_filters
from django.contrib.auth.models import Group, User
from django.db import models
from django.db.models import Count, Q
from drf_spectacular.utils import (
    OpenApiExample,
    OpenApiResponse,
    extend_schema,
    extend_schema_serializer,
    extend_schema_view,
)
from rest_framework import exceptions, serializers, status
from rest_framework.request import Request
from rest_framework.response import Response

from documents.access import end_grant, grants_of, kinds
from documents.api.common.callers import HasScope
from documents.api.common.errors import UNUSABLE, ErrorSerializer, StateConflict, Unusable
from documents.api.common.fields import (
    DocumentPart,
    MayEdit,
    MissingIsNotFound,
    PlainView,
    RowsViewSet,
    Strict,
    VisibleRelated,
)
from documents.api.common.lists import TrueFalseFilter, VisibleFilter
from documents.models import Collection, Document, Share, Tag
from documents.models.library import COLOURS

TAKEN = {409: OpenApiResponse(ErrorSerializer, "You already have one with this name.")}


class NamedSerializer(Strict, serializers.ModelSerializer):
    """Base of serializers whose name is unique per owner."""

    colour = serializers.ChoiceField(COLOURS, required=False)

    def validate_name(self, name: str) -> str:
        owner = self.context["request"].user
        others = self.Meta.model.objects.filter(owner=owner, name=name)  # type: ignore[attr-defined]
        if others.exclude(pk=self.instance.pk if self.instance else None).exists():
            raise StateConflict("You already have one with this name.", "name_taken")
        return name

    def create(self, values: dict[str, Any]) -> Any:
        return super().create(values | {"owner": self.context["request"].user})


class TagSerializer(NamedSerializer):
    """A label for documents, visible to you only."""

    class Meta:
        model = Tag
        fields = ["id", "name", "colour"]


class CollectionSerializer(NamedSerializer):
    """A named set of documents, which can be shared as one."""

    owner = serializers.CharField(source="owner.username", read_only=True)
    document_count = serializers.IntegerField(read_only=True, default=0)

    class Meta:
        model = Collection
        fields = ["id", "name", "colour", "owner", "document_count", "created_at"]


class NamedParty(MissingIsNotFound, serializers.SlugRelatedField):
    """A user or group by name; 404 if the name is unknown."""

    def __init__(self, **options: Any) -> None:
        super().__init__(required=False, allow_null=True, **options)

    def to_internal_value(self, data: Any) -> Any:
        if "\x00" in str(data):  # PostgreSQL compares no text with NUL
            raise exceptions.NotFound
        return super().to_internal_value(data)


class SharedWithParty(Strict, serializers.ModelSerializer):
    """Base of rights given to either a user or a group of the caller; 404 for other groups, as if they did
    not exist."""

    user = NamedParty(slug_field="username", queryset=User.objects.filter(is_active=True))
    group = NamedParty(slug_field="name", queryset=Group.objects.all())

    def validate_group(self, group: Group | None) -> Group | None:
        if group and not self.context["request"].user.groups.filter(pk=group.pk).exists():
            raise exceptions.NotFound
        return group

    def validate(self, values: dict[str, Any]) -> dict[str, Any]:
        if bool(values.get("user")) == bool(values.get("group")):
            raise Unusable("Share with either a user or a group.")
        return values


@extend_schema_serializer(
    examples=[
        OpenApiExample(
            "A collection for a colleague",
            {"collection": "7b0e6a3e-5f0f-4c6a-9f6e-0d4f5b1c2a3d", "user": "bob", "can_write": False},
            request_only=True,
        )
    ]
)
class ShareSerializer(SharedWithParty):
    """A right to one document or one collection of yours, given to one user or one group of yours."""

    document = VisibleRelated(required=False, allow_null=True, queryset=Document.objects.all())
    collection = VisibleRelated(required=False, allow_null=True, queryset=Collection.objects.all())

    class Meta:
        model = Share
        fields = ["id", "document", "collection", "user", "group", "can_write", "created_at"]
        validators: list[Any] = []  # a repeated share updates the right

    def validate_document(self, document: Document | None) -> Document | None:
        return self._owned(document)

    def validate_collection(self, collection: Collection | None) -> Collection | None:
        return self._owned(collection)

    def create(self, values: dict[str, Any]) -> Share:
        """Create a share, or update the right of an existing one."""
        names = ("document", "collection", "user", "group")
        rights = {"can_write": values.get("can_write", False)}
        share, _made = Share.objects.update_or_create(
            defaults=rights, **{name: values.get(name) for name in names}
        )
        return share

    def validate(self, values: dict[str, Any]) -> dict[str, Any]:
        if bool(values.get("document")) == bool(values.get("collection")):
            raise Unusable("Share either a document or a collection.")
        return super().validate(values)

    def _owned(self, row: Any) -> Any:
        if row is not None and row.owner_id != self.context["request"].user.pk:
            raise serializers.ValidationError("Only its owner can share this.")
        return row


class ShareFilter(django_filters.FilterSet):
    document = VisibleFilter(Document, field_name="document")
    collection = VisibleFilter(Collection, field_name="collection")
    can_write = TrueFalseFilter()

    class Meta:
        model = Share
        fields: list[str] = []


@extend_schema_view(
    create=extend_schema(responses={201: TagSerializer} | TAKEN),
    partial_update=extend_schema(responses={200: TagSerializer} | TAKEN),
)
class TagViewSet(RowsViewSet):
    """Your tags."""

    queryset = Tag.objects.all()
    serializer_class = TagSerializer
    ordering_fields = ["name"]
    page_ordering = ["name"]


@extend_schema_view(
    create=extend_schema(responses={201: CollectionSerializer} | TAKEN),
    partial_update=extend_schema(responses={200: CollectionSerializer} | TAKEN),
)
class CollectionViewSet(RowsViewSet):
    """Your collections, and those that others share with you."""

    serializer_class = CollectionSerializer
    permission_classes = [HasScope, MayEdit]
    ordering_fields = ["name", "created_at"]

    def get_queryset(self) -> models.QuerySet:
        present = Q(documents__in=Document.objects.visible_to(self.request.user))
        rows = Collection.objects.visible_to(self.request.user).select_related("owner")
        return rows.annotate(document_count=Count("documents", filter=present, distinct=True))


@extend_schema_view(create=extend_schema(responses={201: ShareSerializer} | UNUSABLE))
class ShareViewSet(RowsViewSet):
    """The shares you gave."""

    http_method_names = ["get", "post", "delete", "head", "options"]
    queryset = Share.objects.select_related("user", "group")
    serializer_class = ShareSerializer
    filterset_class = ShareFilter
    ordering_fields = ["created_at"]


class PersonSerializer(serializers.Serializer):
    """A user or group with access by a grant."""

    name = serializers.CharField()
    is_group = serializers.BooleanField()
    members = serializers.ListField(child=serializers.CharField(), help_text="users of a group")
    can_write = serializers.BooleanField()
    since = serializers.DateTimeField()


class WaySerializer(serializers.Serializer):
    """One grant of access to the document. Ending it ends the access of all its people."""

    id = serializers.CharField(source="key", help_text="`owner`, or the id by which the grant is ended")
    kind = serializers.ChoiceField(kinds())
    label = serializers.CharField(help_text="collection or shared answer; '' if another user owns it")
    people = PersonSerializer(many=True, help_text="empty for a link, which anyone can open")
    granted_by = serializers.CharField(help_text="the user whose right the grant depends on")
    since = serializers.DateTimeField()
    until = serializers.DateTimeField(allow_null=True, help_text="when it expires")


class WaysSerializer(serializers.Serializer):
    results = WaySerializer(many=True)


class OwnersPart(DocumentPart):
    """Mixin of views that only the document's owner may use."""

    @property
    def own_document(self) -> Document:
        if self.document.owner_id != self.request.user.pk:
            raise exceptions.PermissionDenied("Only the owner of a document may see who has access.")
        return self.document


@extend_schema_view(
    get=extend_schema(tags=["shares"], operation_id="documents_access_list", responses=WaysSerializer)
)
class Access(OwnersPart, PlainView):
    """Everyone with access to a document of yours: by which grant, and since when."""

    def get(self, request: Request, **kwargs: Any) -> Response:
        return Response(WaysSerializer({"results": grants_of(self.own_document)}).data)


@extend_schema_view(
    delete=extend_schema(tags=["shares"], operation_id="documents_access_destroy", responses={204: None})
)
class AccessWay(OwnersPart, PlainView):
    """One grant of access to a document of yours. Deleting it ends the share or the link, or removes the
    document from the collection."""

    def delete(self, request: Request, **kwargs: Any) -> Response:
        if not end_grant(self.own_document, self.kwargs["way"]):
            raise exceptions.NotFound
        return Response(status=status.HTTP_204_NO_CONTENT)
