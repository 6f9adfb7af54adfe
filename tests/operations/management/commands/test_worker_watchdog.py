"""The watchdog judges a cluster by its processor time, not by the clock on the wall."""

from __future__ import annotations

import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator

import pytest
from django.conf import settings
from django.contrib.auth.models import User

from documents.models import Document
from operations.management.commands import runapp
from operations.management.commands.worker import (
    LONGEST_PAUSE,
    STALL_SECONDS,
    START_SECONDS,
    Watchdog,
)
from operations.processes import ProcessGroup
from pdf.sandbox.progress import processor_seconds

pytestmark = pytest.mark.django_db
BUSY = [sys.executable, "-c", "while True: pass"]
IDLE = [sys.executable, "-c", "import time; time.sleep(600)"]
STEP = 10.0  # seconds between two looks; each reads the database


@pytest.fixture
def started(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[subprocess.Popen[bytes]]]:
    """Clusters that do nothing but wait, or whatever ``command`` says."""
    made: list[subprocess.Popen[bytes]] = []

    def start(*arguments: str) -> ProcessGroup:
        made.append(subprocess.Popen(IDLE, start_new_session=True))
        return ProcessGroup(made[-1])

    monkeypatch.setattr(ProcessGroup, "start", start)
    yield made
    for process in made:
        process.kill()
        process.wait()


def whole(watchdog: Watchdog) -> Watchdog:
    watchdog.known_members = set(range(3 + settings.Q_CLUSTER["workers"]))
    return watchdog


def use(seconds: float, process: subprocess.Popen[bytes]) -> None:
    """Wait until the process has used so much more processor time."""
    before = processor_seconds([process.pid])
    while processor_seconds([process.pid]) < before + seconds:
        time.sleep(0.05)


def test_a_queue_whose_processes_use_the_processor_is_not_replaced(
    alice: User, started: list[subprocess.Popen[bytes]]
) -> None:
    """F5: at load 30 the queue was replaced 22 times in 42 minutes, and nothing was read for ten."""
    Document.objects.create(owner=alice, title="waits")
    watchdog = whole(Watchdog(threading.Event()))
    busy = subprocess.Popen(BUSY, start_new_session=True)
    started.append(busy)
    watchdog.cluster = ProcessGroup(busy)
    now = time.monotonic()
    for later in range(1, 5):
        use(0.6, busy)  # a fiftieth of a core over STALL_SECONDS
        assert not watchdog.needs_replacement(now + later * STALL_SECONDS)


def test_an_idle_queue_with_documents_waiting_is_replaced_with_growing_pauses(
    alice: User, started: list[subprocess.Popen[bytes]]
) -> None:
    Document.objects.create(owner=alice, title="waits")
    watchdog = whole(Watchdog(threading.Event()))
    pauses = []
    for _ in range(6):
        now = watchdog.last_progress + 1
        watchdog.uses_processor(now)
        while not watchdog.needs_replacement(now):
            now += STEP
        pauses.append(now - watchdog.last_progress)
        watchdog.replace()
        whole(watchdog)
    assert pauses[0] < 2 * STALL_SECONDS
    assert pauses == sorted(pauses) and pauses[-1] > 8 * STALL_SECONDS
    assert max(pauses) <= LONGEST_PAUSE + STEP
    assert len(started) == 7


def test_a_cluster_that_still_imports_is_waited_for(started: list[subprocess.Popen[bytes]]) -> None:
    watchdog = Watchdog(threading.Event())
    busy = subprocess.Popen(BUSY, start_new_session=True)
    started.append(busy)
    watchdog.cluster = ProcessGroup(busy)
    now = time.monotonic()
    for later in range(1, 5):
        use(0.4, busy)
        assert not watchdog.needs_replacement(now + later * START_SECONDS)


def test_a_web_server_that_starts_slowly_is_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    """F13: runapp gave up after a minute on a busy machine. Here a minute is two seconds."""
    monkeypatch.setattr(runapp, "STARTS_WITHIN", 2.0)
    free = runapp.free_port("127.0.0.1", 18_500)
    slow = (
        "import time, http.server\n"
        "end = time.process_time() + 2.5\n"
        "while time.process_time() < end: pass\n"
        f"http.server.HTTPServer(('127.0.0.1', {free}), http.server.SimpleHTTPRequestHandler).serve_forever()"
    )
    server = ProcessGroup(subprocess.Popen([sys.executable, "-c", slow], start_new_session=True))
    try:
        assert runapp.answers(f"http://127.0.0.1:{free}/", threading.Event(), server)
    finally:
        server.kill()


def test_a_web_server_that_has_ended_or_waits_is_not_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(runapp, "STARTS_WITHIN", 0.5)
    for command in (IDLE, [sys.executable, "-c", "raise SystemExit(1)"]):
        server = ProcessGroup(subprocess.Popen(command, start_new_session=True))
        try:
            assert not runapp.answers("http://127.0.0.1:9/", threading.Event(), server)
        finally:
            server.kill()


STUCK_WORKER = """
import sys, threading, time
sys.path.insert(0, {root!r})
import django
django.setup()
from django_q.signals import pre_execute
from operations.management.commands import worker
worker.STUCK_TASK_SECONDS = 1.0
monitor = worker.TaskMonitor()
pre_execute.send("django_q")
end = time.monotonic() + 3.0
while time.monotonic() < end:
    sum(range(1000))
    time.sleep(0.05)
print("slow", flush=True)
threading.Event().wait()
"""


def test_a_task_that_waits_for_ever_ends_its_worker_and_a_slow_one_is_waited_for() -> None:
    code = STUCK_WORKER.format(root=str(settings.BASE_DIR))
    ended = subprocess.run([sys.executable, "-W", "ignore", "-c", code], capture_output=True, timeout=300)
    assert ended.stdout == b"slow\n"
    assert ended.returncode == -signal.SIGKILL
