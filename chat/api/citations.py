"""`/api/citations/…`, and text search in a document: `/api/documents/{id}/locate/` and `…/find/`."""

from __future__ import annotations

from typing import Any

import django_filters
from django.db import models
from django.http import Http404, HttpResponse, HttpResponsePermanentRedirect
from django.urls import reverse
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiExample, extend_schema, extend_schema_field, extend_schema_view
from rest_framework import generics, serializers
from rest_framework.request import Request
from rest_framework.response import Response

from chat.citations.stored_citations import citation_picture, reader_link
from chat.citations.stored_pages import StoredPages, locate
from chat.models import Citation, Conversation, Message
from citing.anchoring.page_text import highlight_rects
from citing.anchoring.word_search import InvalidPattern, WordQuery, counts_by_page, matches_on
from documents.api.common.fields import DocumentPart, PlainView, Strict, TwoNumbers, VisibleRows, valid
from documents.api.common.lists import VisibleFilter, WholeNumberFilter
from documents.api.pages import NOT_DRAWN, CannotDraw, PngRenderer, ResolutionSerializer, png_response
from documents.api.units import (
    BoxSerializer,
    FramedList,
    FramedSerializer,
    NeighboursSerializer,
    RegionSerializer,
    UnitContextSerializer,
    UnitSerializer,
    asked_neighbours,
    region_of,
    sibling_units,
    unit_context,
)
from documents.contents import trail
from documents.files.page_pictures import PictureFailed
from documents.models import CitationUnit, Document
from documents.models.security import TokenScope


class CitationSerializer(Strict, FramedSerializer):
    """A citation. ``region`` is the anchor: the very words; ``unit_region`` the passage around them."""

    page = serializers.IntegerField(source="page_number", read_only=True)
    lines = TwoNumbers(read_only=True, help_text="first and last line, through the document")
    page_label = serializers.CharField(read_only=True, help_text="the page number printed on the page, or ''")
    lines_on_page = TwoNumbers(
        read_only=True, help_text="the same lines, counted on their page; 0 where unknown"
    )
    place = serializers.CharField(read_only=True, help_text="for display: p. 5, lines 3–7; slide 4; 12:04")
    section = serializers.SerializerMethodField(help_text="headings above, outermost first, joined by ›")
    outcome = serializers.CharField(read_only=True, help_text="verified, found or differs")
    difference = serializers.ListField(
        child=serializers.CharField(),
        read_only=True,
        help_text="what the claim and the page say, if they differ",
    )
    verdict_text = serializers.CharField(source="get_verdict_display", read_only=True)
    durability_text = serializers.CharField(source="get_durability_display", read_only=True)
    missing = serializers.ListField(child=serializers.CharField(), read_only=True)
    bbox = serializers.SerializerMethodField(help_text="of the anchor (of the passage when it has none)")
    region = serializers.SerializerMethodField()
    unit_region = serializers.SerializerMethodField()
    head_region = serializers.SerializerMethodField(help_text="row and column headers of a cited cell")
    permalink = serializers.SerializerMethodField(help_text="opens the reader at the words")
    image = serializers.SerializerMethodField(help_text="PNG of the highlighted words")
    judgement = serializers.CharField(
        read_only=True, help_text="verdict of a judge: '', supported, unsupported"
    )
    feedback = serializers.ChoiceField(["", "right", "wrong"], required=False)

    class Meta:
        model = Citation
        list_serializer_class = FramedList
        fields = [
            "id", "number", "message", "document", "document_title", "document_sha256", "page", "page_label",
            "unit", "lines", "lines_on_page", "place", "section", "section_path", "claim", "claim_start",
            "claim_end", "quote", "prefix", "suffix", "unit_text", "outcome", "difference", "verdict",
            "verdict_text", "reason", "missing", "matched", "judged_by", "judgement", "durability",
            "durability_text", "feedback", "bbox", "region", "unit_region", "head_region", "permalink",
            "image", "created_at",
        ]  # fmt: skip
        read_only_fields = [name for name in fields if name != "feedback"]

    def get_section(self, citation: Citation) -> str:
        return trail(citation.section_path, citation.document_title)

    @extend_schema_field(BoxSerializer(allow_null=True))
    def get_bbox(self, citation: Citation) -> Any:
        region = self.region_on(citation, citation.rects or citation.unit_rects)
        return region and region["bbox"]

    @extend_schema_field(RegionSerializer(allow_null=True))
    def get_region(self, citation: Citation) -> Any:
        return self.region_on(citation, citation.rects)

    @extend_schema_field(RegionSerializer(allow_null=True))
    def get_unit_region(self, citation: Citation) -> Any:
        return self.region_on(citation, citation.unit_rects)

    @extend_schema_field(RegionSerializer(allow_null=True))
    def get_head_region(self, citation: Citation) -> Any:
        return self.region_on(citation, citation.head_rects)

    @extend_schema_field(OpenApiTypes.URI)
    def get_permalink(self, citation: Citation) -> str:
        return self.context["request"].build_absolute_uri(reader_link(citation))

    @extend_schema_field(OpenApiTypes.URI)
    def get_image(self, citation: Citation) -> str:
        path = reverse("api:citation-image", args=[citation.pk])
        return self.context["request"].build_absolute_uri(path)


