"""Two hundred files of one user: what another one feels of them."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from django.db import transaction

from config.benchmarks._arena import Arena, Broken, clear
from documents.models import Document

FLOOD = 200
PAGES = 10  # of each file
SINGLES = 9  # files of the other user, one after the other
QUESTIONS = 40
LEAST_QUESTIONS = 20  # asked before the flood is over
QUESTION = "What was measure {} of part {}?"


def one_file_behind_two_hundred(chaos: Arena, number: int) -> float:
    """Median time until a single file is ready, as a multiple of the same on an idle installation."""
    chaos.warm_up(PAGES)
    idle = median_of_singles(chaos)
    with flood(chaos) as goes_on:
        flooded = median_of_singles(chaos)
        if not goes_on():
            raise Broken("the flood was over first: nothing was shown")
    return flooded / idle


def questions_beside_two_hundred(chaos: Arena, number: int) -> float:
    """95th percentile of questions through the API, as a multiple of the same on an idle installation."""
    chaos.warm_up(PAGES)
    seconds_of_questions(chaos)  # plans are made
    idle = seconds_of_questions(chaos)
    with flood(chaos) as goes_on:
        flooded = seconds_of_questions(chaos, goes_on)
    if len(flooded) < LEAST_QUESTIONS:
        raise Broken(f"the flood was over after {len(flooded)} questions: nothing was shown")
    return percentile(flooded) / percentile(idle)


def median_of_singles(chaos: Arena) -> float:
    def single() -> float:
        return chaos.wait_until_ready(chaos.upload(chaos.two, PAGES))

    return statistics.median(single() for _ in range(SINGLES))


def seconds_of_questions(chaos: Arena, goes_on: Callable[[], bool] = lambda: True) -> list[float]:
    """Of each question that was answered while it went on."""
    created = chaos.client.post("/api/conversations/", json={}).raise_for_status()
    path = f"/api/conversations/{created.json()['id']}/messages/"
    seconds: list[float] = []
    while len(seconds) < QUESTIONS:
        begun = time.monotonic()
        question = QUESTION.format(len(seconds) + 2, 1)
        chaos.client.post(path, json={"question": question}).raise_for_status()
        if not goes_on():
            break
        seconds.append(time.monotonic() - begun)
    return seconds


def percentile(seconds: list[float]) -> float:
    return statistics.quantiles(seconds, n=20)[-1]


@contextmanager
def flood(chaos: Arena) -> Iterator[Callable[[], bool]]:
    """Two hundred files, uploaded at once; whether some of them still wait."""
    waiting = Document.objects.filter(owner=chaos.one, status=Document.Status.UPLOADED)
    with transaction.atomic():  # none is begun before the last is there
        for _ in range(FLOOD):
            chaos.upload(pages=PAGES)
    yield waiting.exists
    clear(chaos.one)
