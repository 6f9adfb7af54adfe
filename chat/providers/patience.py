"""Reads a provider's stream with time limits, retries, and an ear for the cancel button.

The stream is read in a thread of its own: a server that says nothing would
otherwise keep the answer from noticing that nobody waits any more.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from queue import Empty, Queue

from chat.prompting import Prompt
from chat.providers.base import Delta, Finished, Provider
from retrieval.providers.errors import ProviderError

LISTEN_SECONDS = 0.1  # how late a cancel may be noticed
LONGEST_BACKOFF = 20.0


class Cancelled(Exception):
    """Somebody asked for the answer to stop."""


@dataclass(frozen=True, slots=True)
class Limits:
    """Seconds without a word, seconds for the whole answer, tries, seconds before the second try."""

    silence: float = 60
    total: float = 300
    attempts: int = 3
    backoff: float = 1


def read(provider: Provider, prompt: Prompt, limits: Limits, cancelled: threading.Event) -> Iterator[Delta]:
    """The provider's deltas. Retries only while nothing has come.

    Raises Cancelled, or ProviderError when it failed for good, took too long,
    or broke off without ``Finished``.
    """
    deadline = time.monotonic() + limits.total
    for attempt in range(1, limits.attempts + 1):
        delivered = False
        try:
            for delta in _read_once(provider, prompt, limits.silence, deadline, cancelled):
                delivered = True
                yield delta
            return
        except ProviderError as error:
            if delivered or error.permanent or attempt == limits.attempts:
                raise
            wait = error.retry_after or limits.backoff * 2 ** (attempt - 1)
            if wait > LONGEST_BACKOFF or time.monotonic() + wait > deadline:
                raise
            if cancelled.wait(wait):
                raise Cancelled from None


def _read_once(
    provider: Provider, prompt: Prompt, silence: float, deadline: float, cancelled: threading.Event
) -> Iterator[Delta]:
    queue: Queue[Delta | ProviderError | None] = Queue()
    abandoned = threading.Event()
    threading.Thread(target=_pump, args=(provider, prompt, queue, abandoned), daemon=True).start()
    finished = False
    try:
        while (delta := _next(queue, silence, deadline, cancelled)) is not None:
            if isinstance(delta, ProviderError):
                raise delta
            finished = finished or isinstance(delta, Finished)
            yield delta
    finally:
        abandoned.set()
    if not finished:
        raise ProviderError("The model's answer broke off.")


def _next(
    queue: Queue[Delta | ProviderError | None], silence: float, deadline: float, cancelled: threading.Event
) -> Delta | ProviderError | None:
    quiet_until = min(time.monotonic() + silence, deadline)
    while True:
        if cancelled.is_set():
            raise Cancelled
        if time.monotonic() > quiet_until:
            raise ProviderError("The model took too long to answer.")
        with suppress(Empty):
            return queue.get(timeout=LISTEN_SECONDS)


def _pump(
    provider: Provider, prompt: Prompt, queue: Queue[Delta | ProviderError | None], abandoned: threading.Event
) -> None:
    try:
        for delta in provider.stream(prompt):
            queue.put(delta)
            if abandoned.is_set():
                return
        queue.put(None)
    except ProviderError as error:
        queue.put(error)
    except Exception:
        queue.put(ProviderError("The model failed in an unknown way."))
