"""The Worker: a process group that takes documents in, and when it was last seen alive."""

from __future__ import annotations

from datetime import timedelta
from typing import Self

from django.db import models
from django.utils import timezone


class WorkerQuerySet(models.QuerySet["Worker"]):
    def alive(self, within: timedelta = timedelta(seconds=30)) -> Self:
        return self.filter(seen_at__gt=timezone.now() - within)


class Worker(models.Model):
    """One `manage.py worker`. Its watchdog writes the row while the queue behind it is well."""

    holder = models.CharField(max_length=120, primary_key=True, help_text="host:process id of the watchdog")
    started_at = models.DateTimeField(auto_now_add=True)
    seen_at = models.DateTimeField()
    restarts = models.IntegerField(default=0, help_text="how often the watchdog restarted the queue")

    objects = WorkerQuerySet.as_manager()

    class Meta:
        ordering = ["-seen_at"]

    def __str__(self) -> str:
        return self.holder
