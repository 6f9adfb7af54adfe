"""`manage.py sweep`: one round of what each worker's watchdog does every few seconds."""

from __future__ import annotations

from typing import Any

from documents.ingestion.sweep import sweep
from documents.management.library_command import LibraryCommand


class Command(LibraryCommand):
    help = "Puts back documents that were left behind, empties the bin, issues tickets that were lost."

    def handle(self, **options: Any) -> None:
        done = sweep()
        self.stdout.write(
            f"{done.resumed} resumed, {done.given_up} given up, {done.removed} removed,"
            f" {done.tickets} tickets"
        )
