"""Pause the garbage collector during ingestion, and return free memory to the system afterwards."""

from __future__ import annotations

import ctypes
import gc
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import cache

_forget: list[Callable[[], object]] = []


def cleared_with_memory(forget: Callable[[], object]) -> None:
    """Register a function that clears a cache after each document.

    Cached words are small, but allocated among the millions of temporary values of a document, and so keep
    the memory around them from being returned.
    """
    _forget.append(forget)


@contextmanager
def gc_paused() -> Iterator[None]:
    """Disable garbage collection during the block: a page allocates thousands of tuples, but no cycles.

    Objects that exist at the first call are frozen for good.
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
    """Disable garbage collection during the block; then clear caches, collect, and return free memory."""
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
    """Return free memory to the system; glibc by itself returns only the end of the heap."""
    if sys.platform == "linux":
        with suppress(AttributeError):  # musl has no malloc_trim and needs none
            ctypes.CDLL(None).malloc_trim(0)
