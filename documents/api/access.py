"""`/api/documents/{id}/access/…`: who can reach a document, by which way and since when."""

from __future__ import annotations

from typing import Any

from drf_spectacular.utils import extend_schema, extend_schema_view
from rest_framework import exceptions, generics, serializers, status
from rest_framework.request import Request
from rest_framework.response import Response

from documents.access import end_way, ways_to
from documents.api.parts import DocumentPart
from documents.models import Document

KINDS = ("owner", "share", "collection", "link")


class PersonSerializer(serializers.Serializer):
    """A user or a group that a way lets through."""

    name = serializers.CharField()
    is_group = serializers.BooleanField()
    members = serializers.ListField(child=serializers.CharField(), help_text="users of a group")
    can_write = serializers.BooleanField()
    since = serializers.DateTimeField()


class WaySerializer(serializers.Serializer):
    """One way to the document; ending it ends it for all its people."""

    id = serializers.CharField(source="key", help_text="`owner`, or what ends the way")
    kind = serializers.ChoiceField(KINDS)
    label = serializers.CharField(help_text="the collection or the shared answer; '' where it is another's")
    people = PersonSerializer(many=True, help_text="empty for a link, which anybody may open")
    granted_by = serializers.CharField(help_text="the user whose right the way rests on")
    since = serializers.DateTimeField()
    until = serializers.DateTimeField(allow_null=True, help_text="when it ends by itself")


class WaysSerializer(serializers.Serializer):
    results = WaySerializer(many=True)


class OwnersPart(DocumentPart):
    """A part of a document that only its owner may see."""

    @property
    def own_document(self) -> Document:
        if self.document.owner_id != self.request.user.pk:
            raise exceptions.PermissionDenied("Only the owner of a document sees who can reach it.")
        return self.document


@extend_schema_view(
    get=extend_schema(tags=["shares"], operation_id="documents_access_list", responses=WaysSerializer)
)
class Access(OwnersPart, generics.GenericAPIView):
    """Everybody who can reach a document of yours, by which way and since when."""

    pagination_class = None
    filter_backends = []

    def get(self, request: Request, **kwargs: Any) -> Response:
        return Response(WaysSerializer({"results": ways_to(self.own_document)}).data)


@extend_schema_view(
    delete=extend_schema(tags=["shares"], operation_id="documents_access_destroy", responses={204: None})
)
class AccessWay(OwnersPart, generics.GenericAPIView):
    """One way to a document of yours. Deleting it ends the share or the link, or takes the document out of
    the collection."""

    pagination_class = None
    filter_backends = []

    def delete(self, request: Request, **kwargs: Any) -> Response:
        if not end_way(self.own_document, self.kwargs["way"]):
            raise exceptions.NotFound
        return Response(status=status.HTTP_204_NO_CONTENT)
