"""Rows into PostgreSQL by COPY: several times faster than INSERT for the thousands a document makes."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar

import msgspec
from django.contrib.postgres.fields import ArrayField
from django.db import connections, models
from django.db.backends.base.base import BaseDatabaseWrapper
from psycopg import sql

Row = TypeVar("Row", bound=models.Model)
Prepare = Callable[[Any], Any]

# Fields whose Python values psycopg writes as they are.
PLAIN = (
    models.IntegerField,
    models.FloatField,
    models.CharField,
    models.TextField,
    models.BooleanField,
    models.UUIDField,
    models.BinaryField,
    models.ForeignKey,
)
BRACES = str.maketrans("[]", "{}")
IN_QUOTES = str.maketrans({"\\": "\\\\", '"': '\\"'})


def copy_rows(model: type[Row], rows: Sequence[Row]) -> None:
    """Writes unsaved instances as they are, without signals. Null keys are left to the database."""
    if not rows:
        return
    connection = connections["default"]
    fields = [
        field
        for field in model._meta.concrete_fields
        if not field.generated and not (field.primary_key and rows[0].pk is None)
    ]
    columns = sql.SQL(", ").join([sql.Identifier(field.column or "") for field in fields])
    statement = sql.SQL("COPY {} ({}) FROM STDIN").format(sql.Identifier(model._meta.db_table), columns)
    writers = [(field.attname, preparation(field, connection)) for field in fields]
    with connection.cursor() as cursor, cursor.copy(statement) as copy:
        for row in rows:
            values = row.__dict__
            copy.write_row([prepare(values[name]) if prepare else values[name] for name, prepare in writers])


def replace_rows(model: type[Row], before: Mapping[Any, Row], rows: Sequence[Row]) -> list[Row]:
    """Makes ``rows`` the rows of the table in the place of those ``before`` (by primary key).

    Returns those that are new or changed.

    Rows that are the same stay as they are; what refers to a row whose key stays keeps its reference,
    for foreign keys are checked at the end of the transaction.
    """
    kept = {row.pk for row in rows}
    if gone := before.keys() - kept:
        model._default_manager.filter(pk__in=gone).delete()
    new = [row for row in rows if row.pk not in before]
    changed = [row for row in rows if row.pk in before and is_changed(row, before[row.pk])]
    if changed:
        table, key = sql.Identifier(model._meta.db_table), sql.Identifier(model._meta.pk.attname)
        with connections["default"].cursor() as cursor:
            statement = sql.SQL("DELETE FROM {} WHERE {} = ANY(%s)").format(table, key)
            cursor.execute(statement, [[row.pk for row in changed]])
    copy_rows(model, changed)
    copy_rows(model, new)
    return [*new, *changed]


def is_changed(row: models.Model, before: models.Model) -> bool:
    """Whether the row, as it is made, says something else than the row as it was read."""
    return any(
        stored(field, getattr(row, field.attname)) != stored(field, getattr(before, field.attname))
        for field in row._meta.concrete_fields
        if not field.generated
    )


def stored(field: models.Field, value: Any) -> Any:
    """The value as it is read from the database."""
    if isinstance(field, models.BinaryField):
        return bytes(value)
    if isinstance(field, models.JSONField):
        return msgspec.json.decode(as_json(value) or "null")
    return value


def preparation(field: models.Field, connection: BaseDatabaseWrapper) -> Prepare | None:
    """What a value goes through before it is written; None for nothing."""
    if isinstance(field, PLAIN):
        return None
    if isinstance(field, ArrayField):
        if isinstance(innermost(field), models.FloatField):
            return array_of_numbers
        if isinstance(field.base_field, models.TextField | models.UUIDField):
            return array_of_texts
    if isinstance(field, models.JSONField):
        return as_json
    return lambda value: field.get_db_prep_save(value, connection)


def as_json(value: Any) -> str | None:
    """What ``msgspec`` can encode, its structs included."""
    return None if value is None else msgspec.json.encode(value).decode()


def innermost(field: ArrayField) -> models.Field:
    base = field.base_field
    return innermost(base) if isinstance(base, ArrayField) else base


def array_of_numbers(value: Any) -> str | None:
    """``[[1.5, 2.0]]`` as PostgreSQL's ``{{1.5, 2.0}}``: ten times faster than psycopg's general way."""
    return None if value is None else str(value).translate(BRACES)


def array_of_texts(value: Any) -> str | None:
    """``['a "b"']`` as PostgreSQL's ``{"a \\"b\\""}``; uuids as well."""
    if value is None:
        return None
    return "{" + ",".join([f'"{str(text).translate(IN_QUOTES)}"' for text in value]) + "}"
