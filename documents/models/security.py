"""What happened that bears on security, and whose password is not yet their own."""

from __future__ import annotations

from datetime import timedelta
from typing import Self

from django.conf import settings
from django.db import models
from django.utils import timezone


class EventKind(models.TextChoices):
    SIGNED_IN = "signed_in", "signed in"
    SIGN_IN_FAILED = "sign_in_failed", "sign-in failed"
    LOCKED_OUT = "locked_out", "locked out after too many attempts"
    SIGNED_OUT = "signed_out", "signed out"
    SESSIONS_ENDED = "sessions_ended", "sessions ended"
    PASSWORD_CHANGED = "password_changed", "password changed"
    FACTOR_ADDED = "factor_added", "second factor added"
    FACTOR_REMOVED = "factor_removed", "second factor removed"
    FACTOR_FAILED = "factor_failed", "second factor wrong"
    TOKEN_MADE = "token_made", "API token made"
    TOKEN_ENDED = "token_ended", "API token ended"
    SHARED = "shared", "shared"
    SHARE_ENDED = "share_ended", "share ended"
    LINK_MADE = "link_made", "link made"
    LINK_ENDED = "link_ended", "link ended"
    EXPORTED = "exported", "exported"
    USER_MADE = "user_made", "user made"
    USER_DELETED = "user_deleted", "user deleted"
    RIGHTS_CHANGED = "rights_changed", "permissions changed"


class SecurityEventQuerySet(models.QuerySet["SecurityEvent"]):
    def outdated(self) -> Self:
        return self.filter(at__lt=timezone.now() - timedelta(days=settings.SECURITY_EVENT_DAYS))


class SecurityEvent(models.Model):
    """One event. Names are kept as they were: the log outlives users, documents and links."""

    at = models.DateTimeField(default=timezone.now)
    kind = models.CharField(max_length=20, choices=EventKind)
    user = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        null=True,
        on_delete=models.SET_NULL,
        related_name="security_events",
        help_text="who did it",
    )
    username = models.CharField(max_length=150, blank=True)
    address = models.GenericIPAddressField(null=True)
    detail = models.CharField(max_length=500, blank=True)

    objects = SecurityEventQuerySet.as_manager()

    class Meta:
        ordering = ["-at", "-pk"]
        indexes = [models.Index(fields=["-at"]), models.Index(fields=["kind", "-at"])]

    def __str__(self) -> str:
        return f"{self.get_kind_display()}: {self.username or 'unknown user'}"


class TemporaryPassword(models.Model):
    """A password that somebody else chose for the user, who chooses their own at the next sign-in."""

    user = models.OneToOneField(
        settings.AUTH_USER_MODEL,
        primary_key=True,
        on_delete=models.CASCADE,
        related_name="temporary_password",
    )
    made_at = models.DateTimeField(auto_now_add=True)

    def __str__(self) -> str:
        return f"temporary password of {self.user}"
