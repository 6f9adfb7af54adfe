"""`/api/papers/…`: add papers by metadata or lists, format references, find related papers."""

from __future__ import annotations

from typing import Any

from django.db.models import Prefetch, prefetch_related_objects
from drf_spectacular.utils import (
    OpenApiExample,
    OpenApiParameter,
    OpenApiRequest,
    OpenApiResponse,
    extend_schema,
)
from rest_framework import exceptions, serializers, status
from rest_framework.parsers import MultiPartParser
from rest_framework.request import Request
from rest_framework.response import Response

from documents.api.common.callers import caller
from documents.api.common.errors import UNUSABLE, ErrorSerializer, Unavailable, Unusable
from documents.api.common.fields import DocumentPart, PlainView, Strict, valid
from documents.api.documents import PDF_PART, DocumentSerializer, NotTaken, StatusSerializer
from documents.files.uploads import UploadRefused
from documents.ingestion.source_files import replace_file
from documents.models import Collection, Tag
from documents.papers.acquisition import (
    ADDED_IN_REQUEST,
    ExportTooLong,
    add_and_fetch,
    add_list,
    add_paper,
    completed,
)
from documents.papers.bibliography import (
    STYLES,
    BibliographyUnreadable,
    PaperRecord,
    bare_arxiv_id,
    bare_doi,
    record_of,
    reference,
)
from documents.papers.catalogues import CatalogueError, NotListed, papers_on_topic, related_papers

NO_CATALOGUE = OpenApiResponse(ErrorSerializer, "The catalogues of papers do not respond.")


class PaperSerializer(Strict, serializers.Serializer):
    """A paper. A title, a DOI or an arXiv id is enough: the catalogues provide the rest."""

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
    """A paper that a catalogue lists."""

    title = serializers.CharField(source="record.title")
    authors = serializers.ListField(child=serializers.CharField(), source="record.authors")
    year = serializers.IntegerField(allow_null=True, source="record.year")
    venue = serializers.CharField(source="record.venue")
    doi = serializers.CharField(source="record.doi")
    arxiv_id = serializers.CharField(source="record.arxiv_id")
    url = serializers.CharField(source="record.url")
    pdf_url = serializers.CharField(source="record.pdf_url", help_text="of its open-access PDF, or ''")
    citation_count = serializers.IntegerField(allow_null=True, source="record.citation_count")
    document = serializers.UUIDField(
        source="document.pk", default=None, allow_null=True, help_text="id in your library, if it is there"
    )


class BibliographySerializer(Strict, serializers.Serializer):
    """References as BibTeX, RIS, CSL-JSON or Zotero RDF."""

    text = serializers.CharField(max_length=5_000_000)


class ReferenceSerializer(serializers.Serializer):
    """A document formatted as a reference."""

    style = serializers.CharField()
    text = serializers.CharField()


class AddPaper(PlainView):
    serializer_class = PaperSerializer
    rate = "upload"

    @extend_schema(
        operation_id="papers_create",
        summary="Add a paper by DOI, arXiv id, title, or by hand",
        examples=[OpenApiExample("By its DOI", {"doi": "10.1145/3292500.3330701"}, request_only=True)],
        responses={201: DocumentSerializer, 503: NO_CATALOGUE} | UNUSABLE,
    )
    def post(self, request: Request) -> Response:
        asked = valid(self.get_serializer(data=request.data))
        add = add_and_fetch if asked.pop("fetch_pdf") else add_paper
        document = add(caller(request), completed_or_refused(record_from(asked)))
        body = DocumentSerializer(document, context=self.get_serializer_context()).data
        return Response(body, status=status.HTTP_201_CREATED)


def record_from(asked: dict[str, Any]) -> PaperRecord:
    found = {**asked, "authors": tuple(asked["authors"])}
    found["doi"], found["arxiv_id"] = bare_doi(asked["doi"]), bare_arxiv_id(asked["arxiv_id"])
    if not (asked["title"] or found["doi"] or found["arxiv_id"]):
        raise Unusable("Give a title, a DOI or an arXiv id.")
    return PaperRecord(**found)


