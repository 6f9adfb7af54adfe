"""Django database backend: PostgreSQL, with a bounded number of connections, kept for who comes next."""

from __future__ import annotations

import os
import select
import threading
import time
from typing import Any

import psycopg
from django.db import DEFAULT_DB_ALIAS
from django.db.backends.postgresql import base
from django.db.backends.postgresql.operations import DatabaseOperations as Operations
from django.db.backends.postgresql.psycopg_any import IsolationLevel
from django.db.backends.utils import CursorWrapper
from psycopg.pq import Format, TransactionStatus

from operations.postgres.connection_limits import ConnectionLimit, connection_limits

# --- A small pool of idle connections for each process: a new connection costs 3 to 15 ms ---
#
# Django's CONN_MAX_AGE does not help under ASGI: each request has a thread of its own, so nobody would reuse
# the connection. Django's pool lets requests wait while PostgreSQL is away, where a 503 at once is better.
# ``connection_limits`` bounds the number of connections.

MOST = 4  # a request that finds none makes one
LONGEST_SECONDS = 60.0  # without use

Database = tuple[str, str]  # Django's alias, and the name: tests and `migrate` reach others by the same alias


class ConnectionPool:
    """Of this process. The last one back is the first to be taken; any thread may take it.

    Nothing is kept until ``begin``: worker processes fork, tests drop their
    databases, commands end.
    """

    def __init__(self) -> None:
        self._free: list[tuple[Database, psycopg.Connection, float]] = []
        self._lock = threading.Lock()
        self._process = 0

    def begin(self) -> None:
        self._process = os.getpid()

    def end(self) -> None:
        self._process = 0
        while self._free:
            self._free.pop()[1].close()

    def take(self, database: Database) -> psycopg.Connection | None:
        """One whose server has not hung up; None when there is none."""
        while found := self._last(database):
            connection, since = found
            if time.monotonic() - since < LONGEST_SECONDS and is_quiet(connection):
                return connection
            connection.close()
        return None

    def put(self, database: Database, connection: psycopg.Connection) -> bool:
        """Whether it is kept; otherwise it is the caller's to close."""
        idle = not connection.closed and connection.info.transaction_status == TransactionStatus.IDLE
        if not (idle and self._keeps()):
            return False
        now = time.monotonic()
        with self._lock:
            old = [entry for entry in self._free if now - entry[2] >= LONGEST_SECONDS]
            self._free = [entry for entry in self._free if entry not in old]
            if has_room := len(self._free) < MOST:
                self._free.append((database, connection, now))
        for _, unused, _ in old:  # fewer are needed than once were
            unused.close()
        return has_room

    def _last(self, database: Database) -> tuple[psycopg.Connection, float] | None:
        if not self._keeps():
            return None
        with self._lock:
            for place in reversed(range(len(self._free))):
                if self._free[place][0] == database:
                    return self._free.pop(place)[1:]
        return None

    def _keeps(self) -> bool:
        return self._process == os.getpid()


def is_quiet(connection: psycopg.Connection) -> bool:
    """Whether the server has said nothing since the last answer: its end, or its farewell, can be read."""
    try:
        poll = select.poll()
        poll.register(connection.fileno(), select.POLLIN | select.POLLHUP)
        return not poll.poll(0)
    except (OSError, psycopg.Error):
        return False


connection_pool = ConnectionPool()


PREPARED_AFTER = 2  # times that a connection was asked the same

# Citus opens several connections to a node for one statement, and refuses to write in the same transaction
# what they have read. In a transaction it is therefore to use one.
HAS_CITUS = "SELECT EXISTS (SELECT FROM pg_extension WHERE extname = 'citus')"
ONE_CONNECTION_A_NODE = "SET LOCAL citus.multi_shard_modify_mode = 'sequential'"
_has_citus: dict[Database, bool] = {}  # looked up once by each process


class DatabaseOperations(Operations):
    def last_executed_query(self, cursor: psycopg.Cursor, sql: str, params: Any) -> str:
        """For the log: with the parameters in it, also where they were sent apart."""
        if isinstance(cursor, psycopg.ClientCursor):
            return super().last_executed_query(cursor, sql, params)
        return psycopg.ClientCursor(cursor.connection).mogrify(sql, params)


class DatabaseWrapper(base.DatabaseWrapper):
    ops_class = DatabaseOperations
    _lane: ConnectionLimit | None = None

    def get_connection_params(self) -> dict[str, Any]:
        threshold = self.settings_dict["OPTIONS"].get("prepare_threshold", PREPARED_AFTER)
        return {**super().get_connection_params(), "prepare_threshold": threshold}

    def prepared_cursor(self) -> CursorWrapper:
        """For what is asked again and again: PostgreSQL plans it once a connection, and answers in binary.

        Django's own cursors write parameters into the statement, so that no two are the same.
        """
        self.ensure_connection()
        with self.wrap_database_errors:
            cursor = psycopg.Cursor(self.connection)
        cursor.format = Format.BINARY
        wrapped: CursorWrapper = self._prepare_cursor(cursor)  # type: ignore[attr-defined]  # missing in the stubs
        return wrapped

    def get_new_connection(self, conn_params: dict[str, Any]) -> psycopg.Connection:
        # Who reads from a replica has a place on the primary already: nobody waits for a second one.
        lane = connection_limits.enter() if self.alias == DEFAULT_DB_ALIAS else None
        try:
            connection = self._kept_or_new(conn_params)
        except BaseException:
            if lane:
                lane.leave()
            raise
        self._lane = lane
        return connection

    def init_connection_state(self) -> None:
        super().init_connection_state()
        if self._database() not in _has_citus:
            _has_citus[self._database()] = self.connection.execute(HAS_CITUS).fetchone()[0]

    def _set_autocommit(self, autocommit: bool) -> None:
        super()._set_autocommit(autocommit)  # type: ignore[misc]  # missing in the stubs
        if not autocommit and _has_citus.get(self._database()):
            with self.wrap_database_errors:
                self.connection.execute(ONE_CONNECTION_A_NODE)

    def _kept_or_new(self, conn_params: dict[str, Any]) -> psycopg.Connection:
        if connection := connection_pool.take(self._database()):
            self.isolation_level = IsolationLevel.READ_COMMITTED
            return connection
        made: psycopg.Connection = super().get_new_connection(conn_params)
        return made

    def _close(self) -> None:
        sound = not (self.in_atomic_block or self.errors_occurred)
        try:
            if self.connection is None or not (
                sound and connection_pool.put(self._database(), self.connection)
            ):
                super()._close()  # type: ignore[misc]  # missing in the stubs
        finally:
            if self._lane:
                self._lane.leave()
                self._lane = None

    def __del__(self) -> None:
        """Give the place back that a thread took and forgot."""
        if self._lane:
            self._lane.leave()

    def _database(self) -> Database:
        return self.alias, str(self.settings_dict["NAME"])
