"""Django database backend: PostgreSQL, with connections that are kept for who comes next."""

from __future__ import annotations

from typing import Any

import psycopg
from django.db.backends.postgresql import base
from django.db.backends.postgresql.psycopg_any import IsolationLevel

from config.postgres.kept import Database, kept


class DatabaseWrapper(base.DatabaseWrapper):
    def get_new_connection(self, conn_params: dict[str, Any]) -> psycopg.Connection:
        if connection := kept.take(self._database()):
            self.isolation_level = IsolationLevel.READ_COMMITTED
            return connection
        made: psycopg.Connection = super().get_new_connection(conn_params)
        return made

    def _close(self) -> None:
        sound = not (self.in_atomic_block or self.errors_occurred)
        if self.connection is None or not (sound and kept.put(self._database(), self.connection)):
            super()._close()  # type: ignore[misc]  # missing in the stubs

    def _database(self) -> Database:
        return self.alias, str(self.settings_dict["NAME"])
