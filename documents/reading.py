"""What a document's file says: its pages, what is searched in them, and what the document is called."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from tempfile import NamedTemporaryFile

import msgspec
from django.conf import settings
from django.db.models.fields.files import FieldFile

from documents.chunking import ChunkDraft, chunk_pages
from documents.configured import chunk_sizes, parse_limits
from documents.describing import Description, describe
from documents.failures import IngestionFailure
from documents.leases import Lease
from documents.models import Document
from documents.models.page import MOST_TRIES
from documents.pdf.failures import FailureCode
from documents.pdf.parsing import parse_file
from documents.pdf.structure import ParsedDocument, ParsedPage

PROGRESS_SECONDS = 1.0


class Content(msgspec.Struct, frozen=True):
    """All that is stored of a document's file."""

    parsed: ParsedDocument
    chunks: tuple[ChunkDraft, ...]
    title: str
    stage_seconds: dict[str, float]
    description: Description


def read(lease: Lease, document: Document) -> Content:
    """Parses (in the limited child) and chunks. Raises ParseFailure, IngestionFailure, LostLease.

    Pages that have to be recognised from their pictures only say so: ``documents.recognition``.
    """
    with local_file(document.file) as path:
        parsed = parse_file(
            path,
            limits=parse_limits(),
            recognised=recognised_before(document),
            unrecognised=given_up_before(document),
            recognise=False,
            pictures=settings.PARSE_PICTURES,
            on_progress=progress_of(lease, total="page_count"),
        )
    if not any(page.units or page.awaits for page in parsed.pages):
        raise IngestionFailure(FailureCode.NO_TEXT, why_empty(parsed.pages))
    description = describe(parsed)
    title = title_of(document, description)
    start = time.perf_counter()
    chunks = chunk_pages(parsed.pages, title, chunk_sizes())
    stages = {f"read: {stage}": round(spent, 3) for stage, spent in parsed.stage_seconds.items()}
    stages["chunk"] = round(time.perf_counter() - start, 3)
    return Content(parsed, tuple(chunks), title, stages, description)


def recognised_before(document: Document) -> dict[int, bytes]:
    """What the pictures of its pages said when it was last read, by page number."""
    pages = document.pages.exclude(recognised=b"").values_list("number", "recognised")
    return {number: bytes(said) for number, said in pages}


def given_up_before(document: Document) -> dict[int, str]:
    """Why the recognition of some of its pages was given up, by page number."""
    tried = document.pages.filter(tries__gte=MOST_TRIES, recognised=b"")
    return dict(tried.values_list("number", "failure"))


def why_empty(pages: Sequence[ParsedPage]) -> str:
    """What most of its pages failed of; '' where they are blank."""
    reasons = Counter(page.failure for page in pages if page.failure)
    return reasons.most_common(1)[0][0] if reasons else ""


def title_of(document: Document, found: Description) -> str:
    """The title its owner gave it stays; the one that only repeats the file's name gives way."""
    named_after_file = document.title == Document.title_from(document.original_name)
    return found.title if named_after_file and found.title else document.title


def progress_of(lease: Lease, total: str = "") -> Callable[[int, int], None]:
    """Writes how far the work is to the row, once a second at most. Raises LostLease there.

    ``total`` names the column that holds how much there is.
    """
    written = time.monotonic()

    def write(done: int, whole: int) -> None:
        nonlocal written
        if time.monotonic() - written >= PROGRESS_SECONDS:
            lease.update(progress=done / max(whole, 1), **({total: whole} if total else {}))
            written = time.monotonic()

    return write


@contextmanager
def local_file(file: FieldFile) -> Iterator[Path]:
    """The stored file as a path; a copy when the storage is not a disk of this machine."""
    try:
        path = Path(file.path)
    except NotImplementedError:
        path = None
    if path is not None:
        yield path
        return
    with NamedTemporaryFile(suffix=".pdf") as copy:
        for part in file.chunks():
            copy.write(part)
        copy.flush()
        yield Path(copy.name)
