"""Backups: a folder with every table (as PostgreSQL's COPY text), every file, and a manifest of checksums.

Nothing but our own connection is needed, so it works the same with the embedded
server and with any other. Tables are read in one snapshot; files are written
once and never changed, so they need none, but a document that is deleted for good
meanwhile takes its file along: the manifest names what is missing. Sessions are
left out, and only our own user can read what is written.
"""

from __future__ import annotations

import hashlib
import os
import shutil
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path

import msgspec
from django.apps import apps
from django.core.files.storage import Storage, default_storage
from django.db import connection, transaction
from django.db.migrations.recorder import MigrationRecorder
from django.db.models import FileField
from django.utils import timezone
from psycopg import sql

FORMAT = 1
MANIFEST = "manifest.json"
MIGRATIONS_TABLE = "django_migrations"
LEFT_OUT = {
    "django_session",
    "usersessions_usersession",
}  # whoever reads a backup must not be signed in by it: everybody signs in again
EMPTY_COPY = "COPY (SELECT {1} FROM {0} WHERE false) TO STDOUT"


class BackupError(Exception):
    """Cannot be written or read; the message says why in one sentence."""


class TableEntry(msgspec.Struct, frozen=True):
    """One table: the columns in the order of its file."""

    columns: tuple[str, ...]
    rows: int
    sha256: str


class FileEntry(msgspec.Struct, frozen=True):
    size: int
    sha256: str


class Manifest(msgspec.Struct, frozen=True):
    """``migrations`` are all that were applied, as (app, name): the schema the tables are of.

    ``missing``: files that rows name and that were not there any more when it was their turn.
    """

    format: int
    created: datetime
    migrations: tuple[tuple[str, str], ...]
    tables: dict[str, TableEntry]
    files: dict[str, FileEntry]
    missing: tuple[str, ...] = ()

    @property
    def row_count(self) -> int:
        return sum(table.rows for table in self.tables.values())


def back_up(folder: Path) -> Manifest:
    """Writes a backup into the folder, which must be empty or not exist. Raises BackupError."""
    if folder.exists() and any(folder.iterdir()):
        raise BackupError(f"{folder} is not empty: a backup needs a folder of its own.")
    with for_ourselves(folder):
        (folder / "tables").mkdir(parents=True, exist_ok=True)
        with transaction.atomic():
            with connection.cursor() as cursor:
                cursor.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY")
            tables = {table: dump_table(table, folder / "tables" / table) for table in data_tables()}
            migrations = tuple(sorted(MigrationRecorder(connection).applied_migrations()))
            needed = needed_names()
        files = copied(stored_names(default_storage), folder / "files")
        missing = tuple(sorted(needed - files.keys()))
        manifest = Manifest(FORMAT, timezone.now(), migrations, tables, files, missing)
        (folder / MANIFEST).write_bytes(msgspec.json.format(msgspec.json.encode(manifest)))
    return manifest


@contextmanager
def for_ourselves(folder: Path) -> Iterator[None]:
    """Make the folder, and what is written meanwhile, readable for our own user only: it holds everything."""
    before = os.umask(0o077)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        folder.chmod(0o700)
        yield
    finally:
        os.umask(before)


def needed_names() -> set[str]:
    """Names of the files that rows rest on. A thumbnail is drawn again where it is not there."""
    found: set[str] = set()
    for model in apps.get_models():
        fields = [field for field in model._meta.concrete_fields if isinstance(field, FileField)]
        for name in (field.attname for field in fields if field.name != "thumbnail"):
            found.update(model._default_manager.exclude(**{name: ""}).values_list(name, flat=True))
    return found


def copied(names: Iterable[str], folder: Path) -> dict[str, FileEntry]:
    """Copies of the files; one that is deleted for good meanwhile is left out."""
    files = {}
    for name in names:
        try:
            files[name] = copy_out(name, folder / name)
        except FileNotFoundError:
            (folder / name).unlink(missing_ok=True)
    return files


def data_tables() -> list[str]:
    with connection.cursor() as cursor:
        names = connection.introspection.table_names(cursor)
    return [name for name in names if name != MIGRATIONS_TABLE]


def columns_of(table: str) -> tuple[str, ...]:
    """Those that are written; generated ones write themselves."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT column_name FROM information_schema.columns WHERE table_schema = current_schema()"
            " AND table_name = %s AND is_generated = 'NEVER' ORDER BY ordinal_position",
            [table],
        )
        return tuple(name for (name,) in cursor.fetchall())


def copy_statement(template: str, table: str, columns: tuple[str, ...]) -> sql.Composed:
    names = sql.SQL(", ").join([sql.Identifier(column) for column in columns])
    return sql.SQL(template).format(sql.Identifier(table), names)


def dump_table(table: str, path: Path) -> TableEntry:
    columns, digest = columns_of(table), hashlib.sha256()
    with connection.cursor() as cursor, path.open("wb") as stream:
        statement = EMPTY_COPY if table in LEFT_OUT else "COPY {} ({}) TO STDOUT"
        with cursor.copy(copy_statement(statement, table, columns)) as copy:
            for block in copy:
                digest.update(block)
                stream.write(block)
        return TableEntry(columns, cursor.rowcount, digest.hexdigest())


def stored_names(storage: Storage, folder: str = "") -> Iterator[str]:
    """All files of the storage, by their names in it."""
    try:
        folders, files = storage.listdir(folder)
    except FileNotFoundError:  # nothing was ever stored
        return
    prefix = f"{folder}/" if folder else ""
    yield from (prefix + name for name in sorted(files))
    for name in sorted(folders):
        yield from stored_names(storage, prefix + name)


def copy_out(name: str, path: Path) -> FileEntry:
    path.parent.mkdir(parents=True, exist_ok=True)
    with default_storage.open(name) as source, path.open("wb") as target:
        shutil.copyfileobj(source, target)
    return file_entry(path)


def file_entry(path: Path) -> FileEntry:
    with path.open("rb") as stream:
        return FileEntry(path.stat().st_size, hashlib.file_digest(stream, "sha256").hexdigest())
