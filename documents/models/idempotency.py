"""IdempotencyKey: what was answered to a request that may be sent again."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Self

from django.conf import settings
from django.db import models
from django.utils import timezone

if TYPE_CHECKING:
    from django.contrib.auth.models import AnonymousUser, User

KEPT_FOR = timedelta(hours=24)


class IdempotencyQuerySet(models.QuerySet["IdempotencyKey"]):
    def visible_to(self, user: User | AnonymousUser) -> Self:
        return self.filter(owner=user) if user.is_authenticated else self.none()

    def outdated(self) -> Self:
        return self.filter(created_at__lt=timezone.now() - KEPT_FOR)


class IdempotencyKey(models.Model):
    """One key of one caller on one path; ``status`` is null while the first request is under way."""

    owner = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="+")
    path = models.CharField(max_length=200)
    key = models.CharField(max_length=200)
    fingerprint = models.CharField(max_length=64, help_text="SHA-256 of what was sent")
    status = models.SmallIntegerField(null=True)
    body = models.JSONField(null=True)
    created_at = models.DateTimeField(auto_now_add=True)

    objects = IdempotencyQuerySet.as_manager()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["owner", "path", "key"], name="one_answer_per_key")]

    def __str__(self) -> str:
        return self.key
