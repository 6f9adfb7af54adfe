"""Too many attempts to sign in: who is counted, and what they are told."""

from __future__ import annotations

import math

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.translation import gettext as _


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
