"""Work that waits for a database which is away for a moment, instead of being lost with it."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from typing import TypeVar

from django.db import Error, InterfaceError, OperationalError, connection

logger = logging.getLogger(__name__)
Result = TypeVar("Result")
PATIENCE = 120.0  # seconds
PAUSE = 0.5  # seconds between two tries
CONNECTION_LOST = ("08", "57P")  # SQLSTATE: connection exceptions; the server shuts down or starts up


def is_away(error: Error) -> bool:
    """Whether the database is not there, rather than unwilling (a full disk, a deadlock, a time limit)."""
    if not isinstance(error, OperationalError | InterfaceError):
        return False
    state = getattr(error.__cause__, "sqlstate", None)
    return state is None or state.startswith(CONNECTION_LOST)


def outlast(work: Callable[[], Result], patience: float = PATIENCE) -> Result:
    """What ``work`` returns, which is done again until the database is back; so it must bear being repeated.

    Raises what ``work`` raised when that was something else, when ``patience``
    seconds are over, and inside a transaction, which is lost as a whole.
    """
    give_up_at = time.monotonic() + patience
    while True:
        try:
            return work()
        except (OperationalError, InterfaceError) as error:
            if connection.in_atomic_block or not is_away(error) or time.monotonic() > give_up_at:
                raise
            logger.warning("the database is away: %s", error)
            connection.close()
            time.sleep(PAUSE)
