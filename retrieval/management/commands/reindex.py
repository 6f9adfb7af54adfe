"""`manage.py reindex --space NAME`: embeds the library with another model, then switches to it."""

from __future__ import annotations

from argparse import ArgumentParser
from typing import Any

from django.conf import settings
from django.core.management.base import CommandError

from documents.management import LibraryCommand
from retrieval.index.backfill import BackfillProgress, reindex
from retrieval.provider_calls import ProviderError


class Command(LibraryCommand):
    help = "Embeds the library with another model, then switches to it. It can be interrupted and repeated."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument(
            "--space", default=settings.EMBEDDING_SPACE, help="provider or provider:model; PINCITE_EMBEDDING"
        )

    def handle(self, *, space: str, **options: Any) -> None:
        try:
            switched = reindex(space, self.show)
        except ProviderError as error:
            raise CommandError(f"{error.message} What was embedded is kept; repeat the command.") from None
        self.stdout.write(f"{switched.name} answers now.")

    def show(self, progress: BackfillProgress) -> None:
        title = progress.document.title[:60]
        self.stdout.write(f"{title}: {progress.embedded} chunks; {progress.remaining} documents to go")
        self.stdout.flush()
