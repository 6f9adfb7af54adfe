"""`/api/units/…` and `/api/chunks/…`: citation units and retrieval chunks, with their regions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import django_filters
from django.db import models
from drf_spectacular.utils import extend_schema, extend_schema_field, extend_schema_view
from rest_framework import generics, serializers
from rest_framework.request import Request
from rest_framework.response import Response

from documents.api.common.fields import DocumentPart, Strict, TwoNumbers, VisibleRows, valid
from documents.api.common.lists import Ordering, WholeNumberFilter
from documents.models import CitationUnit, Page, RetrievalChunk
from documents.models.content import Frames, Place, PrintedFrame, chunk_metadata
from documents.page_labels import lines_on_page
from pdf.geometry import PageFrame, Rect, bounding_box


def region_of(number: int, frame: PageFrame, rects: Sequence[Sequence[float]]) -> dict[str, Any]:
    """Return the output of ``RegionSerializer``, which is slow: a search returns a hundred regions."""
    in_page = [Rect(*rect) for rect in rects]
    width, height = frame.display_size
    return {
        "page": number,
        "page_width": width,
        "page_height": height,
        "rotation": frame.rotation,
        "bbox": box_of(bounding_box(in_page)) if in_page else None,
        "rects": [box_of(rect) for rect in in_page],
        "display": [list(frame.to_display(rect)) for rect in in_page],
    }


def box_of(rect: Rect) -> dict[str, float]:
    corners = {"x0": rect.x0, "y0": rect.y0, "x1": rect.x1, "y1": rect.y1}
    return corners | {"x": rect.x0, "y": rect.y0, "width": rect.width, "height": rect.height}


class BoxSerializer(serializers.Serializer):
    """A rectangle in points: corners, and origin with size."""

    x0 = serializers.FloatField()
    y0 = serializers.FloatField()
    x1 = serializers.FloatField()
    y1 = serializers.FloatField()
    x = serializers.FloatField(help_text="same as x0")
    y = serializers.FloatField(help_text="same as y0")
    width = serializers.FloatField()
    height = serializers.FloatField()


class RegionSerializer(serializers.Serializer):
    """A place on a page. Points: origin at the top left of the CropBox, y down, page not rotated."""

    page = serializers.IntegerField(help_text="from 1")
    page_width = serializers.FloatField(help_text="of the page as shown, in points")
    page_height = serializers.FloatField(help_text="of the page as shown, in points")
    rotation = serializers.IntegerField(help_text="degrees by which a viewer rotates the page clockwise")
    bbox = BoxSerializer(allow_null=True, help_text="around all rectangles, in points")
    rects = BoxSerializer(many=True, help_text="one per line of text, in points")
    display = serializers.ListField(
        child=serializers.ListField(child=serializers.FloatField(), min_length=4, max_length=4),
        help_text="the same as [x0, y0, x1, y1] in 0..1 of the page as shown, origin top left",
    )


class FramedList(serializers.ListSerializer):
    """List serializer that fetches the page frames of all rows in one query.

    A nested list uses the frames in the context of the outermost one.
    """

    def to_representation(self, data: Any) -> list[Any]:
        rows = list(data.all() if isinstance(data, models.Manager) else data)
        child: Any = self.child
        child.frames = self.context.get("frames")
        if child.frames is None:
            child.frames = Page.objects.frames((row.document_id, row.page_number) for row in rows)
        return super().to_representation(rows)


class FramedSerializer(serializers.ModelSerializer):
    """Base of serializers of rows on pages. Their lists are ``FramedList``."""

    frames: Frames | None = None

    def frame_of(self, row: Any) -> PrintedFrame | None:
        """Return the frame of the row's page; None where it was deleted."""
        place: Place = (row.document_id, row.page_number)
        if self.frames is None or place not in self.frames:
            self.frames = {**(self.frames or {}), **Page.objects.frames([place])}
        return self.frames.get(place)

    def region_on(self, row: Any, rects: Sequence[Sequence[float]]) -> dict[str, Any] | None:
        frame = self.frame_of(row)
        return region_of(row.page_number, frame, rects) if frame else None


