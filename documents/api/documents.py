"""`/api/documents/…`: upload, list, read, change, delete, status, retry."""

from __future__ import annotations

from typing import Any

import django_filters
from django.contrib.auth.models import User
from django.db import models
from django.db.models import Prefetch
from django.urls import reverse
from drf_spectacular.utils import (
    OpenApiExample,
    OpenApiRequest,
    OpenApiResponse,
    extend_schema,
    extend_schema_field,
    extend_schema_serializer,
    extend_schema_view,
)
from rest_framework import exceptions, serializers, status
from rest_framework.parsers import MultiPartParser
from rest_framework.request import Request
from rest_framework.response import Response

from documents.access import NotYours, add_to_collection, set_collections
from documents.api.common.callers import HasScope, JSONParser, caller
from documents.api.common.errors import ErrorSerializer, StateConflict, Unusable
from documents.api.common.fields import MayEdit, PlainView, RowsViewSet, Strict, VisibleRelated, valid
from documents.api.common.idempotency import IDEMPOTENCY_KEY, once
from documents.api.common.lists import VisibleFilter
from documents.api.jobs import FAILURE_CODES
from documents.files.uploads import OTHERS, PDF, UploadRefused, store_address, store_upload
from documents.files.url_fetch import FetchRefused
from documents.importers.block import AdapterError
from documents.importers.block_import import import_blocks
from documents.importers.parser_outputs import ADAPTERS
from documents.ingestion.pipeline import ingest_again
from documents.ingestion.queue import enqueue
from documents.ingestion.source_files import unlock
from documents.library import delete_document
from documents.models import Collection, Document, Tag
from pdf.failures import ParseFailure

PDF_PART = {"file": {"contentType": "application/pdf"}}
FILE_PART = {"file": {"contentType": "application/pdf, application/octet-stream"}}
KINDS = ", ".join(kind.label for kind in (PDF, *OTHERS))
STATUS_OF = {
    "too_large": 413,
    "duplicate": 409,
    "not_a_pdf": 415,
    "no_room": 507,
    "infected": 422,
    "not_scanned": 503,
}


class NotTaken(exceptions.APIException):
    """The upload was refused; the Location of a duplicate is the existing document."""

    def __init__(self, refused: UploadRefused) -> None:
        super().__init__(refused.message, refused.code)
        self.status_code = STATUS_OF.get(str(refused.code), 400)
        self.headers: dict[str, str] = {}
        if refused.existing is not None:
            self.headers["Location"] = reverse("api:document-detail", args=[refused.existing.pk])


class PlacedSerializer(Strict, serializers.Serializer):
    tags = VisibleRelated(many=True, required=False, queryset=Tag.objects.all())
    collections = VisibleRelated(
        many=True, required=False, queryset=Collection.objects.all(), rights="editable_by"
    )


class FileUploadSerializer(PlacedSerializer):
    """A PDF, or a file that can be converted to PDF."""

    file = serializers.FileField(
        allow_empty_file=True,
        max_length=4000,
        help_text=f"{KINDS}; the last ones only if LibreOffice is installed",
    )


class UrlUploadSerializer(PlacedSerializer):
    """The URL of a PDF. A worker downloads it: poll the status. Private addresses are refused."""

    url = serializers.URLField(max_length=2000)


def receive(owner: User, sent: dict[str, Any]) -> Document:
    """Store the upload with its collections and tags, and queue it. Raises NotTaken or Unusable."""
    try:
        document = _stored(owner, sent)
    except UploadRefused as refused:
        raise NotTaken(refused) from None
    except FetchRefused as refused:
        raise Unusable(refused.message, "not_fetched", url=refused.message) from None
    place(document, sent, owner)
    return document


def place(document: Document, sent: dict[str, Any], owner: User) -> None:
    document.tags.set(sent.get("tags", []))
    for collection in sent.get("collections", []):
        add_to_collection(document, collection, owner)


def _stored(owner: User, sent: dict[str, Any]) -> Document:
    if "file" in sent:
        return store_upload(owner, sent["file"], sent["file"].name or "")
    return store_address(owner, sent["url"])


