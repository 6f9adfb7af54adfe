"""SIGTERM as an exception, so that a worker puts its document back before it goes."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType


class Interrupted(BaseException):
    """The process was asked to stop. Not an Exception: nothing that recovers from errors may swallow it."""


@contextmanager
def interruptible() -> Iterator[None]:
    """Raises Interrupted in the block on SIGTERM. In other threads than the main one it changes nothing."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGTERM, _raise)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


def _raise(signum: int, frame: FrameType | None) -> None:
    signal.signal(signal.SIGTERM, signal.SIG_IGN)  # once is enough: the way out must not be cut short
    raise Interrupted
