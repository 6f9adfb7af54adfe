"""Columns into and out of PostgreSQL by binary COPY: no model instances, no text in between."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from django.db import connection, models
from psycopg import sql


def copy_columns(
    model: type[models.Model], columns: Mapping[str, str], rows: Iterable[Sequence[object]]
) -> None:
    """Writes the rows in the present transaction.

    ``columns``: database columns with the PostgreSQL type their values are written as; ``bytea`` also
    for a type of whose binary form the values are.
    """
    statement = sql.SQL("COPY {} ({}) FROM STDIN (FORMAT BINARY)").format(
        sql.Identifier(model._meta.db_table), sql.SQL(", ").join(map(sql.Identifier, columns))
    )
    with connection.cursor() as cursor, cursor.copy(statement) as copy:
        copy.set_types(list(columns.values()))
        for row in rows:
            copy.write_row(row)
