"""`/api/chunks/…`: what is searched."""

from __future__ import annotations

from typing import Any

import django_filters
from django.db import models
from drf_spectacular.utils import extend_schema, extend_schema_view
from rest_framework import generics, serializers
from rest_framework.request import Request
from rest_framework.response import Response

from documents.api.fields import Strict
from documents.api.filters import WholeNumberFilter
from documents.api.parts import DocumentPart
from documents.api.units import UnitSerializer
from documents.models import CitationUnit, RetrievalChunk


class ChunkSerializer(serializers.ModelSerializer):
    """A few consecutive units of one section."""

    class Meta:
        model = RetrievalChunk
        fields = [
            "id",
            "document",
            "index",
            "unit_ids",
            "content",
            "context_header",
            "summary",
            "chunk_type",
            "section_path",
            "section_type",
            "page_start",
            "page_end",
            "token_count",
        ]


class ChunkDetailSerializer(ChunkSerializer):
    """A chunk with its units."""

    units = UnitSerializer(many=True)

    class Meta(ChunkSerializer.Meta):
        fields = [*ChunkSerializer.Meta.fields, "units"]


class ChunkFilter(django_filters.FilterSet):
    page = WholeNumberFilter(method="on_page", help_text="chunks that touch this page, from 1")
    type = django_filters.CharFilter(field_name="chunk_type")

    class Meta:
        model = RetrievalChunk
        fields: list[str] = []

    def on_page(self, chunks: models.QuerySet, name: str, page: int) -> models.QuerySet:
        return chunks.filter(page_start__lte=page, page_end__gte=page)


@extend_schema(tags=["chunks"])
class ChunksOfDocument(DocumentPart, generics.ListAPIView):
    """The chunks of a document in reading order."""

    serializer_class = ChunkSerializer
    filterset_class = ChunkFilter
    page_ordering = ["index"]

    def get_queryset(self) -> models.QuerySet:
        return RetrievalChunk.objects.filter(document=self.document.pk)


@extend_schema(tags=["chunks"])
class ChunkDetail(generics.RetrieveAPIView):
    """One chunk with its units."""

    serializer_class = ChunkDetailSerializer

    def get_queryset(self) -> models.QuerySet:
        return RetrievalChunk.objects.visible_to(self.request.user).prefetch_related("units")


MOST_NEIGHBOURS = 20  # units on either side


class NeighboursSerializer(Strict, serializers.Serializer):
    """How much more than the chunk is wanted."""

    neighbours = serializers.IntegerField(
        default=0,
        min_value=0,
        max_value=MOST_NEIGHBOURS,
        help_text="units before and after, in reading order",
    )


class UnitContextSerializer(serializers.Serializer):
    """A unit with the retrieval chunk it belongs to."""

    unit = UnitSerializer(allow_null=True, help_text="null when a later reading no longer has it")
    chunk = ChunkDetailSerializer(allow_null=True, help_text="the unit's chunk with all its units")
    before = UnitSerializer(many=True, help_text="units before it; empty unless neighbours are asked for")
    after = UnitSerializer(many=True)


def unit_context(unit: CitationUnit | None, neighbours: int) -> dict[str, Any]:
    """Values of ``UnitContextSerializer``: at most ``neighbours`` units on either side."""
    around = list(CitationUnit.objects.neighbours(unit, neighbours)) if unit and neighbours else []
    chunks = RetrievalChunk.objects.prefetch_related("units")
    return {
        "unit": unit,
        "chunk": chunks.filter(pk=unit.chunk_id).first() if unit else None,
        "before": [other for other in around if other.position < unit.position] if unit else [],
        "after": [other for other in around if other.position > unit.position] if unit else [],
    }


def asked_neighbours(request: Request) -> int:
    """The query parameter ``neighbours``. Raises ValidationError."""
    asked = NeighboursSerializer(data=request.query_params)
    asked.is_valid(raise_exception=True)
    return int(asked.validated_data["neighbours"])


def sibling_units(unit: CitationUnit | None) -> models.QuerySet[CitationUnit]:
    """The other units of the unit's chunk."""
    if unit is None or unit.chunk_id is None:
        return CitationUnit.objects.none()
    return CitationUnit.objects.filter(chunk=unit.chunk_id).exclude(pk=unit.pk)


@extend_schema_view(get=extend_schema(tags=["units"], parameters=[NeighboursSerializer]))
class UnitContext(generics.RetrieveAPIView):
    """The unit's chunk with all its units, and its neighbours on request."""

    serializer_class = UnitContextSerializer

    def get_queryset(self) -> models.QuerySet:
        return CitationUnit.objects.visible_to(self.request.user)

    def retrieve(self, request: Request, *args: Any, **kwargs: Any) -> Response:
        context = unit_context(self.get_object(), asked_neighbours(request))
        return Response(self.get_serializer(context).data)


@extend_schema_view(get=extend_schema(tags=["units"], operation_id="units_siblings"))
class UnitSiblings(generics.ListAPIView):
    """The other units of the same chunk, in reading order."""

    serializer_class = UnitSerializer
    filter_backends: list[Any] = []
    page_ordering = ["position"]

    def get_queryset(self) -> models.QuerySet:
        visible = CitationUnit.objects.visible_to(self.request.user)
        return sibling_units(generics.get_object_or_404(visible, pk=self.kwargs["pk"]))
