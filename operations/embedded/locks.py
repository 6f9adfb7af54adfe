"""The file locks beside a data folder: who uses its server, who starts or stops it, who takes care of it.

The kernel takes a lock away with the process that held it, however it ended,
so none of these can go stale.
"""

from __future__ import annotations

import fcntl
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

PAUSE = 0.02  # seconds between two tries


@contextmanager
def starting_or_stopping(data: Path) -> Iterator[None]:
    """One process at a time."""
    with data.with_name(f"{data.name}.lock").open("a") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def is_starting_or_stopping(data: Path) -> bool:
    """Whether some process is at it now."""
    with data.with_name(f"{data.name}.lock").open("a") as lock:
        return not _locks(lock)


def users_file(data: Path) -> IO[str]:
    """Who uses the server holds a shared lock on it."""
    return data.with_name(f"{data.name}.users").open("a")


def wait_until_unused(data: Path) -> None:
    """New users come in beside the old ones; nobody is left when the whole lock can be had."""
    with users_file(data) as users:
        fcntl.flock(users, fcntl.LOCK_EX)


@contextmanager
def reaper_lock(data: Path, patience: float) -> Iterator[bool]:
    """Whether the caretaker's place was free within so many seconds; it is taken while the block runs."""
    give_up_at = time.monotonic() + patience
    with data.with_name(f"{data.name}.caretaker").open("a") as lock:
        while not (taken := _locks(lock)) and time.monotonic() < give_up_at:
            time.sleep(PAUSE)
        yield taken


def _locks(file: IO[str]) -> bool:
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True
