"""`/api/chunks/…`: what is searched."""

from __future__ import annotations

import django_filters
from django.db import models
from drf_spectacular.utils import extend_schema
from rest_framework import generics, serializers

from documents.api.filters import WholeNumberFilter
from documents.api.parts import DocumentPart
from documents.api.units import UnitSerializer
from documents.models import RetrievalChunk


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