class CitationContextSerializer(UnitContextSerializer):
    """A citation, its unit, and the retrieval chunk around it."""

    citation = CitationSerializer()


class CitationFilter(django_filters.FilterSet):
    document = VisibleFilter(Document, field_name="document")
    conversation = VisibleFilter(Conversation, field_name="message__conversation")
    message = VisibleFilter(Message, field_name="message")
    page = WholeNumberFilter(field_name="page_number")

    class Meta:
        model = Citation
        fields = ["verdict", "durability"]


class Citations(VisibleRows):
    queryset = Citation.objects.all()


class CitationOrUnit(Citations):
    """A citation by its id. The id of a unit, which markers in answers hold, redirects to ``unit_route``."""

    unit_route = ""

    def get(self, request: Request, *args: Any, **kwargs: Any) -> HttpResponse:
        try:
            found: HttpResponse = super().get(request, *args, **kwargs)  # type: ignore[misc]
        except Http404:
            if not CitationUnit.objects.visible_to(request.user).filter(pk=kwargs["pk"]).exists():
                raise
            return HttpResponsePermanentRedirect(reverse(self.unit_route, args=[kwargs["pk"]]))
        return found


class CitationListView(Citations, generics.ListAPIView):
    """Citations of your conversations, on documents you may read."""

    serializer_class = CitationSerializer
    filterset_class = CitationFilter
    ordering_fields = ["created_at"]


class CitationDetail(CitationOrUnit, generics.RetrieveUpdateAPIView):
    """One citation; `feedback` says whether it is right. The id in a marker, a unit's, redirects to it."""

    unit_route = "api:unit-detail"
    serializer_class = CitationSerializer
    http_method_names = ["get", "patch", "head", "options"]


@extend_schema_view(get=extend_schema(parameters=[NeighboursSerializer]))
class CitationContext(CitationOrUnit, generics.RetrieveAPIView):
    """The cited unit's chunk with all its units, and its neighbours on request."""

    unit_route = "api:unit-context"
    serializer_class = CitationContextSerializer

    def retrieve(self, request: Request, *args: Any, **kwargs: Any) -> Response:
        citation = self.get_object()
        context = {"citation": citation, **unit_context(citation.unit, asked_neighbours(request))}
        return Response(self.get_serializer(context).data)


@extend_schema_view(get=extend_schema(operation_id="citations_siblings"))
class CitationSiblings(CitationOrUnit, generics.ListAPIView):
    """The other units of the cited unit's chunk. Citations of one answer: `/api/citations/?message=`."""

    unit_route = "api:unit-siblings"
    serializer_class = UnitSerializer
    filter_backends: list[Any] = []
    page_ordering = ["position"]

    def get_queryset(self) -> models.QuerySet:
        visible = Citation.objects.visible_to(self.request.user)
        return sibling_units(generics.get_object_or_404(visible, pk=self.kwargs["pk"]).unit)


class PictureOptionsSerializer(ResolutionSerializer):
    """Resolution and crop of the picture."""

    crop = serializers.BooleanField(default=True, help_text="only the surroundings of the words")


