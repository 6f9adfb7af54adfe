"""`/api/reports/…`: comparisons of versions; each is done in the background."""

from __future__ import annotations

from typing import Any

from django.db import models
from drf_spectacular.utils import extend_schema, extend_schema_view
from rest_framework import serializers, viewsets
from rest_framework.decorators import action
from rest_framework.request import Request
from rest_framework.response import Response

from chat.models import Report
from chat.reports.report_commands import InvalidReport, new_versions
from chat.reports.report_queue import pause, start
from documents.api.common.callers import caller
from documents.api.common.errors import UNUSABLE, Unusable
from documents.api.common.fields import Strict, VisibleRelated
from documents.models import Document


class ReportSerializer(Strict, serializers.ModelSerializer):
    """A comparison of versions: each document with the next, in their order. ``result`` has for each pair its
    aligned sections and changes with their places, and for each changed clause the chain of its places."""

    documents = VisibleRelated(many=True, queryset=Document.objects.all(), write_only=True)
    title = serializers.CharField(required=False, max_length=1000)
    versions = serializers.ListField(child=serializers.UUIDField(), source="documents", read_only=True)
    result = serializers.JSONField(read_only=True)

    class Meta:
        model = Report
        fields = [
            "id", "kind", "title", "documents", "versions", "state", "error", "seconds", "result",
            "created_at", "updated_at",
        ]  # fmt: skip
        read_only_fields = ["kind", "state", "error", "seconds"]

    def create(self, values: dict[str, Any]) -> Report:
        try:
            return new_versions(caller(self.context["request"]), values["documents"], values.get("title", ""))
        except InvalidReport as error:
            raise Unusable(str(error)) from None


class ListedReportSerializer(ReportSerializer):
    """A report without its result."""

    class Meta(ReportSerializer.Meta):
        fields = [name for name in ReportSerializer.Meta.fields if name not in ("result", "documents")]

    documents = None  # type: ignore[assignment]
    result = None  # type: ignore[assignment]


@extend_schema_view(create=extend_schema(responses={201: ReportSerializer} | UNUSABLE))
@extend_schema(tags=["reports"])
class ReportViewSet(viewsets.ModelViewSet):
    """Your reports. A new one starts at once; read it until its state is `done` or `failed`."""

    http_method_names = ["get", "post", "delete", "head", "options"]
    serializer_class = ReportSerializer
    ordering_fields = ["created_at", "updated_at"]

    def get_queryset(self) -> models.QuerySet:
        return Report.objects.visible_to(self.request.user)

    def get_serializer_class(self) -> type[serializers.BaseSerializer]:
        return ListedReportSerializer if self.action == "list" else ReportSerializer

    def perform_destroy(self, report: Report) -> None:
        report.hide()

    @extend_schema(request=None, responses={200: ReportSerializer})
    @action(detail=True, methods=["post"])
    def start(self, request: Request, pk: str = "") -> Response:
        """Start it, again after a failure, or go on where it was paused."""
        report = self.get_object()
        start(report)
        return Response(ReportSerializer(report).data)

    @extend_schema(request=None, responses={200: ReportSerializer})
    @action(detail=True, methods=["post"])
    def pause(self, request: Request, pk: str = "") -> Response:
        """Stop after the present step."""
        report = self.get_object()
        pause(report)
        return Response(ReportSerializer(report).data)
