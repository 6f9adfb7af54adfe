"""`manage.py scheduler`: recover abandoned documents every few seconds; it ingests none itself."""

from __future__ import annotations

import logging
import signal
import threading
from argparse import ArgumentParser
from typing import Any

from django.db import DatabaseError, connection

from documents.management import LibraryCommand
from documents.tasks import SWEEP_EVERY, sweep, sweep_in_turn
from operations.processes import bind_to_parent

logger = logging.getLogger(__name__)


class Command(LibraryCommand):
    help = "Recovers abandoned documents, purges the trash and requeues lost tasks, as workers do in turn."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--once", action="store_true", help="run one round now and print its counts")
        parser.add_argument("--parent", type=int, default=0, help="id of a process; end with it")

    def handle(self, *, once: bool, parent: int, **options: Any) -> None:
        if once:
            done = sweep()
            self.stdout.write(
                f"{done.resumed} resumed, {done.given_up} given up, {done.removed} removed,"
                f" {done.tickets} tickets"
            )
            return
        if parent:
            bind_to_parent(parent)
        stop = threading.Event()
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, lambda *_: stop.set())
        while not stop.is_set():
            try:
                sweep_in_turn()
            except DatabaseError as error:
                logger.warning("the database does not answer: %s", error)
                connection.close()
            stop.wait(SWEEP_EVERY)
