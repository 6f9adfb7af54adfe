"""Django database backend: PostgreSQL that starts itself at the first connection."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from django.db.backends.postgresql import base

from config.embedded.server import socket_directory


class DatabaseWrapper(base.DatabaseWrapper):
    """``HOST`` holds the data folder; the server's socket folder takes its place once it runs."""

    def get_connection_params(self) -> dict[str, Any]:
        params: dict[str, Any] = super().get_connection_params()
        params["host"] = socket_directory(Path(self.settings_dict["HOST"]))
        return params
