"""Calls that may hang, given so much time and no more."""

from __future__ import annotations

import time
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from concurrent.futures import TimeoutError as FutureTimeout
from dataclasses import dataclass
from typing import Generic, TypeVar

from retrieval.providers.errors import ProviderError

Answer = TypeVar("Answer")

# A call that outlives its deadline keeps its thread until its own time-out ends it.
_threads = ThreadPoolExecutor(max_workers=32, thread_name_prefix="search")


@dataclass(frozen=True, slots=True)
class Asked(Generic[Answer]):
    """A call under way in another thread, with ``seconds`` since ``start`` to answer in."""

    future: Future[Answer]
    seconds: float
    start: float

    def answer(self) -> Answer:
        """May be asked for again. Raises ProviderError: the call's own, or that it took too long."""
        left = self.start + self.seconds - time.monotonic()
        try:
            return self.future.result(timeout=max(0.0, left))
        except FutureTimeout:
            self.future.cancel()
            raise ProviderError(f"No answer within {self.seconds:g} s.") from None


def ask(call: Callable[[], Answer], seconds: float) -> Asked[Answer]:
    """Starts the call, which must not touch the database."""
    return Asked(_threads.submit(call), seconds, time.monotonic())
