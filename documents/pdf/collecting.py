"""Python's cyclic garbage collector, kept from walking through a document's hundred thousand values."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def collector_at_rest() -> Iterator[None]:
    """No garbage collection meanwhile: a page makes thousands of tuples and no cycles, it would only look."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        gc.freeze()  # what was made goes to the oldest generation unseen
        gc.unfreeze()
        if was_on:
            gc.enable()
