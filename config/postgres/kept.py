"""Connections that are free: to take one saves the 3 to 15 ms in which PostgreSQL makes another.

Neither Django's CONN_MAX_AGE nor its pool serve here. Under ASGI each request has
a thread of its own, so the one would keep a connection for nobody; the other
lets requests wait while PostgreSQL is away, where a 503 at once is better. How
many there are in all, ``lanes`` bounds.
"""

from __future__ import annotations

import os
import select
import threading
import time

import psycopg
from psycopg.pq import TransactionStatus

MOST = 4  # a request that finds none makes one
LONGEST_SECONDS = 60.0  # without use

Database = tuple[str, str]  # Django's alias, and the name: tests and `migrate` reach others by the same alias


class KeptConnections:
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


kept = KeptConnections()
