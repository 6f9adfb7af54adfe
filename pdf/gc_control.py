"""Memory while a document is read: no walks through its hundred thousand values, and all given back after."""

from __future__ import annotations

import ctypes
import gc
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import cache

_forget: list[Callable[[], object]] = []


def cleared_with_memory(forget: Callable[[], object]) -> None:
    """``forget`` is called whenever a document has been dealt with.

    For what remembers a document's words. Each entry is small, but all are made amid the millions of
    values that the document needs for a moment, and each keeps the memory around it from the system.
    """
    _forget.append(forget)


@contextmanager
def gc_paused() -> Iterator[None]:
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
def memory_released() -> Iterator[None]:
    """No garbage collection meanwhile, and one afterwards, so that no document leaves anything.

    Its words are forgotten, and what is free then is given back to the system.
    """
    try:
        with gc_paused():
            yield
    finally:
        for forget in _forget:
            forget()
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
