"""`manage.py distribute`: distribute the tables over a Citus cluster, most of them by document.

Pages, chunks, units, words and vectors of a document are on one node, selected by ``document_id``. Accounts,
documents, shares and the like are reference tables with a copy on each node. All other tables stay on the
coordinator. A single PostgreSQL needs none of this: it has the keys and foreign keys of the models.

The primary key of a distributed table must contain the distribution column: ``(id)`` becomes ``(document_id,
id)``, and a foreign key between two of them ``(document_id, chunk_id) → (document_id, id)``. Django's models
do not change: ``id`` stays their key. A table on the coordinator cannot have a foreign key to a distributed
one.
"""

from __future__ import annotations

import re
from argparse import ArgumentParser
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import psycopg
from django.apps import apps
from django.core.management.base import BaseCommand, CommandError
from django.db import DatabaseError, connection, transaction
from django.db.backends.utils import CursorWrapper
from psycopg import sql

COLUMN = "document_id"
DISTRIBUTED = (
    "documents.page",
    "documents.retrievalchunk",
    "documents.citationunit",
    "retrieval.indexedchunk",
    "retrieval.chunkvector",
)
REFERENCE = (
    *("auth.user", "auth.group", "auth.user_groups", "documents.document", "documents.tag"),
    *("documents.document_tags", "documents.collection", "documents.placement", "documents.share"),
    *("retrieval.embeddingspace", "retrieval.indexeddocument"),
)
WORKER_SETTINGS = {
    "hnsw.iterative_scan": "relaxed_order",
    "hnsw.ef_search": "400",
    "hnsw.max_scan_tuples": "60000",
    "enable_seqscan": "off",
}
"""Of the database on each worker: what a search sets for its statement, which does not reach the shards.

Citus can pass such settings on, but not in a transaction that has read a reference table.
"""

INSTALL = (
    "This PostgreSQL has no Citus. Install it on every node, put citus into shared_preload_libraries "
    "and restart them."
)
PRELOAD = "Citus is installed but not loaded: put citus into shared_preload_libraries and restart the server."
WORKERS = "The cluster has no worker: give --coordinator host:port and --worker host:port for each."


class NotPossible(Exception):
    """The tables cannot be distributed; the message says what to do."""


class Node(NamedTuple):
    host: str
    port: int

    @classmethod
    def parse(cls, text: str) -> Node:
        """Parse ``host:port``. Raises ValueError."""
        host, _, port = text.rpartition(":")
        if not host:
            raise ValueError(f"{text!r} is not host:port.")
        return cls(host, int(port))

    def __str__(self) -> str:
        return f"{self.host}:{self.port}"


@dataclass(frozen=True, slots=True)
class SchemaStep:
    """A missing change of the schema: its description and its SQL statements."""

    what: str
    statements: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Constraint:
    """A primary key (``p``), unique constraint (``u``) or foreign key (``f``) from the catalogue."""

    name: str
    kind: str
    table: str
    columns: tuple[str, ...]
    target: str
    target_columns: tuple[str, ...]
    deferred: bool

    @property
    def add(self) -> str:
        body = f"{'PRIMARY KEY' if self.kind == 'p' else 'UNIQUE'} ({', '.join(self.columns)})"
        if self.kind == "f":
            target = f"{self.target} ({', '.join(self.target_columns)})"
            body = f"FOREIGN KEY ({', '.join(self.columns)}) REFERENCES {target}"
        later = " DEFERRABLE INITIALLY DEFERRED" if self.deferred else ""
        return f"ALTER TABLE {self.table} ADD CONSTRAINT {self.name} {body}{later}"

    @property
    def drop(self) -> str:
        return f"ALTER TABLE {self.table} DROP CONSTRAINT {self.name}"


def table_of(label: str) -> str:
    app, name = label.split(".")
    if "_" in name:  # of a many-to-many field
        model, field = name.split("_", 1)
        through: Any = apps.get_model(app, model)._meta.get_field(field)
        return str(through.m2m_db_table())
    return apps.get_model(app, name)._meta.db_table


def distributed_tables() -> list[str]:
    return [table_of(label) for label in DISTRIBUTED]


# --- The present state ---------------------------------------------------------------------------

CONSTRAINTS = """
SELECT c.conname, c.contype::text, c.conrelid::regclass::text,
       ARRAY(SELECT attname::text FROM unnest(c.conkey) WITH ORDINALITY k(n, at)
             JOIN pg_attribute ON attrelid = c.conrelid AND attnum = k.n ORDER BY at),
       coalesce(nullif(c.confrelid, 0)::regclass::text, ''),
       ARRAY(SELECT attname::text FROM unnest(c.confkey) WITH ORDINALITY k(n, at)
             JOIN pg_attribute ON attrelid = c.confrelid AND attnum = k.n ORDER BY at),
       c.condeferred
FROM pg_constraint c
WHERE c.contype IN ('p', 'u', 'f') AND c.connamespace = current_schema()::regnamespace
ORDER BY c.contype = 'f' DESC, c.conname
"""
PLACES = "SELECT table_name::text, citus_table_type, distribution_column FROM citus_tables"
NODES = "SELECT nodename, nodeport, groupid, isactive FROM pg_dist_node WHERE noderole = 'primary'"


