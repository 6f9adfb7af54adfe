"""`/api/tokens/…`: your API tokens."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from allauth.account.decorators import reauthentication_required
from allauth.core.exceptions import ReauthenticationRequired
from django.http import HttpRequest
from django.urls import reverse
from django.utils import timezone
from drf_spectacular.utils import OpenApiExample, OpenApiResponse, extend_schema, extend_schema_serializer
from rest_framework import exceptions, serializers, status
from rest_framework.request import Request
from rest_framework.response import Response

from documents.api.common.callers import caller
from documents.api.common.fields import RowsViewSet, Strict, valid
from documents.models import ApiToken, TokenScope


@extend_schema_serializer(
    examples=[
        OpenApiExample(
            "For a script that asks questions",
            {"name": "weekly report", "scopes": ["read", "ask"], "expires_at": "2031-12-31T00:00:00Z"},
            request_only=True,
        )
    ]
)
class TokenSerializer(Strict, serializers.ModelSerializer):
    """A token. Its key is shown only in the response that created it."""

    scopes = serializers.ListField(
        child=serializers.ChoiceField(TokenScope.choices), min_length=1, max_length=3
    )

    class Meta:
        model = ApiToken
        fields = ["id", "name", "prefix", "scopes", "created_at", "expires_at", "last_used_at"]
        read_only_fields = ["id", "prefix", "created_at", "last_used_at"]

    def validate_scopes(self, scopes: list[str]) -> list[str]:
        return sorted(set(scopes))

    def validate_expires_at(self, ends: datetime | None) -> datetime | None:
        if ends is not None and ends <= timezone.now():
            raise serializers.ValidationError("A token must end in the future.")
        return ends


class NewTokenSerializer(TokenSerializer):
    """A token with its key, shown this once."""

    key = serializers.CharField(read_only=True)

    class Meta(TokenSerializer.Meta):
        fields = [*TokenSerializer.Meta.fields, "key"]
        read_only_fields = [*TokenSerializer.Meta.read_only_fields, "key"]


@reauthentication_required(app="account")  # type: ignore[untyped-decorator]
def password_confirmed(request: HttpRequest) -> None:
    """Raise ReauthenticationRequired unless the user confirmed the password within five minutes."""


class TokenViewSet(RowsViewSet):
    """Your tokens. Deleting one ends it at once."""

    http_method_names = ["get", "post", "delete", "head", "options"]
    queryset = ApiToken.objects.all()
    serializer_class = TokenSerializer
    ordering_fields = ["created_at"]

    @extend_schema(
        summary="Create token",
        request=TokenSerializer,
        responses={201: OpenApiResponse(NewTokenSerializer, "The only response with the key.")},
    )
    def create(self, request: Request, **kwargs: Any) -> Response:
        if isinstance(request.auth, ApiToken):  # a stolen token must not outlive its expiry
            raise exceptions.PermissionDenied("A token cannot create tokens. Sign in first.")
        try:
            password_confirmed(request._request)
        except ReauthenticationRequired:
            raise exceptions.PermissionDenied(
                f"Confirm your password at {reverse('account_reauthenticate')} first."
            ) from None
        sent = valid(self.get_serializer(data=request.data))
        token, key = ApiToken.objects.issue(caller(request), **sent)
        return Response(self.get_serializer(token).data | {"key": key}, status=status.HTTP_201_CREATED)
