"""How many connections each kind of work may have: what finds none waits its turn, and nobody takes all.

PostgreSQL has a fixed number of places. Under ASGI each request has a thread of its own, so without a bound a
hundred requests at once take them all, those of workers and of the health check too. Here each kind of work
has a lane of its own. Within a lane, who came first is served first; who waited too long gets an
OperationalError, which is answered with 503 and Retry-After.

psycopg's pool has such a bound and such a queue. It is not used: while PostgreSQL is away it lets everybody
wait for the whole time limit instead of failing at once, it needs a pool and three threads for each lane, and
the embedded server is started by the first process that cannot connect. ``base.ConnectionPool`` keeps the
idle connections.
"""

from __future__ import annotations

import os
import threading
from collections import deque
from contextvars import ContextVar
from dataclasses import dataclass, field
from enum import StrEnum

import psycopg

WAIT_SECONDS = 30.0


class Kind(StrEnum):
    """What a connection is for."""

    REQUEST = "request"  # by somebody who has shown who they are
    ANONYMOUS = "anonymous"  # by anybody else, so far
    ADMIN = "admin"
    HEALTH = "health"
    BACKGROUND = "background"  # threads of our own: answers that are written, and what saves them


class NoConnectionFree(psycopg.OperationalError):
    """All connections of a lane were taken for as long as one may wait."""


@dataclass(slots=True)
class ConnectionLimit:
    """Places, and those who wait for one, in the order in which they came."""

    places: int
    taken: int = 0
    waiting: deque[threading.Event] = field(default_factory=deque)
    lock: threading.Lock = field(default_factory=threading.Lock)

    def enter(self, seconds: float) -> None:
        """Raises NoneFree."""
        with self.lock:
            if self.taken < self.places and not self.waiting:
                self.taken += 1
                return
            turn = threading.Event()
            self.waiting.append(turn)
        if turn.wait(seconds):
            return
        with self.lock:
            if turn.is_set():  # in that very moment
                return
            self.waiting.remove(turn)
        raise NoConnectionFree(f"no connection became free within {seconds:g} seconds")

    def leave(self) -> None:
        with self.lock:
            if self.waiting:
                self.waiting.popleft().set()  # who waited longest takes the place
            else:
                self.taken -= 1


@dataclass(slots=True)
class ConnectionLimits:
    """Of this process. Nothing is bounded until ``begin``: workers and commands have a connection or two."""

    limits: dict[Kind, ConnectionLimit] = field(default_factory=dict)
    process: int = 0

    def begin(self, requests: int) -> None:
        """Bounds connections: ``requests`` for signed-in people, and some for each other kind of work."""
        self.limits = {kind: ConnectionLimit(places) for kind, places in places_for(requests).items()}
        self.process = os.getpid()

    def end(self) -> None:
        self.process = 0

    def enter(self) -> ConnectionLimit | None:
        """Takes a place for the work at hand; None where nothing is bounded. Raises NoneFree."""
        if self.process != os.getpid():
            return None
        lane = self.limits[current_kind.get()]
        lane.enter(WAIT_SECONDS)
        return lane


def places_for(requests: int) -> dict[Kind, int]:
    """Places of each lane in a web process."""
    return {
        Kind.REQUEST: requests,
        Kind.ANONYMOUS: max(2, requests // 4),
        Kind.ADMIN: 3,
        Kind.HEALTH: 2,
        Kind.BACKGROUND: max(4, requests // 2),
    }


def most_connections(requests: int) -> int:
    """The most that one web process ever has."""
    return sum(places_for(requests).values())


current_kind: ContextVar[Kind] = ContextVar("current_kind", default=Kind.BACKGROUND)
connection_limits = ConnectionLimits()
