"""API for other programs: verify claims, locate quotes, webhooks, embedded readers (`/api/verify/`, …)."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import timedelta
from typing import Any, TypeVar

from django.urls import URLPattern, URLResolver, path, reverse
from django.utils import timezone
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import (
    OpenApiExample,
    OpenApiResponse,
    extend_schema,
    extend_schema_field,
    extend_schema_view,
)
from pydantic import BaseModel
from rest_framework import generics, serializers
from rest_framework.decorators import action
from rest_framework.parsers import MultiPartParser
from rest_framework.request import Request
from rest_framework.response import Response

from agents.checks import (
    Checker,
    TooLong,
    check_file,
    check_later,
    check_text_later,
)
from agents.evidence import CHECK_SECONDS, TOO_MUCH, Refused, agent_of, verify_claim
from agents.models import MOST_WEBHOOKS, FileCheck, ReaderEmbed, Webhook, WebhookDelivery, end_embed
from agents.results import LocatedText, Verified, VerifiedText
from agents.webhooks import CHOOSABLE, tested
from documents.api.common.callers import budget_of, caller
from documents.api.common.errors import UNUSABLE, Unusable
from documents.api.common.fields import PlainView, RowsViewSet, Strict, VisibleRelated, VisibleRows, valid
from documents.api.urls import UuidRouter
from documents.files.url_fetch import FetchRefused, parsed
from documents.models import Document, EventKind, TokenScope
from documents.models.security import record
from text.budget import OverBudget, Stopped


def was_created(serializer: serializers.BaseSerializer) -> bool:
    """Return whether the response is that of the request which created the row: it alone shows secrets."""
    return getattr(serializer.context.get("view"), "action", "") == "create"


class WebhookSerializer(Strict, serializers.ModelSerializer):
    """An address and the events it receives. The receiver verifies signatures with ``secret``.

    ``secret`` is in the response that created the webhook, and in no other.
    """

    url = serializers.CharField(max_length=2000, help_text="http(s); private networks are refused")
    events = serializers.ListField(child=serializers.ChoiceField(CHOOSABLE), min_length=1, max_length=10)
    secret = serializers.SerializerMethodField()

    def get_secret(self, webhook: Webhook) -> str:
        return webhook.secret if was_created(self) else ""

    class Meta:
        model = Webhook
        fields = ["id", "url", "events", "is_active", "secret", "created_at"]
        read_only_fields = ["id", "secret", "created_at"]

    def validate_events(self, events: list[str]) -> list[str]:
        return sorted(set(events))

    def validate_url(self, url: str) -> str:
        try:
            parsed(url)
        except FetchRefused as refused:
            raise Unusable(refused.message, url=refused.message) from None
        return url


class DeliverySerializer(serializers.ModelSerializer):
    """One message and the outcome of its last attempt; ``next_at`` is the time of the next one."""

    class Meta:
        model = WebhookDelivery
        fields = [
            "id", "event", "payload", "attempts", "next_at", "delivered_at", "status_code", "error",
            "created_at",
        ]  # fmt: skip


@extend_schema_view(
    create=extend_schema(responses={201: WebhookSerializer, **UNUSABLE}),
    partial_update=extend_schema(responses={200: WebhookSerializer, **UNUSABLE}),
)
class WebhookViewSet(RowsViewSet):
    """Your webhooks. Their messages are signed according to Standard Webhooks."""

    queryset = Webhook.objects.all()
    serializer_class = WebhookSerializer
    ordering_fields = ["created_at"]

    def perform_create(self, serializer: Any) -> None:
        if self.get_queryset().count() >= MOST_WEBHOOKS:
            raise Unusable(f"You have {MOST_WEBHOOKS} webhooks; remove one first.")
        serializer.save(owner=self.request.user)

    @extend_schema(summary="Send a test message now", request=None, responses={200: DeliverySerializer})
    @action(detail=True, methods=["post"])
    def test(self, request: Request, **kwargs: Any) -> Response:
        return Response(DeliverySerializer(tested(self.get_object())).data)

    @extend_schema(
        summary="What was sent to a webhook, the latest first", responses=DeliverySerializer(many=True)
    )
    @action(detail=True, filter_backends=[])
    def deliveries(self, request: Request, **kwargs: Any) -> Response:
        page = self.paginate_queryset(self.get_object().deliveries.all())
        return self.get_paginated_response(DeliverySerializer(page, many=True).data)


ORIGIN = r"^https?://[A-Za-z0-9]([A-Za-z0-9.-]{0,250}[A-Za-z0-9])?(:[0-9]{1,5})?$"


class EmbedSerializer(Strict, serializers.ModelSerializer):
    """A reader of one document for an ``<iframe>`` in pages of the named sites, until it expires.

    ``url`` is in the response that created it, and in no other: anyone who has it
    reads the document. Append ``?page=`` and ``?q=`` (words), or ``?citation=``, to highlight a place.
    """

    document = VisibleRelated(queryset=Document.objects.all(), rights="editable_by")
    origins = serializers.ListField(
        child=serializers.RegexField(ORIGIN),
        min_length=1,
        max_length=10,
        help_text="such as https://example.com",
    )
    days = serializers.IntegerField(default=30, min_value=1, max_value=3650, write_only=True)
    url = serializers.SerializerMethodField()

    class Meta:
        model = ReaderEmbed
        fields = ["id", "document", "origins", "days", "url", "expires_at", "created_at"]
        read_only_fields = ["id", "expires_at", "created_at"]

    def get_url(self, embed: ReaderEmbed) -> str:
        if not was_created(self):
            return ""
        path = reverse("embedded-reader", args=[embed.token])
        request: Request | None = self.context.get("request")
        return request.build_absolute_uri(path) if request else path

    def create(self, sent: dict[str, Any]) -> ReaderEmbed:
        end = timezone.now() + timedelta(days=sent.pop("days"))
        embed = ReaderEmbed.objects.create(expires_at=end, **sent)
        record(EventKind.LINK_MADE, str(embed))
        return embed


class EmbedViewSet(RowsViewSet):
    """Readers of single documents for pages of other sites. Anyone with the address can read the document."""

    http_method_names = ["get", "post", "delete", "head", "options"]
    queryset = ReaderEmbed.objects.all()
    serializer_class = EmbedSerializer
    ordering_fields = ["created_at"]

    def perform_create(self, serializer: Any) -> None:
        serializer.save(owner=self.request.user)

    def perform_destroy(self, embed: ReaderEmbed) -> None:
        end_embed(embed.document, embed.pk)


MOST_AT_ONCE = 100
MOST_CHARACTERS = 200_000
Result = TypeVar("Result")


class VerifiedClaims(BaseModel):
    """One result for each claim, in the same order, by a document or a text."""

    results: list[Verified | VerifiedText]


class VerifiedInFile(BaseModel):
    """One result for each claim, in the same order."""

    results: list[VerifiedText]


class LocatedInFile(BaseModel):
    """One result for each quote, in the same order."""

    results: list[LocatedText]


class ClaimSerializer(Strict, serializers.Serializer):
    """A sentence to verify; with ``page``, that page decides."""

    claim = serializers.CharField(max_length=4000)
    quote = serializers.CharField(max_length=10_000, default="", allow_blank=True)
    page = serializers.IntegerField(default=None, allow_null=True, min_value=1, max_value=1_000_000)


class QuotedSerializer(Strict, serializers.Serializer):
    """Words to locate; ``context`` selects one of several places."""

    quote = serializers.CharField(max_length=10_000)
    context = serializers.CharField(max_length=10_000, default="", allow_blank=True)


class VerifySerializer(Strict, serializers.Serializer):
    """Claims, and their source: a ``document`` of the library, or a ``text``."""

    claims = serializers.ListField(child=ClaimSerializer(), min_length=1, max_length=MOST_AT_ONCE)
    document = VisibleRelated(required=False, allow_null=True, queryset=Document.objects.all())
    text = serializers.CharField(
        required=False, allow_blank=True, max_length=MOST_CHARACTERS, help_text="Markdown"
    )
    language = serializers.CharField(default="", max_length=12, allow_blank=True, help_text="of the text")
    title = serializers.CharField(default="", max_length=500, allow_blank=True, help_text="of the text")


@extend_schema_field(OpenApiTypes.STR)
class Listed(serializers.Field):
    """A JSON list in a form field, of which each entry is validated by a serializer."""

    def __init__(self, entry: type[serializers.Serializer], **options: Any) -> None:
        super().__init__(**options)
        self.entry = entry

    def to_internal_value(self, data: Any) -> list[dict[str, Any]]:
        try:
            entries = self.entry(data=json.loads(data), many=True)
        except (TypeError, ValueError, RecursionError):
            raise self._unusable("This is not JSON.") from None
        if not entries.is_valid():
            raise self._unusable(f"The list cannot be used: {json.dumps(entries.errors)[:1000]}")
        if not 1 <= len(entries.validated_data) <= MOST_AT_ONCE:
            raise self._unusable(f"Give 1 to {MOST_AT_ONCE} of them.")
        return list(entries.validated_data)

    def _unusable(self, reason: str) -> Unusable:
        return Unusable(reason, **{str(self.field_name): reason})


class VerifyFileSerializer(Strict, serializers.Serializer):
    """A PDF that is not stored, and claims."""

    file = serializers.FileField()
    claims = Listed(ClaimSerializer, help_text='JSON: [{"claim": …, "quote": …, "page": …}, …]')
    title = serializers.CharField(default="", max_length=500, allow_blank=True)


class LocateFileSerializer(Strict, serializers.Serializer):
    """A PDF that is not stored, and quotes."""

    file = serializers.FileField()
    quotes = Listed(QuotedSerializer, help_text='JSON: [{"quote": …, "context": …}, …]')


class Check(PlainView):
    """A view that changes nothing: the scope to read suffices."""

    scope = TokenScope.READ

    def sent(self, request: Request) -> dict[str, Any]:
        return valid(self.get_serializer(data=request.data))


class FileCheckSerializer(serializers.ModelSerializer):
    """A check of a long file, stored for a day. Poll it until ``status`` is done or failed."""

    results = serializers.JSONField(help_text="as for a short file; null until it is done")

    class Meta:
        model = FileCheck
        fields = ["id", "kind", "status", "results", "error", "created_at"]


LATER = OpenApiResponse(FileCheckSerializer, "A long file: a worker checks it. `Location` says where to ask.")


def later(check: FileCheck) -> Response:
    location = reverse("api:file-check", args=[check.pk])
    return Response(FileCheckSerializer(check).data, status=202, headers={"Location": location})


@extend_schema(tags=["checks"])
class Verify(Check):
    """Verify each claim by a document or a text."""

    serializer_class = VerifySerializer

    @extend_schema(
        operation_id="verify",
        examples=[
            OpenApiExample(
                "A text",
                {"text": "Take 5 mg twice a day.", "claims": [{"claim": "The dose is 5 g twice a day."}]},
                request_only=True,
            )
        ],
        responses={200: VerifiedClaims, 202: LATER, **UNUSABLE},
    )
    def post(self, request: Request) -> Response:
        sent = self.sent(request)
        document: Document | None = sent.get("document")
        if (document is None) == ("text" not in sent):
            raise Unusable("Give a document or a text, and not both.")
        if document is None:
            return self.checked_text(request, sent)
        agent, key = agent_of(request, resources=False), str(document.pk)
        budget = budget_of(request, CHECK_SECONDS)
        try:
            found = [
                usable(lambda: verify_claim(agent, key, **claim, budget=budget))  # noqa: B023
                for claim in sent["claims"]
            ]
        except OverBudget:
            raise Unusable(TOO_MUCH, "too_much_work") from None
        return Response({"results": [result.model_dump() for result in found]})

    def checked_text(self, request: Request, sent: dict[str, Any]) -> Response:
        """Verify the claims at once, or in a worker when that takes too much processor time."""
        what, budget = (sent["text"], sent["language"], sent["title"]), budget_of(request, CHECK_SECONDS)
        checker = usable(lambda: Checker.of_text(*what))
        try:
            found = [usable(lambda: checker.verify(**claim, budget=budget)) for claim in sent["claims"]]  # noqa: B023
        except Stopped:
            raise Unusable(TOO_MUCH, "too_much_work") from None  # nobody reads it: the client has left
        except OverBudget:
            return later(usable(lambda: check_text_later(caller(request), *what, sent["claims"])))
        return Response({"results": [result.model_dump() for result in found]})


class FileCheckView(Check):
    """Check a PDF that is not stored: at once, or in a worker if it is long."""

    parser_classes = [MultiPartParser]
    kind: FileCheck.Kind
    field: str

    def checked(self, request: Request) -> Response:
        sent = self.sent(request)
        what = self.kind, sent["file"], sent.get("title", ""), sent[self.field]
        try:
            budget = budget_of(request, CHECK_SECONDS)
            return Response({"results": usable(lambda: check_file(*what, budget))})
        except (TooLong, OverBudget):
            return later(usable(lambda: check_later(caller(request), *what)))


@extend_schema(tags=["checks"])
class VerifyFile(FileCheckView):
    """Verify each claim by a PDF that is not stored."""

    serializer_class = VerifyFileSerializer
    kind, field = FileCheck.Kind.VERIFY, "claims"

    @extend_schema(operation_id="verify_file", responses={200: VerifiedInFile, 202: LATER, **UNUSABLE})
    def post(self, request: Request) -> Response:
        return self.checked(request)


@extend_schema(tags=["checks"])
class LocateFile(FileCheckView):
    """Locate each quote in a PDF that is not stored."""

    serializer_class = LocateFileSerializer
    kind, field = FileCheck.Kind.LOCATE, "quotes"

    @extend_schema(operation_id="locate_file", responses={200: LocatedInFile, 202: LATER, **UNUSABLE})
    def post(self, request: Request) -> Response:
        return self.checked(request)


class FileCheckDetail(VisibleRows, generics.RetrieveDestroyAPIView):
    """The progress of a long check, and its results. Deleting it ends the check."""

    scope = TokenScope.READ
    queryset = FileCheck.objects.all()
    serializer_class = FileCheckSerializer
    filter_backends: list[Any] = []


def usable(made: Callable[[], Result]) -> Result:
    """Return the result of the call. Raises TooLong, and Unusable with the reason of a refusal."""
    try:
        return made()
    except TooLong:
        raise
    except Refused as refused:
        raise Unusable(str(refused)) from None


router = UuidRouter()
router.register("webhooks", WebhookViewSet, "webhook")
router.register("embeds", EmbedViewSet, "embed")

urlpatterns: list[URLPattern | URLResolver] = [
    path("verify/", Verify.as_view(), name="verify"),
    path("verify/file/", VerifyFile.as_view(), name="verify-file"),
    path("locate/file/", LocateFile.as_view(), name="locate-file"),
    path("checks/<uuid:pk>/", FileCheckDetail.as_view(), name="file-check"),
    *router.urls,
]
