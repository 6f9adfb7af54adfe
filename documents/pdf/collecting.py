"""Memory while a document is read: no walks through its hundred thousand values, and all given back after."""

from __future__ import annotations

import ctypes
import gc
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress


@contextmanager
def collector_at_rest() -> Iterator[None]:
    """No garbage collection meanwhile, and one afterwards.

    A page makes thousands of tuples and no cycles: to look for some would only
    take time. What the program itself consists of is never looked at again, so
    that the collection afterwards takes milliseconds and no document leaves anything.
    """
    was_on = gc.isenabled()
    gc.disable()
    if not gc.get_freeze_count():
        gc.freeze()
    try:
        yield
    finally:
        if was_on:
            gc.enable()
            gc.collect()
            _return_free_memory()


def _return_free_memory() -> None:
    """To the system, which glibc does by itself only where it is free up to the end of the heap."""
    if sys.platform == "linux":
        with suppress(AttributeError):  # musl has none, and needs none
            ctypes.CDLL(None).malloc_trim(0)
