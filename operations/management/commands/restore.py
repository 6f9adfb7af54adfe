"""`manage.py restore DIR`: restore a backup."""

from __future__ import annotations

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from operations.backup import BackupError, restore


class Command(BaseCommand):
    help = "Verifies a backup, then replaces the database's rows and the stored files by it."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("folder", type=Path, metavar="DIR")
        parser.add_argument("--overwrite", action="store_true", help="replace existing documents")

    def handle(self, *, folder: Path, overwrite: bool, **options: Any) -> None:
        try:
            manifest = restore(folder, overwrite=overwrite)
        except (BackupError, OSError) as error:
            raise CommandError(str(error)) from error
        self.stdout.write(f"{manifest.row_count} rows and {len(manifest.files)} files were restored.")
