"""Watches django-q2's cluster, and starts it anew when it is no longer whole.

A cluster of which an idle worker was killed waits for ever on a lock that the
dead one holds (django-q2 issue 23); it does not notice. So its processes are
watched from outside: when one of them is gone, its document is put back and
the whole cluster is replaced.
"""

from __future__ import annotations

import logging
import signal
import threading
import time
from contextlib import suppress

import psutil
from django.conf import settings
from django.db import DatabaseError, connection

from documents.ingestion import queue
from documents.ingestion.leases import host
from documents.ingestion.queue import waiting
from documents.ingestion.sweep import SWEEP_EVERY, recover_from, sweep_in_turn
from documents.models import Document
from operations.processes import ProcessGroup

logger = logging.getLogger(__name__)
TICK = 1.0  # seconds between two looks
STARTING = 120.0  # seconds a cluster may take until it is whole: a busy machine imports slowly
MENDING = 15.0  # seconds a broken cluster may finish what it has in work
STALLED = 30.0  # seconds in which documents wait and nobody takes one
STOPPING = 20.0  # seconds workers have to put their documents back


class Watchdog:
    """Runs one cluster until ``stop`` is set."""

    def __init__(self, stop: threading.Event) -> None:
        self.stop = stop
        self.restarts = -1
        self.start()

    def start(self) -> None:
        self.cluster = ProcessGroup.start("cluster")
        self.family: set[int] = set()
        self.broken_since: float | None = None
        self.last_progress = self.started = time.monotonic()
        self.last_sweep = 0.0
        self.restarts += 1

    def run(self) -> None:
        try:
            while not self.stop.wait(TICK):
                try:
                    self.look()
                except DatabaseError as error:
                    logger.warning("the database does not answer: %s", error)
                    connection.close()
        finally:
            end_cluster(self.cluster)
            self.leave()

    def look(self) -> None:
        """One round. Raises DatabaseError, and then nothing was decided."""
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
        """Sentinel, pusher, monitor and all workers are there."""
        return self.broken_since is None and len(self.family) >= 3 + settings.Q_CLUSTER["workers"]

    def notice_deaths(self, now: float) -> None:
        """Puts back what a dead process was working on. The cluster mends itself, but may not work again."""
        members = cluster_members(self.cluster.process.pid)
        for process_id in self.family - members:
            logger.error("process %s of the queue is gone", process_id)
            recover_from(f"{host()}:{process_id}")
            self.family.discard(process_id)
            self.broken_since = self.broken_since or now
        self.family |= members
        if not self.cluster.is_running:
            self.broken_since = self.broken_since or now - MENDING

    def needs_replacement(self, now: float) -> bool:
        in_work = Document.objects.filter(lease_holder__startswith=f"{host()}:", lease__isnull=False).exists()
        if in_work or not self.is_whole or not waiting().exists():
            self.last_progress = now
        if self.broken_since is not None:
            return not in_work or now - self.broken_since >= MENDING
        if not self.is_whole:
            return now - self.started >= STARTING
        return now - self.last_progress >= STALLED

    def replace(self) -> None:
        logger.error("the queue is started anew")
        end_cluster(self.cluster)
        for process_id in self.family:
            recover_from(f"{host()}:{process_id}")
        self.start()

    def leave(self) -> None:
        try:
            queue.forget_worker()
        except DatabaseError:
            logger.warning("the database does not answer; the heartbeat will grow cold by itself")


def end_cluster(cluster: ProcessGroup) -> None:
    """Workers put their documents back; then everything goes at once.

    The cluster is not asked to stop by itself: it would wait for ever where an
    idle worker was killed. Its sentinel is held, so that no worker is replaced.
    """
    sentinels = children(cluster.process.pid)
    workers = [child for sentinel in sentinels for child in children(sentinel.pid)]
    for sentinel in sentinels:
        send(sentinel, signal.SIGSTOP)
    for process in workers:
        send(process, signal.SIGTERM)
    give_up_at = time.monotonic() + STOPPING
    while any(is_alive(process) for process in workers) and time.monotonic() < give_up_at:
        time.sleep(0.05)
    cluster.kill()


def send(process: psutil.Process, number: int) -> None:
    with suppress(psutil.NoSuchProcess):
        process.send_signal(number)


def is_alive(process: psutil.Process) -> bool:
    """A zombie is dead: its parent, which we hold, has not looked yet."""
    try:
        return process.is_running() and process.status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


def children(process_id: int) -> list[psutil.Process]:
    """Its children that are alive."""
    try:
        return [child for child in psutil.Process(process_id).children() if is_alive(child)]
    except psutil.NoSuchProcess:
        return []


def cluster_members(main: int) -> set[int]:
    """Process ids of the cluster: its sentinel, and the sentinel's workers, pusher and monitor.

    What those start in turn (a PDF's confined reader) comes and goes.
    """
    sentinels = children(main)
    own = [child for sentinel in sentinels for child in children(sentinel.pid)]
    return {process.pid for process in [*sentinels, *own]}
