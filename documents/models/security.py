"""API tokens, security events, temporary passwords, rate counts and idempotency keys.

``record`` writes a security event: user, action, IP address.
"""

from __future__ import annotations

import logging
import time
import uuid
from collections.abc import Iterator
from contextvars import ContextVar
from datetime import datetime, timedelta
from ipaddress import ip_address
from typing import Self

from django.conf import settings
from django.contrib.auth.models import AnonymousUser, User
from django.contrib.postgres.fields import ArrayField
from django.db import connection, models
from django.db.models import Q
from django.http import HttpRequest
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from documents import tokens
from documents.models.library import OwnedQuerySet


class EventKind(models.TextChoices):
    SIGNED_IN = "signed_in", _("signed in")
    SIGN_IN_FAILED = "sign_in_failed", _("sign-in failed")
    LOCKED_OUT = "locked_out", _("locked out after too many attempts")
    SIGNED_OUT = "signed_out", _("signed out")
    SESSIONS_ENDED = "sessions_ended", _("sessions ended")
    PASSWORD_CHANGED = "password_changed", _("password changed")
    FACTOR_ADDED = "factor_added", _("second factor added")
    FACTOR_REMOVED = "factor_removed", _("second factor removed")
    FACTOR_FAILED = "factor_failed", _("second factor wrong")
    TOKEN_MADE = "token_made", _("API token created")
    TOKEN_ENDED = "token_ended", _("API token revoked")
    SHARED = "shared", _("shared")
    SHARE_ENDED = "share_ended", _("share ended")
    LINK_MADE = "link_made", _("link created")
    LINK_ENDED = "link_ended", _("link revoked")
    EXPORTED = "exported", _("exported")
    USER_MADE = "user_made", _("user created")
    USER_DELETED = "user_deleted", _("user deleted")
    RIGHTS_CHANGED = "rights_changed", _("permissions changed")


class SecurityEventQuerySet(models.QuerySet["SecurityEvent"]):
    def outdated(self) -> Self:
        return self.filter(at__lt=timezone.now() - timedelta(days=settings.SECURITY_EVENT_DAYS))


class SecurityEvent(models.Model):
    """One security event. Names are copied, since the log outlives users, documents and links."""

    at = models.DateTimeField(default=timezone.now)
    kind = models.CharField(max_length=20, choices=EventKind)
    user = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        null=True,
        on_delete=models.SET_NULL,
        related_name="security_events",
        help_text="the acting user",
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
    """Marks a password set by someone else; the user must replace it at the next sign-in."""

    user = models.OneToOneField(
        settings.AUTH_USER_MODEL,
        primary_key=True,
        on_delete=models.CASCADE,
        related_name="temporary_password",
    )
    made_at = models.DateTimeField(auto_now_add=True)

    def __str__(self) -> str:
        return f"temporary password of {self.user}"


LAST_USE_INTERVAL = timedelta(minutes=1)  # between two writes of ``last_used_at``


class TokenScope(models.TextChoices):
    READ = "read", _("read documents, search, read answers")
    WRITE = "write", _("upload, change and delete")
    ASK = "ask", _("ask questions")


class TokenQuerySet(OwnedQuerySet["ApiToken"]):
    def usable(self) -> Self:
        return self.filter(Q(expires_at=None) | Q(expires_at__gt=timezone.now()), owner__is_active=True)

    def issue(
        self, owner: User, name: str, scopes: list[str], expires_at: datetime | None = None
    ) -> tuple[ApiToken, str]:
        """Create a token. Return it with its key, which is not stored and must be shown now."""
        key = tokens.API.new()
        token = self.create(
            owner=owner,
            name=name,
            scopes=scopes,
            expires_at=expires_at,
            prefix=key[:8],
            digest=tokens.API.digest_of(key),
        )
        return token, key


class ApiToken(models.Model):
    """An API token with scopes and an expiry; only the hash of its key is stored."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    owner = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="api_tokens")
    name = models.CharField(max_length=80)
    prefix = models.CharField(max_length=8, help_text="the key's first characters, to tell tokens apart")
    digest = models.CharField(max_length=64, unique=True, help_text="SHA-256 of the key")
    scopes = ArrayField(models.CharField(max_length=8, choices=TokenScope), default=list)
    created_at = models.DateTimeField(auto_now_add=True)
    expires_at = models.DateTimeField(null=True, blank=True)
    last_used_at = models.DateTimeField(null=True, blank=True)

    objects = TokenQuerySet.as_manager()

    class Meta:
        ordering = ["-created_at"]

    def __str__(self) -> str:
        return f"{self.name} ({self.prefix}…)"

    def note_use(self) -> None:
        """Record the use of the token, at most once a minute."""
        now = timezone.now()
        if self.last_used_at is None or now - self.last_used_at > LAST_USE_INTERVAL:
            ApiToken.objects.filter(pk=self.pk).update(last_used_at=now)


def listed_api_tokens(user: User) -> Iterator[tokens.ListedToken]:
    """Yield the user's API tokens, for ``documents.tokens``."""
    page = reverse("account")
    for token in ApiToken.objects.usable().filter(owner=user):
        yield tokens.ListedToken(tokens.API, str(token), token.created_at, token.expires_at, page)