def completed_or_refused(record: PaperRecord) -> PaperRecord:
    try:
        return completed(record)
    except NotListed:
        raise Unusable("No catalogue knows this paper.", "not_listed") from None
    except CatalogueError as error:
        raise Unavailable(str(error)) from None


class ImportPapers(PlainView):
    serializer_class = BibliographySerializer
    rate = "upload"

    @extend_schema(
        operation_id="papers_import",
        summary="Add all papers of a BibTeX, RIS, CSL-JSON or Zotero RDF list",
        description=f"They are created at once, at most {ADDED_IN_REQUEST}; workers process them: see "
        "`status` and `progress` of each.",
        responses={201: DocumentSerializer(many=True)} | UNUSABLE,
    )
    def post(self, request: Request) -> Response:
        sent = valid(self.get_serializer(data=request.data))
        try:
            documents = add_list(caller(request), sent["text"])
        except BibliographyUnreadable as error:
            raise Unusable(str(error), "unreadable", text=str(error)) from None
        except ExportTooLong:
            message = f"Send at most {ADDED_IN_REQUEST} references at a time."
            raise Unusable(message, "too_much_work", text=message) from None
        mine = Tag.objects.visible_to(request.user), Collection.objects.visible_to(request.user)
        prefetch_related_objects(
            documents, Prefetch("tags", mine[0]), Prefetch("collections", mine[1]), "owner"
        )
        body = DocumentSerializer(documents, many=True, context=self.get_serializer_context()).data
        return Response(body, status=status.HTTP_201_CREATED)


class Reference(DocumentPart, PlainView):
    @extend_schema(
        tags=["papers"],
        operation_id="documents_reference",
        summary="Format the document as a reference in a CSL style",
        parameters=[OpenApiParameter("style", enum=list(STYLES), default="apa")],
        responses=ReferenceSerializer,
    )
    def get(self, request: Request, **kwargs: Any) -> Response:
        style = request.query_params.get("style", "apa")
        document = self.document
        if style not in STYLES:
            raise serializers.ValidationError({"style": [f"One of: {', '.join(STYLES)}."]})
        return Response({"style": style, "text": reference(record_of(document), style)})


class Around(DocumentPart, PlainView):
    """Papers that cite a paper, or that it cites; ``document`` marks those in the library."""

    direction: Any = "citing"

    @extend_schema(tags=["papers"], responses={200: NeighbourSerializer(many=True), 503: NO_CATALOGUE})
    def get(self, request: Request, **kwargs: Any) -> Response:
        try:
            found = related_papers(caller(request), self.document, self.direction)
        except CatalogueError as error:
            raise Unavailable(str(error)) from None
        return Response(NeighbourSerializer(found, many=True).data)


class TopicSerializer(serializers.Serializer):
    q = serializers.CharField(max_length=300, help_text="a topic, in a few words")


class FindPapers(PlainView):
    """Papers on a topic, found in the catalogues; ``document`` marks those in the library."""

    @extend_schema(
        operation_id="papers_search",
        parameters=[TopicSerializer],
        responses={200: NeighbourSerializer(many=True), 503: NO_CATALOGUE},
    )
    def get(self, request: Request) -> Response:
        asked = valid(TopicSerializer(data=request.query_params))
        try:
            found = papers_on_topic(caller(request), asked["q"])
        except CatalogueError as error:
            raise Unavailable(str(error)) from None
        return Response(NeighbourSerializer(found, many=True).data)


class PdfSerializer(Strict, serializers.Serializer):
    file = serializers.FileField(allow_empty_file=True)


class AttachPdf(DocumentPart, PlainView):
    serializer_class = PdfSerializer
    parser_classes = [MultiPartParser]
    rate = "upload"

    @extend_schema(
        tags=["papers"],
        operation_id="documents_attach_pdf",
        summary="Attach a PDF to a paper that has only metadata",
        request={"multipart/form-data": OpenApiRequest(PdfSerializer, encoding=PDF_PART)},
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
        sent = valid(self.get_serializer(data=request.data))
        try:
            replace_file(document, sent["file"])
        except UploadRefused as refused:
            raise NotTaken(refused) from None
        document.refresh_from_db()
        return Response(StatusSerializer(document).data, status=status.HTTP_202_ACCEPTED)
