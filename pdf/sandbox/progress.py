"""Tell stuck processes from slow ones: a busy machine gives little processor time, but gives some."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from contextlib import suppress

import psutil

STUCK_SECONDS = 60.0  # of wall time without any processor time


class Progress:
    """The progress of a process, by its processor time, which ``used`` returns."""

    def __init__(self, used: Callable[[], float], stuck_seconds: float = STUCK_SECONDS) -> None:
        self._used, self._last, self._stuck_seconds = used, used(), stuck_seconds
        self._since = time.monotonic()

    @property
    def is_stuck(self) -> bool:
        """Return whether no processor time was used for ``stuck_seconds``, as far as earlier calls saw."""
        now, used = time.monotonic(), self._used()
        if used != self._last:
            self._since, self._last = now, used
        return now - self._since > self._stuck_seconds


def processor_seconds(process_ids: Iterable[int]) -> float:
    """Return the processor time of these processes and of all below them, ended and waited-for ones too."""
    return sum(_seconds_of_tree(process_id) for process_id in process_ids)


def _seconds_of_tree(process_id: int) -> float:
    total = 0.0
    with suppress(psutil.Error):
        top = psutil.Process(process_id)
        for process in [top, *top.children(recursive=True)]:
            with suppress(psutil.Error):
                times = process.cpu_times()
                total += times.user + times.system + times.children_user + times.children_system
    return total
