"""OpenAPI schema: error responses and scopes of every operation."""

from __future__ import annotations

from typing import Any

from drf_spectacular.openapi import AutoSchema
from rest_framework import serializers
from rest_framework.permissions import SAFE_METHODS

from documents.api.common.authentication import needed_scope
from documents.api.common.errors import ErrorSerializer
from documents.api.common.fields import Strict

RETRY_AFTER = {
    "Retry-After": {"description": "seconds to wait", "required": True, "schema": {"type": "integer"}}
}


# PostgreSQL keeps no NUL in a text, so no string may have one.
NO_NUL = r"^[^\x00]*$"
# A character that `str.strip` keeps. Python strips more than JSON Schema's `\s`, such as U+001C to U+001F.
NOT_BLANK = r"^[^\x00]*[^\x00\t-\r\x1c- \x85\xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000][^\x00]*$"


class PinciteSchema(AutoSchema):
    """Add the error responses of the shared parts of the API, and the scope a token needs."""

    def get_operation(self, *args: Any, **kwargs: Any) -> dict[str, Any] | None:
        operation: dict[str, Any] | None = super().get_operation(*args, **kwargs)
        if operation is None:
            return None
        for status, description in self._error_statuses().items():
            operation["responses"].setdefault(status, self._error(status, description))
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
            "403": "The token lacks the scope, or what you see is not yours to change.",
            "404": "Nothing here, or nothing that you may see.",
            "406": "None of the media types asked for can be given.",
            "429": "Too many calls.",
        }
        if self.method not in SAFE_METHODS or "{" in self.path or self._is_list_view():
            statuses["400"] = "What was sent cannot be used."
        if self.method in ("POST", "PUT", "PATCH"):
            statuses["413"] = "More was sent than this server reads."
            statuses["415"] = "The body's media type is not read here."
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
