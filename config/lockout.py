"""Too many wrong passwords: who is counted, and what they are told."""

from __future__ import annotations

from datetime import timedelta

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render


def client_address(request: HttpRequest) -> str:
    """The address the connection came from; the server alone reads X-Forwarded-For, of trusted proxies."""
    return str(request.META.get("REMOTE_ADDR", ""))


def too_many_attempts(request: HttpRequest, *arguments: object, **options: object) -> HttpResponse:
    """429 with Retry-After, for as long as `django-axes` keeps the door shut."""
    wait: timedelta = settings.AXES_COOLOFF_TIME
    response = render(request, "errors/too_many_attempts.html", {"minutes": wait.seconds // 60}, status=429)
    response["Retry-After"] = str(int(wait.total_seconds()))
    return response
