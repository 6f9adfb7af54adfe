"""State that processes on several hosts share through Redis (``PINCITE_REDIS``): cache, counters, notices.

Redis may fail at any time. Then the cache misses, counters continue in the database, and waiters poll the
database. After a failure, Redis is not used for ``AWAY_SECONDS``.

Notices are hints that something was stored. Without Redis they are sent by PostgreSQL's NOTIFY. A connection
pooler does not pass them on (LISTEN): then waiters only poll.
"""

from __future__ import annotations

import asyncio
import logging
import threading
import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import cache, partial
from typing import TYPE_CHECKING, Any, TypeVar

import psycopg
from django.conf import settings
from django.core import signing
from django.core.cache.backends.redis import RedisCache, RedisCacheClient
from django.db import connection
from django_q.signing import PickleSerializer

from documents.models import RateCount

if TYPE_CHECKING:
    from redis import Redis

logger = logging.getLogger(__name__)
AWAY_SECONDS = 5.0
ANSWER_SECONDS = 1.0  # time limit for a response of Redis
Result = TypeVar("Result")

_away_until = 0.0  # on the monotonic clock


_making_client = threading.Lock()


def redis_client() -> Redis:
    """Return the only Redis client of this process, safely from any thread.

    A second client would close connections in use when it is deleted.
    """
    with _making_client:
        return _new_client()


@cache
def _new_client() -> Redis:
    import redis

    return redis.Redis.from_url(
        settings.REDIS_URL, socket_timeout=ANSWER_SECONDS, socket_connect_timeout=ANSWER_SECONDS
    )


def attempt(work: Callable[[], Result], otherwise: Callable[[], Result]) -> Result:
    """Return the result of ``work``, which uses Redis; of ``otherwise`` if Redis fails."""
    global _away_until
    import redis

    if time.monotonic() >= _away_until:
        try:
            return work()
        except redis.RedisError as error:
            _away_until = time.monotonic() + AWAY_SECONDS
            logger.warning("Redis does not respond, and is not used for %g s: %s", AWAY_SECONDS, error)
    return otherwise()


# --- The cache ---

SALT = "documents.shared_state.cache"


class SignedValues:
    """Sign pickled values with the secret key: write access to Redis must not allow running code."""

    def dumps(self, value: Any) -> bytes:
        return signing.dumps(value, salt=SALT, serializer=PickleSerializer).encode()

    def loads(self, data: bytes) -> Any:
        """Return the value; None if the signature is invalid."""
        try:
            return signing.loads(data.decode(), salt=SALT, serializer=PickleSerializer)
        except (signing.BadSignature, UnicodeDecodeError):
            return None


class Client(RedisCacheClient):
    """Django's cache client without errors: a value that cannot be read is missing."""

    def __init__(self, servers: list[str], **options: Any) -> None:
        own: dict[str, Any] = {"serializer": SignedValues()}
        own |= {"socket_timeout": ANSWER_SECONDS, "socket_connect_timeout": ANSWER_SECONDS}
        super().__init__(servers, **own, **options)

    def get(self, key: Any, default: Any) -> Any:
        return attempt(lambda: super(Client, self).get(key, default), lambda: default)

    def set(self, key: Any, value: Any, timeout: Any) -> None:
        attempt(lambda: super(Client, self).set(key, value, timeout), lambda: None)

    def add(self, key: Any, value: Any, timeout: Any) -> bool:
        return attempt(lambda: bool(super(Client, self).add(key, value, timeout)), lambda: True)

    def delete(self, key: Any) -> bool:
        return attempt(lambda: bool(super(Client, self).delete(key)), lambda: False)


class SharedCache(RedisCache):
    """Django's cache backend, for ``get``, ``set``, ``add`` and ``delete``; others raise RedisError."""

    def __init__(self, server: str, params: dict[str, Any]) -> None:
        super().__init__(server, params)
        self._class = Client


# --- Counts of rate limits ---


def count(key: str, limit: int, seconds: int) -> int:
    """Count one use of ``key`` on all hosts. Return 0 when allowed, else the seconds to wait."""
    if not settings.REDIS_URL:
        return RateCount.take(key, limit, seconds)
    return attempt(lambda: _count_in_redis(key, limit, seconds), lambda: RateCount.take(key, limit, seconds))


