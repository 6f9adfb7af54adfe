"""`manage.py ingest PATH…`: ingest files and folders in this process."""

from __future__ import annotations

import sys
import time
from argparse import ArgumentParser
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec
from django.contrib.auth.models import User
from django.core.files import File
from django.core.management.base import CommandError

from documents.files.uploads import UploadRefused, store_upload
from documents.ingestion.pipeline import ingest_document
from documents.ingestion.recognition import recognise_document
from documents.management import LibraryCommand, owner_named
from documents.models import Document

POLL_SECONDS = 0.5  # for a document that another process is ingesting


class IngestRecord(msgspec.Struct, frozen=True):
    """The result of one file, as printed with ``--json``."""

    file: str
    document: str
    status: str
    pages: int
    units: int
    chunks: int
    seconds: float
    failure: str


class Command(LibraryCommand):
    help = (
        "Ingests PDF files and folders of them in this process. Exit code 1 if any failed. With --watch it"
        " continues with files that are added later, until it is stopped."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("paths", nargs="+", type=Path, metavar="PATH")
        parser.add_argument("--owner", default="", help="username; the first superuser by default")
        parser.add_argument(
            "--watch", type=float, metavar="SECONDS", help="check for new files at this interval"
        )
        parser.add_argument("--json", action="store_true", help="one JSON object per document")

    def handle(
        self, *, paths: list[Path], owner: str, json: bool, watch: float | None, **options: Any
    ) -> None:
        user = owner_named(owner)
        seen: dict[Path, FileState] = {}
        failed = self.ingest_all(user, list(pdf_files(paths)), json)
        with suppress(KeyboardInterrupt):
            for path in pdf_files(paths) if watch else ():
                seen[path] = file_state(path)
            while watch:
                time.sleep(watch)
                failed += self.ingest_all(user, completely_written(paths, seen), json)
        if failed:
            sys.exit(1)

    def ingest_all(self, user: User, files: list[Path], json: bool) -> int:
        """Ingest the files. Return the number that failed."""
        failed = 0
        for number, file in enumerate(files, 1):
            self.show_progress(number, len(files), file)
            line = ingest_file(user, file)
            failed += line.status != Document.Status.READY
            self.stdout.write(msgspec.json.encode(line).decode() if json else summary_line(line))
            self.stdout.flush()
        self.clear_progress()
        return failed

    def show_progress(self, number: int, total: int, file: Path) -> None:
        if self.stderr.isatty():
            done = 30 * (number - 1) // total
            bar = "█" * done + "░" * (30 - done)
            self.stderr.write(f"\r\033[K{bar} {number}/{total} {file.name[:60]}\r", ending="")

    def clear_progress(self) -> None:
        if self.stderr.isatty():
            self.stderr.write("\r\033[K", ending="")


def pdf_files(paths: list[Path]) -> Iterator[Path]:
    """Yield named files, and the PDF files below named folders."""
    for path in paths:
        if not path.exists():
            raise CommandError(f"{path}: no such file or folder.")
        if path.is_dir():
            yield from sorted(file for file in path.rglob("*") if file.suffix.lower() == ".pdf")
        else:
            yield path


@dataclass(slots=True)
class FileState:
    """Size and time of change of a file; ``ingested`` once it was ingested in this state."""

    size: int
    changed: float
    ingested: bool = True


def file_state(path: Path) -> FileState:
    found = path.stat()
    return FileState(found.st_size, found.st_mtime)


def completely_written(paths: list[Path], seen: dict[Path, FileState]) -> list[Path]:
    """Return new or changed files that are unchanged since the last check, i.e. completely written."""
    ready = []
    for path in pdf_files(paths):
        try:
            now, before = file_state(path), seen.get(path)
        except FileNotFoundError:  # moved or deleted meanwhile
            continue
        if before is None or (before.size, before.changed) != (now.size, now.changed):
            seen[path] = FileState(now.size, now.changed, ingested=False)
        elif not before.ingested:
            before.ingested = True
            ready.append(path)
    return ready


def ingest_file(owner: User, path: Path) -> IngestRecord:
    start = time.perf_counter()
    try:
        with path.open("rb") as stream:
            document = store_upload(owner, File(stream), path.name, queued=False)
    except UploadRefused as refusal:
        if refusal.existing is None:
            return IngestRecord(
                str(path), "", "failed", 0, 0, 0, elapsed(start), f"{refusal.code}: {refusal}"
            )
        document = refusal.existing
    except OSError as error:
        return IngestRecord(str(path), "", "failed", 0, 0, 0, elapsed(start), f"unreadable: {error.strerror}")
    return record_of(finish(document), path, start)


def finish(document: Document) -> Document:
    """Ingest every page of the document, or wait for its worker. A failed document is tried again."""
    if document.status == Document.Status.FAILED:
        Document.objects.filter(pk=document.pk).update(status=Document.Status.UPLOADED, attempts=0)
        document.refresh_from_db()
    while document.is_working:
        if not (ingest_document(document.pk) or recognise_document(document.pk)):
            time.sleep(POLL_SECONDS)
        document.refresh_from_db()
    return document


def record_of(document: Document, path: Path, start: float) -> IngestRecord:
    failure = f"{document.failure_code}: {document.failure_message}" if document.failure_code else ""
    return IngestRecord(
        file=str(path),
        document=str(document.pk),
        status=document.status,
        pages=document.page_count,
        units=document.unit_count,
        chunks=document.chunk_count,
        seconds=elapsed(start),
        failure=failure,
    )


def elapsed(start: float) -> float:
    return round(time.perf_counter() - start, 3)


def summary_line(line: IngestRecord) -> str:
    if line.failure:
        return f"✗ {line.file}: {line.failure}"
    rate = f"{line.pages / line.seconds:.0f} pages/s" if line.seconds else ""
    return f"✓ {line.file}: {line.pages} pages, {line.units} units, {line.seconds} s, {rate}"
