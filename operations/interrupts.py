"""Interrupt threads that have used their processor time, or for whose result nobody waits."""

from __future__ import annotations

import ctypes
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

REQUEST_SECONDS = (
    2.0  # of processor time; the costliest valid request takes less (tests/test_request_cost.py)
)
AGAIN_SECONDS = 1.0  # of processor time until a thread that caught the first interrupt gets another
LOOK_SECONDS = 0.1  # between two readings of the clocks


class Interrupted(KeyboardInterrupt):
    """The request has used its processor time, or its client has left. Not an Exception: no view catches it.

    A KeyboardInterrupt, since psycopg then cancels the running statement.
    """


@dataclass(eq=False, slots=True)
class RequestWork:
    """The thread that serves one request, and the processor time it may use."""

    thread: int = field(default_factory=threading.get_ident)
    clock: int | None = field(default_factory=lambda: clock_of_this_thread())
    limit: float = field(default_factory=lambda: time.thread_time() + REQUEST_SECONDS)
    shields: int = 0
    left: bool = False

    def stop(self) -> None:
        """Interrupt the work at the next reading: nobody waits for its result."""
        self.left = True

    def interrupt_if_due(self) -> None:
        """Raise ``Interrupted`` in the thread if it is due. The caller holds the lock."""
        if self.shields:
            return
        used = 0.0 if self.clock is None else time.clock_gettime(self.clock)
        if self.left or used > self.limit:
            self.left, self.limit = False, used + AGAIN_SECONDS
            _raise_in(self.thread, Interrupted)


class RequestWatcher:
    """The requests being served, and the thread that reads their clocks while there are any."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._works: dict[int, RequestWork] = {}
        self._has_work = threading.Event()
        self._thread: threading.Thread | None = None

    def begin(self) -> RequestWork:
        work = RequestWork()
        with self._lock:
            self._works[work.thread] = work
            if self._thread is None or not self._thread.is_alive():  # the first, or after a fork
                self._thread = threading.Thread(target=self._watch, name="request-budget", daemon=True)
                self._thread.start()
        self._has_work.set()
        return work

    def end(self, work: RequestWork) -> None:
        """Forget the work; an interrupt that is under way is dropped. May be called twice."""
        with self._lock:
            self._works.pop(work.thread, None)
        _raise_in(work.thread, None)

    def of_this_thread(self) -> RequestWork | None:
        return self._works.get(threading.get_ident())

    @contextmanager
    def shielded(self) -> Iterator[None]:
        """Let no interrupt come inside the block: for short steps that must not be done by half."""
        work = self.of_this_thread()
        if work is None:
            yield
            return
        with self._lock:
            work.shields += 1
        try:
            yield
        finally:
            work.shields -= 1

    def _watch(self) -> None:
        while True:
            self._has_work.wait()
            time.sleep(LOOK_SECONDS)
            with self._lock:
                for work in self._works.values():
                    work.interrupt_if_due()
                if not self._works:
                    self._has_work.clear()


def clock_of_this_thread() -> int | None:
    """Return the id of the thread's processor clock; None on macOS, where other threads cannot read it."""
    if not hasattr(time, "pthread_getcpuclockid"):
        return None
    return time.pthread_getcpuclockid(threading.get_ident())


def _raise_in(thread: int, error: type[BaseException] | None) -> None:
    """Let the thread raise ``error`` at its next step of Python; None drops one that waits."""
    raised = ctypes.py_object(error) if error else None
    ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(thread), raised)


watcher = RequestWatcher()
