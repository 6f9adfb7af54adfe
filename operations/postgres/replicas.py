"""Send requests that only read documents or search to a replica, and keep reads consistent with writes.

The request asks the primary for the position of its write-ahead log and waits up to ``WAIT_SECONDS`` for a
replica that has replayed it. So a user reads what the user has just written, whichever web process answers,
and a right that was withdrawn is withdrawn at once. A replica that lags or does not answer is not used for
``LEFT_OUT_SECONDS``; without a usable replica the primary is read. Accounts, conversations and all writes go
to the primary.
"""

from __future__ import annotations

import logging
import random
import time
from collections.abc import Callable
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any

from django.db import DEFAULT_DB_ALIAS, DatabaseError, connections, models
from django.http import HttpRequest, HttpResponse

logger = logging.getLogger(__name__)
WAIT_SECONDS, POLL_SECONDS = 0.1, 0.005  # wait for a replica that lags; interval of its checks
LEFT_OUT_SECONDS = 5.0
CHOSEN_SECONDS = 1.0  # a request that lasts longer, such as a stream, chooses again
SEARCH = "/api/search/"  # a POST that only reads
DOCUMENTS = ("document", "page", "citationunit", "retrievalchunk", "collection", "tag")
INDEX = ("indexeddocument", "indexedchunk", "chunkvector", "embeddingspace")
READ_FROM_REPLICAS = {f"documents.{name}" for name in DOCUMENTS} | {f"retrieval.{name}" for name in INDEX}

LOG_OF_PRIMARY = "SELECT pg_current_wal_flush_lsn()::text"
HAS_REPLAYED = "SELECT pg_is_in_recovery() AND pg_last_wal_replay_lsn() >= %s::pg_lsn"


@dataclass(slots=True)
class ReadRoute:
    """The database alias that a request reads from; '' before its first read. ``until``: on the monotonic
    clock.
    """

    alias: str = ""
    until: float = 0.0

    def database(self) -> str:
        now = time.monotonic()
        if connections[DEFAULT_DB_ALIAS].in_atomic_block:  # it may have written
            return DEFAULT_DB_ALIAS
        if now >= self.until:
            self.alias, self.until = choose(), now + CHOSEN_SECONDS
        return self.alias

    def has_written(self) -> None:
        self.alias, self.until = DEFAULT_DB_ALIAS, float("inf")


_route: ContextVar[ReadRoute | None] = ContextVar("reading", default=None)
_left_out: dict[str, float] = {}  # until when, on the monotonic clock


def reads_from_replicas(
    get_response: Callable[[HttpRequest], HttpResponse],
) -> Callable[[HttpRequest], HttpResponse]:
    """Middleware: let requests that only read use replicas."""

    def answered(request: HttpRequest) -> HttpResponse:
        reads = request.method in ("GET", "HEAD") or request.path == SEARCH
        token = _route.set(ReadRoute() if reads and replicas() else None)
        try:
            return get_response(request)
        finally:
            _route.reset(token)

    return answered


class ReplicaRouter:
    """Django's database router: reads of ``READ_FROM_REPLICAS`` from a replica, all else from the primary."""

    def db_for_read(self, model: type[models.Model], **hints: Any) -> str:
        reading = _route.get()
        if reading is None or model._meta.label_lower not in READ_FROM_REPLICAS:
            return DEFAULT_DB_ALIAS
        return reading.database()

    def db_for_write(self, model: type[models.Model], **hints: Any) -> str:
        if (reading := _route.get()) and model._meta.label_lower in READ_FROM_REPLICAS:
            reading.has_written()
        return DEFAULT_DB_ALIAS

    def allow_relation(self, one: models.Model, other: models.Model, **hints: Any) -> bool:
        return True  # all hold the same rows

    def allow_migrate(self, database: str, app_label: str, **hints: Any) -> bool:
        return database == DEFAULT_DB_ALIAS


def replicas() -> list[str]:
    return [alias for alias in connections if alias != DEFAULT_DB_ALIAS]


def choose() -> str:
    """Return a replica that has replayed the primary's flushed log, else the primary."""
    now = time.monotonic()
    known = [alias for alias in replicas() if _left_out.get(alias, 0.0) <= now]
    if not known:
        return DEFAULT_DB_ALIAS
    with connections[DEFAULT_DB_ALIAS].cursor() as cursor:
        cursor.execute(LOG_OF_PRIMARY)
        (position,) = cursor.fetchone()
    for alias in random.sample(known, len(known)):
        try:
            if has_replayed(alias, position):
                return alias
            logger.warning("%s is behind: it is left out for %g s", alias, LEFT_OUT_SECONDS)
        except DatabaseError as error:
            connections[alias].close()
            logger.warning("%s does not answer, and is left out for %g s: %s", alias, LEFT_OUT_SECONDS, error)
        _left_out[alias] = time.monotonic() + LEFT_OUT_SECONDS
    return DEFAULT_DB_ALIAS


def has_replayed(alias: str, position: str) -> bool:
    """Return whether the replica reaches the position within ``WAIT_SECONDS``. Raises DatabaseError."""
    give_up_at = time.monotonic() + WAIT_SECONDS
    with connections[alias].cursor() as cursor:
        while True:
            cursor.execute(HAS_REPLAYED, [position])
            if cursor.fetchone()[0]:
                return True
            if time.monotonic() > give_up_at:
                return False
            time.sleep(POLL_SECONDS)
