"""Rows of queries that every search asks."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from django.db import connection


def read_rows(query: str, params: Sequence[Any]) -> list[tuple[Any, ...]]:
    """Planned once a connection where no filter makes the query one of its own; bytes come as they are."""
    with connection.prepared_cursor() as cursor:  # type: ignore[attr-defined]  # our own backend's
        cursor.execute(query, params)
        rows: list[tuple[Any, ...]] = cursor.fetchall()
    return rows
