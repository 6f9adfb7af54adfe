"""Django database backend: PostgreSQL, with a bounded number of connections, kept for who comes next."""

from __future__ import annotations

from typing import Any

import psycopg
from django.db.backends.postgresql import base
from django.db.backends.postgresql.operations import DatabaseOperations as Operations
from django.db.backends.postgresql.psycopg_any import IsolationLevel
from django.db.backends.utils import CursorWrapper
from psycopg.pq import Format

from config.postgres.kept import Database, kept
from config.postgres.lanes import Lane, lanes

PREPARED_AFTER = 2  # times that a connection was asked the same


class DatabaseOperations(Operations):
    def last_executed_query(self, cursor: psycopg.Cursor, sql: str, params: Any) -> str:
        """For the log: with the parameters in it, also where they were sent apart."""
        if isinstance(cursor, psycopg.ClientCursor):
            return super().last_executed_query(cursor, sql, params)
        return psycopg.ClientCursor(cursor.connection).mogrify(sql, params)


class DatabaseWrapper(base.DatabaseWrapper):
    ops_class = DatabaseOperations
    _lane: Lane | None = None

    def get_connection_params(self) -> dict[str, Any]:
        return {**super().get_connection_params(), "prepare_threshold": PREPARED_AFTER}

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
        lane = lanes.enter()
        try:
            connection = self._kept_or_new(conn_params)
        except BaseException:
            if lane:
                lane.leave()
            raise
        self._lane = lane
        return connection

    def _kept_or_new(self, conn_params: dict[str, Any]) -> psycopg.Connection:
        if connection := kept.take(self._database()):
            self.isolation_level = IsolationLevel.READ_COMMITTED
            return connection
        made: psycopg.Connection = super().get_new_connection(conn_params)
        return made

    def _close(self) -> None:
        sound = not (self.in_atomic_block or self.errors_occurred)
        try:
            if self.connection is None or not (sound and kept.put(self._database(), self.connection)):
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
