"""Django database backend: PostgreSQL that starts itself at the first connection."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import psycopg

from operations.embedded.server import ServerUnavailable, socket_directory
from operations.postgres import base


class DatabaseWrapper(base.DatabaseWrapper):
    """``HOST`` holds the data folder; the server's socket folder takes its place once it runs."""

    def get_connection_params(self) -> dict[str, Any]:
        params: dict[str, Any] = super().get_connection_params()
        try:
            params["host"] = socket_directory(Path(self.settings_dict["HOST"]))
        except ServerUnavailable as error:
            raise psycopg.OperationalError(str(error)) from error  # Django makes it its own, and we a 503
        return params
