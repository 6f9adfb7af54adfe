"""Browsers that have signed in to an account before, told by a signed cookie.

Without them an account's own limit would be a weapon: anybody could use it up
and shut its owner out. So guesses from browsers nobody knows share one count
per account, whatever addresses they come from, and a browser that has signed
in before has a count of its own (OWASP: "Slow Down Online Guessing Attacks
with Device Cookies").
"""

from __future__ import annotations

import secrets

from django.conf import settings
from django.http import HttpRequest, HttpResponse

COOKIE = "known_browser"
SALT = "config.known_browsers"
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
