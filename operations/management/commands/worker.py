"""`manage.py worker`: ingest documents; on any number of hosts.

It monitors django-q2's cluster and replaces it when one of its processes dies. A cluster whose idle worker
was killed waits for ever on a lock that the dead process holds (django-q2 issue 23). So its processes are
monitored from outside: when one is gone, its document is requeued and the cluster replaced.
"""

from __future__ import annotations

import logging
import os
import signal
import threading
import time
from argparse import ArgumentParser
from contextlib import suppress
from typing import Any

import psutil
from django.conf import settings
from django.core.management import call_command
from django.core.management.base import BaseCommand
from django.db import DatabaseError, connection
from django_q.signals import post_execute_in_worker, pre_execute

from documents.ingestion import queue
from documents.ingestion.leases import host
from documents.ingestion.queue import waiting_documents
from documents.models import Document
from documents.tasks import SWEEP_EVERY, recover_from, sweep_in_turn
from operations.interrupts import clock_of_this_thread
from operations.processes import (
    ProcessGroup,
    bind_to_parent,
    children,
    is_alive,
    lower_priority,
    send,
)
from pdf.sandbox.confinement import weaknesses
from pdf.sandbox.progress import Progress, processor_seconds

logger = logging.getLogger(__name__)
TICK = 1.0  # seconds between two checks
START_SECONDS = 120.0  # seconds without processor time in which a cluster must be whole
RECOVERY_SECONDS = 15.0  # seconds a broken cluster may finish its documents
STALL_SECONDS = 30.0  # seconds in which documents wait, no worker takes one, and none uses the processor
WORKS = 0.015  # processor time per second that counts as work: an idle cluster used 0.010, measured
STARTS = 0.003  # likewise while a cluster starts: its sentinel alone used 0.001
LONGEST_PAUSE = 600.0  # seconds between two replacements; each doubles the pause until a document is taken
STOP_SECONDS = 20.0  # seconds workers have to requeue their documents
STUCK_TASK_SECONDS = 3600.0  # without processor time; more than a call of a remote model may take


class Watchdog:
    """Run one cluster until ``stop`` is set."""

    def __init__(self, stop: threading.Event) -> None:
        self.stop = stop
        self.restarts, self.failures = -1, 0
        self.start()

    def start(self) -> None:
        self.cluster = ProcessGroup.start("worker", "--unwatched")
        self.known_members: set[int] = set()
        self.broken_since: float | None = None
        self.last_progress = self.started = time.monotonic()
        self.used = 0.0
        self.used_at: float | None = self.started
        self.last_sweep = 0.0
        self.restarts += 1

    def run(self) -> None:
        try:
            while not self.stop.wait(TICK):
                try:
                    self.check_cluster()
                except DatabaseError as error:
                    logger.warning("the database does not answer: %s", error)
                    connection.close()
        finally:
            end_cluster(self.cluster)
            self.delete_heartbeat()

    def check_cluster(self) -> None:
        """Check the cluster once, and replace it if needed. Raises DatabaseError before it decides."""
        now = time.monotonic()
        self.notice_deaths(now)
        if now - self.last_sweep >= SWEEP_EVERY:
            self.last_sweep = now
            sweep_in_turn()
            if self.is_whole:
                queue.record_heartbeat(self.restarts)
        if self.needs_replacement(now):
            self.replace()

    @property
    def is_whole(self) -> bool:
        """Return whether sentinel, pusher, monitor and all workers exist."""
        return self.broken_since is None and len(self.known_members) >= 3 + settings.Q_CLUSTER["workers"]

    def notice_deaths(self, now: float) -> None:
        """Requeue documents of dead processes. The cluster replaces them, but may deadlock (see above)."""
        members = cluster_members(self.cluster.process.pid)
        for process_id in self.known_members - members:
            logger.error("process %s of the queue is gone", process_id)
            recover_from(f"{host()}:{process_id}")
            self.known_members.discard(process_id)
            self.broken_since = self.broken_since or now
        self.known_members |= members
        if not self.cluster.is_running:
            self.broken_since = self.broken_since or now - RECOVERY_SECONDS

    def needs_replacement(self, now: float) -> bool:
        """Judge by progress: leased documents, an empty queue, or processor time of the cluster.

        On a busy machine a cluster that imports or recognises is slow; a new one would begin again.
        """
        in_work = Document.objects.filter(lease_holder__startswith=f"{host()}:", lease__isnull=False).exists()
        if in_work:
            self.failures = 0
        if in_work or (self.is_whole and not waiting_documents().exists()):
            self.last_progress, self.used_at = now, None
        elif self.uses_processor(now):
            self.last_progress = now
        if self.broken_since is not None:
            return not in_work or now - self.broken_since >= RECOVERY_SECONDS
        if not self.is_whole:
            return now - self.last_progress >= START_SECONDS
        return now - self.last_progress >= min(STALL_SECONDS * 2**self.failures, LONGEST_PAUSE)

    def uses_processor(self, now: float) -> bool:
        """Return whether the cluster has used processor time since the last call that returned True.

        True at the first call after it worked or nothing waited: the time of idle processes says nothing.
        """
        used = processor_seconds([self.cluster.process.pid])
        least = WORKS if self.is_whole else STARTS
        if self.used_at is not None and 0 <= used - self.used < least * (now - self.used_at):
            return False
        self.used, self.used_at = used, now
        return True

    def replace(self) -> None:
        logger.error("the task queue's cluster is replaced")
        self.failures += 1
        end_cluster(self.cluster)
        for process_id in self.known_members:
            recover_from(f"{host()}:{process_id}")
        self.start()

    def delete_heartbeat(self) -> None:
        try:
            queue.forget_worker()
        except DatabaseError:
            logger.warning("the database does not answer; the heartbeat will expire")


