"""Limit sign-in attempts before the password is checked.

Three limits apply: attempts per address; wrong passwords per account from all
unknown browsers together, so that many addresses do not help an attacker; and
the lock-out of ``django-axes`` per account and address. The address is that of
the connection: ``X-Forwarded-For`` is not read here. Device cookies keep an
attacker from locking out the owner of an account.
"""

from __future__ import annotations

import math
import secrets
from typing import Any

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.deprecation import MiddlewareMixin
from django.utils.translation import gettext as _

from documents.api.common.request_limits import give_back, take

# --- Device cookies: a signed cookie marks browsers that have signed in to an account before ---
#
# Unknown browsers share one counter per account, whatever their addresses; a browser with a device cookie has
# its own counter (OWASP: "Slow Down Online Guessing Attacks with Device Cookies").

COOKIE = f"{settings.COOKIE_PREFIX}known_browser"
SALT = "config.known_browsers"  # never change: it signs cookies that browsers keep
SECONDS = 365 * 24 * 3600


def account_of(request: HttpRequest) -> str:
    """Return the username in the sign-in form, case-folded."""
    return request.POST.get("username", "").strip().casefold()


def counted_as(request: HttpRequest) -> str:
    """Return the name of the counter: of this browser where it has a device cookie, else of the account."""
    return known(request) or f"account {account_of(request)}"


def known(request: HttpRequest) -> str:
    """Return this browser's id, or '' without a device cookie for the account in the form."""
    value = request.get_signed_cookie(COOKIE, default="", salt=SALT, max_age=SECONDS)
    name, _, account = (value or "").partition(" ")
    return f"browser {name}" if name and account == account_of(request) else ""


def is_known(request: HttpRequest, credentials: dict[str, str] | None = None) -> bool:
    """AXES_WHITELIST_CALLABLE: a known browser is not locked out by others behind its address."""
    return bool(known(request))


def remember(request: HttpRequest, response: HttpResponse) -> None:
    """Set the device cookie of a browser that has signed in to the account."""
    name = known(request).removeprefix("browser ") or secrets.token_urlsafe(12)
    response.set_signed_cookie(
        COOKIE,
        f"{name} {account_of(request)}",
        salt=SALT,
        max_age=SECONDS,
        secure=settings.SESSION_COOKIE_SECURE,
        httponly=True,
        samesite="Lax",
    )


def client_address(request: HttpRequest) -> str:
    """Return the connection's IP address; uvicorn applies X-Forwarded-For of trusted proxies."""
    return str(request.META.get("REMOTE_ADDR", ""))


def too_many_attempts(request: HttpRequest, *arguments: object, **options: object) -> HttpResponse:
    """AXES_LOCKOUT_CALLABLE: answer 429 for the duration of the lock-out."""
    return refusal(request, int(settings.AXES_COOLOFF_TIME.total_seconds()))


def refusal(request: HttpRequest, seconds: int) -> HttpResponse:
    """Return a page with status 429 and Retry-After."""
    minutes = math.ceil(seconds / 60)
    page = {"message": _("Too many attempts to sign in"), "minutes": minutes}
    response = render(request, "errors/too_many_attempts.html", page, status=429)
    response["Retry-After"] = str(seconds)
    return response


LOGIN_VIEWS = {"login", "admin:login"}


def signs_in(request: HttpRequest) -> bool:
    match = request.resolver_match
    return request.method == "POST" and match is not None and match.view_name in LOGIN_VIEWS


class LoginRate(MiddlewareMixin):
    def process_view(self, request: HttpRequest, *view: Any) -> HttpResponse | None:
        if not signs_in(request):
            return None
        wait = take("login", f"address {request.META.get('REMOTE_ADDR', '')}")
        wait = wait or take("account", counted_as(request))
        return refusal(request, wait) if wait else None

    def process_response(self, request: HttpRequest, response: HttpResponse) -> HttpResponse:
        if signs_in(request) and request.user.get_username().casefold() == account_of(request) != "":
            give_back("account", counted_as(request))
            remember(request, response)
        return response
