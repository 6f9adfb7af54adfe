"""`/api/papers/…`: papers by their metadata, lists in, references out, papers around a paper."""

from __future__ import annotations

from typing import Any

from django.db import transaction
from django_q.tasks import async_task
from drf_spectacular.utils import OpenApiExample, OpenApiParameter, OpenApiResponse, extend_schema
from rest_framework import exceptions, generics, serializers, status
from rest_framework.parsers import MultiPartParser
from rest_framework.request import Request
from rest_framework.response import Response

from documents.api.documents import DocumentSerializer, StatusSerializer
from documents.api.errors import ErrorSerializer, Unavailable
from documents.api.fields import Strict
from documents.api.parts import DocumentPart
from documents.api.people import caller
from documents.api.receiving import NotTaken
from documents.models import Document
from documents.scholarly.bibliography import BibliographyUnreadable, read_bibliography
from documents.scholarly.catalogues import CatalogueError, NotListed, look_up, papers_around
from documents.scholarly.papers import add_paper, find_paper
from documents.scholarly.record import PaperRecord, bare_arxiv_id, bare_doi, record_of
from documents.scholarly.references import STYLES, reference
from documents.uploads import UploadRefused
from documents.versions import replace_file

FETCH_TASK = "documents.scholarly.papers.fetch_pdf"
NO_CATALOGUE = OpenApiResponse(ErrorSerializer, "The catalogues of papers do not answer.")


class PaperSerializer(Strict, serializers.Serializer):
    """A paper. A title, a DOI or an arXiv id is enough: the catalogues are asked for the rest."""

    title = serializers.CharField(max_length=500, default="", allow_blank=True)
    authors = serializers.ListField(child=serializers.CharField(max_length=200), default=list, max_length=500)
    year = serializers.IntegerField(required=False, allow_null=True, min_value=0, max_value=3000)
    abstract = serializers.CharField(max_length=20_000, default="", allow_blank=True)
    tldr = serializers.CharField(max_length=2000, default="", allow_blank=True)
    doi = serializers.CharField(max_length=200, default="", allow_blank=True)
    arxiv_id = serializers.CharField(max_length=200, default="", allow_blank=True)
    venue = serializers.CharField(max_length=300, default="", allow_blank=True)
    url = serializers.URLField(max_length=2000, default="", allow_blank=True)
    fetch_pdf = serializers.BooleanField(
        default=True, help_text="fetch its open-access PDF when there is one"
    )


class NeighbourSerializer(serializers.Serializer):
    """A paper that cites another, or that another cites."""

    title = serializers.CharField()
    authors = serializers.ListField(child=serializers.CharField())
    year = serializers.IntegerField(allow_null=True)
    venue = serializers.CharField()
    doi = serializers.CharField()
    arxiv_id = serializers.CharField()
    url = serializers.CharField()
    pdf_url = serializers.CharField(help_text="of its open-access PDF, or ''")
    citation_count = serializers.IntegerField(allow_null=True)
    document = serializers.UUIDField(allow_null=True, help_text="when it is in your library")


class BibliographySerializer(Strict, serializers.Serializer):
    """References as BibTeX, RIS or CSL-JSON."""

    text = serializers.CharField(max_length=5_000_000)


class ReferenceSerializer(serializers.Serializer):
    """A document as a line in a list of references."""

    style = serializers.CharField()
    text = serializers.CharField()


class AddPaper(generics.GenericAPIView):
    serializer_class = PaperSerializer
    pagination_class = None
    filter_backends: list[Any] = []
    rate = "upload"

    @extend_schema(
        tags=["papers"],
        operation_id="papers_create",
        summary="Add a paper by DOI, arXiv id, title, or by hand",
        examples=[OpenApiExample("By its DOI", {"doi": "10.1145/3292500.3330701"}, request_only=True)],
        responses={201: DocumentSerializer, 503: NO_CATALOGUE},
    )
    def post(self, request: Request) -> Response:
        sent = self.get_serializer(data=request.data)
        sent.is_valid(raise_exception=True)
        asked = dict(sent.validated_data)
        wanted = asked.pop("fetch_pdf")
        record = completed(record_from(asked))
        document = added(request, record, wanted)
        body = DocumentSerializer(document, context=self.get_serializer_context()).data
        return Response(body, status=status.HTTP_201_CREATED)


def record_from(asked: dict[str, Any]) -> PaperRecord:
    found = {**asked, "authors": tuple(asked["authors"])}
    found["doi"], found["arxiv_id"] = bare_doi(asked["doi"]), bare_arxiv_id(asked["arxiv_id"])
    if not (asked["title"] or found["doi"] or found["arxiv_id"]):
        raise serializers.ValidationError({"title": ["Give a title, a DOI or an arXiv id."]})
    return PaperRecord(**found)


