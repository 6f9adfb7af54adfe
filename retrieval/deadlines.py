"""Calls that may hang, given so much time and no more."""

from __future__ import annotations

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
    """A call under way in another thread; it must not touch the database."""

    future: Future[Answer]

    def answer(self, seconds: float) -> Answer:
        """Raises ProviderError: the call's own, or that it took too long."""
        try:
            return self.future.result(timeout=seconds)
        except FutureTimeout:
            self.future.cancel()
            raise ProviderError(f"No answer within {seconds:g} s.") from None


def ask(call: Callable[[], Answer]) -> Asked[Answer]:
    return Asked(_threads.submit(call))
