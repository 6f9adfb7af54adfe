"""How often anybody may try to sign in: counted before the password is looked at, in one statement.

``django-axes`` shuts the door after too many wrong passwords; this bounds what
many connections at the same instant can try before it does. The address is
that of the connection: ``X-Forwarded-For`` is not read here.
"""

from __future__ import annotations

from typing import Any

from django.http import HttpRequest, HttpResponse
from django.utils.deprecation import MiddlewareMixin

from documents.api.rates import take

LOGIN_VIEWS = {"login", "admin:login"}


class LoginRate(MiddlewareMixin):
    def process_view(self, request: HttpRequest, *view: Any) -> HttpResponse | None:
        match = request.resolver_match
        if request.method != "POST" or match is None or match.view_name not in LOGIN_VIEWS:
            return None
        account = request.POST.get("username", "").strip().casefold()
        by_address = take("login", f"address {request.META.get('REMOTE_ADDR', '')}")
        wait = by_address or take("login", f"account {account}")
        if not wait:
            return None
        return HttpResponse(
            "Too many attempts to sign in. Wait a little, then try again.",
            status=429,
            content_type="text/plain; charset=utf-8",
            headers={"Retry-After": str(wait)},
        )
