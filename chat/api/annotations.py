"""`/api/annotations/…`: your own highlights, underlines and comments."""

from __future__ import annotations

from typing import Any

import django_filters
from django.db import models
from drf_spectacular.utils import extend_schema, extend_schema_field
from rest_framework import serializers, viewsets
from rest_framework.request import Request
from rest_framework.response import Response

from chat.annotations.annotation_commands import (
    LONGEST_COMMENT,
    LONGEST_QUOTE,
    NothingSelected,
    annotate_quote,
)
from chat.models import Annotation
from documents.api.common.fields import Strict, VisibleRelated
from documents.api.common.lists import VisibleFilter
from documents.api.units import FramedList, Frames, Region, RegionSerializer, page_frames
from documents.models import Document

NOT_FOUND = "These words are not in the document."


class AnnotationSerializer(Strict, serializers.ModelSerializer):
    """A highlight or underline on words of one page. ``document`` and ``quote`` are set once."""

    document = VisibleRelated(queryset=Document.objects.all())
    quote = serializers.CharField(max_length=LONGEST_QUOTE, help_text="words as they stand in the document")
    comment = serializers.CharField(required=False, allow_blank=True, max_length=LONGEST_COMMENT)
    page = serializers.IntegerField(source="page_number", read_only=True, help_text="from 1")
    durability = serializers.CharField(read_only=True, help_text="same, moved or gone since it was made")
    region = serializers.SerializerMethodField()
    frames: Frames | None = None

    class Meta:
        model = Annotation
        list_serializer_class = FramedList
        fields = [
            "id", "document", "kind", "colour", "quote", "comment", "page", "region", "durability",
            "created_at", "updated_at",
        ]  # fmt: skip

    @extend_schema_field(RegionSerializer(allow_null=True))
    def get_region(self, annotation: Annotation) -> Any:
        place = (annotation.document_id, annotation.page_number)
        frame = (self.frames if self.frames is not None else page_frames([place])).get(place)
        return RegionSerializer(Region.of(place[1], frame, annotation.rects)).data if frame else None

    def validate(self, values: dict[str, Any]) -> dict[str, Any]:
        fixed = {"document", "quote"} & set(values) if self.instance else set()
        if fixed:
            raise serializers.ValidationError({name: ["This is set once."] for name in fixed})
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


@extend_schema(tags=["annotations"])
class AnnotationViewSet(viewsets.ModelViewSet):
    """Your highlights, underlines and comments."""

    http_method_names = ["get", "post", "patch", "delete", "head", "options"]
    serializer_class = AnnotationSerializer
    filterset_class = AnnotationFilter
    ordering_fields = ["created_at", "updated_at"]

    def get_queryset(self) -> models.QuerySet:
        return Annotation.objects.visible_to(self.request.user)

    def create(self, request: Request, *args: Any, **kwargs: Any) -> Response:
        """Annotate the words where they first stand; one that runs over a page break is cut at it."""
        sent = self.get_serializer(data=request.data)
        sent.is_valid(raise_exception=True)
        try:
            made = annotate_quote(request.user, **sent.validated_data)  # type: ignore[misc]
        except NothingSelected:
            raise serializers.ValidationError({"quote": [NOT_FOUND]}) from None
        return Response(self.get_serializer(made[0]).data, status=201)

    def perform_destroy(self, annotation: Annotation) -> None:
        annotation.hide()
