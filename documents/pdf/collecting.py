"""Python's cyclic garbage collector, kept from walking through a document's hundred thousand values."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager


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
