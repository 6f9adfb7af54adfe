"""Django database backend that starts the embedded PostgreSQL at the first connection."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import psycopg

from operations.embedded.server import ServerUnavailable, socket_directory
from operations.postgres import base


class DatabaseWrapper(base.DatabaseWrapper):
    """``HOST`` is the data folder; connections use the socket folder of its server."""

    def get_connection_params(self) -> dict[str, Any]:
        params: dict[str, Any] = super().get_connection_params()
        try:
            params["host"] = socket_directory(Path(self.settings_dict["HOST"]))
        except ServerUnavailable as error:
            raise psycopg.OperationalError(str(error)) from error  # answered with 503
        return params
