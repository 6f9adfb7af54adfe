"""`manage.py cluster`: django-q2's cluster, whose processes end with their parent."""

from __future__ import annotations

from argparse import ArgumentParser
from typing import Any

from django.core.management import call_command
from django.core.management.base import BaseCommand

from operations.processes import bind_to_parent, lower_priority


class Command(BaseCommand):
    help = "Runs the task queue's processes. Use `worker`, which monitors them."

    requires_system_checks: list[str] = []  # `runapp` and `check` run them

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--parent", type=int, required=True, help="end when this process ends")

    def handle(self, *, parent: int, **options: Any) -> None:
        bind_to_parent(parent)
        lower_priority()
        call_command("qcluster")
