"""Background jobs, and heartbeats of workers."""

from __future__ import annotations

import uuid
from datetime import timedelta
from typing import Self

from django.conf import settings
from django.db import models
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from documents.models.document import Document
from documents.models.library import OwnedQuerySet

KEPT = timedelta(days=30)


FETCHING = "fetching"
INDEPENDENT_STAGES = {"fetch": FETCHING, "index": Document.Status.INDEXING}
"""Kinds of jobs that run independently of their document's ingestion, with their stage."""


class JobQuerySet(OwnedQuerySet["Job"]):
    def unfinished(self) -> Self:
        return self.filter(finished_at=None)

    def of_ingestion(self) -> Self:
        """Return jobs that have the state of their document's ingestion."""
        return self.exclude(kind__in=INDEPENDENT_STAGES)

    def forget_old(self) -> int:
        """Delete jobs that ended more than 30 days ago. Return their number."""
        return self.filter(finished_at__lt=timezone.now() - KEPT).delete()[0]


class Job(models.Model):
    """One run of ingestion, import, download or indexing of a document.

    An unfinished job has the stage and progress of its document's row. Jobs of the kinds in
    ``INDEPENDENT_STAGES`` run independently and have one stage.
    """

    class Kind(models.TextChoices):
        READ = "read", _("Read")
        REREAD = "reread", _("Re-process")
        EMBED = "embed", _("Embed again")
        IMPORT = "import", _("Import blocks")
        FETCH = "fetch", _("Download full text")
        INDEX = "index", _("Index again")

    class Outcome(models.TextChoices):
        DONE = "done", _("Done")
        FAILED = "failed", _("Failed")
        CANCELLED = "cancelled", _("Cancelled")

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    owner = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="jobs")
    document = models.ForeignKey(Document, null=True, on_delete=models.SET_NULL, related_name="jobs")
    title = models.TextField(help_text="the document's title when the job began")
    kind = models.CharField(max_length=10, choices=Kind)
    outcome = models.CharField(max_length=10, choices=Outcome, blank=True)
    attempts = models.IntegerField(default=0)
    stage_seconds = models.JSONField(default=dict)
    failure_code = models.CharField(max_length=30, blank=True)
    failure_message = models.CharField(max_length=200, blank=True)
    created_at = models.DateTimeField(auto_now_add=True)
    started_at = models.DateTimeField(null=True)
    finished_at = models.DateTimeField(null=True)

    objects = JobQuerySet.as_manager()

    class Meta:
        ordering = ["-created_at"]
        indexes = [models.Index(fields=["owner", "-created_at"])]
        constraints = [
            models.UniqueConstraint(
                fields=["document"],
                condition=models.Q(finished_at=None) & ~models.Q(kind__in=["fetch", "index"]),
                name="one_unfinished_round",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.get_kind_display()}: {self.title}"

    @property
    def state(self) -> str:
        """Return ``waiting``, ``running``, ``done``, ``failed`` or ``cancelled``."""
        return self.outcome or ("running" if self.started_at else "waiting")

    @property
    def stage(self) -> str:
        """Return the current stage; '' once finished."""
        if self.finished_at or self.document is None:
            return ""
        if self.kind in INDEPENDENT_STAGES:
            return INDEPENDENT_STAGES[self.kind] if self.started_at else Document.Status.UPLOADED
        return self.document.status

    def get_stage_display(self) -> str:
        if self.document and self.document.is_recognising and not self.document.pages_waiting:
            return str(_("Ready to ask. Text in images is still being read."))
        return str(_("fetching the file") if self.stage == FETCHING else Document.Status(self.stage).label)

    @property
    def progress(self) -> float:
        """Return the progress, 0..1."""
        if self.finished_at:
            return 1.0 if self.outcome == self.Outcome.DONE else 0.0
        return self.document.progress if self.document and self.kind not in INDEPENDENT_STAGES else 0.0

    @property
    def seconds(self) -> float | None:
        """Return the seconds since its start, to its end or now; None before its start."""
        if self.started_at is None:
            return None
        return round(((self.finished_at or timezone.now()) - self.started_at).total_seconds(), 1)


class WorkerQuerySet(models.QuerySet["Worker"]):
    def alive(self, within: timedelta = timedelta(seconds=30)) -> Self:
        return self.filter(seen_at__gt=timezone.now() - within)


class Worker(models.Model):
    """The heartbeat of one `manage.py worker`, written by its watchdog while the cluster is healthy."""

    holder = models.CharField(max_length=120, primary_key=True, help_text="host:process id of the watchdog")
    started_at = models.DateTimeField(auto_now_add=True)
    seen_at = models.DateTimeField()
    restarts = models.IntegerField(default=0, help_text="restarts of the queue by the watchdog")

    objects = WorkerQuerySet.as_manager()

    class Meta:
        ordering = ["-seen_at"]

    def __str__(self) -> str:
        return self.holder
