"""Pages per second by stage, against raw PyMuPDF words and others' parsers on the same files in the same run.

Documents are really ingested, as a user who is removed afterwards with all that was made.
"""

from __future__ import annotations

import subprocess
import sys
import time
from argparse import ArgumentParser
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
import pymupdf
from django.contrib.auth.models import User
from django.core.files import File
from django.core.files.base import ContentFile
from django.core.management.base import BaseCommand

from bench._installation import sample_pdf
from documents.files.uploads import store_upload
from documents.ingestion.pipeline import ingest_document
from documents.ingestion.recognition import recognise_document
from documents.library import delete_document
from documents.models import Document
from operations.processes import ProcessGroup
from pdf.layout.pipeline import read_pages

# --- The cost of parsing, compared with MuPDF's own words of the same pages ---
#
# Both are timed for each document, one right after the other, and each is the least of ``ROUNDS``: so the
# machine is the same for both. CPU time counts: a busy machine changes it less.

ROUNDS = 2


class ParsingCost(msgspec.Struct, frozen=True):
    """``times_words``: the time from page to units, divided by that of ``page.get_text("words")`` on the same
    pages.
    """

    times_words: float


class _Seconds(NamedTuple):
    """The seconds for all pages of a document: its words, its units."""

    words: float
    units: float


def parsing_cost(files: Sequence[Path]) -> ParsingCost:
    """Measure the files; skip those that MuPDF cannot open or that need a password."""
    seconds = [_measured(document) for file in files if (document := _opened(file))]
    if not seconds:
        return ParsingCost(0.0)
    return ParsingCost(round(sum(s.units for s in seconds) / sum(s.words for s in seconds), 2))


def _opened(file: Path) -> pymupdf.Document | None:
    try:
        document = pymupdf.open(file)
    except (RuntimeError, ValueError):
        return None
    return document if document.is_pdf and not document.needs_pass and document.page_count else None


def _measured(document: pymupdf.Document) -> _Seconds:
    rounds = [
        (_spent(partial(_read_words, document)), _spent(partial(_read_units, document)))
        for _ in range(ROUNDS)
    ]
    words, units = zip(*rounds, strict=True)
    return _Seconds(min(words), min(units))


def _spent(work: Callable[[], None]) -> float:
    began = time.process_time()
    work()
    return time.process_time() - began


def _read_words(document: pymupdf.Document) -> None:
    for number in range(document.page_count):
        document[number].get_text("words")


def _read_units(document: pymupdf.Document) -> None:
    read_pages(document, range(1, document.page_count + 1))


USER = "bench-ingest"
OTHERS_PAGES = 20  # they are slow
STAGES = ("raw open", "raw words", "read: read", "read: layout", "read", "chunk", "store", "index", "whole")


class IngestFigures(msgspec.Struct):
    """``pages_per_second`` by stage; ``ratio`` is raw PyMuPDF's time by that of the whole ingestion.

    ``chunks_indexed_per_second``: words and vectors, both written.
    ``parsing`` is what the parser costs alone, without process border and database.
    """

    files: int
    failed: int
    pages: int
    pages_per_second: dict[str, float]
    chunks_indexed_per_second: float
    ratio: float
    parsing: ParsingCost


def add_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("folder", type=Path, metavar="DIR")
    parser.add_argument("--limit", type=int, default=0, help="most files, spread over the folder")
    parser.add_argument("--others", action="store_true", help="also measure pymupdf4llm and pdfplumber")
    parser.add_argument(
        "--workers", type=int, nargs="+", default=[], help="also ingest the files with this number of workers"
    )
    parser.add_argument("--json", action="store_true")


def run(command: BaseCommand, options: dict[str, Any]) -> int:
    files = chosen_files(options["folder"], options["limit"])
    figures = measure(files)
    if options["others"]:
        figures.pages_per_second |= others(files)
    if options["json"]:
        command.stdout.write(msgspec.json.encode(figures).decode())
        return 0
    command.stdout.write(f"{figures.files} files, {figures.pages} pages, {figures.failed} failed")
    for stage, rate in figures.pages_per_second.items():
        command.stdout.write(f"{stage:>22} {rate:10.1f} pages/s")
    command.stdout.write(f"{'index':>22} {figures.chunks_indexed_per_second:10.1f} chunks/s")
    command.stdout.write(f"raw PyMuPDF words take {figures.ratio:.1%} of the time of the whole")
    parsing = figures.parsing
    command.stdout.write(f"parsing to units takes {parsing.times_words} times as long as raw PyMuPDF words")
    for count in options["workers"]:
        command.stdout.write(with_workers(files, count))
    return 0