class PageFailureSerializer(serializers.Serializer):
    """A page that could not be read, and why."""

    page = serializers.IntegerField()
    reason = serializers.CharField()


class StatusSerializer(serializers.ModelSerializer):
    """The progress of a document from upload to ready."""

    failure_code = serializers.ChoiceField(FAILURE_CODES, read_only=True)
    failed_pages = serializers.SerializerMethodField()
    pages_read = serializers.IntegerField(read_only=True, help_text="pages that can be searched")

    class Meta:
        model = Document
        fields = [
            "id", "status", "progress", "failure_code", "failure_message", "failed_pages", "attempts",
            "page_count", "pages_read", "pages_waiting", "pictures_waiting", "unit_count", "chunk_count",
            "stage_seconds", "updated_at", "indexed_at",
        ]  # fmt: skip
        read_only_fields = fields
        extra_kwargs = {"stage_seconds": {"help_text": "seconds spent in each stage"}}

    @extend_schema_field(PageFailureSerializer(many=True))
    def get_failed_pages(self, document: Document) -> Any:
        return [{"page": page, "reason": reason} for page, reason in document.failed_pages]


class RetrySerializer(Strict, serializers.Serializer):
    """Options for processing the document again."""

    password = serializers.CharField(
        default="",
        allow_blank=True,
        max_length=500,
        trim_whitespace=False,
        write_only=True,
        help_text="of an encrypted file; it is not stored",
    )


class OutlineEntrySerializer(serializers.Serializer):
    """A bookmark of the PDF."""

    level = serializers.IntegerField()
    title = serializers.CharField()
    page = serializers.IntegerField()


FROM_RECORD = {"title", "authors", "year", "abstract", "doi"}  # fields that a look-up sets, unless edited


@extend_schema_serializer(
    examples=[
        OpenApiExample("A better title", {"title": "Annual report 2018", "year": 2018}, request_only=True)
    ]
)
class DocumentSerializer(Strict, serializers.ModelSerializer):
    """A document: a PDF, or a paper known by its metadata."""

    tags = VisibleRelated(many=True, required=False, queryset=Tag.objects.all())
    collections = VisibleRelated(
        many=True,
        required=False,
        queryset=Collection.objects.all(),
        help_text="documents you can see; to add and remove, you need the right to edit the collection",
    )
    owner = serializers.CharField(source="owner.username", read_only=True)
    year = serializers.IntegerField(required=False, allow_null=True, min_value=0, max_value=3000)
    failure_code = serializers.ChoiceField(FAILURE_CODES, read_only=True)
    source_url = serializers.CharField(read_only=True, help_text="URL it was downloaded from, or ''")
    outline = serializers.SerializerMethodField(help_text="the PDF's own table of contents")
    pages_read = serializers.IntegerField(read_only=True, help_text="pages that can be searched")
    same_text = serializers.SerializerMethodField(
        help_text="ids of other documents that you may read, whose pages have the same text; at most 5"
    )
    metadata = serializers.SerializerMethodField(
        help_text="`pdf`: the file's own; `paper`: the bibliographic record; `identified`: the "
        "`source` of title, authors and year, and the `kind` and `value` of the number it was found by"
    )

    class Meta:
        model = Document
        fields = [
            "id", "kind", "owner", "title", "authors", "year", "abstract", "tldr", "doi", "language",
            "original_name", "source_url", "sha256", "same_text", "size", "status", "progress",
            "failure_code", "failure_message", "page_count", "pages_read", "pages_waiting",
            "pictures_waiting", "word_count", "unit_count", "chunk_count", "table_count", "hidden_word_count",
            "outline", "metadata", "parser_name", "parser_version", "tags", "collections", "created_at",
            "updated_at", "indexed_at",
        ]  # fmt: skip
        read_only_fields = [
            name
            for name in fields
            if name
            not in {"title", "authors", "year", "abstract", "tldr", "doi", "language", "tags", "collections"}
        ]

    def update(self, document: Document, values: dict[str, Any]) -> Document:
        """Update the document. Tags and collections that the caller cannot see are kept."""
        user = self.context["request"].user
        if FROM_RECORD & values.keys():
            document.metadata.pop("identified", None)
            document.metadata["edited"] = True
        if "tags" in values:
            hidden = Tag.objects.filter(documents=document).exclude(pk__in=Tag.objects.visible_to(user))
            values["tags"] = [*values["tags"], *hidden]
        if "collections" in values:
            try:
                set_collections(document, values.pop("collections"), user)
            except NotYours as refused:
                raise exceptions.PermissionDenied(
                    f"You may read the collection “{refused}”, but not change it."
                ) from None
        return super().update(document, values)

    @extend_schema_field(serializers.DictField(child=serializers.DictField()))
    def get_metadata(self, document: Document) -> dict[str, Any]:
        return {
            name: document.metadata[name]
            for name in ("pdf", "paper", "identified")
            if name in document.metadata
        }

    @extend_schema_field(serializers.ListField(child=serializers.UUIDField()))
    def get_same_text(self, document: Document) -> list[str]:
        """Return ids; none for a document that was just uploaded, which has no pages yet."""
        return [other["id"] for other in getattr(document, "same_text", ())]

    @extend_schema_field(OutlineEntrySerializer(many=True))
    def get_outline(self, document: Document) -> Any:
        return [{"level": level, "title": title, "page": page} for level, title, page in document.outline]


