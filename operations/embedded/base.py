"""Django database backend that starts the embedded PostgreSQL at the first connection."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import psycopg

from operations.embedded.server import ServerUnavailable, socket_directory
from operations.postgres import base
from operations.processes import set_niceness


class DatabaseWrapper(base.DatabaseWrapper):
    """``HOST`` is the data folder; connections use the socket folder of its server."""

    def get_connection_params(self) -> dict[str, Any]:
        params: dict[str, Any] = super().get_connection_params()
        try:
            params["host"] = socket_directory(Path(self.settings_dict["HOST"]))
        except ServerUnavailable as error:
            raise psycopg.OperationalError(str(error)) from error  # answered with 503
        return params

    def get_new_connection(self, conn_params: dict[str, Any]) -> psycopg.Connection:
        """Give PostgreSQL's process the niceness of this one: what a worker asks delays no request there."""
        connection = super().get_new_connection(conn_params)
        if niceness := os.nice(0):
            set_niceness(connection.info.backend_pid, niceness)
        return connection
