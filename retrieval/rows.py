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


# The planner takes reading a whole table of tsvectors for cheap: it does not count what unpacking costs.
BY_INDEX = "SET LOCAL enable_seqscan = off; "


def read_rows_by_index(query: str, params: Sequence[Any]) -> list[tuple[Any, ...]]:
    """Rows of a query that must use its indexes. Sent as one message, so the setting ends with it."""
    with connection.cursor() as cursor:
        cursor.execute(BY_INDEX + query, params)
        while cursor.nextset():  # past the setting
            pass
        rows: list[tuple[Any, ...]] = cursor.fetchall()
    return rows
