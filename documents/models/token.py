"""The ApiToken: what a program shows instead of a password."""

from __future__ import annotations

import hashlib
import secrets
import uuid
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Self

from django.conf import settings
from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models import Q
from django.utils import timezone

if TYPE_CHECKING:
    from django.contrib.auth.models import AnonymousUser, User

USED_AT_EVERY = timedelta(minutes=1)  # one write a minute is enough to see that a token is alive


class Scope(models.TextChoices):
    READ = "read", "read documents, search, read answers"
    WRITE = "write", "upload, change and delete"
    ASK = "ask", "ask questions"


def digest_of(key: str) -> str:
    """SHA-256 in hex: the keys are 256 random bits, so no slow hash is needed."""
    return hashlib.sha256(key.encode()).hexdigest()


class TokenQuerySet(models.QuerySet["ApiToken"]):
    def visible_to(self, user: User | AnonymousUser) -> Self:
        return self.filter(owner=user) if user.is_authenticated else self.none()

    def usable(self) -> Self:
        return self.filter(Q(expires_at=None) | Q(expires_at__gt=timezone.now()), owner__is_active=True)

    def issue(
        self, owner: User, name: str, scopes: list[str], expires_at: datetime | None = None
    ) -> tuple[ApiToken, str]:
        """A new token and its key. The key is kept nowhere: whoever gets it here must show it now."""
        key = "pin_" + secrets.token_urlsafe(32)
        token = self.create(
            owner=owner,
            name=name,
            scopes=scopes,
            expires_at=expires_at,
            prefix=key[:8],
            digest=digest_of(key),
        )
        return token, key


class ApiToken(models.Model):
    """A key to the API with scopes and an end; only its hash is stored."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    owner = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="api_tokens")
    name = models.CharField(max_length=80)
    prefix = models.CharField(max_length=8, help_text="the key's first characters, to tell tokens apart")
    digest = models.CharField(max_length=64, unique=True, help_text="SHA-256 of the key")
    scopes = ArrayField(models.CharField(max_length=8, choices=Scope), default=list)
    created_at = models.DateTimeField(auto_now_add=True)
    expires_at = models.DateTimeField(null=True, blank=True)
    last_used_at = models.DateTimeField(null=True, blank=True)

    objects = TokenQuerySet.as_manager()

    class Meta:
        ordering = ["-created_at"]

    def __str__(self) -> str:
        return f"{self.name} ({self.prefix}…)"

    def note_use(self) -> None:
        """Remembers that the token was used, at most once a minute."""
        now = timezone.now()
        if self.last_used_at is None or now - self.last_used_at > USED_AT_EVERY:
            ApiToken.objects.filter(pk=self.pk).update(last_used_at=now)
