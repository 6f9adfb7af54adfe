"""The processes that compute for answers while several are written."""

from __future__ import annotations

import gc
import operator
import os
import signal
from collections.abc import Iterator
from multiprocessing import resource_tracker

import pytest
from django.contrib.auth.models import User
from django.db import connection
from django.utils.translation import get_language, override

from chat.answers import pool, question_commands, runner
from chat.models import Message
from documents.models import Document
from tests.chat.conftest import QUESTION, wait_until


@pytest.fixture
def one_process() -> Iterator[None]:
    pool.open_pool(1)
    yield
    pool._callers.clear()
    pool._pool.shutdown()  # type: ignore[union-attr]
    pool._pool = None
    gc.collect()  # its semaphores
    resource_tracker._resource_tracker._stop()  # type: ignore[attr-defined]
    assert pool.computed(os.getpid) == os.getpid()


def database_process() -> int:
    connection.ensure_connection()
    process: int = connection.connection.info.backend_pid
    connection.close()
    return process


@pytest.mark.slow
def test_a_pool_computes_as_this_process_does_and_is_replaced_when_killed(one_process: None) -> None:
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


@pytest.mark.slow
@pytest.mark.django_db(transaction=True)
def test_an_answer_without_a_model_is_written_whole_in_another_process(
    one_process: None, alice: User, report: Document, monkeypatch: pytest.MonkeyPatch
) -> None:
    pool._callers.add(0)
    assert pool.computed(os.getpid) != os.getpid()
    assert pool.computed(database_process) == pool.computed(database_process), "it keeps its connection"
    monkeypatch.delattr(runner, "write_answer")
    talk = question_commands.start_conversation(alice, [report], provider="extractive")
    answer = question_commands.ask(talk, QUESTION).answer
    runner.start_next(talk.pk)
    live = runner.live_answer(answer.pk)
    wait_until(lambda: not Message.objects.unfinished().exists() and runner.live_answer(answer.pk) is None)
    answer.refresh_from_db()
    assert (answer.status, answer.citations.count() > 0) == ("complete", True)
    stored = list(answer.events.order_by("sequence").values_list("sequence", "kind"))
    assert live and stored == [(number, kind) for number, kind, _ in live.after(0)[0]]
    assert [number for number, _ in stored] == list(range(1, len(stored) + 1))
    assert stored[-1][1] == "done"


@pytest.mark.django_db(transaction=True)
def test_an_answer_stopped_before_a_process_was_free_is_not_written(alice: User, report: Document) -> None:
    talk = question_commands.start_conversation(alice, [report], provider="extractive")
    answer = question_commands.ask(talk, QUESTION).answer
    claimed = runner.claim_next(talk.pk)
    assert claimed
    Message.objects.filter(pk=answer.pk).update(cancel_requested=True)
    runner.written_elsewhere(claimed, runner.PROCESS, [])
    answer.refresh_from_db()
    assert (answer.error, answer.content, answer.citations.count()) == ("Stopped.", "", 0)
