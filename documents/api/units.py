"""`/api/units/…`: what is cited, with its place on the page."""

from __future__ import annotations

from typing import Any

import django_filters
from django.db import models
from drf_spectacular.utils import extend_schema, extend_schema_field, extend_schema_view
from rest_framework import generics, serializers

from documents.api.filters import Ordering, WholeNumberFilter
from documents.api.parts import DocumentPart
from documents.api.region import FramedList, Frames, Place, Region, RegionSerializer, page_frames
from documents.models import CitationUnit


class CellSerializer(serializers.Serializer):
    """One cell of a table row."""

    column = serializers.IntegerField(help_text="from 0; a cell that spans columns stands at its first")
    text = serializers.CharField()
    rect = serializers.ListField(
        child=serializers.FloatField(), allow_null=True, help_text="page space; null where it is empty"
    )
    header = serializers.BooleanField()
    char_start = serializers.IntegerField()
    char_end = serializers.IntegerField()


class TableRowSerializer(serializers.Serializer):
    """The place of a unit in its table."""

    index = serializers.IntegerField(help_text="number of the table in the document, from 0")
    row = serializers.IntegerField(help_text="from 0, header rows included")
    header = serializers.BooleanField()
    head_rows = serializers.ListField(child=serializers.CharField(), help_text="column heads, by column")
    caption = serializers.CharField()
    cells = CellSerializer(many=True)


class UnitSerializer(serializers.ModelSerializer):
    """A paragraph, heading, list item, table row, caption, footnote, code block or formula."""

    lines = serializers.SerializerMethodField(help_text="first and last line, through the document")
    region = serializers.SerializerMethodField()
    table = serializers.SerializerMethodField()
    frames: Frames | None = None

    class Meta:
        model = CitationUnit
        list_serializer_class = FramedList
        fields = [
            "id",
            "document",
            "chunk",
            "position",
            "page_number",
            "paragraph_index",
            "unit_type",
            "content",
            "char_start",
            "char_end",
            "lines",
            "heading_level",
            "section_title",
            "section_path",
            "section_type",
            "continues",
            "from_picture",
            "table",
            "list_style",
            "code_language",
            "region",
        ]

    @extend_schema_field(serializers.ListField(child=serializers.IntegerField(), min_length=2, max_length=2))
    def get_lines(self, unit: CitationUnit) -> list[int]:
        return [unit.line_start, unit.line_end]

    @extend_schema_field(RegionSerializer(allow_null=True))
    def get_region(self, unit: CitationUnit) -> Any:
        place: Place = (unit.document_id, unit.page_number)
        frames = page_frames([place]) if self.frames is None else self.frames
        if place not in frames:
            return None
        return RegionSerializer(Region.of(unit.page_number, frames[place], unit.rects)).data

    @extend_schema_field(TableRowSerializer(allow_null=True))
    def get_table(self, unit: CitationUnit) -> Any:
        return unit.cells


class UnitFilter(django_filters.FilterSet):
    page = WholeNumberFilter(field_name="page_number", help_text="page number, from 1")
    type = django_filters.ChoiceFilter(field_name="unit_type", choices=CitationUnit.Type.choices)

    class Meta:
        model = CitationUnit
        fields: list[str] = []


@extend_schema(tags=["units"])
class UnitsOfDocument(DocumentPart, generics.ListAPIView):
    """The units of a document in reading order."""

    serializer_class = UnitSerializer
    filterset_class = UnitFilter
    page_ordering = ["position"]

    def get_queryset(self) -> models.QuerySet:
        return CitationUnit.objects.filter(document=self.document.pk)


@extend_schema_view(get=extend_schema(tags=["units"], operation_id="pages_units_list"))
class UnitsOfPage(DocumentPart, generics.ListAPIView):
    """The units of a page in reading order."""

    serializer_class = UnitSerializer
    page_ordering = ["position"]
    filter_backends = [Ordering]

    def get_queryset(self) -> models.QuerySet:
        return CitationUnit.objects.filter(document=self.page.document_id, page_number=self.page.number)


@extend_schema(tags=["units"])
class UnitDetail(generics.RetrieveAPIView):
    """One unit with its place on the page."""

    serializer_class = UnitSerializer

    def get_queryset(self) -> models.QuerySet:
        return CitationUnit.objects.visible_to(self.request.user)
