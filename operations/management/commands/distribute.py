"""`manage.py distribute`: distribute the tables over the nodes of a Citus cluster."""

from __future__ import annotations

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from operations.postgres.citus import Node, NotPossible, distribute, join_nodes, missing_steps


class Command(BaseCommand):
    help = "Distributes the tables over the nodes of a Citus cluster. It is idempotent."

    requires_system_checks: list[str] = []  # they would query the database

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--check", action="store_true", help="only say what is not in its place")
        parser.add_argument(
            "--coordinator", type=Node.parse, metavar="HOST:PORT", help="how workers reach this server"
        )
        parser.add_argument(
            "--worker",
            type=Node.parse,
            metavar="HOST:PORT",
            action="append",
            default=[],
            help="add this node",
        )

    def handle(
        self, *, check: bool, coordinator: Node | None, worker: list[Node], **options: Any
    ) -> str | None:
        try:
            if check:
                self.report()
                return None
            if coordinator or worker:
                join_nodes(coordinator, worker)
            count = distribute(lambda step: self.stdout.write(step.what))
        except NotPossible as error:
            raise CommandError(str(error)) from error
        return f"{count} steps." if count else "Every table is in its place."

    def report(self) -> None:
        """List the steps that are missing. Raises CommandError where there are any."""
        steps = missing_steps()
        for step in steps:
            self.stdout.write(step.what)
        if steps:
            raise CommandError(f"{len(steps)} things are not in their place: run `manage.py distribute`.")
        self.stdout.write("Every table is in its place.")
