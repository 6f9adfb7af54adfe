"""Reads JSON of request bodies, and refuses what is nested deeper than anything of ours."""

from __future__ import annotations

from collections.abc import Mapping
from typing import IO, Any

from rest_framework import parsers
from rest_framework.exceptions import ParseError

DEEPEST = 64  # levels; ours have five
TOO_DEEP = "This JSON is nested too deeply."


class JSONParser(parsers.JSONParser):
    """DRF's, with 400 for nesting that would end in a RecursionError here or wherever it is read next."""

    def parse(
        self,
        stream: IO[Any],
        media_type: str | None = None,
        parser_context: Mapping[str, Any] | None = None,
    ) -> Any:
        try:
            found = super().parse(stream, media_type, parser_context)
        except RecursionError:
            raise ParseError(TOO_DEEP) from None
        if depth(found) > DEEPEST:
            raise ParseError(TOO_DEEP)
        return found


def depth(value: object) -> int:
    """Levels of lists and objects, counted without recursion; none below ``DEEPEST`` is looked at."""
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
