"""SIGTERM as an exception, so that a worker puts its document back before it goes."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType


class Interrupted(KeyboardInterrupt):
    """The process was asked to stop. Not an Exception: nothing that recovers from errors may swallow it.

    Of this kind, because psycopg then cancels the statement it waits for, and its connection can be used.
    """


class _Held:
    """Whether a SIGTERM came that nobody has heard yet."""

    is_waiting = False


@contextmanager
def uninterrupted() -> Iterator[None]:
    """SIGTERM waits until the block ends, or until ``interruptible`` begins in it."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGTERM, _hold)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)
        if _Held.is_waiting:
            _Held.is_waiting = False
            signal.raise_signal(signal.SIGTERM)


@contextmanager
def interruptible() -> Iterator[None]:
    """Raises Interrupted in the block on SIGTERM. In other threads than the main one it changes nothing."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGTERM, _raise)
    try:
        if _Held.is_waiting:
            _raise(signal.SIGTERM, None)
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


def _hold(signum: int, frame: FrameType | None) -> None:
    _Held.is_waiting = True


def _raise(signum: int, frame: FrameType | None) -> None:
    signal.signal(signal.SIGTERM, signal.SIG_IGN)  # once is enough: the way out must not be cut short
    _Held.is_waiting = False
    raise Interrupted
