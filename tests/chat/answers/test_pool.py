"""The processes that compute for answers while several are written."""

from __future__ import annotations

import gc
import operator
import os
import signal
from multiprocessing import resource_tracker

import pytest
from django.utils.translation import get_language, override

from chat.answers import pool


@pytest.mark.slow
def test_a_pool_computes_as_this_process_does_and_is_replaced_when_killed() -> None:
    assert pool.computed(os.getpid) == os.getpid()
    pool.open_pool(1)
    try:
        assert pool.computed(os.getpid) == os.getpid(), "alone it needs no other process"
        pool._callers.add(0)
        other = pool.computed(os.getpid)
        assert other != os.getpid()
        with override("de"):
            assert pool.computed(get_language) == "de"
        with pytest.raises(ZeroDivisionError):
            pool.computed(operator.truediv, 1, 0)
        os.kill(other, signal.SIGKILL)
        assert pool.computed(os.getpid) == os.getpid()
        assert pool.computed(os.getpid) not in (other, os.getpid())
    finally:
        pool._callers.clear()
        pool._pool.shutdown()  # type: ignore[union-attr]
        pool._pool = None
        gc.collect()  # its semaphores
        resource_tracker._resource_tracker._stop()  # type: ignore[attr-defined]
    assert pool.computed(os.getpid) == os.getpid()
