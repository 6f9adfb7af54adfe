"""Makes what pydantic says of its models fit for OpenAPI 3.0, which has no type for null."""

from __future__ import annotations

from typing import Any

NULL = {"type": "null"}


def with_nullable(result: Any, **kwargs: Any) -> Any:
    """The schema, with ``nullable`` for each ``anyOf`` that has null among its kinds."""
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