def _count_in_redis(key: str, limit: int, seconds: int) -> int:
    """Count a use in Redis; as in the database, a window begins with its first use."""
    name = f"pincite:rate:{key}"
    with redis_client().pipeline(transaction=True) as steps:
        steps.set(name, 0, ex=seconds, nx=True)
        steps.incr(name)
        steps.ttl(name)
        _, counted, left = steps.execute()
    return 0 if counted <= limit else max(1, left)


def uncount(key: str) -> None:
    """Undo one ``count``."""
    if settings.REDIS_URL:
        attempt(lambda: _uncount_in_redis(key), lambda: None)
    RateCount.give_back(key)


def _uncount_in_redis(key: str) -> None:
    name = f"pincite:rate:{key}"
    if redis_client().exists(name):
        redis_client().decr(name)


# --- Announcements: notify waiters that something was stored ---

CHANNEL = "pincite_stored"
NAMES_A_NOTICE = 200  # PostgreSQL limits a notice to 8,000 bytes
SILENCE_SECONDS = 1.0  # between two checks whether anybody still waits
Wake = Callable[[], None]


def announce(names: Iterable[str]) -> None:
    """Notify those who wait for these names. Call it after the commit. Raises DatabaseError."""
    listed = list(names)
    for start in range(0, len(listed), NAMES_A_NOTICE):
        notice = " ".join(listed[start : start + NAMES_A_NOTICE])
        if settings.REDIS_URL:
            attempt(partial(_publish, notice), lambda: None)
        elif not settings.DATABASE_POOLER:
            with connection.cursor() as cursor:
                cursor.execute("SELECT pg_notify(%s, %s)", [CHANNEL, notice])


def _publish(notice: str) -> None:
    redis_client().publish(CHANNEL, notice)


class Announcements:
    """Listen with one thread and one connection of this process, while anybody waits."""

    def __init__(self) -> None:
        self._waiting: dict[str, set[Wake]] = defaultdict(set)
        self._lock = threading.Lock()
        self._thread: threading.Thread | None = None
        self.heard = False  # whether the connection works

    @contextmanager
    def of(self, name: str) -> Iterator[asyncio.Event]:
        """Yield an event of the running loop, set whenever something of that name was announced."""
        loop, happened = asyncio.get_running_loop(), asyncio.Event()

        def wake() -> None:
            with suppress(RuntimeError):  # the loop has ended
                loop.call_soon_threadsafe(happened.set)

        with self._lock:
            self._waiting[name].add(wake)
            if self._thread is None and (settings.REDIS_URL or not settings.DATABASE_POOLER):
                self._thread = threading.Thread(target=self._listen, name="announcements", daemon=True)
                self._thread.start()
        try:
            yield happened
        finally:
            with self._lock:
                self._waiting[name].discard(wake)
                if not self._waiting[name]:
                    del self._waiting[name]

    def _listen(self) -> None:
        while True:
            try:
                for notice in from_redis() if settings.REDIS_URL else from_postgres():
                    self.heard = True
                    self._wake(notice.split())
                    if not notice and self._stop_if_idle():
                        return
            except Exception as error:  # of either source; waiters poll meanwhile
                logger.warning("announcements cannot be received: %s", error)
            self.heard = False
            if self._stop_if_idle():
                return
            time.sleep(AWAY_SECONDS)

    def _wake(self, names: Sequence[str]) -> None:
        with self._lock:
            wakers = [wake for name in names for wake in self._waiting.get(name, ())]
        for wake in wakers:
            wake()

    def _stop_if_idle(self) -> bool:
        with self._lock:
            if not self._waiting:
                self._thread, self.heard = None, False
            return not self._waiting


announcements = Announcements()


def from_redis() -> Iterator[str]:
    """Yield notices, and '' after ``SILENCE_SECONDS`` without one. Raises RedisError."""
    client: Any = redis_client()  # its pubsub has no types
    with client.pubsub() as source:
        source.subscribe(CHANNEL)
        while True:
            found = source.get_message(timeout=SILENCE_SECONDS)
            yield found["data"].decode() if found and found["type"] == "message" else ""


def from_postgres() -> Iterator[str]:
    """Yield notices, and '' after ``SILENCE_SECONDS`` without one. Raises psycopg.Error."""
    with psycopg.connect(**listening_parameters(), autocommit=True) as source:
        source.execute(f"LISTEN {CHANNEL}")
        while True:
            yield ""
            for found in source.notifies(timeout=SILENCE_SECONDS):
                yield found.payload


def listening_parameters() -> dict[str, Any]:
    parameters = connection.get_connection_params()
    return {name: value for name, value in parameters.items() if name not in ("cursor_factory", "context")}
