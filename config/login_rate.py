"""How often anybody may try to sign in: counted before the password is looked at, in one statement each.

Three bounds hold at once. An address has so many attempts a minute. Wrong
passwords for one account are bounded from all unknown browsers together, so
that many addresses bring nothing; a right one is not counted. And
``django-axes`` shuts the door on an address that goes on being wrong about an
account. The address is that of the connection: ``X-Forwarded-For`` is not
read here, and whoever signed in before is not shut out by a stranger's
guesses (``known_browsers``).
"""

from __future__ import annotations

from typing import Any

from django.http import HttpRequest, HttpResponse
from django.utils.deprecation import MiddlewareMixin

from config.known_browsers import account_of, counted_as, remember
from config.lockout import refusal
from documents.api.rates import give_back, take

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
