"""Authenticate callers by token or session, and check their scopes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from django.contrib.auth.models import User
from drf_spectacular.extensions import OpenApiAuthenticationExtension
from rest_framework import exceptions
from rest_framework.authentication import BaseAuthentication, get_authorization_header
from rest_framework.permissions import SAFE_METHODS, BasePermission
from rest_framework.request import Request

from documents.models import ApiToken, Scope
from documents.models.security import digest_of

if TYPE_CHECKING:
    from django.contrib.auth.models import User
    from rest_framework.views import APIView


SCHEMES = (b"bearer", b"token")


class TokenAuthentication(BaseAuthentication):
    """Authenticate by ``Authorization: Bearer pin_…`` or ``Token pin_…``."""

    def authenticate(self, request: Request) -> tuple[User, ApiToken] | None:
        scheme, _, key = get_authorization_header(request).partition(b" ")
        if scheme.lower() not in SCHEMES:
            return None
        digest = digest_of(key.strip().decode("latin-1"))
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
        return Scope.READ
    return getattr(view, "scope", Scope.WRITE)


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
