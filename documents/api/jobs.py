"""`/api/jobs/…`: background work on documents, listed until 30 days after its end."""

from __future__ import annotations

import django_filters
from rest_framework import generics, serializers

from documents.api.common.fields import VisibleRows
from documents.api.common.lists import VisibleFilter
from documents.ingestion.queue import with_state
from documents.models import Document, FailureCode, Job
from documents.models.job import FETCHING

FAILURE_CODES = [("", "it did not fail"), *((code.value, code.label) for code in FailureCode)]
STATUSES = Document.Status.choices
STAGES = [("", "ended"), *STATUSES, (FETCHING, "fetching the file")]
STATES = ["waiting", "running", "done", "failed", "cancelled"]


class JobSerializer(serializers.ModelSerializer):
    """One run of reading, importing, fetching or indexing a document."""

    state = serializers.ChoiceField(STATES, read_only=True)
    stage = serializers.ChoiceField(STAGES, read_only=True, help_text="current stage of an unfinished job")
    progress = serializers.FloatField(read_only=True, help_text="0..1")
    seconds = serializers.FloatField(read_only=True, allow_null=True, help_text="null before its start")
    stage_seconds = serializers.DictField(
        child=serializers.FloatField(), read_only=True, help_text="seconds of each finished stage"
    )
    failure_code = serializers.ChoiceField(FAILURE_CODES, read_only=True)

    class Meta:
        model = Job
        fields = [
            "id", "kind", "document", "title", "state", "stage", "progress", "attempts", "seconds",
            "stage_seconds", "failure_code", "failure_message", "created_at", "started_at", "finished_at",
        ]  # fmt: skip
        read_only_fields = fields


class JobFilter(django_filters.FilterSet):
    document = VisibleFilter(Document, field_name="document")
    state = django_filters.ChoiceFilter(
        field_name="listed_state", choices=[(state, state) for state in STATES]
    )

    class Meta:
        model = Job
        fields = ["kind"]


class Jobs(VisibleRows):
    queryset = with_state(Job.objects.select_related("document"))


class JobList(Jobs, generics.ListAPIView):
    """Your jobs, newest first: waiting, running, and ended in the last 30 days."""

    serializer_class = JobSerializer
    filterset_class = JobFilter
    ordering_fields = ["created_at"]


class JobDetail(Jobs, generics.RetrieveAPIView):
    """One job."""

    serializer_class = JobSerializer
