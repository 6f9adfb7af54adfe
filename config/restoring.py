"""Brings a backup back: its schema, its rows, its files, and then the present schema."""

from __future__ import annotations

from pathlib import Path

import msgspec
from django.core.files import File
from django.core.files.storage import default_storage
from django.core.management import call_command
from django.core.management.color import no_style
from django.db import connection, transaction
from django.db.migrations.loader import MigrationLoader
from psycopg import sql

from config.backup import FORMAT, MANIFEST, BackupError, Manifest, TableEntry, copy_statement, file_entry
from documents.models import Document
from retrieval.models import EmbeddingSpace
from retrieval.spaces import build_vector_index

BLOCK = 1 << 20  # bytes


def restore(folder: Path, *, overwrite: bool = False) -> Manifest:
    """Replaces the database's rows and the stored files by the backup's. Raises BackupError.

    Everything is checked before anything is touched. A database that holds
    documents is only overwritten when asked for.
    """
    manifest = read_manifest(folder)
    check(folder, manifest)
    if not overwrite and holds_documents():
        raise BackupError("This database holds documents: add --overwrite to replace them by the backup's.")
    migrate_to(manifest)
    with transaction.atomic():
        empty(manifest)
        for table, entry in manifest.tables.items():
            load_table(table, entry, folder / "tables" / table)
        reset_sequences()
    for name in manifest.files:
        copy_in(folder / "files" / name, name)
    call_command("migrate", verbosity=0, interactive=False)
    for space in EmbeddingSpace.objects.all():
        build_vector_index(space)
    return manifest


def holds_documents() -> bool:
    """Asks for a column that every version has: the schema may be another's."""
    with connection.cursor() as cursor:
        if Document._meta.db_table not in connection.introspection.table_names(cursor):
            return False
        cursor.execute(sql.SQL("SELECT 1 FROM {} LIMIT 1").format(sql.Identifier(Document._meta.db_table)))
        return cursor.fetchone() is not None


def read_manifest(folder: Path) -> Manifest:
    try:
        manifest = msgspec.json.decode((folder / MANIFEST).read_bytes(), type=Manifest)
    except (OSError, msgspec.DecodeError) as error:
        raise BackupError(f"{folder} holds no complete backup: {error}") from error
    if manifest.format != FORMAT:
        raise BackupError(f"{folder} is a backup of format {manifest.format}; this version reads {FORMAT}.")
    return manifest


def check(folder: Path, manifest: Manifest) -> None:
    """Every checksum. Raises BackupError at the first file that is missing or differs."""
    expected = {folder / "tables" / name: entry.sha256 for name, entry in manifest.tables.items()}
    expected |= {folder / "files" / name: entry.sha256 for name, entry in manifest.files.items()}
    for path, sha256 in expected.items():
        if not path.resolve().is_relative_to(folder.resolve()):
            raise BackupError(f"The manifest names a file outside the backup: {path}")
        if not path.is_file() or file_entry(path).sha256 != sha256:
            raise BackupError(f"{path} is missing or damaged: nothing was restored.")


def migrate_to(manifest: Manifest) -> None:
    """The schema of the time of the backup, so that its rows fit."""
    known = MigrationLoader(connection).disk_migrations
    if missing := [name for name in manifest.migrations if name not in known]:
        raise BackupError(f"The backup is of a newer version: {'.'.join(missing[0])} is not known here.")
    applied = {name for name in known if name in set(manifest.migrations)}
    for app, name in MigrationLoader(connection).graph.leaf_nodes():
        latest = max((known_name for known_app, known_name in applied if known_app == app), default=None)
        if latest is not None:
            call_command("migrate", app, latest, verbosity=0, interactive=False)
        else:
            call_command("migrate", app, name, verbosity=0, interactive=False)


def empty(manifest: Manifest) -> None:
    with connection.cursor() as cursor:
        present = set(connection.introspection.table_names(cursor))
        if missing := set(manifest.tables) - present:
            raise BackupError(f"The database lacks the table {min(missing)}.")
        tables = sql.SQL(", ").join([sql.Identifier(name) for name in sorted(manifest.tables)])
        cursor.execute(sql.SQL("TRUNCATE {} CASCADE").format(tables))


def load_table(table: str, entry: TableEntry, path: Path) -> None:
    statement = copy_statement("COPY {} ({}) FROM STDIN", table, entry.columns)
    with connection.cursor() as cursor, path.open("rb") as stream:
        with cursor.copy(statement) as copy:
            while block := stream.read(BLOCK):
                copy.write(block)
        if cursor.rowcount != entry.rows:
            raise BackupError(f"{table}: {cursor.rowcount} rows came back of {entry.rows}.")


def reset_sequences() -> None:
    """Serial keys go on after the largest that came back."""
    with connection.cursor() as cursor:
        models = connection.introspection.installed_models(connection.introspection.table_names(cursor))
        for statement in connection.ops.sequence_reset_sql(no_style(), list(models)):
            cursor.execute(statement)


def copy_in(path: Path, name: str) -> None:
    default_storage.delete(name)
    with path.open("rb") as stream:
        saved = default_storage.save(name, File(stream))
    if saved != name:
        raise BackupError(f"The storage would not take the name {name}.")
