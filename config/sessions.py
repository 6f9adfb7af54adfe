"""Sessions: their list, their end, and how long they last."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

from allauth.usersessions.models import UserSession
from django.conf import settings
from django.contrib import messages
from django.contrib.auth import SESSION_KEY, logout
from django.contrib.auth.models import User
from django.contrib.auth.signals import user_logged_in, user_logged_out
from django.contrib.sessions.models import Session
from django.dispatch import receiver
from django.http import HttpRequest
from django.http.response import HttpResponseBase
from django.utils import timezone
from django.utils.decorators import sync_only_middleware
from django.utils.translation import gettext_lazy as _

from documents.audit import address_of, record
from documents.models import EventKind

BEGUN, SEEN = "begun_at", "seen_at"  # seconds since 1970, kept in the session
SEEN_EVERY = 60  # seconds between two writes of when a session was last used
UNKNOWN_ADDRESS = "0.0.0.0"
ENDED = _("You were signed out because this session was not used for some time.")
TOO_OLD = _("You were signed out because this session had lasted long enough. Sign in again.")


@sync_only_middleware
def limits(
    get_response: Callable[[HttpRequest], HttpResponseBase],
) -> Callable[[HttpRequest], HttpResponseBase]:
    """Ends sessions that are idle or old, and notes when each was used, at most once a minute."""

    def answered(request: HttpRequest) -> HttpResponseBase:
        if request.session.session_key and SESSION_KEY in request.session:
            check(request)
        return get_response(request)

    return answered


def check(request: HttpRequest) -> None:
    now, session = int(time.time()), request.session
    seen, begun = session.get(SEEN, now), session.get(BEGUN, now)
    is_idle = now - seen > settings.SESSION_IDLE_SECONDS
    if is_idle or now - begun > settings.SESSION_COOKIE_AGE:
        logout(request)
        messages.info(request, ENDED if is_idle else TOO_OLD)
    elif SEEN not in session or now - seen >= SEEN_EVERY:
        session[SEEN] = now
        session.setdefault(BEGUN, now)
        note(request)


def note(request: HttpRequest) -> None:
    """Remember that the session is in use, and from where."""
    used = {
        "last_seen_at": timezone.now(),
        "ip": address_of(request) or UNKNOWN_ADDRESS,
        "user_agent": request.headers.get("User-Agent", "")[:200],
        "user_id": request.session[SESSION_KEY],
    }
    UserSession.objects.update_or_create(session_key=request.session.session_key, defaults=used)


@receiver(user_logged_in)
def begin(sender: Any, request: HttpRequest, user: User, **more: Any) -> None:
    request.session[BEGUN] = request.session[SEEN] = int(time.time())
    if not request.session.session_key:
        request.session.save()
    note(request)


@receiver(user_logged_out)
def end(sender: Any, request: HttpRequest, **more: Any) -> None:
    UserSession.objects.filter(session_key=request.session.session_key).delete()


def sessions_of(user: User) -> list[UserSession]:
    """Those that are open, the one used last first."""
    open_keys = Session.objects.filter(expire_date__gt=timezone.now()).values("session_key")
    return list(UserSession.objects.filter(user=user, session_key__in=open_keys).order_by("-last_seen_at"))


def end_one(user: User, pk: int) -> bool:
    """End a session of the user; False when there is none of that id."""
    found = UserSession.objects.filter(user=user, pk=pk).first()
    if found is None:
        return False
    found.end()
    record(EventKind.SESSIONS_ENDED, "one session", user=user)
    return True


def end_all(user: User) -> None:
    """End every session of the user, also those that are not listed."""
    for session in Session.objects.filter(expire_date__gt=timezone.now()).iterator():
        if session.get_decoded().get(SESSION_KEY) == str(user.pk):
            session.delete()
    UserSession.objects.filter(user=user).delete()
    record(EventKind.SESSIONS_ENDED, "all sessions", user=user)