class TaskMonitor:
    """Kill this worker when its task has used no processor time for ``STUCK_TASK_SECONDS``.

    The time of the thread that runs the task counts, and of the processes below it: other threads only renew
    leases. The watchdog then requeues the document. A limit on the clock would end tasks of a busy machine.
    macOS has no such clocks: there no task is ended.
    """

    def __init__(self) -> None:
        self._ended = threading.Event()
        pre_execute.connect(self.begin)
        post_execute_in_worker.connect(self.end)

    def begin(self, **task: Any) -> None:
        self._ended = threading.Event()
        if (clock := clock_of_this_thread()) is not None:
            arguments = (clock, self._ended)
            threading.Thread(target=self._watch, args=arguments, name="task-monitor", daemon=True).start()

    def end(self, **task: Any) -> None:
        self._ended.set()

    @staticmethod
    def _watch(clock: int, ended: threading.Event) -> None:
        def used() -> float:
            below = processor_seconds(child.pid for child in children(os.getpid()))
            return time.clock_gettime(clock) + below

        progress = Progress(used, STUCK_TASK_SECONDS)
        while not ended.wait(STUCK_TASK_SECONDS / 60):
            if progress.is_stuck:
                logger.error("the task of this worker uses no processor time: the worker ends")
                os.kill(os.getpid(), signal.SIGKILL)


def end_cluster(cluster: ProcessGroup) -> None:
    """Let workers requeue their documents, then kill the cluster.

    A normal stop would wait for ever where an idle worker was killed. The
    sentinel is suspended first, so that it replaces no worker.
    """
    sentinels = children(cluster.process.pid)
    workers = [child for sentinel in sentinels for child in children(sentinel.pid)]
    for sentinel in sentinels:
        send(sentinel, signal.SIGSTOP)
    for process in workers:
        send(process, signal.SIGTERM)
    give_up_at = time.monotonic() + STOP_SECONDS
    while any(is_alive(process) for process in workers) and time.monotonic() < give_up_at:
        time.sleep(0.05)
    cluster.kill()


def cluster_members(main: int) -> set[int]:
    """Return the ids of the cluster's sentinel, workers, pusher and monitor.

    Their own children, such as a PDF's confined reader, are not included.
    """
    parents: dict[int, int] = {}
    for process in children(main, recursive=True):
        with suppress(psutil.NoSuchProcess):
            parents[process.pid] = process.ppid()
    return {process for process, parent in parents.items() if main in (parent, parents.get(parent))}


class Command(BaseCommand):
    help = "Runs the task queue, restarts it when it fails, and recovers abandoned documents."

    requires_system_checks: list[str] = []  # `runapp` and `check` run them

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--parent", type=int, default=0, help="id of a process; end with it")
        parser.add_argument("--unwatched", action="store_true", help="only the queue, as a worker starts it")

    def handle(self, *, parent: int, unwatched: bool, **options: Any) -> None:
        if parent:
            bind_to_parent(parent)
        if unwatched:
            lower_priority()
            monitor = TaskMonitor()  # signals hold no strong reference to it
            call_command("qcluster")
            del monitor
            return
        for weakness in weaknesses():
            logger.log(logging.WARNING if weakness.is_open else logging.INFO, weakness.message)
        stop = threading.Event()
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, lambda *_: stop.set())
        Watchdog(stop).run()
