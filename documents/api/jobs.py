"""`/api/jobs/…`: documents on their way, and those that did not arrive."""

from __future__ import annotations

from django.db import models
from django.db.models import Case, CharField, Value, When
from django.http import HttpRequest
from drf_spectacular.utils import extend_schema
from rest_framework import generics, serializers

from documents.models import Document, FailureCode

FAILURE_CODES = [("", "it did not fail"), *((code.value, code.label) for code in FailureCode)]
STATUSES = Document.Status.choices
STATES = ["waiting", "running", "failed"]
STATE = Case(
    When(status=Document.Status.UPLOADED, then=Value("waiting")),
    When(status=Document.Status.FAILED, then=Value("failed")),
    default=Value("running"),
    output_field=CharField(),
)


class JobSerializer(serializers.ModelSerializer):
    """The ingestion of one document; it has the document's id."""

    document = serializers.UUIDField(source="id", read_only=True)
    failure_code = serializers.ChoiceField(FAILURE_CODES, read_only=True)
    state = serializers.ChoiceField(STATES, read_only=True)

    class Meta:
        model = Document
        fields = [
            "id",
            "document",
            "title",
            "state",
            "status",
            "progress",
            "attempts",
            "started_at",
            "failure_code",
            "failure_message",
            "created_at",
            "updated_at",
        ]
        read_only_fields = fields


class Jobs:
    request: HttpRequest

    def get_queryset(self) -> models.QuerySet:
        """Only the user's own: a shared document's ingestion is its owner's matter."""
        rows = Document.objects.visible_to(self.request.user)
        own = rows.filter(owner=self.request.user.pk).exclude(status=Document.Status.READY)
        return own.annotate(state=STATE)


@extend_schema(tags=["jobs"])
class JobList(Jobs, generics.ListAPIView):
    """Documents that wait, are being read, or failed."""

    serializer_class = JobSerializer
    ordering_fields = ["created_at", "updated_at"]


@extend_schema(tags=["jobs"])
class JobDetail(Jobs, generics.RetrieveAPIView):
    """One of them; 404 once the document is ready."""

    serializer_class = JobSerializer
