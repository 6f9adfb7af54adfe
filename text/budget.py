"""Limit work by the processor time of the thread that does it.

A limit of wall time turns a busy machine into lost work, and a limit of letters says little
about cost. Long loops call ``ProcessorBudget.check`` once per step.
"""

from __future__ import annotations

import time


class OverBudget(Exception):
    """The work took more processor time than its budget. What was computed so far may be used."""


class Stopped(OverBudget):
    """Nobody waits for the result any more: the client has left, or the job was cancelled."""


class ProcessorBudget:
    """``seconds`` of processor time for the thread that creates the budget.

    Waiting for a database, a network or another process costs nothing. Any thread may call
    ``stop``; ``check`` and ``spent`` are for the thread that created the budget.
    """

    __slots__ = ("_began", "_due", "_steps", "_stopped", "seconds")

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds
        self._began = time.thread_time()
        self._due = time.perf_counter() + seconds
        self._stopped = False
        self._steps = 0

    @property
    def spent(self) -> float:
        """Seconds of processor time since the budget was created."""
        return time.thread_time() - self._began

    @property
    def is_spent(self) -> bool:
        """True when the work should end: for loops that return what they have."""
        return self._stopped or self.spent > self.seconds

    def stop(self) -> None:
        """Let the next ``check`` raise ``Stopped``."""
        self._stopped = True

    def check(self) -> None:
        """Raise ``OverBudget`` when the time is spent, ``Stopped`` after ``stop``. Costs 0.1 µs.

        A thread has no more processor time than time has passed, so its clock, which is a system call, is
        read only when that may be over.
        """
        if self._stopped:
            raise Stopped("The work was stopped.")
        if (now := time.perf_counter()) < self._due:
            return
        spent = self.spent
        if spent > self.seconds:
            raise OverBudget(f"The work took more than {self.seconds:g} s of processor time.")
        self._due = now + self.seconds - spent

    def count_step(self) -> None:
        """Check at every 32nd call: for loops whose steps take microseconds, as reading the clock does."""
        self._steps += 1
        if not self._steps % 32:
            self.check()