LONGEST_WINDOW = 86400  # seconds
COUNT_ONE_MORE = """
INSERT INTO documents_ratecount AS present (key, window_start, count) VALUES (%(key)s, %(now)s, 1)
ON CONFLICT (key) DO UPDATE SET
    count = CASE WHEN present.window_start > %(now)s - %(seconds)s THEN present.count + 1 ELSE 1 END,
    window_start = CASE WHEN present.window_start > %(now)s - %(seconds)s THEN present.window_start
                        ELSE %(now)s END
RETURNING window_start, count
"""


class RateCount(models.Model):
    """A fixed-window rate counter, one row per key. A window begins with the first use after the last one.

    One statement counts and returns the result, so that two concurrent requests, on any number of web
    processes, cannot both be the last one allowed.
    """

    key = models.CharField(primary_key=True, max_length=160)
    window_start = models.BigIntegerField(help_text="seconds since 1970")
    count = models.IntegerField()

    class Meta:
        indexes = [models.Index(fields=["window_start"])]

    def __str__(self) -> str:
        return f"{self.key}: {self.count}"

    @staticmethod
    def take(key: str, limit: int, seconds: int) -> int:
        """Count one use of ``key``. Return 0 when allowed, else the seconds until the window ends."""
        now = int(time.time())
        with connection.cursor() as cursor:
            cursor.execute(COUNT_ONE_MORE, {"key": key[:160], "now": now, "seconds": seconds})
            start, count = cursor.fetchone()
        return 0 if count <= limit else max(1, start + seconds - now)

    @classmethod
    def give_back(cls, key: str) -> None:
        """Undo one ``take``."""
        cls.objects.filter(key=key[:160], count__gt=0).update(count=models.F("count") - 1)

    @classmethod
    def forget_ended(cls) -> None:
        """Delete counters whose windows have ended."""
        cls.objects.filter(window_start__lt=time.time() - LONGEST_WINDOW).delete()


KEPT_FOR = timedelta(hours=24)


class IdempotencyQuerySet(OwnedQuerySet["IdempotencyKey"]):
    def outdated(self) -> Self:
        return self.filter(created_at__lt=timezone.now() - KEPT_FOR)


class IdempotencyKey(models.Model):
    """One key of one caller and path; ``status`` is null while the first request is in progress."""

    owner = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="+")
    path = models.CharField(max_length=200)
    key = models.CharField(max_length=200)
    fingerprint = models.CharField(max_length=64, help_text="SHA-256 of the request")
    status = models.SmallIntegerField(null=True)
    body = models.JSONField(null=True)
    created_at = models.DateTimeField(auto_now_add=True)

    objects = IdempotencyQuerySet.as_manager()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["owner", "path", "key"], name="one_answer_per_key")]

    def __str__(self) -> str:
        return self.key


logger = logging.getLogger(__name__)
current_request: ContextVar[HttpRequest | None] = ContextVar("current_request", default=None)
"""The current HTTP request, set by a middleware; None in commands and workers."""


def record(kind: EventKind, detail: str = "", *, user: User | None = None, username: str = "") -> None:
    """Write an event to the database, which the admin shows, and to the log.

    ``user`` defaults to the user of the current request, if any.
    """
    actor = user or acting_user()
    name = actor.get_username() if actor else username
    SecurityEvent.objects.create(
        kind=kind,
        user=actor if actor and actor.pk else None,
        username=name[:150],
        address=address_of(current_request.get()),
        detail=detail[:500],
    )
    logger.info("security: %s", kind.value, extra={"user": name, "detail": detail})


def acting_user() -> User | None:
    """Return the user of the current request, or None."""
    request = current_request.get()
    user: User | AnonymousUser | None = getattr(request, "user", None)
    return user if isinstance(user, User) else None


def address_of(request: HttpRequest | None) -> str | None:
    """Return the connection's IP address; None over a Unix socket."""
    try:
        return str(ip_address(request.META.get("REMOTE_ADDR", ""))) if request else None
    except ValueError:
        return None
