"""A Citus cluster for tests: ``python -m tests.citus_nodes BIN COMMAND…`` runs a command on one.

``BIN`` is the folder of the programs of a PostgreSQL that has Citus and pgvector. A coordinator and two
workers are started on loopback ports, ``DATABASE_URL`` is set, and they are stopped behind the command.
"""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import psycopg

from operations.embedded import server
from operations.management.commands import distribute as citus
from operations.postgres import base

NODES = 3
OPTIONS = {
    "listen_addresses": "127.0.0.1",
    "shared_preload_libraries": "citus",
    "citus.shard_count": "4",
    "citus.enable_change_data_capture": "off",
    "shared_buffers": "64MB",
    "max_connections": "200",
    "fsync": "off",
    "synchronous_commit": "off",
    "full_page_writes": "off",
    "jit": "off",
}


class CitusNode:
    """A PostgreSQL with Citus in a folder of its own, on a loopback port."""

    def __init__(self, binaries: Path, folder: Path) -> None:
        self.binaries, self.data = binaries, folder
        folder.mkdir(mode=0o700)
        server.open_to(server.unprivileged_user(), folder)
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        self._run("initdb", *server.INITDB_OPTIONS)

    def start(self) -> None:
        options = " ".join(f"-c {name}={value}" for name, value in OPTIONS.items())
        options = f"--options=-k {self.data} -p {self.port} {options}"
        self._run("pg_ctl", "start", "--silent", "--wait", f"--log={self.data}/log", options)

    def stop(self) -> None:
        self._run("pg_ctl", "stop", "--silent", "--wait", "--mode=immediate")

    def _run(self, program: str, *arguments: str) -> None:
        command = [str(self.binaries / program), *arguments, f"--pgdata={self.data}"]
        who = server.as_user(server.unprivileged_user())
        subprocess.run(command, check=True, cwd="/", stdout=subprocess.DEVNULL, **who)


@contextmanager
def cluster(binaries: Path) -> Iterator[list[CitusNode]]:
    """A coordinator and its workers, all running; the database ``pincite`` joins them."""
    folder = Path(tempfile.mkdtemp(prefix="citus-"))
    server.open_to(server.unprivileged_user(), folder)
    nodes = [CitusNode(binaries, folder / str(number)) for number in range(NODES)]
    started = []
    try:
        for node in nodes:
            node.start()
            started.append(node)
        join(nodes)
        yield nodes
    finally:
        for node in started:
            node.stop()
        shutil.rmtree(folder, ignore_errors=True)


def join(nodes: Sequence[CitusNode]) -> None:
    for node in nodes:
        make_database("pincite", node.port)
    with connected("pincite", nodes[0].port) as coordinator:
        coordinator.execute("SELECT citus_set_coordinator_host('127.0.0.1', %s)", [nodes[0].port])
        for worker in nodes[1:]:
            coordinator.execute("SELECT citus_add_node('127.0.0.1', %s)", [worker.port])


def make_database(name: str, port: int) -> None:
    with connected("postgres", port) as maintenance:
        maintenance.execute(f'CREATE DATABASE "{name}"')
    with connected(name, port) as made:
        made.execute("CREATE EXTENSION citus")


def connected(name: str, port: int) -> psycopg.Connection:
    return psycopg.connect(host="127.0.0.1", port=port, user="postgres", dbname=name, autocommit=True)


def place_test_database() -> None:
    """Join the tests' database to the nodes of the one that ``DATABASE_URL`` names; nothing elsewhere."""
    from django.conf import settings
    from django.db import connection

    mine = connection.settings_dict
    url = settings.DATABASE_URL
    if not url:
        return
    with psycopg.connect(url) as named:
        if not named.execute("SELECT 1 FROM pg_extension WHERE extname = 'citus'").fetchone():
            return
        found = named.execute(citus.NODES).fetchall()
    nodes = {group: citus.Node(host, port) for host, port, group, _ in found}
    workers = [node for group, node in nodes.items() if group]
    for worker in () if citus.has_citus() else workers:  # of a run that was cut off
        with connected("postgres", worker.port) as other:
            other.execute(f'DROP DATABASE IF EXISTS "{mine["NAME"]}" WITH (FORCE)')
    citus.join_nodes(nodes[0], workers)
    citus.distribute()
    base._has_citus.clear()  # asked before there was
    connection.close()


def main(binaries: str, *command: str) -> int:
    with cluster(Path(binaries)) as nodes:
        url = f"postgres://postgres@127.0.0.1:{nodes[0].port}/pincite"
        # The thread that renews a lease would wait for the transaction that a test runs in: writes to a
        # reference table wait for each other, and the test waits for the thread.
        own = {"DJANGO_SETTINGS_MODULE": "tests.citus_settings", "DATABASE_URL": url}
        return subprocess.run(command, env={**os.environ, **own}, check=False).returncode


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
