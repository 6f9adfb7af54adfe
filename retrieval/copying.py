"""Columns into PostgreSQL by COPY, without a model instance for each of a document's thousands of rows."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from django.db import connection, models
from psycopg import sql


def copy_columns(model: type[models.Model], columns: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
    """Writes the rows in the present transaction. ``columns`` are database columns."""
    statement = sql.SQL("COPY {} ({}) FROM STDIN").format(
        sql.Identifier(model._meta.db_table), sql.SQL(", ").join(map(sql.Identifier, columns))
    )
    with connection.cursor() as cursor, cursor.copy(statement) as copy:
        for row in rows:
            copy.write_row(row)