def completed(record: PaperRecord) -> PaperRecord:
    """What a person wrote stays; the catalogues fill what is missing, when they can."""
    if record.title and record.abstract:
        return record
    try:
        listed = look_up(record)
    except NotListed:
        if record.title:
            return record
        raise serializers.ValidationError({"doi": ["No catalogue knows this paper."]}) from None
    except CatalogueError as error:
        if record.title:
            return record
        raise Unavailable(str(error)) from None
    known = {name: getattr(listed, name) for name in PaperRecord.__struct_fields__}
    said = {name: getattr(record, name) for name in PaperRecord.__struct_fields__ if getattr(record, name)}
    return PaperRecord(**(known | {name: value for name, value in said.items() if name != "kind"}))


def added(request: Request, record: PaperRecord, fetch: bool = True) -> Document:
    document = add_paper(caller(request), record)
    if fetch and record.pdf_url and document.kind == Document.Kind.PAPER:
        transaction.on_commit(lambda: async_task(FETCH_TASK, str(document.pk), group="fetch"))
    return document


class ImportPapers(generics.GenericAPIView):
    serializer_class = BibliographySerializer
    pagination_class = None
    filter_backends: list[Any] = []
    rate = "upload"

    @extend_schema(
        tags=["papers"],
        operation_id="papers_import",
        summary="Add all papers of a BibTeX, RIS or CSL-JSON list",
        responses={201: DocumentSerializer(many=True)},
    )
    def post(self, request: Request) -> Response:
        sent = self.get_serializer(data=request.data)
        sent.is_valid(raise_exception=True)
        try:
            records = read_bibliography(sent.validated_data["text"])
        except BibliographyUnreadable as error:
            raise serializers.ValidationError({"text": [str(error)]}) from None
        documents = [added(request, record) for record in records]
        body = DocumentSerializer(documents, many=True, context=self.get_serializer_context()).data
        return Response(body, status=status.HTTP_201_CREATED)


class Reference(DocumentPart, generics.GenericAPIView):
    pagination_class = None
    filter_backends: list[Any] = []

    @extend_schema(
        tags=["papers"],
        operation_id="documents_reference",
        summary="The document as a reference in a CSL style",
        parameters=[OpenApiParameter("style", enum=STYLES, default="apa")],
        responses=ReferenceSerializer,
    )
    def get(self, request: Request, **kwargs: Any) -> Response:
        style = request.query_params.get("style", "apa")
        document = self.document
        if style not in STYLES:
            raise serializers.ValidationError({"style": [f"One of: {', '.join(STYLES)}."]})
        return Response({"style": style, "text": reference(record_of(document), style)})


class Around(DocumentPart, generics.GenericAPIView):
    """Papers around a paper; those in the library are marked."""

    pagination_class = None
    filter_backends: list[Any] = []
    direction: Any = "citing"

    @extend_schema(tags=["papers"], responses={200: NeighbourSerializer(many=True), 503: NO_CATALOGUE})
    def get(self, request: Request, **kwargs: Any) -> Response:
        document = self.document
        try:
            found = papers_around(record_of(document), self.direction)
        except NotListed:
            found = []
        except CatalogueError as error:
            raise Unavailable(str(error)) from None
        rows = [neighbour(caller(request), record) for record in found]
        return Response(NeighbourSerializer(rows, many=True).data)


def neighbour(owner: Any, record: PaperRecord) -> dict[str, Any]:
    row: dict[str, Any] = {name: getattr(record, name) for name in PaperRecord.__struct_fields__}
    inside = find_paper(owner, record)
    return row | {"document": inside.pk if inside else None}


class PdfSerializer(Strict, serializers.Serializer):
    file = serializers.FileField(allow_empty_file=True)


class AttachPdf(DocumentPart, generics.GenericAPIView):
    serializer_class = PdfSerializer
    parser_classes = [MultiPartParser]
    pagination_class = None
    filter_backends: list[Any] = []
    rate = "upload"

    @extend_schema(
        tags=["papers"],
        operation_id="documents_attach_pdf",
        summary="Give a paper that is known by its metadata its PDF",
        request={"multipart/form-data": PdfSerializer},
        responses={
            202: StatusSerializer,
            409: OpenApiResponse(ErrorSerializer, "You have this file already (`duplicate`)."),
            413: OpenApiResponse(ErrorSerializer, "The file is larger than this server accepts."),
            415: OpenApiResponse(ErrorSerializer, "The file is not a PDF."),
        },
    )
    def post(self, request: Request, **kwargs: Any) -> Response:
        document = self.document
        if document.owner_id != request.user.pk:
            raise exceptions.PermissionDenied
        sent = self.get_serializer(data=request.data)
        sent.is_valid(raise_exception=True)
        try:
            replace_file(document, sent.validated_data["file"])
        except UploadRefused as refused:
            raise NotTaken(refused) from None
        return Response(StatusSerializer(document).data, status=status.HTTP_202_ACCEPTED)
