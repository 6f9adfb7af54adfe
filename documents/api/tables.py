"""`/api/documents/{id}/tables/…`: tables as JSON, CSV or Markdown."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django.http import Http404
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema, extend_schema_view
from rest_framework import generics, serializers
from rest_framework.renderers import BaseRenderer, JSONRenderer
from rest_framework.request import Request
from rest_framework.response import Response

from documents.api.parts import DocumentPart
from documents.tables import Table, as_csv, as_markdown, tables_of


class TableSerializer(serializers.Serializer):
    """A table without its cells."""

    document = serializers.UUIDField()
    index = serializers.IntegerField(help_text="in the document, from 0")
    caption = serializers.CharField()
    page_start = serializers.IntegerField()
    page_end = serializers.IntegerField()
    columns = serializers.IntegerField()
    header_rows = serializers.IntegerField(help_text="rows at the top that head the columns")


class TableDetailSerializer(TableSerializer):
    """A table with its cells."""

    rows = serializers.ListField(child=serializers.ListField(child=serializers.CharField()))
    unit_ids = serializers.ListField(child=serializers.UUIDField(), help_text="the unit of each row")


class CsvRenderer(BaseRenderer):
    media_type = "text/csv"
    format = "csv"
    charset = "utf-8"

    def render(
        self, data: Any, media_type: str | None = None, context: Mapping[str, Any] | None = None
    ) -> str:
        return as_csv(data) if isinstance(data, Table) else ""


class MarkdownRenderer(BaseRenderer):
    media_type = "text/markdown"
    format = "md"
    charset = "utf-8"

    def render(
        self, data: Any, media_type: str | None = None, context: Mapping[str, Any] | None = None
    ) -> str:
        return as_markdown(data) if isinstance(data, Table) else ""


@extend_schema_view(
    get=extend_schema(tags=["tables"], operation_id="tables_list", responses=TableSerializer(many=True))
)
class TablesOfDocument(DocumentPart, generics.GenericAPIView):
    """The tables of a document."""

    pagination_class = None
    filter_backends = []

    def get(self, request: Request, **kwargs: Any) -> Response:
        return Response(TableSerializer(tables_of(self.document), many=True).data)


@extend_schema_view(
    get=extend_schema(
        tags=["tables"],
        operation_id="tables_retrieve",
        responses={
            (200, "application/json"): TableDetailSerializer,
            (200, "text/csv"): OpenApiTypes.STR,
            (200, "text/markdown"): OpenApiTypes.STR,
        },
        parameters=[
            OpenApiParameter("format", enum=["json", "csv", "md"], description="instead of `Accept`")
        ],
    )
)
class TableDetail(DocumentPart, generics.GenericAPIView):
    """A table with its cells: JSON, CSV or Markdown, by `Accept` or `?format=`."""

    pagination_class = None
    filter_backends = []
    renderer_classes = [JSONRenderer, CsvRenderer, MarkdownRenderer]

    def get(self, request: Request, **kwargs: Any) -> Response:
        tables = tables_of(self.document, index=self.kwargs["index"])
        if not tables:
            raise Http404
        is_json = isinstance(request.accepted_renderer, JSONRenderer)
        return Response(TableDetailSerializer(tables[0]).data if is_json else tables[0])
