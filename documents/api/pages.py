"""`/api/documents/{id}/pages/…`: sizes, texts, words and pictures of pages."""

from __future__ import annotations

from typing import Any

from django.db import models
from drf_spectacular.utils import extend_schema, extend_schema_field, extend_schema_view
from rest_framework import generics, serializers
from rest_framework.request import Request
from rest_framework.response import Response

from documents.api.filters import Ordering
from documents.api.parts import DocumentPart
from documents.models import Page
from documents.pdf import wordboxes
from documents.pdf.geometry import Rect


class PageSerializer(serializers.ModelSerializer):
    """A page without its text."""

    display_size = serializers.SerializerMethodField(help_text="width and height as shown, in points")

    class Meta:
        model = Page
        fields = [
            "number",
            "label",
            "width",
            "height",
            "rotation",
            "crop_x",
            "crop_y",
            "user_unit",
            "display_size",
            "ocr",
            "awaits",
            "confidence",
            "hidden_words",
            "failure",
        ]

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
    """A page with its text; every unit's characters count in that text."""

    serializer_class = PageDetailSerializer

    def get_object(self) -> Page:
        return self.page


@extend_schema_view(
    get=extend_schema(tags=["pages"], operation_id="pages_words", responses=WordSerializer(many=True))
)
class PageWords(DocumentPart, generics.GenericAPIView):
    """The words of a page with their boxes, in the order of its text."""

    pagination_class = None
    filter_backends = []

    def get(self, request: Request, **kwargs: Any) -> Response:
        return Response(words_of(self.page))


def words_of(page: Page) -> list[dict[str, Any]]:
    boxes = wordboxes.unpack(bytes(page.word_boxes), page.width, page.height)
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
