"""A budget counts the processor time of its thread, and nothing else."""

from __future__ import annotations

import threading
import time

import pytest

from text.budget import OverBudget, ProcessorBudget, Stopped


def burn(seconds: float) -> None:
    end = time.thread_time() + seconds
    while time.thread_time() < end:
        pass


def test_work_ends_when_its_processor_time_is_spent() -> None:
    budget = ProcessorBudget(0.02)
    budget.check()
    assert not budget.is_spent
    burn(0.03)
    assert budget.is_spent
    with pytest.raises(OverBudget, match=r"more than 0\.02 s of processor time"):
        budget.check()


def test_waiting_and_the_work_of_others_cost_nothing() -> None:
    budget = ProcessorBudget(0.02)
    other = threading.Thread(target=burn, args=(0.05,))
    other.start()
    other.join()
    time.sleep(0.05)
    budget.check()
    assert budget.spent < 0.02


def test_another_thread_stops_the_work() -> None:
    budget = ProcessorBudget(60)
    stopping = threading.Thread(target=budget.stop)
    stopping.start()
    stopping.join()
    assert budget.is_spent
    with pytest.raises(Stopped):
        budget.check()