def chosen_files(folder: Path, limit: int) -> list[Path]:
    files = sorted(folder.rglob("*.pdf"))
    step = max(1, len(files) // limit) if limit else 1
    return files[::step][: limit or None]


def measure(files: list[Path]) -> IngestFigures:
    seconds: dict[str, float] = defaultdict(float)
    pages = chunks = failed = 0
    with bench_user() as user:
        for file in files:
            with timed(seconds, "whole"):
                document = ingest_file(user, file)
            if document.status != Document.Status.READY:
                failed += 1
                continue
            pages += document.page_count
            chunks += document.chunks.count()
            for stage, spent in document.stage_seconds.items():
                seconds[stage] += spent
            measure_raw(file, seconds)
    rates = {stage: round(pages / seconds[stage], 1) for stage in STAGES if seconds[stage]}
    ratio = round(seconds["raw words"] / (seconds["whole"] or 1), 4)
    indexed = round(chunks / (seconds["index"] or 1), 1)
    return IngestFigures(len(files), failed, pages, rates, indexed, ratio, parsing_cost(files))


def with_workers(files: Sequence[Path], count: int) -> str:
    """Time ``count`` workers from the upload of all files until every page is read, pictures included.

    No other worker may run.
    """
    workers = [ProcessGroup.start("worker") for _ in range(count)]
    try:
        with bench_user() as user:
            wait_until_read(
                user, [sample_pdf(900 + number, 2) for number in range(2 * count)]
            )  # workers are awake then
            remove_documents(user)
            begun = time.monotonic()
            pages = wait_until_read(user, [file.read_bytes() for file in files])
            minutes = (time.monotonic() - begun) / 60
    finally:
        for worker in workers:
            worker.stop(30)
    return (
        f"{count} workers: {len(files)} files and {pages} pages in {60 * minutes:.1f} s,"
        f" {len(files) / minutes:.1f} files and {pages / minutes:.0f} pages a minute"
    )


def wait_until_read(user: User, files: Sequence[bytes]) -> int:
    """Upload files; return the number of their pages once all are ready or failed."""
    for number, data in enumerate(files):
        store_upload(user, ContentFile(data), f"{number}.pdf")
    own = Document.objects.filter(owner=user)
    while own.exclude(status__in=(Document.Status.READY, Document.Status.FAILED)).exists():
        time.sleep(0.1)
    return sum(own.values_list("page_count", flat=True))


def others(files: Sequence[Path]) -> dict[str, float]:
    """Pages per second of those of ``OTHERS`` that are installed, of the first pages of each file.

    pymupdf4llm makes Markdown of them, pdfplumber words and tables: neither stores or indexes anything.
    """
    seconds: dict[str, float] = defaultdict(float)
    pages = 0
    for file in files:
        with pymupdf.open(file) as document:
            few = range(min(OTHERS_PAGES, document.page_count))
        pages += len(few)
        for name, read in OTHERS.items():
            with suppress(ImportError), timed(seconds, name):
                read(file, few)
    return {name: round(pages / spent, 1) for name, spent in seconds.items()}


MARKDOWN = "import sys, pymupdf4llm as p; p.to_markdown(sys.argv[1], pages=range(int(sys.argv[2])))"


def _read_as_markdown(file: Path, pages: range) -> None:
    """Measure in a separate process, as ours leave the layout model out (``pdf``); its start counts."""
    command = [sys.executable, "-c", MARKDOWN, str(file), str(len(pages))]
    if subprocess.run(command, capture_output=True, check=False).returncode:
        raise ImportError("pymupdf4llm")


def _read_with_pdfplumber(file: Path, pages: range) -> None:
    import pdfplumber

    with pdfplumber.open(file) as opened:
        for number in pages:
            opened.pages[number].extract_words()
            opened.pages[number].extract_tables()
            opened.pages[number].close()


OTHERS = {"pymupdf4llm": _read_as_markdown, "pdfplumber": _read_with_pdfplumber}


def measure_raw(file: Path, seconds: dict[str, float]) -> None:
    """Measure the lower bound of any parser: opening the file, and MuPDF's words of each page."""
    with timed(seconds, "raw open"):
        document = pymupdf.open(file)
    with timed(seconds, "raw words"):
        for number in range(document.page_count):
            document[number].get_text("words")


def ingest_file(user: User, file: Path) -> Document:
    with file.open("rb") as stream:
        document = store_upload(user, File(stream), file.name, queued=False)
    ingest_document(document.pk)
    recognise_document(document.pk)
    document.refresh_from_db()
    return document


@contextmanager
def bench_user() -> Iterator[User]:
    """Create a user without documents, and delete it afterwards."""
    user, _ = User.objects.get_or_create(username=USER)
    try:
        remove_documents(user)
        yield user
    finally:
        remove_documents(user)
        user.delete()


def remove_documents(user: User) -> None:
    for document in Document.objects.filter(owner=user):
        delete_document(document)


@contextmanager
def timed(seconds: dict[str, float], stage: str) -> Iterator[None]:
    start = time.perf_counter()
    yield
    seconds[stage] += time.perf_counter() - start