class CellSerializer(serializers.Serializer):
    """One cell of a table row."""

    column = serializers.IntegerField(help_text="from 0; the first one of a cell that spans columns")
    text = serializers.CharField()
    rect = serializers.ListField(
        child=serializers.FloatField(), allow_null=True, help_text="page space; null where it is empty"
    )
    header = serializers.BooleanField()
    char_start = serializers.IntegerField()
    char_end = serializers.IntegerField()
    headed_columns = serializers.ListField(
        child=serializers.IntegerField(), required=False, help_text="columns below a header cell"
    )


class TableRowSerializer(serializers.Serializer):
    """The place of a unit in its table."""

    index = serializers.IntegerField(help_text="number of the table in the document, from 0")
    row = serializers.IntegerField(help_text="from 0, header rows included")
    header = serializers.BooleanField()
    head_rows = serializers.ListField(child=serializers.CharField(), help_text="column headers, by column")
    caption = serializers.CharField()
    head_rects = serializers.ListField(
        child=serializers.ListField(child=serializers.FloatField(), allow_null=True),
        required=False,
        help_text="boxes, by column, of headers above the table, in page space; else empty",
    )
    head_confidence = serializers.FloatField(
        required=False, help_text="0..1, the parser's confidence in the column heads"
    )
    confidence = serializers.FloatField(required=False, help_text="0..1, that the table is one")
    cells = CellSerializer(many=True)


class LocationSerializer(serializers.Serializer):
    """Place of an imported block in its source. Unknown fields are omitted. Numbers count from 1."""

    slide = serializers.IntegerField(required=False)
    sheet = serializers.CharField(required=False)
    row = serializers.IntegerField(required=False)
    column = serializers.IntegerField(required=False)
    paragraph = serializers.IntegerField(required=False)
    line = serializers.IntegerField(required=False)
    start_ms = serializers.IntegerField(required=False)
    end_ms = serializers.IntegerField(required=False)
    quad = serializers.ListField(
        child=serializers.ListField(child=serializers.FloatField(), min_length=2, max_length=2),
        required=False,
        help_text="four corners in 0..1 of the page as shown",
    )


class UnitSerializer(FramedSerializer):
    """A paragraph, heading, list item, table row, caption, footnote, code block or formula."""

    lines = serializers.SerializerMethodField(help_text="first and last line, through the document")
    page_label = serializers.SerializerMethodField(help_text="the page number printed on the page, or ''")
    lines_on_page = serializers.SerializerMethodField(
        help_text="the same lines, counted on their page; 0 where unknown"
    )
    region = serializers.SerializerMethodField()
    table = serializers.SerializerMethodField()
    place = serializers.CharField(
        read_only=True, help_text="of an imported block: slide 4, sheet Q2, row 7, 12:04"
    )
    location = serializers.SerializerMethodField()

    class Meta:
        model = CitationUnit
        list_serializer_class = FramedList
        fields = [
            "id", "document", "chunk", "position", "page_number", "page_label", "paragraph_index",
            "unit_type", "content", "char_start", "char_end", "lines", "lines_on_page", "heading_level",
            "section_title", "section_path", "section_type", "continues", "from_picture", "table",
            "list_style", "code_language", "place", "location", "region", "created_at",
        ]  # fmt: skip

    @extend_schema_field(TwoNumbers())
    def get_lines(self, unit: CitationUnit) -> list[int]:
        return [unit.line_start, unit.line_end]

    @extend_schema_field(RegionSerializer(allow_null=True))
    def get_region(self, unit: CitationUnit) -> Any:
        return self.region_on(unit, unit.rects)

    @extend_schema_field(serializers.CharField())
    def get_page_label(self, unit: CitationUnit) -> str:
        frame = self.frame_of(unit)
        return frame.label if frame else ""

    @extend_schema_field(TwoNumbers())
    def get_lines_on_page(self, unit: CitationUnit) -> list[int]:
        frame = self.frame_of(unit)
        return [*lines_on_page((unit.line_start, unit.line_end), frame.first_line if frame else 0)]

    @extend_schema_field(LocationSerializer(allow_null=True))
    def get_location(self, unit: CitationUnit) -> Any:
        return unit.location

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


