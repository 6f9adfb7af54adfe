"""`manage.py import_blocks FILE.json`: import another parser's output as a document."""

from __future__ import annotations

import json
from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import CommandError

from documents.importers.block import AdapterError
from documents.importers.block_import import import_blocks
from documents.importers.parser_outputs import ADAPTERS
from documents.ingestion.pipeline import ingest_document
from documents.management import LibraryCommand, owner_named
from documents.models import Document


class Command(LibraryCommand):
    help = "Imports the JSON of another parser (Docling, Unstructured, Reducto and the like) as a document."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("files", nargs="+", type=Path, metavar="FILE.json")
        parser.add_argument("--kind", choices=sorted(ADAPTERS), default="", help="detected by default")
        parser.add_argument("--title", default="", help="the file's name by default")
        parser.add_argument("--owner", default="", help="username; the first superuser by default")

    def handle(self, *, files: list[Path], kind: str, title: str, owner: str, **options: Any) -> None:
        user = owner_named(owner)
        for path in files:
            try:
                payload = json.loads(path.read_text(encoding="utf-8"))
                document = import_blocks(user, payload, title or Document.title_from(path.name), kind)
                ingest_document(document.pk)
                document.refresh_from_db()
            except OSError as error:
                raise CommandError(f"{path}: {error.strerror}") from None
            except (ValueError, RecursionError) as error:
                raise CommandError(f"{path} is not JSON in UTF-8: {error}") from None
            except AdapterError as error:
                named = "".join(f"\n  block {number}: {reason}" for number, reason in error.blocks.items())
                raise CommandError(f"{path}: {error}{named}") from None
            counts = f"{document.unit_count} units, {document.chunk_count} chunks"
            self.stdout.write(f"{path.name}: {document.status}, {counts} {document.failure_message}".strip())
