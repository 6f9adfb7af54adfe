"""How often somebody may call: counted in the database, so that all web processes share one count."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.conf import settings
from rest_framework.request import Request
from rest_framework.throttling import BaseThrottle

from documents.models import ApiToken, RateCount

if TYPE_CHECKING:
    from rest_framework.views import APIView

PERIODS = {"s": 1, "min": 60, "h": 3600, "day": 86400}


def parse_rate(rate: str) -> tuple[int, int]:
    """``"60/min"`` to (60, 60): how many in how many seconds. Raises ValueError or KeyError."""
    count, _, period = rate.partition("/")
    return int(count), PERIODS[period]


def take(kind: str, identity: str) -> int:
    """Counts one ``kind`` of action by ``identity``. 0 when allowed, else the seconds to wait."""
    limit, seconds = parse_rate(settings.RATES[kind])
    return RateCount.take(f"{kind}:{identity}", limit, seconds)


def give_back(kind: str, identity: str) -> None:
    """Takes back what ``take`` counted: it turned out to be harmless."""
    RateCount.give_back(f"{kind}:{identity}")


class RateLimit(BaseThrottle):
    """Limits every call by token or user; a view's ``rate`` names a second, stricter kind for POST."""

    def allow_request(self, request: Request, view: APIView) -> bool:
        self._seconds = take("api", _identity(request))
        kind = getattr(view, "rate", "")
        if not self._seconds and kind and request.method == "POST":
            self._seconds = take(kind, f"user {request.user.pk}")
        return not self._seconds

    def wait(self) -> float | None:
        return self._seconds or None


def _identity(request: Request) -> str:
    """Callers without either were refused before: permissions come first."""
    if isinstance(request.auth, ApiToken):
        return f"token {request.auth.pk}"
    return f"user {request.user.pk}"
