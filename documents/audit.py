"""The log of security events: who did what, from which address."""

from __future__ import annotations

import logging
from contextvars import ContextVar
from ipaddress import ip_address

from django.contrib.auth.models import AnonymousUser, User
from django.http import HttpRequest

from documents.models.security import EventKind, SecurityEvent

logger = logging.getLogger(__name__)
request_in_work: ContextVar[HttpRequest | None] = ContextVar("request_in_work", default=None)
"""Set by a middleware; None for commands and workers."""


def record(kind: EventKind, detail: str = "", *, user: User | None = None, username: str = "") -> None:
    """Write an event to the table that the admin reads, and to the log.

    Without ``user`` it is the one of the request in work; without a request, nobody.
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
    """Who is signed in, or calls with a token, in the request in work."""
    request = request_in_work.get()
    user: User | AnonymousUser | None = getattr(request, "user", None)
    return user if isinstance(user, User) else None


def address_of(request: HttpRequest | None) -> str | None:
    """The address the connection came from; None where it has none, as over a Unix socket."""
    try:
        return str(ip_address(request.META.get("REMOTE_ADDR", ""))) if request else None
    except ValueError:
        return None
