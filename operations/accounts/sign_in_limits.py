"""How often anybody may try to sign in: counted before the password is looked at, in one statement each.

Three bounds hold at once. An address has so many attempts a minute. Wrong
passwords for one account are bounded from all unknown browsers together, so
that many addresses bring nothing; a right one is not counted. And
``django-axes`` shuts the door on an address that goes on being wrong about an
account. The address is that of the connection: ``X-Forwarded-For`` is not
read here, and whoever signed in before is not shut out by a stranger's
guesses (device cookies, below).
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
# With one limit for an account, an attacker could use it up and lock the owner out. So unknown browsers share
# one count for each account, whatever their addresses, and a browser that has signed in before has a count of
# its own (OWASP: "Slow Down Online Guessing Attacks with Device Cookies").

COOKIE = f"{settings.COOKIE_PREFIX}known_browser"
SALT = "config.known_browsers"  # of cookies that browsers keep: never changes
SECONDS = 365 * 24 * 3600


def account_of(request: HttpRequest) -> str:
    """The account a sign-in form names."""
    return request.POST.get("username", "").strip().casefold()


def counted_as(request: HttpRequest) -> str:
    """Whose count a sign-in takes from: this browser's where the account knows it, else the account's."""
    return known(request) or f"account {account_of(request)}"


def known(request: HttpRequest) -> str:
    """This browser's own name, '' where it has never signed in to the account it names now."""
    value = request.get_signed_cookie(COOKIE, default="", salt=SALT, max_age=SECONDS)
    name, _, account = (value or "").partition(" ")
    return f"browser {name}" if name and account == account_of(request) else ""


def is_known(request: HttpRequest, credentials: dict[str, str] | None = None) -> bool:
    """For django-axes, whose lock by address must not shut out who shares it with a guesser."""
    return bool(known(request))


def remember(request: HttpRequest, response: HttpResponse) -> None:
    """This browser has signed in to the account."""
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
    """The address the connection came from; the server alone reads X-Forwarded-For, of trusted proxies."""
    return str(request.META.get("REMOTE_ADDR", ""))


def too_many_attempts(request: HttpRequest, *arguments: object, **options: object) -> HttpResponse:
    """For as long as `django-axes` keeps the door shut."""
    return refusal(request, int(settings.AXES_COOLOFF_TIME.total_seconds()))


def refusal(request: HttpRequest, seconds: int) -> HttpResponse:
    """429 with Retry-After, as a page."""
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