class DocumentFilter(django_filters.FilterSet):
    q = django_filters.CharFilter(field_name="title", lookup_expr="icontains", help_text="part of the title")
    tag = VisibleFilter(Tag, field_name="tags", help_text="id of a tag")
    collection = VisibleFilter(Collection, field_name="collections", help_text="id of a collection")
    created_after = django_filters.IsoDateTimeFilter(field_name="created_at", lookup_expr="gte")
    created_before = django_filters.IsoDateTimeFilter(field_name="created_at", lookup_expr="lt")

    class Meta:
        model = Document
        fields = ["status", "kind", "failure_code", "sha256", "doi"]


@extend_schema_view(
    list=extend_schema(summary="The documents you may read"),
    retrieve=extend_schema(summary="One document"),
    partial_update=extend_schema(summary="Change title, authors, tags, collections, …"),
    destroy=extend_schema(summary="Delete a document and everything made from it"),
)
class DocumentViewSet(RowsViewSet):
    """Documents: PDFs, and papers known by their metadata."""

    serializer_class = DocumentSerializer
    permission_classes = [HasScope, MayEdit]
    filterset_class = DocumentFilter
    ordering_fields = ["created_at", "updated_at", "title", "size", "page_count"]
    rate = "upload"

    def get_queryset(self) -> models.QuerySet:
        user = self.request.user
        mine = [
            Prefetch("tags", Tag.objects.visible_to(user)),
            Prefetch("collections", Collection.objects.visible_to(user)),
        ]
        found = Document.objects.visible_to(user).with_same_text(user).select_related("owner")
        return found.prefetch_related(*mine).distinct()

    def get_parsers(self) -> list[Any]:
        """Accept multipart uploads where files can be sent, and JSON."""
        takes_files = "create" in getattr(self, "action_map", {}).values()
        return [MultiPartParser(), JSONParser()] if takes_files else [JSONParser()]

    @extend_schema(
        summary="Upload a file, or queue the URL of a PDF",
        request={
            "multipart/form-data": OpenApiRequest(FileUploadSerializer, encoding=FILE_PART),
            "application/json": UrlUploadSerializer,
        },
        parameters=[IDEMPOTENCY_KEY],
        responses={
            201: DocumentSerializer,
            409: OpenApiResponse(ErrorSerializer, "You have this file already (`duplicate`)."),
            413: OpenApiResponse(ErrorSerializer, "The file is larger than this server accepts."),
            415: OpenApiResponse(ErrorSerializer, "The file's type is not supported."),
            422: OpenApiResponse(
                ErrorSerializer,
                "An invalid URL, an Idempotency-Key used for another request, or a virus (`infected`).",
            ),
            503: OpenApiResponse(ErrorSerializer, "The virus scanner gave no verdict (`not_scanned`)."),
        },
    )
    def create(self, request: Request, **kwargs: Any) -> Response:
        return once(request, lambda: self._received(request))

    def _received(self, request: Request) -> Response:
        sent_as = UrlUploadSerializer if request.content_type == "application/json" else FileUploadSerializer
        sent = valid(sent_as(data=request.data, context=self.get_serializer_context()))
        document = receive(caller(request), sent)
        return Response(self.get_serializer(document).data, status=status.HTTP_201_CREATED)

    def partial_update(self, request: Request, *args: Any, **kwargs: Any) -> Response:
        super().partial_update(request, *args, **kwargs)
        return Response(self.get_serializer(self.get_object()).data)  # read again: only visible collections

    def perform_destroy(self, document: Document) -> None:
        delete_document(document)

    @extend_schema(summary="Status and progress of a document", responses=StatusSerializer)
    def progress(self, request: Request, **kwargs: Any) -> Response:
        return Response(StatusSerializer(self.get_object()).data)

    @extend_schema(
        summary="Process a finished or failed document again",
        request=RetrySerializer,
        responses={
            202: StatusSerializer,
            409: OpenApiResponse(ErrorSerializer, "It is being processed."),
        },
    )
    def retry(self, request: Request, **kwargs: Any) -> Response:
        document = self.get_object()
        sent = valid(RetrySerializer(data=request.data))
        if password := sent["password"]:
            try:
                unlock(document, password)
            except ParseFailure as failure:
                raise serializers.ValidationError({"password": [failure.message]}) from None
        if not ingest_again(document):
            raise StateConflict("This document is being processed.")
        document.refresh_from_db()
        return Response(StatusSerializer(document).data, status=status.HTTP_202_ACCEPTED)


