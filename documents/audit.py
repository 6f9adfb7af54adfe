"""Record security events: user, action, IP address."""

from __future__ import annotations

import logging
from contextvars import ContextVar
from ipaddress import ip_address

from django.contrib.auth.models import AnonymousUser, User
from django.http import HttpRequest

from documents.models.security import EventKind, SecurityEvent

logger = logging.getLogger(__name__)
request_in_work: ContextVar[HttpRequest | None] = ContextVar("request_in_work", default=None)
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
        address=address_of(request_in_work.get()),
        detail=detail[:500],
    )
    logger.info("security: %s", kind.value, extra={"user": name, "detail": detail})


def acting_user() -> User | None:
    """Return the user of the current request, or None."""
    request = request_in_work.get()
    user: User | AnonymousUser | None = getattr(request, "user", None)
    return user if isinstance(user, User) else None


def address_of(request: HttpRequest | None) -> str | None:
    """Return the connection's IP address; None over a Unix socket."""
    try:
        return str(ip_address(request.META.get("REMOTE_ADDR", ""))) if request else None
    except ValueError:
        return None
