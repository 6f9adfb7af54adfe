"""`/api/documents/{id}/pages/…`, `…/tables/…`: sizes, texts, words, pictures and tables of pages."""

from __future__ import annotations

from typing import Any

from django.db import models
from django.http import Http404, HttpResponse
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import (
    OpenApiParameter,
    OpenApiResponse,
    extend_schema,
    extend_schema_field,
    extend_schema_view,
)
from rest_framework import exceptions, generics, serializers
from rest_framework.renderers import BaseRenderer, JSONRenderer
from rest_framework.request import Request
from rest_framework.response import Response

from documents.api.common.errors import ErrorSerializer
from documents.api.common.fields import DocumentPart, PlainView, Strict, valid
from documents.api.common.lists import Ordering
from documents.contents import Table, as_csv, as_markdown, tables_of
from documents.files.page_pictures import (
    RESOLUTIONS,
    STRONG,
    Highlight,
    PictureFailed,
    page_picture,
    read_boxes,
)
from documents.models import Page
from pdf import word_boxes
from pdf.geometry import Rect


class PageSerializer(serializers.ModelSerializer):
    """A page without its text."""

    display_size = serializers.SerializerMethodField(help_text="width and height as shown, in points")

    class Meta:
        model = Page
        fields = [
            "number", "label", "width", "height", "rotation", "crop_x", "crop_y", "user_unit", "display_size",
            "ocr", "awaits", "confidence", "hidden_words", "failure",
        ]  # fmt: skip

    @extend_schema_field(serializers.ListField(child=serializers.FloatField(), min_length=2, max_length=2))
    def get_display_size(self, page: Page) -> list[float]:
        return list(page.frame.display_size)


class FurnitureSerializer(serializers.Serializer):
    """A running head, foot or page number."""

    text = serializers.CharField()
    char_start = serializers.IntegerField()
    char_end = serializers.IntegerField()
    rects = serializers.ListField(child=serializers.ListField(child=serializers.FloatField()))


class FigureSerializer(serializers.Serializer):
    """A picture or drawing on the page."""

    rect = serializers.ListField(child=serializers.FloatField())
    caption = serializers.CharField()


class PageDetailSerializer(PageSerializer):
    """A page with its text, running heads and figures."""

    furniture = FurnitureSerializer(many=True)
    figures = FigureSerializer(many=True)

    class Meta(PageSerializer.Meta):
        fields = [*PageSerializer.Meta.fields, "text", "furniture", "figures"]


class WordSerializer(serializers.Serializer):
    """A word, its range in the page's text, and its box."""

    text = serializers.CharField()
    char_start = serializers.IntegerField()
    char_end = serializers.IntegerField()
    rect = serializers.ListField(
        child=serializers.FloatField(), min_length=4, max_length=4, help_text="x0, y0, x1, y1 in page space"
    )
    display = serializers.ListField(
        child=serializers.FloatField(), min_length=4, max_length=4, help_text="the same in 0..1 of the page"
    )


@extend_schema(tags=["pages"])
class PageList(DocumentPart, generics.ListAPIView):
    """The pages of a document."""

    serializer_class = PageSerializer
    page_ordering = ["number"]
    filter_backends = [Ordering]

    def get_queryset(self) -> models.QuerySet:
        return Page.objects.filter(document=self.document.pk).defer("text", "word_boxes")


@extend_schema(tags=["pages"])
class PageDetail(DocumentPart, generics.RetrieveAPIView):
    """A page with its text. The character offsets of units refer to this text."""

    serializer_class = PageDetailSerializer

    def get_object(self) -> Page:
        return self.page


@extend_schema_view(
    get=extend_schema(tags=["pages"], operation_id="pages_words", responses=WordSerializer(many=True))
)
class PageWords(DocumentPart, PlainView):
    """The words of a page with their boxes, in the order of its text."""

    def get(self, request: Request, **kwargs: Any) -> Response:
        return Response(words_of(self.page))


def words_of(page: Page) -> list[dict[str, Any]]:
    boxes = word_boxes.unpack(bytes(page.word_boxes), page.width, page.height)
    frame = page.frame
    return [
        {
            "text": page.text[start:end],
            "char_start": start,
            "char_end": end,
            "rect": box,
            "display": list(frame.to_display(Rect(*box))),
        }
        for (start, end), box in zip(boxes.spans.tolist(), boxes.boxes.tolist(), strict=True)
    ]


FRESH_SECONDS = 3600