def has_citus() -> bool:
    """Return whether the database has the extension. One statement."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT 1 FROM pg_extension WHERE extname = 'citus'")
        return cursor.fetchone() is not None


def constraints(cursor: CursorWrapper) -> list[Constraint]:
    cursor.execute(CONSTRAINTS)
    return [
        Constraint(name, kind, table, tuple(columns), target, tuple(target_columns), deferred)
        for name, kind, table, columns, target, target_columns, deferred in cursor.fetchall()
    ]


def ensure_possible() -> None:
    """Check that this server has Citus and can use it. Raises NotPossible."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT current_setting('shared_preload_libraries'),"
            " EXISTS (SELECT FROM pg_available_extensions WHERE name = 'citus')"
        )
        preloaded, available = cursor.fetchone() or ("", False)
    if not available:
        raise NotPossible(INSTALL)
    if "citus" not in re.split(r"[\s,]+", preloaded):
        raise NotPossible(PRELOAD)


# --- The wanted state ----------------------------------------------------------------------------


def missing_steps() -> list[SchemaStep]:
    """Return the steps of ``distribute`` in order; none if all is done. Raises NotPossible."""
    ensure_possible()
    if not has_citus():
        raise NotPossible(f"The database has no Citus extension yet. {WORKERS}")
    with connection.cursor() as cursor:
        ensure_nodes(cursor)
        cursor.execute(PLACES)
        places = {name: (kind, column) for name, kind, column in cursor.fetchall()}
        known = constraints(cursor)
        unset = unset_on_workers(cursor)
    return [
        *constraint_steps(known, places),
        *placement_steps(places),
        *foreign_key_steps(known, places),
        *(setting_step(name) for name in unset),
    ]


def ensure_nodes(cursor: CursorWrapper) -> None:
    """Check that there are workers and all answer. Raises NotPossible."""
    cursor.execute(NODES)
    nodes = cursor.fetchall()
    if not any(group for _, _, group, _ in nodes) or all(group for _, _, group, _ in nodes):
        raise NotPossible(WORKERS)
    if silent := [f"{host}:{port}" for host, port, _, active in nodes if not active]:
        raise NotPossible(f"{', '.join(silent)}: not active. See pg_dist_node.")
    try:
        cursor.execute(
            "SELECT from_nodename, to_nodename, to_nodeport FROM citus_check_cluster_node_health()"
            " WHERE result IS NOT TRUE"
        )
    except DatabaseError as error:
        raise NotPossible(f"A node does not answer: {error}") from error
    if found := cursor.fetchall():
        one, other, port = found[0]
        raise NotPossible(f"{other}:{port} cannot be reached from {one}: is it running, does it trust {one}?")


Places = dict[str, tuple[str, str]]


def constraint_steps(known: Iterable[Constraint], places: Places) -> Iterator[SchemaStep]:
    """Return the steps that drop conflicting foreign keys and add the distribution column to keys."""
    tables = distributed_tables()
    for one in known:
        if one.kind == "f" and not stays(one, places):
            yield SchemaStep(f"drop {one.name} of {one.table}", (one.drop,))
        elif one.kind in "pu" and one.table in tables and COLUMN not in one.columns:
            wider = Constraint(one.name, one.kind, one.table, (COLUMN, *one.columns), "", (), one.deferred)
            index = (
                f"CREATE INDEX {one.table}_{'_'.join(one.columns)} ON {one.table} ({', '.join(one.columns)})"
            )
            yield SchemaStep(f"{one.name} of {one.table}: add {COLUMN}", (one.drop, wider.add, index))


def stays(one: Constraint, places: Places) -> bool:
    """Return whether a foreign key can stay while the tables are distributed."""
    tables = distributed_tables()
    if one.table not in tables:
        return one.target not in tables
    return one.table in places and (one.target not in tables or COLUMN in one.columns)


def placement_steps(places: Places) -> Iterator[SchemaStep]:
    first = distributed_tables()[0]
    for table in distributed_tables():
        if table not in places:
            beside = "none" if table == first else first
            call = f"SELECT create_distributed_table('{table}', '{COLUMN}', colocate_with => '{beside}')"
            yield SchemaStep(f"distribute {table} by {COLUMN}", (call,))
        elif places[table] != ("distributed", COLUMN):
            raise NotPossible(f"{table} is a {places[table][0]} table by {places[table][1]}.")
    for table in map(table_of, REFERENCE):
        if places.get(table, ("", ""))[0] != "reference":
            call = f"SELECT create_reference_table('{table}')"
            yield SchemaStep(f"copy {table} to every node", (call,))


def foreign_key_steps(known: Iterable[Constraint], places: Places) -> Iterator[SchemaStep]:
    """Return the steps that add the foreign keys of distributed tables in the form that Citus supports."""
    tables = distributed_tables()
    for one in known:
        if one.kind != "f" or one.table not in tables or stays(one, places):
            continue
        again = one
        if one.target in tables and COLUMN not in one.columns:
            columns, target_columns = (COLUMN, *one.columns), (COLUMN, *one.target_columns)
            again = Constraint(one.name, "f", one.table, columns, one.target, target_columns, one.deferred)
        yield SchemaStep(f"add {one.name} of {one.table}", (again.add,))


