"""`manage.py worker`: ingest documents; on any number of hosts."""

from __future__ import annotations

import logging
import signal
import threading
from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand

from operations.processes import bind_to_parent
from operations.watchdog import Watchdog
from pdf.sandbox.confinement import weaknesses

logger = logging.getLogger(__name__)


class Command(BaseCommand):
    help = "Runs the task queue, restarts it when it fails, and recovers abandoned documents."

    requires_system_checks: list[str] = []  # `runapp` and `check` run them

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--parent", type=int, default=0, help="end when this process ends")

    def handle(self, *, parent: int, **options: Any) -> None:
        if parent:
            bind_to_parent(parent)
        for weakness in weaknesses():
            logger.log(logging.WARNING if weakness.is_open else logging.INFO, weakness.message)
        stop = threading.Event()
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, lambda *_: stop.set())
        Watchdog(stop).run()
