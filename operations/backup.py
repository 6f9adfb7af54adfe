"""Back up to a folder: every table (as PostgreSQL's COPY text), every file, and a manifest of checksums.

It needs only Django's connection, so it works with the embedded server and any
other. Tables are read in one snapshot. Files never change, so they need none;
the manifest names files that were deleted during the backup. Sessions are left
out, and the folder is readable for the current user only.
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
from django.core.files import File
from django.core.files.storage import Storage, default_storage
from django.core.management import call_command
from django.core.management.color import no_style
from django.db import connection, transaction
from django.db.migrations.loader import MigrationLoader
from django.db.migrations.recorder import MigrationRecorder
from django.db.models import FileField
from django.utils import timezone
from psycopg import sql

from documents.models import Document
from retrieval.index.vectors import build_vector_index
from retrieval.models import EmbeddingSpace

FORMAT = 1
MANIFEST = "manifest.json"
MIGRATIONS_TABLE = "django_migrations"
# A stolen backup must not contain open sessions, nor, unless that is chosen, keys of providers.
LEFT_OUT, KEYS = {"django_session", "usersessions_usersession"}, {"chat_providerconnection"}
EMPTY_COPY = "COPY (SELECT {1} FROM {0} WHERE false) TO STDOUT"


class BackupError(Exception):
    """A backup cannot be written or read; the message is one sentence for the user."""


class TableEntry(msgspec.Struct, frozen=True):
    """One table: its columns in file order, its row count, and the checksum of its file."""

    columns: tuple[str, ...]
    rows: int
    sha256: str


class FileEntry(msgspec.Struct, frozen=True):
    size: int
    sha256: str


class Manifest(msgspec.Struct, frozen=True):
    """The content of a backup. ``migrations``: the applied ones, as (app, name), which define the schema.

    ``missing``: files that rows reference and that were deleted before they were copied.
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


def back_up(folder: Path, with_keys: bool = False) -> Manifest:
    """Write a backup into the folder, which must be empty or not exist. Raises BackupError.

    ``with_keys``: also the connections of the page Models and providers; their keys stay encrypted.
    """
    left_out = LEFT_OUT if with_keys else LEFT_OUT | KEYS
    if folder.exists() and any(folder.iterdir()):
        raise BackupError(f"{folder} is not empty: a backup needs a folder of its own.")
    with private_folder(folder):
        (folder / "tables").mkdir(parents=True, exist_ok=True)
        with transaction.atomic():
            with connection.cursor() as cursor:
                cursor.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY")
            tables = {
                table: dump_table(table, folder / "tables" / table, table in left_out)
                for table in data_tables()
            }
            migrations = tuple(sorted(MigrationRecorder(connection).applied_migrations()))
            needed = needed_names()
        files = copied(stored_names(default_storage), folder / "files")
        missing = tuple(sorted(needed - files.keys()))
        manifest = Manifest(FORMAT, timezone.now(), migrations, tables, files, missing)
        (folder / MANIFEST).write_bytes(msgspec.json.format(msgspec.json.encode(manifest)))
    return manifest


@contextmanager
def private_folder(folder: Path) -> Iterator[None]:
    """Create the folder; it and the files written meanwhile are readable for the current user only."""
    before = os.umask(0o077)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        folder.chmod(0o700)
        yield
    finally:
        os.umask(before)


def needed_names() -> set[str]:
    """Return the names of files that rows reference, without thumbnails, which are rendered again."""
    found: set[str] = set()
    for model in apps.get_models():
        fields = [field for field in model._meta.concrete_fields if isinstance(field, FileField)]
        for name in (field.attname for field in fields if field.name != "thumbnail"):
            found.update(model._default_manager.exclude(**{name: ""}).values_list(name, flat=True))
    return found


def copied(names: Iterable[str], folder: Path) -> dict[str, FileEntry]:
    """Copy files into the folder. Skip those that were deleted meanwhile."""
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
    """Return the columns that can be written, i.e. all but generated ones."""
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


def dump_table(table: str, path: Path, is_empty: bool) -> TableEntry:
    columns, digest = columns_of(table), hashlib.sha256()
    with connection.cursor() as cursor, path.open("wb") as stream:
        statement = EMPTY_COPY if is_empty else "COPY {} ({}) TO STDOUT"
        with cursor.copy(copy_statement(statement, table, columns)) as copy:
            for block in copy:
                digest.update(block)
                stream.write(block)
        return TableEntry(columns, cursor.rowcount, digest.hexdigest())


def stored_names(storage: Storage, folder: str = "") -> Iterator[str]:
    """Yield the name of every file in the storage."""
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


BLOCK = 1 << 20  # bytes


def restore(folder: Path, *, overwrite: bool = False) -> Manifest:
    """Replace the database's rows and the stored files by the backup's. Raises BackupError.

    All checksums are verified first. ``overwrite`` permits a database that holds documents.
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
    """Return whether there is a document. The schema may be of another version, so no column is named."""
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
    """Verify every name and checksum. Raises BackupError for a file that is missing or differs."""
    expected = {folder / "tables" / name: entry.sha256 for name, entry in manifest.tables.items()}
    expected |= {folder / "files" / name: entry.sha256 for name, entry in manifest.files.items()}
    for path, sha256 in expected.items():
        if ".." in path.parts[len(folder.parts) :] or not path.resolve().is_relative_to(folder.resolve()):
            raise BackupError(f"The manifest names a file outside its folder: {path}")
        if not path.is_file() or file_entry(path).sha256 != sha256:
            raise BackupError(f"{path} is missing or damaged: nothing was restored.")


def migrate_to(manifest: Manifest) -> None:
    """Migrate to the schema of the backup, so that its rows fit. Raises BackupError."""
    loader = MigrationLoader(connection)
    known, theirs = loader.disk_migrations, set(manifest.migrations)
    applied = {
        name for name, it in known.items() if name in theirs or (it.replaces and theirs >= {*it.replaces})
    }
    replaced = {old for name in applied for old in known[name].replaces}
    if missing := sorted(theirs - known.keys() - replaced):
        raise BackupError(
            f"The backup is of another version: {'.'.join(missing[0])} is unknown here. "
            "Restore it with the version that made it, and then update."
        )
    for app, _name in loader.graph.leaf_nodes():
        latest = max((known_name for known_app, known_name in applied if known_app == app), default="zero")
        call_command("migrate", app, latest, verbosity=0, interactive=False)


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
            raise BackupError(f"{table}: {cursor.rowcount} of {entry.rows} rows were restored.")


def reset_sequences() -> None:
    """Set each sequence to the largest key that was restored."""
    with connection.cursor() as cursor:
        models = connection.introspection.installed_models(connection.introspection.table_names(cursor))
        for statement in connection.ops.sequence_reset_sql(no_style(), list(models)):
            cursor.execute(statement)


def copy_in(path: Path, name: str) -> None:
    default_storage.delete(name)
    with path.open("rb") as stream:
        saved = default_storage.save(name, File(stream))
    if saved != name:
        raise BackupError(f"The storage refused the file name {name}.")
