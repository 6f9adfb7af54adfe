"""Callers of the API: authentication by token or session, scopes, rate limits, and the nesting of JSON.

Requests are counted in Redis or in the database, so that all web processes share one counter.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from io import BytesIO
from typing import IO, TYPE_CHECKING, Any, TypeVar

from django.conf import settings
from django.contrib.auth.models import User
from django.core.exceptions import RequestDataTooBig
from drf_spectacular.extensions import OpenApiAuthenticationExtension
from rest_framework import exceptions, parsers
from rest_framework.authentication import BaseAuthentication, get_authorization_header
from rest_framework.exceptions import ParseError
from rest_framework.permissions import SAFE_METHODS, BasePermission
from rest_framework.request import Request
from rest_framework.throttling import BaseThrottle

from documents import shared_state, tokens
from documents.models import ApiToken, TokenScope
from text.budget import ProcessorBudget

if TYPE_CHECKING:
    from rest_framework.views import APIView


SCHEMES = (b"bearer", b"token")


class TokenAuthentication(BaseAuthentication):
    """Authenticate by ``Authorization: Bearer pin_…`` or ``Token pin_…``."""

    def authenticate(self, request: Request) -> tuple[User, ApiToken] | None:
        scheme, _, key = get_authorization_header(request).partition(b" ")
        if scheme.lower() not in SCHEMES:
            return None
        digest = tokens.API.digest_of(key.strip().decode("latin-1"))
        token = ApiToken.objects.usable().select_related("owner").filter(digest=digest).first()
        if token is None:
            raise exceptions.AuthenticationFailed("This token is unknown, has ended or was revoked.")
        token.note_use()
        return token.owner, token

    def authenticate_header(self, request: Request) -> str:
        return 'Bearer realm="Pincite"'


class HasScope(BasePermission):
    """Require a signed-in user; of a token also the view's scope (a session has all scopes).

    A view may set ``scope`` for its unsafe methods; the default is ``write``.
    """

    def has_permission(self, request: Request, view: APIView) -> bool:
        if not request.user.is_authenticated:
            return False
        if not isinstance(request.auth, ApiToken):
            return True
        needed = needed_scope(request.method or "", view)
        if needed in request.auth.scopes:
            return True
        raise exceptions.PermissionDenied(f"This token has no '{needed}' scope.")


def needed_scope(method: str, view: APIView) -> str:
    """Return the scope a method of a view needs: ``read`` for safe methods, else the view's or ``write``."""
    if method in SAFE_METHODS:
        return TokenScope.READ
    return getattr(view, "scope", TokenScope.WRITE)


class TokenScheme(OpenApiAuthenticationExtension):  # type: ignore[no-untyped-call]
    """Describe TokenAuthentication in the OpenAPI schema."""

    target_class = TokenAuthentication
    name = "token"

    def get_security_definition(self, auto_schema: Any) -> dict[str, str]:
        return {
            "type": "http",
            "scheme": "bearer",
            "description": "A token made in your settings, by `POST /api/tokens/` or `manage.py token`.",
        }


def caller(request: Request) -> User:
    user = request.user
    assert isinstance(user, User)
    return user


def budget_of(request: Request, seconds: float) -> ProcessorBudget:
    """Return a budget for the work of a request. It is stopped when the client leaves."""
    budget = ProcessorBudget(seconds)
    scope = getattr(request._request, "scope", None)
    if scope is not None:
        scope.setdefault(BUDGETS, []).append(budget)
    return budget


BUDGETS = "pincite.budgets"  # key of the ASGI scope
DEEPEST = 64  # levels of JSON; valid requests have at most five
TOO_DEEP = "This JSON is nested too deeply."
PERIODS = {"s": 1, "min": 60, "h": 3600, "day": 86400}


def parse_rate(rate: str) -> tuple[int, int]:
    """Parse ``"60/min"`` to (60, 60): a number and a period in seconds. Raises ValueError or KeyError."""
    count, _, period = rate.partition("/")
    return int(count), PERIODS[period]


def take(kind: str, identity: str) -> int:
    """Count one action of ``kind`` by ``identity``. Return 0 when allowed, else the seconds to wait."""
    limit, seconds = parse_rate(settings.RATES[kind])
    return shared_state.count(f"{kind}:{identity}", limit, seconds)


View = TypeVar("View", bound=Callable[..., object])


def rated(kind: str) -> Callable[[View], View]:
    """Decorate a page's view: users' POSTs count as ``kind``; ``operations.http.request_budget`` counts."""

    def decorate(view: View) -> View:
        view.rate = kind  # type: ignore[attr-defined]
        return view

    return decorate


def give_back(kind: str, identity: str) -> None:
    """Undo one ``take``."""
    shared_state.uncount(f"{kind}:{identity}")


class RateLimit(BaseThrottle):
    """Limit calls by token or user; a view's ``rate`` names a second, stricter limit for POST."""

    def allow_request(self, request: Request, view: APIView) -> bool:
        self._seconds = take("api", _identity(request))
        kind = getattr(view, "rate", "")
        if not self._seconds and kind and request.method == "POST":
            self._seconds = take(kind, f"user {request.user.pk}")
        return not self._seconds

    def wait(self) -> float | None:
        return self._seconds or None


def _identity(request: Request) -> str:
    """Return the token, else the user; permissions, which are checked first, ensure that there is one."""
    if isinstance(request.auth, ApiToken):
        return f"token {request.auth.pk}"
    return f"user {request.user.pk}"


class JSONParser(parsers.JSONParser):
    """DRF's parser, with 413 for JSON that takes long to parse, and 400 for nesting that would cause a
    RecursionError here or later.

    A view may set ``json_bytes``.
    """

    def parse(
        self,
        stream: IO[Any],
        media_type: str | None = None,
        parser_context: Mapping[str, Any] | None = None,
    ) -> Any:
        view = (parser_context or {}).get("view")
        most = getattr(view, "json_bytes", MOST_JSON_BYTES)
        body = stream.read(most + 1)
        if len(body) > most:
            raise RequestDataTooBig
        try:
            found = super().parse(BytesIO(body), media_type, parser_context)
        except RecursionError:
            raise ParseError(TOO_DEEP) from None
        if depth(found) > DEEPEST:
            raise ParseError(TOO_DEEP)
        if has_nul(found):
            raise ParseError(HAS_NUL)
        return found


MOST_JSON_BYTES = 5 << 20  # a note of half a million letters takes up to two
HAS_NUL = "This JSON has a character that cannot be stored (U+0000). Remove it."


def has_nul(value: object) -> bool:
    """Return whether a string or a name in the value has U+0000."""
    if isinstance(value, dict):
        return any(has_nul(name) or has_nul(inner) for name, inner in value.items())
    if isinstance(value, list):
        return any(map(has_nul, value))
    return isinstance(value, str) and "\0" in value


def depth(value: object) -> int:
    """Return the levels of lists and objects, without recursion, up to ``DEEPEST`` + 1."""
    levels, level = 0, [value]
    while level and levels <= DEEPEST:
        level = [
            inner
            for outer in level
            if isinstance(outer, dict | list)
            for inner in (outer.values() if isinstance(outer, dict) else outer)
        ]
        levels += bool(level)
    return levels
