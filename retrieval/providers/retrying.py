"""Asking again, when asking again can help."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TypeVar

from retrieval.providers.errors import ProviderError

Answer = TypeVar("Answer")
FIRST_PAUSE = 0.5  # seconds; doubled each time
LONGEST_PAUSE = 20.0


def with_retries(
    call: Callable[[], Answer], attempts: int = 4, pause: Callable[[float], None] = time.sleep
) -> Answer:
    """The call's answer; asked up to ``attempts`` times, waiting as the service says, else longer each time.

    Raises ProviderError: the last one, or the first that is permanent.
    """
    for attempt in range(1, attempts + 1):
        try:
            return call()
        except ProviderError as error:
            if error.permanent or attempt == attempts:
                raise
            wait = FIRST_PAUSE * 2 ** (attempt - 1) if error.retry_after is None else error.retry_after
            pause(min(wait, LONGEST_PAUSE))
    raise AssertionError("unreachable")