class Negotiated(BaseRenderer):
    """A media type that clients may ask for; the view itself returns the content."""

    def render(self, data: Any, *args: Any, **kwargs: Any) -> Any:
        return b""


class PngRenderer(Negotiated):
    media_type, format = "image/png", "png"
    charset, render_style = None, "binary"


class CannotDraw(exceptions.APIException):
    status_code = 422
    default_detail = "This page cannot be drawn."
    default_code = "cannot_draw"


NOT_DRAWN = OpenApiResponse(ErrorSerializer, "This page cannot be drawn.")


class ResolutionSerializer(Strict, serializers.Serializer):
    """The resolution of the picture."""

    dpi = serializers.ChoiceField(RESOLUTIONS, default=144, help_text="pixels per inch of the page")


class HighlightBoxes(serializers.CharField):
    """Parse ``x0-y0-x1-y1_…`` to boxes in 0..1 of the page as shown."""

    def to_internal_value(self, data: Any) -> Any:
        try:
            return read_boxes(super().to_internal_value(data))
        except ValueError as error:
            raise serializers.ValidationError(str(error)) from None


class PageImageSerializer(ResolutionSerializer):
    """Resolution, highlights and crop of the picture."""

    boxes = HighlightBoxes(
        default=[],
        max_length=10_000,
        help_text="boxes to highlight: x0-y0-x1-y1 in 1/100,000 of the page as shown, joined by _",
    )
    crop = serializers.BooleanField(default=False, help_text="only the surroundings of the highlights")


def png_response(png: bytes) -> HttpResponse:
    headers = {"Cache-Control": f"private, max-age={FRESH_SECONDS}"}
    return HttpResponse(png, content_type="image/png", headers=headers)


@extend_schema_view(
    get=extend_schema(
        tags=["pages"],
        operation_id="pages_image",
        parameters=[PageImageSerializer],
        responses={(200, "image/png"): OpenApiTypes.BINARY, (422, "application/json"): NOT_DRAWN},
    )
)
class PageImage(DocumentPart, PlainView):
    """A PNG of a page as a viewer shows it."""

    renderer_classes = [PngRenderer]

    def get(self, request: Request, **kwargs: Any) -> HttpResponse:
        options = valid(PageImageSerializer(data=request.query_params))
        frame = self.page.frame
        rects = [frame.from_display(Rect(*box)) for box in options.pop("boxes")]
        try:
            highlights = [Highlight(rects, STRONG)]
            return png_response(page_picture(self.page, highlights, **options))
        except PictureFailed as failed:
            raise CannotDraw(str(failed)) from None


class TableSerializer(serializers.Serializer):
    """A table without its cells."""

    document = serializers.UUIDField()
    index = serializers.IntegerField(help_text="in the document, from 0")
    caption = serializers.CharField()
    page_start = serializers.IntegerField()
    page_end = serializers.IntegerField()
    columns = serializers.IntegerField()
    header_rows = serializers.IntegerField(help_text="number of header rows at the top")


class TableDetailSerializer(TableSerializer):
    """A table with its cells."""

    rows = serializers.ListField(child=serializers.ListField(child=serializers.CharField()))
    unit_ids = serializers.ListField(child=serializers.UUIDField(), help_text="the unit of each row")


class CsvRenderer(BaseRenderer):
    media_type, format = "text/csv", "csv"

    def render(self, data: Any, *args: Any, **kwargs: Any) -> str:
        return as_csv(data) if isinstance(data, Table) else ""


class MarkdownRenderer(BaseRenderer):
    media_type, format = "text/markdown", "md"

    def render(self, data: Any, *args: Any, **kwargs: Any) -> str:
        return as_markdown(data) if isinstance(data, Table) else ""


@extend_schema_view(
    get=extend_schema(tags=["tables"], operation_id="tables_list", responses=TableSerializer(many=True))
)
class TablesOfDocument(DocumentPart, PlainView):
    """The tables of a document."""

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
class TableDetail(DocumentPart, PlainView):
    """A table with its cells: JSON, CSV or Markdown, by `Accept` or `?format=`."""

    renderer_classes = [JSONRenderer, CsvRenderer, MarkdownRenderer]

    def get(self, request: Request, **kwargs: Any) -> Response:
        tables = tables_of(self.document, index=self.kwargs["index"])
        if not tables:
            raise Http404
        is_json = isinstance(request.accepted_renderer, JSONRenderer)
        return Response(TableDetailSerializer(tables[0]).data if is_json else tables[0])