@extend_schema_view(
    get=extend_schema(
        operation_id="citations_image",
        parameters=[PictureOptionsSerializer],
        responses={(200, "image/png"): OpenApiTypes.BINARY, (422, "application/json"): NOT_DRAWN},
    )
)
class CitationImage(Citations, generics.GenericAPIView):
    """A PNG of the cited words: the passage pale, the anchor strong."""

    renderer_classes = [PngRenderer]
    filter_backends: list[Any] = []

    def get(self, request: Request, **kwargs: Any) -> HttpResponse:
        citation = self.get_object()
        options = valid(PictureOptionsSerializer(data=request.query_params))
        try:
            return png_response(citation_picture(citation, **options))
        except PictureFailed as failed:
            raise CannotDraw(str(failed)) from None


# --- `/api/documents/{id}/locate/`: the location of quoted words ---


class QuoteSerializer(Strict, serializers.Serializer):
    """Words to find. Hyphenation, spacing and number formats may differ from the page."""

    quote = serializers.CharField(max_length=10_000)
    context = serializers.CharField(
        max_length=10_000,
        default="",
        allow_blank=True,
        help_text="words around it, to choose among several places",
    )


class LocatedSerializer(serializers.Serializer):
    """The place of the words. If they are not found, ``verdict`` is ``none`` and ``parts`` is empty."""

    verdict = serializers.ChoiceField(["exact", "normalized", "partial", "none"])
    text = serializers.CharField(help_text="the words as the page prints them")
    page = serializers.IntegerField(allow_null=True, help_text="the page they begin on, from 1")
    parts = RegionSerializer(many=True, help_text="one per page of the words")


class Locate(DocumentPart, PlainView):
    """Locate quoted words in a document."""

    serializer_class = QuoteSerializer
    scope = TokenScope.READ

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
        anchor = locate(document.pk, **valid(self.get_serializer(data=request.data)))
        if anchor is None:
            return Response({"verdict": "none", "text": "", "page": None, "parts": []})
        parts = [region_of(part.page.number, part.page.frame, part.rects) for part in anchor.parts]
        found = {"verdict": anchor.verdict, "text": anchor.text, "page": anchor.page, "parts": parts}
        return Response(LocatedSerializer(found).data)


# --- `/api/documents/{id}/find/`: all matches of typed words, as in the reader's find bar ---


class FindSerializer(Strict, serializers.Serializer):
    """Words or pattern to find."""

    q = serializers.CharField(
        max_length=200, default="", allow_blank=True, help_text="case, accents and line ends do not matter"
    )
    whole = serializers.BooleanField(default=False, help_text="only whole words")
    regex = serializers.BooleanField(
        default=False,
        help_text="`q` is a regular expression in the syntax of RE2; a space is any white space",
    )
    page = serializers.IntegerField(
        min_value=1, required=False, help_text="also return the regions of matches on this page"
    )


class PageMatchesSerializer(serializers.Serializer):
    """The matches of one page."""

    page = serializers.IntegerField(help_text="from 1")
    count = serializers.IntegerField()


class FoundSerializer(serializers.Serializer):
    """Number of matches by page; pages without a match are left out."""

    count = serializers.IntegerField()
    more = serializers.BooleanField(help_text="whether the search ended before the last page")
    pages = PageMatchesSerializer(many=True)
    matches = RegionSerializer(many=True, help_text="those on ``page``")


class FindWords(DocumentPart, PlainView):
    """Find all occurrences of words in a document."""

    serializer_class = FindSerializer

    @extend_schema(
        tags=["search"],
        operation_id="documents_find",
        parameters=[FindSerializer],
        responses={200: FoundSerializer},
    )
    def get(self, request: Request, **kwargs: Any) -> Response:
        pages = StoredPages(self.document.pk)
        asked = valid(self.get_serializer(data=request.query_params))
        query = WordQuery(asked["q"], asked["whole"], asked["regex"])
        try:
            counts = counts_by_page(pages.all, query)
        except InvalidPattern as invalid:
            raise serializers.ValidationError({"q": [str(invalid)]}) from None
        shown = [page for page in pages.all if page.number == asked.get("page")]
        matches = [
            region_of(page.number, page.frame, highlight_rects(page, [span]))
            for page in shown
            for span in matches_on(page.folded, query)
        ]
        by_page = counts.by_page
        listed = [{"page": page, "count": count} for page, count in by_page.items()]
        found = {"count": sum(by_page.values()), "more": counts.cut, "pages": listed, "matches": matches}
        return Response(FoundSerializer(found).data)