MOST_BLOCK_BYTES = 50 << 20  # JSON is parsed in memory


@extend_schema_field({"oneOf": [{"type": "array", "items": {}}, {"type": "object"}]})
class ListOrObject(serializers.JSONField):
    """A JSON list or object."""


class BlocksSerializer(PlacedSerializer):
    """Another parser's output: Docling's or Unstructured's JSON, or plain blocks."""

    title = serializers.CharField(max_length=500, default="Imported document")
    kind = serializers.ChoiceField(sorted(ADAPTERS), required=False, help_text="detected if omitted")
    blocks = ListOrObject(help_text="a list of blocks, or an object that contains it")


class ImportBlocks(PlainView):
    """Create a document from another parser's blocks."""

    serializer_class = BlocksSerializer
    rate = "upload"
    json_bytes = MOST_BLOCK_BYTES

    @extend_schema(
        operation_id="documents_import",
        summary="Create a document from another parser's blocks",
        description="The blocks are checked at once; a worker then creates the document: poll its status or "
        "job. Add its PDF by `POST /api/documents/{id}/pdf/`: the blocks are kept, and shown on its pages.",
        parameters=[IDEMPOTENCY_KEY],
        examples=[
            OpenApiExample(
                "A slide and a sheet",
                {
                    "title": "Quarterly review",
                    "blocks": [
                        {"type": "heading", "text": "Outlook", "slide": 4},
                        {"type": "table_row", "text": "Revenue\t412", "sheet": "Q2", "row": 7},
                    ],
                },
                request_only=True,
            )
        ],
        responses={
            201: DocumentSerializer,
            422: OpenApiResponse(ErrorSerializer, "Invalid blocks; `fields` names each: `blocks.3`."),
        },
    )
    def post(self, request: Request) -> Response:
        return once(request, lambda: self._received(request))

    def _received(self, request: Request) -> Response:
        values = valid(self.get_serializer(data=request.data))
        try:
            kind = values.get("kind", "")
            document = import_blocks(caller(request), values["blocks"], values["title"], kind)
        except AdapterError as error:
            fields = {f"blocks.{number}": reason for number, reason in error.blocks.items()}
            raise Unusable(str(error), "not_blocks", **(fields or {"blocks": str(error)})) from None
        place(document, values, caller(request))
        enqueue(document)
        body = DocumentSerializer(document, context=self.get_serializer_context()).data
        return Response(body, status=status.HTTP_201_CREATED)