def unset_on_workers(cursor: CursorWrapper) -> list[str]:
    """Return the settings that are missing or different on some worker."""
    asked = "SELECT string_agg(setconfig::text, ' ') FROM pg_db_role_setting s JOIN pg_database d"
    asked += " ON d.oid = s.setdatabase WHERE d.datname = current_database()"
    cursor.execute("SELECT result FROM run_command_on_workers(%s)", [asked])
    found = [row[0] or "" for row in cursor.fetchall()]
    wanted = {name: f"{name}={value}" for name, value in WORKER_SETTINGS.items()}
    return [name for name, setting in wanted.items() if not all(setting in row for row in found)]


def setting_step(name: str) -> SchemaStep:
    database = sql.Identifier(connection.settings_dict["NAME"]).as_string(None)
    change = "SET LOCAL citus.enable_ddl_propagation = off; "  # a worker can change only its own
    change += f"ALTER DATABASE {database} SET {name} = {WORKER_SETTINGS[name]}"
    return SchemaStep(
        f"set {name} = {WORKER_SETTINGS[name]} on the workers",
        (f"SELECT * FROM run_command_on_workers('{change}')",),
    )


# --- Changes -------------------------------------------------------------------------------------


def join_nodes(coordinator: Node | None, workers: Sequence[Node]) -> None:
    """Create the database and its extensions on each node, and add the nodes to the cluster.

    The nodes are connected to with the user and password of this connection. Raises NotPossible.
    """
    ensure_possible()
    for node in workers:
        prepare_worker(node)
    try:
        with connection.cursor() as cursor:
            cursor.execute("CREATE EXTENSION IF NOT EXISTS citus")
            if coordinator:
                cursor.execute("SELECT citus_set_coordinator_host(%s, %s)", coordinator)
            for node in workers:
                cursor.execute("SELECT citus_add_node(%s, %s)", node)
    except DatabaseError as error:
        raise NotPossible(f"The nodes could not be joined: {error}") from error


def prepare_worker(node: Node) -> None:
    """Create the database and its extension on a worker. Raises NotPossible."""
    mine = connection.settings_dict
    who = {"user": mine["USER"], "password": mine["PASSWORD"], "host": node.host, "port": node.port}
    try:
        with psycopg.connect(**who, dbname="postgres", autocommit=True) as other:
            found = other.execute("SELECT 1 FROM pg_database WHERE datname = %s", [mine["NAME"]]).fetchone()
            if not found:
                other.execute(sql.SQL("CREATE DATABASE {}").format(sql.Identifier(mine["NAME"])))
        with psycopg.connect(**who, dbname=mine["NAME"], autocommit=True) as other:
            other.execute("CREATE EXTENSION IF NOT EXISTS citus")
    except psycopg.Error as error:
        raise NotPossible(f"{node}: {error}") from error


def distribute(on_step: Callable[[SchemaStep], object] | None = None) -> int:
    """Run the missing steps in one transaction; return their number. Raises NotPossible."""
    try:
        with transaction.atomic():
            steps = missing_steps()
            with connection.cursor() as cursor:
                cursor.execute("SET LOCAL citus.multi_shard_modify_mode = 'sequential'")
                for step in steps:
                    for statement in step.statements:
                        cursor.execute(statement)
                    if on_step:
                        on_step(step)
    except DatabaseError as error:
        raise NotPossible(f"Citus refused a step; nothing was changed. {error}") from error
    if left := missing_steps() if steps else []:
        raise NotPossible(f"Incomplete, though no step failed: {'; '.join(step.what for step in left)}.")
    return len(steps)


class Command(BaseCommand):
    help = "Distributes the tables over the nodes of a Citus cluster. It is idempotent."

    requires_system_checks: list[str] = []  # they would query the database

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--check", action="store_true", help="only list missing changes")
        parser.add_argument(
            "--coordinator", type=Node.parse, metavar="HOST:PORT", help="how workers reach this server"
        )
        parser.add_argument(
            "--worker",
            type=Node.parse,
            metavar="HOST:PORT",
            action="append",
            default=[],
            help="add this node",
        )

    def handle(
        self, *, check: bool, coordinator: Node | None, worker: list[Node], **options: Any
    ) -> str | None:
        try:
            if check:
                self.report()
                return None
            if coordinator or worker:
                join_nodes(coordinator, worker)
            count = distribute(lambda step: self.stdout.write(step.what))
        except NotPossible as error:
            raise CommandError(str(error)) from error
        return f"{count} steps." if count else "All tables are distributed."

    def report(self) -> None:
        """List the steps that are missing. Raises CommandError where there are any."""
        steps = missing_steps()
        for step in steps:
            self.stdout.write(step.what)
        if steps:
            raise CommandError(f"{len(steps)} changes are missing: run `manage.py distribute`.")
        self.stdout.write("All tables are distributed.")
