"""`manage.py backfill [--dry-run]`: brings older rows to what is written today."""

from __future__ import annotations

import json
import math
from argparse import ArgumentParser
from collections import Counter
from dataclasses import dataclass
from typing import Any

from django.core.management.base import CommandError
from django.db.models import Count, Q

from documents.management import LibraryCommand
from documents.models import CitationUnit, RetrievalChunk
from documents.models.content import chunk_metadata
from retrieval.index.backfill import Behind, backfill, documents_behind
from retrieval.provider_calls import ProviderError


class Command(LibraryCommand):
    help = (
        "Updates documents of an older version: parses, indexes and embeds them again. "
        "It can be interrupted and repeated."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--dry-run", action="store_true", help="only list what is outdated")
        parser.add_argument(
            "--waiting", type=float, default=math.inf, help="maximum number that wait for a worker"
        )

    def handle(self, *, dry_run: bool, waiting: float, **options: Any) -> None:
        if waiting <= 0:
            raise CommandError("--waiting is more than 0.")
        try:
            if dry_run:
                count = sum(self.show(behind) for behind in documents_behind())
            else:
                count = backfill(self.show, waiting)
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


@dataclass(frozen=True, slots=True)
class Quality:
    """Of all chunks the share that has a type; of a sample the mean size of their metadata in characters.

    Attributes:
        located: units by the fields of their location: ``slide``, ``sheet``, ``start_ms``, ``quad`` …
    """

    chunks: int
    typed_share: float
    mean_metadata: float
    located: dict[str, int]


SAMPLE = 200  # chunks whose metadata is measured


def quality() -> Quality:
    found = RetrievalChunk.objects.aggregate(chunks=Count("pk"), typed=Count("pk", filter=~Q(chunk_type="")))
    sample = (
        RetrievalChunk.objects.select_related("document").prefetch_related("units").order_by("pk")[:SAMPLE]
    )
    sizes = [len(json.dumps(chunk_metadata(chunk, list(chunk.units.all())))) for chunk in sample]
    located: Counter[str] = Counter()
    for location in CitationUnit.objects.exclude(location=None).values_list("location", flat=True).iterator():
        located.update(list(location or ()))
    return Quality(
        found["chunks"],
        found["typed"] / (found["chunks"] or 1),
        sum(sizes) / (len(sizes) or 1),
        dict(located),
    )
