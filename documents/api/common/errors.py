"""API errors, all of the form ``{"code", "message", "fields"?, "id"?}``.

400: the request violates the schema. 422: it is valid, but the server cannot use it. The OpenAPI schema
lists the error responses and scopes of every operation.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from django.core.exceptions import PermissionDenied, RequestDataTooBig, SuspiciousOperation
from django.http import Http404
from drf_spectacular.openapi import AutoSchema
from drf_spectacular.utils import OpenApiExample, OpenApiResponse, extend_schema_serializer
from rest_framework import exceptions, serializers, status
from rest_framework.permissions import SAFE_METHODS
from rest_framework.renderers import JSONRenderer
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import set_rollback

from documents.api.common.callers import needed_scope
from documents.api.common.fields import Strict

MESSAGES = {
    "not_found": "This does not exist, or you may not see it.",
    "invalid": "The request is invalid; see 'fields'.",
}


@extend_schema_serializer(
    examples=[
        OpenApiExample(
            "An invalid field",
            {
                "code": "invalid",
                "message": MESSAGES["invalid"],
                "fields": {"expires_at": ["A token must end in the future."]},
            },
        )
    ]
)
class ErrorSerializer(serializers.Serializer):
    """The body of every response of 400 and above."""

    code = serializers.CharField(help_text="A word that programs can rely on, such as `not_found`.")
    message = serializers.CharField(help_text="A sentence for people.")
    fields = serializers.DictField(  # type: ignore[assignment]
        child=serializers.ListField(child=serializers.CharField()),
        required=False,
        help_text="Reasons for each invalid field. Names of nested fields are joined by dots.",
    )
    id = serializers.CharField(
        required=False, help_text="With 500 and 503: the request's id, to find it in the server's log."
    )


class StateConflict(exceptions.APIException):
    status_code = status.HTTP_409_CONFLICT
    default_detail = "This cannot be done in the present state."
    default_code = "conflict"


class Unusable(exceptions.APIException):
    """422: valid by the schema, but unusable; ``fields`` maps fields to messages."""

    status_code = status.HTTP_422_UNPROCESSABLE_ENTITY
    default_code = "unusable"

    def __init__(self, message: str, code: str = "", **fields: str | list[str]) -> None:
        super().__init__(message, code or None)
        self.fields = {name: text if isinstance(text, list) else [text] for name, text in fields.items()}


UNUSABLE = {422: OpenApiResponse(ErrorSerializer, "Valid by the schema, but the server cannot use it.")}


class TooLarge(exceptions.APIException):
    status_code = status.HTTP_413_REQUEST_ENTITY_TOO_LARGE
    default_detail = "That upload is too large for this server."
    default_code = "too_large"


class Unavailable(exceptions.APIException):
    """An external service did not respond; ``Retry-After`` gives the seconds to wait."""

    status_code = status.HTTP_503_SERVICE_UNAVAILABLE
    default_detail = "A service that this request needs does not respond."
    default_code = "unavailable"
    wait = 10


def error_response(raised: Exception, context: dict[str, Any]) -> Response | None:
    """DRF's EXCEPTION_HANDLER. Returns None for unexpected errors: Django logs them and answers 500."""
    error = _as_api_exception(raised)
    if error is None:
        return None
    set_rollback()
    answer_in_json(context.get("request"))
    return Response(error_body(error), status=error.status_code, headers=_headers(error))


def error_body(error: exceptions.APIException) -> dict[str, Any]:
    if isinstance(error, exceptions.ValidationError):
        return {"code": "invalid", "message": MESSAGES["invalid"], "fields": dict(_fields(error.detail))}
    code = str(error.get_codes())
    body: dict[str, Any] = {"code": code, "message": MESSAGES.get(code, str(error.detail))}
    return body | ({"fields": error.fields} if isinstance(error, Unusable) and error.fields else {})


def answer_in_json(request: Request | None) -> None:
    """Render the error as JSON, also where the response would have been a picture, table or stream."""
    if request is not None:
        request.accepted_renderer = JSONRenderer()
        request.accepted_media_type = JSONRenderer.media_type


def _as_api_exception(raised: Exception) -> exceptions.APIException | None:
    if isinstance(raised, Http404):
        return exceptions.NotFound()
    if isinstance(raised, PermissionDenied):
        return exceptions.PermissionDenied()
    if isinstance(raised, RequestDataTooBig):
        return TooLarge()
    if isinstance(raised, SuspiciousOperation):
        return exceptions.ParseError()
    return raised if isinstance(raised, exceptions.APIException) else None


