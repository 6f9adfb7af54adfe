"""`/api/notes/…` and `/api/annotations/…`."""

from __future__ import annotations

from typing import Any

import django_filters
from django.db import models, transaction
from drf_spectacular.utils import OpenApiResponse, extend_schema, extend_schema_field, extend_schema_view
from rest_framework import generics, serializers
from rest_framework.request import Request
from rest_framework.response import Response

from chat.annotations import (
    LONGEST_COMMENT,
    LONGEST_QUOTE,
    MOST_POINTS,
    NothingSelected,
    annotate_quote,
    draw,
)
from chat.models import Annotation, Citation, Note, NoteVersion
from chat.notes import LONGEST_NOTE, search_notes
from documents.api.common.errors import ErrorSerializer, StateConflict
from documents.api.common.fields import RowsViewSet, Strict, VisibleRelated, valid
from documents.api.common.lists import VisibleFilter
from documents.api.units import FramedList, FramedSerializer, RegionSerializer
from documents.models import Document

LONGEST_QUERY = 4000  # characters
STALE = "Somebody saved this note meanwhile. Read it again, then save."


class NoteSerializer(Strict, serializers.ModelSerializer):
    """A note in Markdown, with citations as ``[[cite:<citation id>:<page>]]``.

    Send the ``revision`` that you read: 409 if the note was saved meanwhile.
    """

    document = VisibleRelated(required=False, allow_null=True, queryset=Document.objects.all())
    citations = VisibleRelated(many=True, required=False, queryset=Citation.objects.all())
    content = serializers.CharField(
        required=False, allow_blank=True, max_length=LONGEST_NOTE, trim_whitespace=False
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
            raise StateConflict(STALE)
        NoteVersion.objects.create(
            note=locked, revision=locked.revision, title=locked.title, content=locked.content
        )
        return super().update(locked, values | {"revision": locked.revision + 1})


class NoteVersionSerializer(serializers.ModelSerializer):
    """An earlier version of a note."""

    class Meta:
        model = NoteVersion
        fields = ["revision", "title", "content", "created_at"]


class NoteFilter(django_filters.FilterSet):
    document = VisibleFilter(Document, field_name="document")
    q = django_filters.CharFilter(
        method="by_relevance", help_text="words to search for; the best notes come first"
    )

    class Meta:
        model = Note
        fields: list[str] = []

    def by_relevance(self, rows: models.QuerySet, name: str, query: str) -> models.QuerySet:
        """Filter and order by search relevance."""
        found = [found.note.pk for found in search_notes(query[:LONGEST_QUERY], self.request.user)[1]]
        places = [models.When(pk=key, then=place) for place, key in enumerate(found)]
        return rows.filter(pk__in=found).annotate(place=models.Case(*places, default=0))


@extend_schema_view(
    partial_update=extend_schema(
        responses={
            200: NoteSerializer,
            409: OpenApiResponse(ErrorSerializer, "The note was saved meanwhile."),
        }
    )
)
class NoteViewSet(RowsViewSet):
    """Your notes."""

    queryset = Note.objects.prefetch_related("citations")
    serializer_class = NoteSerializer
    filterset_class = NoteFilter
    ordering_fields = ["created_at", "updated_at"]

    @property
    def page_ordering(self) -> list[str] | None:
        return ["place"] if self.request.query_params.get("q") else None


class NoteVersions(generics.ListAPIView):
    """The versions of a note before each save, newest first."""

    serializer_class = NoteVersionSerializer
    filter_backends: list[Any] = []
    page_ordering = ["-revision"]

    def get_queryset(self) -> models.QuerySet:
        note = generics.get_object_or_404(Note.objects.visible_to(self.request.user), pk=self.kwargs["pk"])
        return NoteVersion.objects.filter(note=note)


# --- Annotations ---

INK = Annotation.Kind.INK
PLACE = {"quote": "quote", "strokes": "strokes", "page_number": "page"}  # field: name in the request
NOT_FOUND = "These words are not in the document."
NO_PAGE = "The document has no such page."


class AnnotationSerializer(Strict, FramedSerializer):
    """A highlight or underline on words of one page, or a drawing (``ink``). Its place cannot be changed."""

    document = VisibleRelated(queryset=Document.objects.all())
    quote = serializers.CharField(
        required=False,
        max_length=LONGEST_QUOTE,
        help_text="words of the document; not for a drawing",
    )
    strokes = serializers.ListField(
        child=serializers.ListField(
            child=serializers.ListField(
                child=serializers.FloatField(min_value=-1e5, max_value=1e5), min_length=2, max_length=2
            ),
            min_length=1,
            max_length=MOST_POINTS,
        ),
        required=False,
        max_length=1000,
        help_text="lines of a drawing: points [x, y] in page space",
    )
    comment = serializers.CharField(required=False, allow_blank=True, max_length=LONGEST_COMMENT)
    page = serializers.IntegerField(
        source="page_number",
        required=False,
        min_value=1,
        max_value=1_000_000,
        help_text="from 1; required for a drawing",
    )
    durability = serializers.CharField(
        read_only=True, help_text="same, moved or gone since the annotation was made"
    )
    region = serializers.SerializerMethodField()

    class Meta:
        model = Annotation
        list_serializer_class = FramedList
        fields = [
            "id", "document", "kind", "colour", "quote", "strokes", "comment", "page", "region", "durability",
            "created_at", "updated_at",
        ]  # fmt: skip

    @extend_schema_field(RegionSerializer(allow_null=True))
    def get_region(self, annotation: Annotation) -> Any:
        return self.region_on(annotation, annotation.rects)

    def validate(self, values: dict[str, Any]) -> dict[str, Any]:
        sent = set(values)
        if self.instance:
            refused = {
                PLACE.get(name, name): ["This cannot be changed."] for name in {"document", *PLACE} & sent
            }
            if (values.get("kind", self.instance.kind) == INK) != (self.instance.kind == INK):
                refused["kind"] = ["A drawing stays a drawing."]
        else:
            needed = {"page_number", "strokes"} if values.get("kind") == INK else {"quote"}
            refused = {PLACE[name]: ["This field is required."] for name in needed - sent}
            refused |= {
                PLACE[name]: ["This kind of annotation does not have it."]
                for name in (sent & set(PLACE)) - needed
            }
        if refused:
            raise serializers.ValidationError(refused)
        return values


class AnnotationFilter(django_filters.FilterSet):
    document = VisibleFilter(Document, field_name="document")
    colour = django_filters.ChoiceFilter(choices=Annotation.Colour.choices)
    kind = django_filters.ChoiceFilter(choices=Annotation.Kind.choices)
    q = django_filters.CharFilter(method="with_words", help_text="words of the quote or the comment")

    class Meta:
        model = Annotation
        fields: list[str] = []

    def with_words(self, rows: models.QuerySet, name: str, words: str) -> models.QuerySet:
        return Annotation.objects.filter(pk__in=rows.values("pk")).with_words(words)


class AnnotationViewSet(RowsViewSet):
    """Your highlights, underlines and comments."""

    queryset = Annotation.objects.all()
    serializer_class = AnnotationSerializer
    filterset_class = AnnotationFilter
    ordering_fields = ["created_at", "updated_at"]

    def create(self, request: Request, *args: Any, **kwargs: Any) -> Response:
        """Annotate the first occurrence of the words, up to a page break, or store a drawing."""
        look = valid(self.get_serializer(data=request.data))
        try:
            if look.get("kind") == INK:
                made = draw(request.user, page=look.pop("page_number"), **look)  # type: ignore[arg-type]
            else:
                made = annotate_quote(request.user, **look)[0]  # type: ignore[arg-type]
        except NothingSelected:
            is_ink = look.get("kind") == INK
            refused = {"page": [NO_PAGE]} if is_ink else {"quote": [NOT_FOUND]}
            raise serializers.ValidationError(refused) from None
        return Response(self.get_serializer(made).data, status=201)
