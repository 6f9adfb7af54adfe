"""`/api/notes/…`: what people write, with live citations."""

from __future__ import annotations

from typing import Any

import django_filters
from django.db import models, transaction
from drf_spectacular.utils import OpenApiResponse, extend_schema, extend_schema_view
from rest_framework import generics, serializers, viewsets

from chat.models import Citation, Note, NoteVersion
from chat.notes import search_notes
from documents.api.common.errors import Conflict, ErrorSerializer
from documents.api.common.fields import Strict, VisibleRelated
from documents.api.common.lists import VisibleFilter
from documents.models import Document

LONGEST_QUERY = 4000  # characters that are searched for
STALE = "Somebody saved this note meanwhile. Read it again, then save."


class NoteSerializer(Strict, serializers.ModelSerializer):
    """Markdown; ``[[cite:<citation id>:<page>]]`` in it stands for a citation.

    Send ``revision`` as you read it: a note that was saved meanwhile is answered by 409.
    """

    document = VisibleRelated(required=False, allow_null=True, queryset=Document.objects.all())
    citations = VisibleRelated(many=True, required=False, queryset=Citation.objects.all())
    content = serializers.CharField(
        required=False, allow_blank=True, max_length=1_000_000, trim_whitespace=False
    )
    revision = serializers.IntegerField(required=False, min_value=0, max_value=2**31 - 1)

    class Meta:
        model = Note
        fields = ["id", "document", "title", "content", "citations", "revision", "created_at", "updated_at"]

    def create(self, values: dict[str, Any]) -> Note:
        values.pop("revision", None)
        return super().create(values | {"owner": self.context["request"].user})

    @transaction.atomic
    def update(self, note: Note, values: dict[str, Any]) -> Note:
        locked = Note.objects.select_for_update().get(pk=note.pk)
        if values.pop("revision", locked.revision) != locked.revision:
            raise Conflict(STALE)
        NoteVersion.objects.create(
            note=locked, revision=locked.revision, title=locked.title, content=locked.content
        )
        return super().update(locked, values | {"revision": locked.revision + 1})


class NoteVersionSerializer(serializers.ModelSerializer):
    """A note as it once was."""

    class Meta:
        model = NoteVersion
        fields = ["revision", "title", "content", "created_at"]


class NoteFilter(django_filters.FilterSet):
    document = VisibleFilter(Document, field_name="document")
    q = django_filters.CharFilter(method="spoken_of", help_text="words to search for: the best notes first")

    class Meta:
        model = Note
        fields: list[str] = []

    def spoken_of(self, rows: models.QuerySet, name: str, query: str) -> models.QuerySet:
        """By the one search, in its order."""
        found = [found.note.pk for found in search_notes(query[:LONGEST_QUERY], self.request.user)[1]]
        places = [models.When(pk=key, then=place) for place, key in enumerate(found)]
        return rows.filter(pk__in=found).annotate(place=models.Case(*places, default=0))


@extend_schema_view(
    partial_update=extend_schema(
        responses={200: NoteSerializer, 409: OpenApiResponse(ErrorSerializer, "Saved by another meanwhile.")}
    )
)
@extend_schema(tags=["notes"])
class NoteViewSet(viewsets.ModelViewSet):
    """Your notes."""

    http_method_names = ["get", "post", "patch", "delete", "head", "options"]
    serializer_class = NoteSerializer
    filterset_class = NoteFilter
    ordering_fields = ["created_at", "updated_at"]

    @property
    def page_ordering(self) -> list[str] | None:
        return ["place"] if self.request.query_params.get("q") else None

    def get_queryset(self) -> models.QuerySet:
        return Note.objects.visible_to(self.request.user).prefetch_related("citations")

    def perform_destroy(self, note: Note) -> None:
        note.hide()


@extend_schema(tags=["notes"])
class NoteVersions(generics.ListAPIView):
    """What a note held before each save, the latest first."""

    serializer_class = NoteVersionSerializer
    filter_backends: list[Any] = []
    page_ordering = ["-revision"]

    def get_queryset(self) -> models.QuerySet:
        note = generics.get_object_or_404(Note.objects.visible_to(self.request.user), pk=self.kwargs["pk"])
        return NoteVersion.objects.filter(note=note)