def _headers(error: exceptions.APIException) -> dict[str, str]:
    headers: dict[str, str] = dict(getattr(error, "headers", {}))
    if challenge := getattr(error, "auth_header", None):
        headers["WWW-Authenticate"] = challenge
    if wait := getattr(error, "wait", None):
        headers["Retry-After"] = str(int(wait))
    return headers


def _fields(detail: Any, path: str = "") -> Iterator[tuple[str, list[str]]]:
    """Flatten nested errors: ``("documents.0", ["…"])``."""
    if isinstance(detail, dict):
        for name, inner in detail.items():
            yield from _fields(inner, f"{path}.{name}" if path else str(name))
    elif isinstance(detail, list) and any(isinstance(item, dict | list) for item in detail):
        for index, item in enumerate(detail):
            yield from _fields(item, f"{path}.{index}" if path else str(index))
    elif detail:
        messages = detail if isinstance(detail, list) else [detail]
        yield path or "non_field_errors", [str(message) for message in messages]


RETRY_AFTER = {
    "Retry-After": {"description": "seconds to wait", "required": True, "schema": {"type": "integer"}}
}


# PostgreSQL cannot store NUL in a text, so no string may contain it.
NO_NUL = r"^[^\x00]*$"
# A character that `str.strip` keeps. Python strips more than JSON Schema's `\s`, such as U+001C to U+001F.
NOT_BLANK = r"^[^\x00]*[^\x00\t-\r\x1c- \x85\xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000][^\x00]*$"


class PinciteSchema(AutoSchema):
    """Add the error responses of the shared parts of the API, and the scope a token needs."""

    def get_operation(self, *args: Any, **kwargs: Any) -> dict[str, Any] | None:
        operation: dict[str, Any] | None = super().get_operation(*args, **kwargs)
        if operation is None:
            return None
        for code, description in self._error_statuses().items():
            operation["responses"].setdefault(code, self._error(code, description))
        return operation

    def get_description(self) -> str:  # type: ignore[override]
        scope = needed_scope(self.method, self.view)
        return f"{super().get_description()}\n\nScope of a token: `{scope}`.".strip()

    def _map_serializer_field(
        self, field: Any, direction: Any, bypass_extensions: bool = False
    ) -> dict[str, Any]:
        """Allow no NUL in strings; require a character that is not stripped where they may not be blank."""
        schema: dict[str, Any] = super()._map_serializer_field(field, direction, bypass_extensions)
        if direction == "request" and type(field) is serializers.CharField:
            return schema | {"pattern": NO_NUL if field.allow_blank else NOT_BLANK}
        return schema

    def _map_basic_serializer(self, serializer: Any, direction: Any) -> dict[str, Any]:
        schema: dict[str, Any] = super()._map_basic_serializer(serializer, direction)
        if direction == "request" and isinstance(serializer, Strict):
            schema["additionalProperties"] = False
        return schema

    def _error_statuses(self) -> dict[str, str]:
        statuses = {
            "401": "No valid token and no session.",
            "403": "The token lacks the scope, or you may not change this.",
            "404": "It does not exist, or you may not see it.",
            "406": "None of the accepted media types is available.",
            "429": "Too many calls.",
        }
        if self.method not in SAFE_METHODS or "{" in self.path or self._is_list_view():
            statuses["400"] = "The request is invalid."
        if self.method in ("POST", "PUT", "PATCH"):
            statuses["413"] = "The body is larger than this server accepts."
            statuses["415"] = "The body's media type is not supported here."
        return statuses

    def _error(self, status: str, description: str) -> dict[str, Any]:
        component = self.resolve_serializer(ErrorSerializer, "response")
        answer: dict[str, Any] = {
            "description": description,
            "content": {"application/json": {"schema": component.ref}},
        }
        return answer | ({"headers": RETRY_AFTER} if status == "429" else {})


# OpenAPI 3.0 has no null type, but pydantic's schemas use one.
NULL = {"type": "null"}


def with_nullable(result: Any, **kwargs: Any) -> Any:
    """Replace null in each ``anyOf`` by ``nullable``."""
    if isinstance(result, list):
        return [with_nullable(item) for item in result]
    if not isinstance(result, dict):
        return result
    found = {key: with_nullable(value) for key, value in result.items()}
    if NULL not in found.get("anyOf", []):
        return found
    kinds = [kind for kind in found.pop("anyOf") if kind != NULL]
    only = (
        kinds[0]
        if len(kinds) == 1 and "$ref" not in kinds[0]
        else {"allOf" if len(kinds) == 1 else "anyOf": kinds}
    )
    return {**found, **only, "nullable": True}
