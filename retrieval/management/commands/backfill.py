"""`manage.py backfill [--dry-run]`: brings older rows to what is written today."""

from __future__ import annotations

import math
from argparse import ArgumentParser
from typing import Any

from django.core.management.base import CommandError

from documents.management import LibraryCommand
from retrieval.index.backfill import Behind, Throttle, backfill, documents_behind, quality
from retrieval.provider_calls import ProviderError


class Command(LibraryCommand):
    help = (
        "Updates documents of an older version: parses, indexes and embeds them again. "
        "It can be interrupted and repeated."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--dry-run", action="store_true", help="only list what is outdated")
        parser.add_argument("--a-minute", type=float, default=math.inf, help="maximum number of documents")
        parser.add_argument(
            "--waiting", type=float, default=math.inf, help="maximum number that wait for a worker"
        )

    def handle(self, *, dry_run: bool, a_minute: float, waiting: float, **options: Any) -> None:
        if min(a_minute, waiting) <= 0:
            raise CommandError("--a-minute and --waiting are more than 0.")
        try:
            if dry_run:
                count = sum(self.show(behind) for behind in documents_behind())
            else:
                count = backfill(self.show, Throttle(a_minute, waiting))
        except ProviderError as error:
            raise CommandError(f"{error.message} Repeat the command later.") from None
        self.stdout.write(f"{count} documents {'are' if dry_run else 'were'} behind.")
        found = quality()
        self.stdout.write(
            f"{found.chunks} chunks: {found.typed_share:.1%} have a type, "
            f"{found.mean_metadata:.0f} characters of metadata on average."
        )
        for field, units in sorted(found.located.items()):
            self.stdout.write(f"{units} imported units have {field}.")

    def show(self, behind: Behind, number: int = 0, among: int = 0) -> int:
        done = f"{number} of {among}, " if number else ""
        self.stdout.write(f"{done}{behind.what}: {behind.document.title[:80]}")
        self.stdout.flush()
        return 1
