"""Memory while a document is read: no walks through its hundred thousand values, and all given back after."""

from __future__ import annotations

import ctypes
import gc
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import cache


@contextmanager
def collector_at_rest() -> Iterator[None]:
    """No garbage collection meanwhile.

    A page makes thousands of tuples and no cycles: to look for some would only take time.
    What the program itself consists of is never looked at again.
    """
    _set_program_aside()
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()


@contextmanager
def nothing_left_behind() -> Iterator[None]:
    """No garbage collection meanwhile, and one afterwards, so that no document leaves anything.

    What is free then is given back to the system.
    """
    try:
        with collector_at_rest():
            yield
    finally:
        gc.collect()
        _return_free_memory()


@cache
def _set_program_aside() -> None:
    gc.freeze()


def _return_free_memory() -> None:
    """To the system, which glibc does by itself only where it is free up to the end of the heap."""
    if sys.platform == "linux":
        with suppress(AttributeError):  # musl has none, and needs none
            ctypes.CDLL(None).malloc_trim(0)
