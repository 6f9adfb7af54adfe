"""Processes that search and compose for answers, while many wait: one process computes on one processor.

They are started in a web process when ``MANY`` answers wait, and end when none is left.
"""

from __future__ import annotations

import logging
import multiprocessing
import os
import threading
from collections.abc import Callable
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from importlib import import_module
from typing import Any, ParamSpec, TypeVar

import django
from django.db import DatabaseError, connection
from django.utils.translation import get_language, override

logger = logging.getLogger(__name__)
MANY = 30  # a process takes 147 MB, and to start as much processor time as 30 answers
MOST_PROCESSES = 4
Arguments = ParamSpec("Arguments")
Result = TypeVar("Result")
_lock = threading.Lock()
_pool: ProcessPoolExecutor | None = None
_ready: Future[int] | None = None
_allowed = 0


def allow_processes() -> None:
    """Let this process start one for each further processor."""
    global _allowed
    _allowed = min(MOST_PROCESSES, (os.cpu_count() or 1) - 1)


def open_pool() -> None:
    """Start the processes, as many as are allowed."""
    global _pool, _ready
    with _lock:
        if _pool is None and _allowed:
            _pool = ProcessPoolExecutor(_allowed, multiprocessing.get_context("spawn"), _set_up)
            _ready = _pool.submit(int)


def close_pool() -> None:
    """End the processes once they have computed what they were given."""
    global _pool, _ready
    with _lock:
        if _pool is not None:
            _pool.shutdown(wait=False)
        _pool = _ready = None


def computed(
    function: Callable[Arguments, Result], *args: Arguments.args, **kwargs: Arguments.kwargs
) -> Result:
    """Return the function's result: from a process that is ready, else from this thread.

    The function, its arguments, its result and its errors are pickled.
    """
    pool, ready = _pool, _ready
    if pool is not None and ready is not None and ready.done():
        try:
            future = pool.submit(_run, get_language(), function, args, kwargs)
        except RuntimeError:  # closed or broken
            return function(*args, **kwargs)
        try:
            return future.result()
        except BrokenProcessPool:
            logger.warning("a process that searches for answers was killed")
            close_pool()
    return function(*args, **kwargs)


def _set_up() -> None:
    django.setup()
    import_module("chat.answers.write_answer")  # takes a second
    threading.Thread(target=_end_with_parent, daemon=True).start()


def _end_with_parent() -> None:
    """Exit when the web process was killed. The kernel's signal would come when its thread ends."""
    if parent := multiprocessing.parent_process():
        parent.join()
        os._exit(1)


def _run(language: str | None, function: Callable[..., Any], args: Any, kwargs: Any) -> Any:
    try:
        with override(language):
            return function(*args, **kwargs)
    except DatabaseError:
        connection.close()  # for the next one; the caller tries again
        raise
