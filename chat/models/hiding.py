"""What its owner deletes is hidden first, so that it can come back."""

from __future__ import annotations

from django.db import models
from django.utils import timezone


class Hideable(models.Model):
    """A row that can be hidden and brought back; ``updated_at`` stays as it was."""

    deleted_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        abstract = True

    def hide(self) -> None:
        type(self)._default_manager.filter(pk=self.pk).update(deleted_at=timezone.now())

    def unhide(self) -> None:
        type(self)._default_manager.filter(pk=self.pk).update(deleted_at=None)
