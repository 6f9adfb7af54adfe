"""Two hundred files of one user: what another one feels of them."""

from __future__ import annotations

import statistics
import time
from collections.abc import Iterator
from contextlib import contextmanager

from config.benchmarks._arena import Arena, Broken, clear
from documents.models import Document

FLOOD = 200
PAGES = 5  # of each file
SINGLES = 5  # files of the other user, one after the other
QUESTIONS = 40
QUESTION = "What was measure {} of part {}?"


def one_file_behind_two_hundred(chaos: Arena, number: int) -> float:
    """Median time until a single file is ready, as a multiple of the same on an idle installation."""
    chaos.wait_until_whole()
    idle = median_of_singles(chaos)
    with flood(chaos):
        return median_of_singles(chaos) / idle


def median_of_singles(chaos: Arena) -> float:
    def single() -> float:
        return chaos.wait_until_ready(chaos.upload(chaos.two, PAGES))

    return statistics.median(single() for _ in range(SINGLES))


def questions_beside_two_hundred(chaos: Arena, number: int) -> float:
    """95th percentile of questions through the API, as a multiple of the same on an idle installation."""
    chaos.wait_until_whole()
    chaos.wait_until_ready(*(chaos.upload(chaos.two, PAGES) for _ in range(3)))
    seconds_of_questions(chaos)  # models are loaded, plans are made
    idle = percentile(seconds_of_questions(chaos))
    with flood(chaos):
        return percentile(seconds_of_questions(chaos)) / idle


def seconds_of_questions(chaos: Arena) -> list[float]:
    created = chaos.client.post("/api/conversations/", json={}).raise_for_status()
    path = f"/api/conversations/{created.json()['id']}/messages/"
    seconds = []
    for number in range(QUESTIONS):
        begun = time.monotonic()
        chaos.client.post(path, json={"question": QUESTION.format(number + 2, 1)}).raise_for_status()
        seconds.append(time.monotonic() - begun)
    return seconds


def percentile(seconds: list[float]) -> float:
    return statistics.quantiles(seconds, n=20)[-1]


@contextmanager
def flood(chaos: Arena) -> Iterator[None]:
    """Two hundred files are waiting while the block runs. Raises Broken when they were done before it."""
    for _ in range(FLOOD):
        chaos.upload(pages=PAGES)
    yield
    if not Document.objects.filter(owner=chaos.one, status=Document.Status.UPLOADED).exists():
        raise Broken("the flood was over first: nothing was shown")
    clear(chaos.one)
