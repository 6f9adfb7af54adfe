"""Rows into PostgreSQL by COPY: several times faster than INSERT for the thousands a document makes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

from django.db import connection, models
from psycopg import sql

Row = TypeVar("Row", bound=models.Model)


def copy_rows(model: type[Row], rows: Sequence[Row]) -> None:
    """Writes unsaved instances as they are, without signals. Null keys are left to the database."""
    if not rows:
        return
    fields = [
        field
        for field in model._meta.concrete_fields
        if not field.generated and not (field.primary_key and rows[0].pk is None)
    ]
    columns = sql.SQL(", ").join([sql.Identifier(field.column or "") for field in fields])
    statement = sql.SQL("COPY {} ({}) FROM STDIN").format(sql.Identifier(model._meta.db_table), columns)
    with connection.cursor() as cursor, cursor.copy(statement) as copy:
        for row in rows:
            copy.write_row(
                [field.get_db_prep_save(getattr(row, field.attname), connection) for field in fields]
            )
