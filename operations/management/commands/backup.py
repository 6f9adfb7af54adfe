"""`manage.py backup DIR`: back up the database and all files, with checksums."""

from __future__ import annotations

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import CommandError

from documents.management import LibraryCommand
from operations.backup import BackupError, back_up

INCOMPLETE = "The backup is not complete: {} files were deleted meanwhile. Make another. Missing:"


class Command(LibraryCommand):
    help = "Writes the database and all files into an empty folder, with checksums."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("folder", type=Path, metavar="DIR")
        parser.add_argument(
            "--with-keys",
            action="store_true",
            help="include the keys pasted under Models and providers; PINCITE_SECRET_KEY decrypts them",
        )

    def handle(self, *, folder: Path, with_keys: bool, **options: Any) -> None:
        try:
            manifest = back_up(folder, with_keys)
        except (BackupError, OSError) as error:
            raise CommandError(str(error)) from error
        if manifest.missing:
            raise CommandError(f"{INCOMPLETE.format(len(manifest.missing))}\n" + "\n".join(manifest.missing))
        self.stdout.write(f"{manifest.row_count} rows and {len(manifest.files)} files are in {folder}.")
