"""Processes that search and compose while several answers are written: each computes on one processor.

They are forked before a web process serves, so that they start at once and share its memory.
"""

from __future__ import annotations

import gc
import logging
import multiprocessing
import os
import signal
import sys
import threading
from collections.abc import Callable
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from functools import partial
from importlib import import_module
from typing import Any, ParamSpec, TypeVar, cast

import django
from django.db import DatabaseError, connection, connections
from django.utils.translation import get_language, override

logger = logging.getLogger(__name__)
MOST_PROCESSES = 4
Arguments = ParamSpec("Arguments")
Result = TypeVar("Result")
Other = TypeVar("Other")
_pool: ProcessPoolExecutor | None = None
_replacing = threading.Lock()
_callers: set[int] = set()  # threads


def open_pool(processes: int | None = None) -> None:
    """Start the processes; by default one for each processor, as each waits for PostgreSQL a quarter of its
    time. Call it before threads are started.
    """
    connections.close_all()
    gc.freeze()  # to collect what never changes would copy its pages in every process
    wanted = processes or min(MOST_PROCESSES, os.cpu_count() or 1)
    _start(wanted, "fork" if sys.platform == "linux" else "spawn")


def _start(processes: int, method: str) -> None:
    global _pool
    _pool = ProcessPoolExecutor(processes, multiprocessing.get_context(method), _set_up)
    _pool.submit(int)


def computed(
    function: Callable[Arguments, Result], *args: Arguments.args, **kwargs: Arguments.kwargs
) -> Result:
    """Return the function's result: from a process while other threads compute too, else from this thread.

    The function, its arguments, its result and its errors are pickled.
    """
    return computed_or(partial(function, *args, **kwargs), function, *args, **kwargs)


def computed_or(
    here: Callable[[], Other],
    function: Callable[Arguments, Result],
    *args: Arguments.args,
    **kwargs: Arguments.kwargs,
) -> Result | Other:
    """Return the function's result from another process if threads compete, else that of ``here``."""
    _callers.add(threading.get_ident())
    try:
        pool = _pool
        if pool is not None and len(_callers) > 1:  # alone it would only load the search's model once more
            try:
                if future := _submitted(pool, function, args, kwargs):
                    return cast(Result, future.result())
            except BrokenProcessPool:
                _replace(pool)
        return here()
    finally:
        _callers.discard(threading.get_ident())


def _submitted(pool: ProcessPoolExecutor, *work: Any) -> Future[Any] | None:
    """Return the future result; None where the pool is closed. Raises BrokenProcessPool."""
    try:
        return pool.submit(_run, get_language(), *work)
    except BrokenProcessPool:
        raise
    except RuntimeError:
        return None


def _replace(broken: ProcessPoolExecutor) -> None:
    """Start other processes for the broken pool. This process has threads, so they are not forked."""
    global _pool
    with _replacing:
        if _pool is broken:
            logger.warning("a process that searches for answers was killed")
            _start(broken._max_workers, "spawn")  # type: ignore[attr-defined]


def _set_up() -> None:
    global _pool
    _pool = None  # the parent's
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # in a terminal all processes get it
    django.setup()
    connection.keep_unused()  # type: ignore[attr-defined]  # our own backend's
    import_module("chat.answers.runner")  # takes a second
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
