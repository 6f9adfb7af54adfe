"""Django database backend for PostgreSQL, with a limited number of pooled connections."""

from __future__ import annotations

import os
import select
import threading
import time
from collections import deque
from contextvars import ContextVar
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

import psycopg
from django.db import DEFAULT_DB_ALIAS
from django.db.backends.postgresql import base
from django.db.backends.postgresql.operations import DatabaseOperations as Operations
from django.db.backends.postgresql.psycopg_any import IsolationLevel
from django.db.backends.utils import CursorWrapper
from django.db.utils import DatabaseErrorWrapper
from django.utils.functional import cached_property
from psycopg.pq import Format, TransactionStatus

from operations.interrupts import watcher

# --- Limits on connections by kind of work ---
#
# PostgreSQL accepts a fixed number of connections. Under ASGI each request has its own thread, so a hundred
# concurrent requests would use all of them, also those of workers and health checks. So each kind of work has
# its own limit and a first-in, first-out queue. A thread that waits too long gets an OperationalError, which
# becomes 503 with Retry-After.
#
# psycopg's pool also has a limit and a queue. It is not used: while PostgreSQL is down it lets each request
# wait for the whole time limit instead of failing at once, it needs a pool with three threads per kind, and
# the embedded server is started by the first process that cannot connect.

WAIT_SECONDS = 30.0
STATEMENT_SECONDS = 60  # of a request's statement, by the clock: PostgreSQL has no limit of processor time


class ConnectionKind(StrEnum):
    """The purpose of a connection."""

    REQUEST = "request"  # of authenticated users
    ANONYMOUS = "anonymous"  # not authenticated yet
    ADMIN = "admin"
    HEALTH = "health"
    BACKGROUND = "background"  # our own threads, which write and store answers


class NoConnectionFree(psycopg.OperationalError):
    """No connection of this kind became free within the time limit."""


@dataclass(slots=True)
class ConnectionLimit:
    """A limit on open connections, and a first-in, first-out queue of waiting threads."""

    places: int
    taken: int = 0
    waiting: deque[threading.Event] = field(default_factory=deque)
    lock: threading.Lock = field(default_factory=threading.Lock)

    def enter(self, seconds: float) -> None:
        """Wait for a free place. Raises NoConnectionFree."""
        with self.lock:
            if self.taken < self.places and not self.waiting:
                self.taken += 1
                return
            turn = threading.Event()
            self.waiting.append(turn)
        if turn.wait(seconds):
            return
        with self.lock:
            if turn.is_set():  # a place became free at the time limit
                return
            self.waiting.remove(turn)
        raise NoConnectionFree(f"no connection became free within {seconds:g} seconds")

    def leave(self) -> None:
        with self.lock:
            if self.waiting:
                self.waiting.popleft().set()  # the place goes to the first in the queue
            else:
                self.taken -= 1


@dataclass(slots=True)
class ConnectionLimits:
    """The limits of this process. There are none before ``begin``: workers and commands need one or two
    connections.
    """

    limits: dict[ConnectionKind, ConnectionLimit] = field(default_factory=dict)
    process: int = 0

    def begin(self, requests: int) -> None:
        """Set the limits: ``requests`` for signed-in users, and a share for each other kind."""
        self.limits = {kind: ConnectionLimit(places) for kind, places in places_for(requests).items()}
        self.process = os.getpid()

    def end(self) -> None:
        self.process = 0

    def enter(self) -> ConnectionLimit | None:
        """Take a place for the current kind of work; None without limits. Raises NoConnectionFree."""
        if self.process != os.getpid():
            return None
        lane = self.limits[current_kind.get()]
        lane.enter(WAIT_SECONDS)
        return lane


