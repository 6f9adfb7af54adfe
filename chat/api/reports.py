"""`/api/reports/…`: comparisons of versions, and texts on a question; each is made in the background."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from drf_spectacular.utils import extend_schema, extend_schema_view
from rest_framework import serializers
from rest_framework.decorators import action
from rest_framework.request import Request
from rest_framework.response import Response

from chat.models import Report
from chat.reports.report_commands import InvalidReport, Limits, begin, new_report, new_versions
from chat.reports.report_queue import cancel, pause
from chat.reports.report_sections import LONGEST_TITLE, MOST_SECTIONS
from documents.api.common.callers import caller
from documents.api.common.errors import UNUSABLE, Unusable
from documents.api.common.fields import RowsViewSet, Strict, VisibleRelated, valid
from documents.models import Document, TokenScope

MOST_BUDGET, MOST_MINUTES = 1_000_000_000, 100_000


def limit(most: int) -> serializers.IntegerField:
    return serializers.IntegerField(min_value=1, max_value=most, required=False, allow_null=True)


class ReportSerializer(Strict, serializers.ModelSerializer):
    """A report on a `question`, or a comparison of versions.

    A report is written on each of its `sections`; without any they are proposed, and the report is a `draft`
    until `start`. `outline` has for each section what was done, and the count of its sentences by standing.
    The text is its `note`, at `/api/notes/`. Without a model it has passages and no prose.

    A comparison is of each document with the next, in their order. `result` has for each pair its aligned
    sections and changes with their places, and for each changed clause the chain of its places.
    """

    documents = VisibleRelated(many=True, queryset=Document.objects.all(), write_only=True, required=False)
    question = serializers.CharField(required=False, max_length=1000, write_only=True)
    title = serializers.CharField(required=False, max_length=1000)
    sections = serializers.ListField(
        child=serializers.CharField(max_length=LONGEST_TITLE),
        max_length=MOST_SECTIONS,
        required=False,
        write_only=True,
        help_text="titles of the outline",
    )
    versions = serializers.ListField(child=serializers.UUIDField(), source="documents", read_only=True)
    result = serializers.JSONField(read_only=True)
    most_tokens = limit(MOST_BUDGET)
    most_minutes = limit(MOST_MINUTES)

    class Meta:
        model = Report
        fields = [
            "id", "kind", "title", "question", "documents", "versions", "sections", "outline", "provider",
            "most_tokens", "most_minutes", "tokens", "state", "error", "seconds", "note", "result",
            "created_at", "updated_at",
        ]  # fmt: skip
        read_only_fields = ["kind", "outline", "tokens", "state", "error", "seconds", "note"]

    def create(self, values: dict[str, Any]) -> Report:
        user, documents = caller(self.context["request"]), values.get("documents", [])
        try:
            if "question" not in values:
                return new_versions(user, documents, values.get("title", ""))
            outline = "\n".join(values.get("sections", []))
            return new_report(
                user, values["question"], documents, outline, values.get("provider", ""), limits_in(values)
            )
        except InvalidReport as error:
            raise Unusable(str(error)) from None


def limits_in(values: Mapping[str, Any]) -> Limits:
    return Limits(values.get("most_tokens"), values.get("most_minutes"))


class StartSerializer(Strict, serializers.Serializer):
    """What is not done of the outline, and the budget in all; what is left out stays."""

    sections = serializers.ListField(
        child=serializers.CharField(max_length=LONGEST_TITLE), max_length=MOST_SECTIONS, required=False
    )
    most_tokens = limit(MOST_BUDGET)
    most_minutes = limit(MOST_MINUTES)


LONG = ("result", "documents", "question", "sections", "outline")


class ListedReportSerializer(ReportSerializer):
    """A report without outline and result."""

    class Meta(ReportSerializer.Meta):
        fields = [name for name in ReportSerializer.Meta.fields if name not in LONG]

    documents = None  # type: ignore[assignment]
    question = None  # type: ignore[assignment]
    sections = None  # type: ignore[assignment]
    result = None  # type: ignore[assignment]


@extend_schema_view(create=extend_schema(responses={201: ReportSerializer} | UNUSABLE))
class ReportViewSet(RowsViewSet):
    """Your reports. A new one starts at once; read it until its state is `done` or `failed`."""

    http_method_names = ["get", "post", "delete", "head", "options"]
    queryset = Report.objects.all()
    serializer_class = ReportSerializer
    ordering_fields = ["created_at", "updated_at"]

    @property
    def scope(self) -> str:
        return TokenScope.WRITE if self.action == "destroy" else TokenScope.ASK

    @property
    def rate(self) -> str:
        return "ask" if self.action in ("create", "start") else ""

    def get_serializer_class(self) -> type[serializers.BaseSerializer]:
        return ListedReportSerializer if self.action == "list" else ReportSerializer

    @extend_schema(request=StartSerializer, responses={200: ReportSerializer} | UNUSABLE)
    @action(detail=True, methods=["post"])
    def start(self, request: Request, pk: str = "") -> Response:
        """Start a draft, start again after a failure, or go on where it was paused."""
        report = self.get_object()
        values = valid(StartSerializer(data=request.data))
        outline = "\n".join(values["sections"]) if "sections" in values else None
        has_limits = "most_tokens" in values or "most_minutes" in values
        limits = limits_in({"most_tokens": report.most_tokens, "most_minutes": report.most_minutes} | values)
        try:
            begin(report, outline, limits if has_limits else None)
        except InvalidReport as error:
            raise Unusable(str(error)) from None
        return Response(ReportSerializer(report).data)

    @extend_schema(request=None, responses={200: ReportSerializer})
    @action(detail=True, methods=["post"])
    def pause(self, request: Request, pk: str = "") -> Response:
        """Stop after the present step, or within seconds while a model writes."""
        return self._ended(pause)

    @extend_schema(request=None, responses={200: ReportSerializer})
    @action(detail=True, methods=["post"])
    def cancel(self, request: Request, pk: str = "") -> Response:
        """Stop for good; what was written stays in its note."""
        return self._ended(cancel)

    def _ended(self, end: Callable[[Report], None]) -> Response:
        report = self.get_object()
        end(report)
        return Response(ReportSerializer(report).data)
