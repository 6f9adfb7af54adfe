"""Interrupts of threads that have used their processor time."""

from __future__ import annotations

import time

import pytest

from operations import interrupts
from operations.interrupts import Interrupted, watcher


def compute(seconds: float) -> None:
    until = time.thread_time() + seconds
    while time.thread_time() < until:
        pass


def test_a_shielded_step_is_done_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(interrupts, "REQUEST_SECONDS", 0.2)
    steps, work = [], watcher.begin()
    try:
        with watcher.shielded():
            compute(0.5)
            steps.append("whole")
        compute(20)
        steps.append("after")
    except Interrupted:
        steps.append("interrupted")
    finally:
        watcher.end(work)
    assert steps == ["whole", "interrupted"]
    compute(0.5)
    assert watcher.of_this_thread() is None, "nothing interrupts a thread after its request"