class UnitDetail(VisibleRows, generics.RetrieveAPIView):
    """One unit with its place on the page."""

    queryset = CitationUnit.objects.all()
    serializer_class = UnitSerializer


class ChunkSerializer(serializers.ModelSerializer):
    """A few consecutive units of one section."""

    class Meta:
        model = RetrievalChunk
        fields = [
            "id", "document", "index", "unit_ids", "content", "context_header", "summary", "chunk_type",
            "section_path", "section_type", "page_start", "page_end", "token_count", "created_at",
        ]  # fmt: skip


class ChunkDetailSerializer(ChunkSerializer):
    """A chunk with its units and metadata."""

    units = UnitSerializer(many=True)
    metadata = serializers.SerializerMethodField()

    class Meta(ChunkSerializer.Meta):
        fields = [*ChunkSerializer.Meta.fields, "units", "metadata"]

    @extend_schema_field(serializers.DictField())
    def get_metadata(self, chunk: RetrievalChunk) -> dict[str, Any]:
        return chunk_metadata(chunk, list(chunk.units.all()))


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


class ChunkDetail(VisibleRows, generics.RetrieveAPIView):
    """One chunk with its units."""

    queryset = RetrievalChunk.objects.select_related("document").prefetch_related("units")
    serializer_class = ChunkDetailSerializer


MOST_NEIGHBOURS = 20  # units on either side


class NeighboursSerializer(Strict, serializers.Serializer):
    """The number of neighbours to return."""

    neighbours = serializers.IntegerField(
        default=0,
        min_value=0,
        max_value=MOST_NEIGHBOURS,
        help_text="units before and after, in reading order",
    )


class UnitContextSerializer(serializers.Serializer):
    """A unit with the retrieval chunk it belongs to."""

    unit = UnitSerializer(allow_null=True, help_text="null if reprocessing removed it")
    chunk = ChunkDetailSerializer(allow_null=True, help_text="the unit's chunk with all its units")
    before = UnitSerializer(many=True, help_text="units before it, if neighbours are requested")
    after = UnitSerializer(many=True)


def unit_context(unit: CitationUnit | None, neighbours: int) -> dict[str, Any]:
    """Return the values of ``UnitContextSerializer``: at most ``neighbours`` units on either side."""
    around = list(CitationUnit.objects.neighbours(unit, neighbours)) if unit and neighbours else []
    chunks = RetrievalChunk.objects.select_related("document").prefetch_related("units")
    return {
        "unit": unit,
        "chunk": chunks.filter(pk=unit.chunk_id).first() if unit else None,
        "before": [other for other in around if other.position < unit.position] if unit else [],
        "after": [other for other in around if other.position > unit.position] if unit else [],
    }


def asked_neighbours(request: Request) -> int:
    """Return the query parameter ``neighbours``. Raises ValidationError."""
    return int(valid(NeighboursSerializer(data=request.query_params))["neighbours"])


def sibling_units(unit: CitationUnit | None) -> models.QuerySet[CitationUnit]:
    """Return the other units of the unit's chunk."""
    if unit is None or unit.chunk_id is None:
        return CitationUnit.objects.none()
    return CitationUnit.objects.filter(chunk=unit.chunk_id).exclude(pk=unit.pk)


@extend_schema_view(get=extend_schema(parameters=[NeighboursSerializer]))
class UnitContext(VisibleRows, generics.RetrieveAPIView):
    """The unit's chunk with all its units, and its neighbours on request."""

    queryset = CitationUnit.objects.all()
    serializer_class = UnitContextSerializer

    def retrieve(self, request: Request, *args: Any, **kwargs: Any) -> Response:
        context = unit_context(self.get_object(), asked_neighbours(request))
        return Response(self.get_serializer(context).data)


@extend_schema_view(get=extend_schema(operation_id="units_siblings"))
class UnitSiblings(generics.ListAPIView):
    """The other units of the same chunk, in reading order."""

    serializer_class = UnitSerializer
    filter_backends: list[Any] = []
    page_ordering = ["position"]

    def get_queryset(self) -> models.QuerySet:
        visible = CitationUnit.objects.visible_to(self.request.user)
        return sibling_units(generics.get_object_or_404(visible, pk=self.kwargs["pk"]))
