"""File locks beside a data folder: its users, the process that starts or stops the server, the reaper.

The kernel releases a lock when its process ends, so none can become stale.
"""

from __future__ import annotations

import fcntl
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

PAUSE = 0.02  # seconds between two attempts


@contextmanager
def starting_or_stopping(data: Path) -> Iterator[None]:
    """Hold the lock of the process that starts or stops the server; wait for it."""
    with data.with_name(f"{data.name}.lock").open("a") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def is_starting_or_stopping(data: Path) -> bool:
    """Return whether a process holds that lock."""
    with data.with_name(f"{data.name}.lock").open("a") as lock:
        return not _locks(lock)


def users_file(data: Path) -> IO[str]:
    """Open the file on which each user of the server holds a shared lock."""
    return data.with_name(f"{data.name}.users").open("a")


def wait_until_unused(data: Path) -> None:
    """Wait until no process holds a shared lock."""
    with users_file(data) as users:
        fcntl.flock(users, fcntl.LOCK_EX)


@contextmanager
def reaper_lock(data: Path, patience: float) -> Iterator[bool]:
    """Yield whether the reaper's lock was free within ``patience`` seconds; hold it during the block."""
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
