"""`/api/documents/{id}/locate/`: where quoted words stand."""

from __future__ import annotations

from typing import Any

from drf_spectacular.utils import OpenApiExample, extend_schema
from rest_framework import generics, serializers
from rest_framework.request import Request
from rest_framework.response import Response

from chat.locating import locate
from documents.api.fields import Strict
from documents.api.parts import DocumentPart
from documents.api.region import Region, RegionSerializer
from documents.models.token import Scope


class QuoteSerializer(Strict, serializers.Serializer):
    """Words to find. They may be hyphenated, spaced or numbered otherwise on the page."""

    quote = serializers.CharField(max_length=10_000)
    context = serializers.CharField(
        max_length=10_000, default="", allow_blank=True, help_text="words around it, to choose among places"
    )


class LocatedSerializer(serializers.Serializer):
    """Where the words stand; ``verdict`` is ``none`` and ``parts`` empty when they do not."""

    verdict = serializers.ChoiceField(["exact", "normalized", "partial", "none"])
    text = serializers.CharField(help_text="the words as the page prints them")
    page = serializers.IntegerField(allow_null=True, help_text="the page they begin on, from 1")
    parts = RegionSerializer(many=True, help_text="one per page the words run over")


class Locate(DocumentPart, generics.GenericAPIView):
    """Where quoted words stand in a document."""

    serializer_class = QuoteSerializer
    scope = Scope.READ
    pagination_class = None
    filter_backends: list[Any] = []

    @extend_schema(
        tags=["search"],
        operation_id="documents_locate",
        examples=[
            OpenApiExample("A value", {"quote": "$ 32,765", "context": "Net sales"}, request_only=True)
        ],
        responses={200: LocatedSerializer},
    )
    def post(self, request: Request, **kwargs: Any) -> Response:
        document = self.document
        sent = self.get_serializer(data=request.data)
        sent.is_valid(raise_exception=True)
        anchor = locate(document.pk, **sent.validated_data)
        if anchor is None:
            return Response({"verdict": "none", "text": "", "page": None, "parts": []})
        parts = [Region.of(part.page.number, part.page.frame, part.rects) for part in anchor.parts]
        found = {"verdict": anchor.verdict, "text": anchor.text, "page": anchor.page, "parts": parts}
        return Response(LocatedSerializer(found).data)
