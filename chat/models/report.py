"""The Report: long work over documents that is done in the background, a comparison of versions or a text."""

from __future__ import annotations

import uuid
from datetime import timedelta

from django.conf import settings
from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from chat.models.conversation import Hideable, HideableQuerySet
from chat.models.note import Note

DEAD_AFTER = timedelta(minutes=10)  # without a heartbeat: the work is taken up again


class Report(Hideable):
    """A question and its sections, or versions that are compared.

    ``outline``: sections, JSON of ``chat.reports.report_sections.ReportSection``; with none, a model proposes
    them. ``result``: of versions,
    JSON of ``chat.reports.compared_versions.VersionsResult``; the text of a report is its ``note``.
    """

    class Kind(models.TextChoices):
        REPORT = "report", _("Report")
        VERSIONS = "versions", _("Versions")

    class State(models.TextChoices):
        DRAFT = "draft", _("Draft")
        WAITING = "waiting", _("Waiting")
        RUNNING = "running", _("In progress")
        PAUSED = "paused", _("Paused")
        DONE = "done", _("Ready")
        FAILED = "failed", _("Failed")
        CANCELLED = "cancelled", _("Cancelled")

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    owner = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="reports")
    kind = models.CharField(max_length=10, choices=Kind, default=Kind.REPORT)
    title = models.CharField(max_length=1000, help_text="the question of a report")
    documents = ArrayField(
        models.UUIDField(), default=list, blank=True, help_text="in order; of a report, none is the library"
    )
    outline = models.JSONField(default=list, blank=True)
    provider = models.CharField(max_length=20, blank=True, help_text="'' is the server's default")
    most_tokens = models.BigIntegerField(null=True, blank=True, help_text="null: no limit")
    most_minutes = models.IntegerField(null=True, blank=True, help_text="null: no limit")
    tokens = models.BigIntegerField(default=0, help_text="used so far")
    seconds = models.FloatField(default=0, help_text="worked so far")
    state = models.CharField(max_length=10, choices=State, default=State.DRAFT)
    result = models.JSONField(null=True, blank=True)
    note = models.ForeignKey(Note, null=True, blank=True, on_delete=models.SET_NULL, related_name="reports")
    error = models.CharField(max_length=300, blank=True)
    attempts = models.IntegerField(default=0)
    alive_at = models.DateTimeField(null=True, blank=True, help_text="heartbeat of its worker")
    created_at = models.DateTimeField(auto_now_add=True)
    updated_at = models.DateTimeField(auto_now=True)

    objects = HideableQuerySet["Report"].as_manager()

    class Meta:
        ordering = ["-created_at"]
        indexes = [models.Index(fields=["owner", "-created_at"])]

    def __str__(self) -> str:
        return self.title

    @property
    def is_working(self) -> bool:
        return self.state in (self.State.WAITING, self.State.RUNNING)

    @property
    def is_dead(self) -> bool:
        """Return whether its worker ended without a result."""
        old = timezone.now() - DEAD_AFTER
        return self.state == self.State.RUNNING and (self.alive_at is None or self.alive_at < old)