def places_for(requests: int) -> dict[ConnectionKind, int]:
    """Return the limit of each kind in a web process."""
    return {
        ConnectionKind.REQUEST: requests,
        ConnectionKind.ANONYMOUS: max(2, requests // 4),
        ConnectionKind.ADMIN: 3,
        ConnectionKind.HEALTH: 2,
        ConnectionKind.BACKGROUND: max(4, requests // 2),
    }


def most_connections(requests: int) -> int:
    """Return the maximum number of connections of one web process."""
    return sum(places_for(requests).values())


current_kind: ContextVar[ConnectionKind] = ContextVar("current_kind", default=ConnectionKind.BACKGROUND)
connection_limits = ConnectionLimits()


# --- A small pool of idle connections for each process: a new connection costs 3 to 15 ms ---
#
# Django's CONN_MAX_AGE does not help under ASGI: each request has its own thread, so no other request would
# reuse the connection.

MOST = 4  # a request opens one if the pool is empty
LONGEST_SECONDS = 60.0  # unused

Database = tuple[str, str, bool]
"""Django's alias; the database's name, as tests and `migrate` use the alias for other databases; whether
statements have a time limit."""


class ConnectionPool:
    """The idle connections of this process, for any thread; the last one returned is used first.

    Connections are not kept before ``begin``, since worker processes fork, tests drop databases and commands
    end.
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
        """Return a connection whose server has not closed it; None without one."""
        while found := self._last(database):
            connection, since = found
            if time.monotonic() - since < LONGEST_SECONDS and is_quiet(connection):
                return connection
            connection.close()
        return None

    def put(self, database: Database, connection: psycopg.Connection) -> bool:
        """Keep it in the place of the longest unused one; return False where the caller must close it."""
        idle = not connection.closed and connection.info.transaction_status == TransactionStatus.IDLE
        if not (idle and self._keeps()):
            return False
        now = time.monotonic()
        with self._lock:
            free = [*self._free, (database, connection, now)]
            self._free = [entry for entry in free if now - entry[2] < LONGEST_SECONDS][-MOST:]
            unused = [entry for entry in free if entry not in self._free]
        for _, other, _ in unused:
            other.close()
        return True

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
    """Return whether the connection has nothing to read, neither end of file nor an error."""
    try:
        poll = select.poll()
        poll.register(connection.fileno(), select.POLLIN | select.POLLHUP)
        return not poll.poll(0)
    except (OSError, psycopg.Error):
        return False


connection_pool = ConnectionPool()


PREPARED_AFTER = 2  # executions of a statement on one connection before it is prepared

# Citus opens several connections to a node for one statement, and then refuses to write in the same
# transaction. So it must use a single connection within transactions.
HAS_CITUS = "SELECT EXISTS (SELECT FROM pg_extension WHERE extname = 'citus')"
ONE_CONNECTION_A_NODE = "SET LOCAL citus.multi_shard_modify_mode = 'sequential'"
_has_citus: dict[Database, bool] = {}  # cached for the process


# Message of the InternalError that Citus raises when a node dies within a transaction.
NODE_LOST = "failure on connection marked as essential"


class DatabaseErrors(DatabaseErrorWrapper):
    """Raise OperationalError for a lost Citus node, as for a lost server, so that callers repeat the work."""

    def __exit__(self, exc_type: Any, exc_value: Any, traceback: Any) -> None:
        if isinstance(exc_value, psycopg.errors.InternalError_) and NODE_LOST in str(exc_value):
            exc_value = psycopg.errors.ConnectionFailure(*exc_value.args).with_traceback(traceback)
            exc_type = type(exc_value)
        super().__exit__(exc_type, exc_value, traceback)


class DatabaseOperations(Operations):
    def last_executed_query(self, cursor: psycopg.Cursor, sql: str, params: Any) -> str:
        """Return the statement for the log, with its parameters, also where they were sent separately."""
        if isinstance(cursor, psycopg.ClientCursor):
            return super().last_executed_query(cursor, sql, params)
        return psycopg.ClientCursor(cursor.connection).mogrify(sql, params)


class DatabaseWrapper(base.DatabaseWrapper):
    ops_class = DatabaseOperations
    _lane: ConnectionLimit | None = None
    _limited = False  # its statements, while it is connected

    @cached_property
    def wrap_database_errors(self) -> DatabaseErrors:
        return DatabaseErrors(self)

    def get_connection_params(self) -> dict[str, Any]:
        threshold = self.settings_dict["OPTIONS"].get("prepare_threshold", PREPARED_AFTER)  # Django's is None
        parameters = {**super().get_connection_params(), "prepare_threshold": threshold}
        if self._is_limited():
            limit = f"-c statement_timeout={STATEMENT_SECONDS}s"
            parameters["options"] = f"{parameters.get('options', '')} {limit}"
        return parameters

    def keep_unused(self) -> None:
        """Keep the connections of this process when they are closed."""
        connection_pool.begin()

    def prepared_cursor(self) -> CursorWrapper:
        """Return a cursor for frequent statements: prepared once per connection, with binary results.

        Django's cursors interpolate parameters, so their statements are never equal and cannot be prepared.
        """
        self.ensure_connection()
        with self.wrap_database_errors:
            cursor = psycopg.Cursor(self.connection)
        cursor.format = Format.BINARY
        wrapped: CursorWrapper = self._prepare_cursor(cursor)  # type: ignore[attr-defined]  # missing in the stubs
        return wrapped

    def get_new_connection(self, conn_params: dict[str, Any]) -> psycopg.Connection:
        self._limited = self._is_limited()
        # A request that reads from a replica already counts on the primary, so it is not counted twice.
        with watcher.shielded():
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
        """Release the limit of a thread that ended without closing its connection."""
        if self._lane:
            self._lane.leave()

    def _database(self) -> Database:
        return self.alias, str(self.settings_dict["NAME"]), self._limited

    def _is_limited(self) -> bool:
        """Return whether this serves a request. PgBouncer refuses the option: set it on the role."""
        pooled = self.settings_dict["OPTIONS"].get("prepare_threshold", PREPARED_AFTER) is None
        in_request = current_kind.get() != ConnectionKind.BACKGROUND
        return in_request and connection_limits.process == os.getpid() and not pooled
