"""A process is stuck when it uses no processor time; a slow one is waited for."""

from __future__ import annotations

import time
from functools import partial

import pytest

from pdf.failures import FailureCode
from pdf.sandbox import reader_pool
from pdf.sandbox.progress import Progress
from pdf.sandbox.reader_pool import JobFailure, JobLimits, JobResult, answers


@pytest.fixture(autouse=True)
def half_a_second(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reader_pool, "Progress", partial(Progress, stuck_seconds=0.5))
    monkeypatch.setattr(reader_pool, "_LOOK_SECONDS", 0.1)


def read(job: int) -> str:
    """Sleep for job 1; for job 2 work for three seconds, a little at a time."""
    if job == 1:
        time.sleep(600)
    for _ in range(30):
        until = time.process_time() + 0.01
        while time.process_time() < until:
            pass
        time.sleep(0.1)
    return "read"


def test_a_reader_that_uses_no_processor_time_costs_its_job_and_a_slow_one_is_waited_for() -> None:
    limits = JobLimits(2**30, opening_seconds=5.0, job_seconds=5.0, deadline=time.monotonic() + 600)
    stuck, slow = answers(lambda: (2, read), [1, 2], str, limits)
    assert isinstance(stuck, JobFailure)
    assert (stuck.code, stuck.detail) == (FailureCode.TOOK_TOO_LONG, "no progress")
    assert slow == JobResult(2, "read")
