"""`manage.py backfill [--dry-run]`: brings older rows to what is written today."""

from __future__ import annotations

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import CommandError

from documents.management.library_command import LibraryCommand
from retrieval.index.backfill import Behind, backfill, documents_behind, quality
from retrieval.provider_calls import ProviderError


class Command(LibraryCommand):
    help = "Indexes, embeds and reads again what an older version wrote. Stop and repeat it as you like."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--dry-run", action="store_true", help="only say what is behind")

    def handle(self, *, dry_run: bool, **options: Any) -> None:
        try:
            if dry_run:
                count = sum(self.show(behind) for behind in documents_behind())
            else:
                count = backfill(self.show)
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

    def show(self, behind: Behind) -> int:
        self.stdout.write(f"{behind.what}: {behind.document.title[:80]}")
        return 1
