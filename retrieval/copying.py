"""Rows into PostgreSQL by COPY, several times as fast as INSERT."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from django.db import connection, models


def copy_rows(model: type[models.Model], columns: Sequence[str], rows: Iterable[Sequence[Any]]) -> int:
    """Writes the rows in the present transaction; how many there were. ``columns`` are database columns."""
    quote = connection.ops.quote_name
    names = ", ".join(quote(column) for column in columns)
    count = 0
    with connection.cursor() as cursor:
        statement = f"COPY {quote(model._meta.db_table)} ({names}) FROM STDIN"
        with cursor.cursor.copy(statement) as copy:
            for row in rows:
                copy.write_row(row)
                count += 1
    return count
