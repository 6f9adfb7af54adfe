"""Parse a document within the configured limits: pages, chunks and metadata."""

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

from documents.chunking import ChunkDraft, ChunkSizes, chunk_pages
from documents.failures import IngestionFailure
from documents.importers.block_import import read_import
from documents.ingestion.leases import Lease
from documents.ingestion.metadata import DocumentMetadata, extract_metadata
from documents.models import Document
from documents.models.content import MOST_TRIES
from pdf.api import parse_file
from pdf.failures import FailureCode
from pdf.sandbox.limits import Limits
from pdf.structure import ParsedDocument, ParsedPage


def parse_limits() -> Limits:
    return Limits(
        file_bytes=settings.UPLOAD_MAX_BYTES,
        pages=settings.PARSE_MAX_PAGES,
        words=settings.PARSE_MAX_WORDS,
        memory_bytes=settings.PARSE_MEMORY_BYTES,
        base_seconds=settings.PARSE_BASE_SECONDS,
        page_seconds=settings.PARSE_PAGE_SECONDS,
        ocr_memory_bytes=settings.PARSE_OCR_MEMORY_BYTES,
        tesseract=settings.PARSE_TESSERACT,
        readers=settings.PARSE_READERS,
    )


def chunk_sizes() -> ChunkSizes:
    return ChunkSizes(
        target_tokens=settings.CHUNK_TARGET_TOKENS,
        max_tokens=settings.CHUNK_MAX_TOKENS,
        min_units=settings.CHUNK_MIN_UNITS,
        max_units=settings.CHUNK_MAX_UNITS,
    )


PROGRESS_SECONDS = 1.0


class Content(msgspec.Struct, frozen=True):
    """Everything that is stored of a document's file."""

    parsed: ParsedDocument
    chunks: tuple[ChunkDraft, ...]
    title: str
    stage_seconds: dict[str, float]
    description: DocumentMetadata


def read_document(lease: Lease, document: Document, *, shows_progress: bool = True) -> Content:
    """Parse the document in the sandbox and chunk it. Raises ParseFailure, IngestionFailure, LostLease.

    ``shows_progress``: write the number of parsed pages to the document's row.

    Pages that need OCR are only marked (``ParsedPage.awaits``) for ``documents.ingestion.recognition``.
    """
    if document.is_imported:
        parsed = read_import(document, read_file(lease, document, shows_progress) if document.file else None)
    else:
        parsed = read_file(lease, document, shows_progress)
    if not any(page.units or page.awaits for page in parsed.pages):
        raise IngestionFailure(FailureCode.NO_TEXT, why_empty(parsed.pages))
    return content_of(parsed, document.title if document.is_imported else "", document)


def content_of(parsed: ParsedDocument, title: str, document: Document | None = None) -> Content:
    """Chunk the pages and extract metadata. ``title`` '' uses the document's or the extracted title."""
    description = extract_metadata(parsed)
    title = title or (title_of(document, description) if document else description.title)
    start = time.perf_counter()
    chunks = chunk_pages(parsed.pages, title, chunk_sizes())
    stages = {f"read: {stage}": round(spent, 3) for stage, spent in parsed.stage_seconds.items()}
    stages["chunk"] = round(time.perf_counter() - start, 3)
    return Content(parsed, tuple(chunks), title, stages, description)


def read_file(lease: Lease, document: Document, shows_progress: bool = True) -> ParsedDocument:
    """Parse the document's PDF. Raises ParseFailure, LostLease."""
    with local_file(document.file) as path:
        return parse_file(
            path,
            limits=parse_limits(),
            recognised=recognised_before(document),
            unrecognised=given_up_before(document),
            recognise=False,
            pictures=settings.PARSE_PICTURES and not document.is_imported,
            on_progress=progress_of(lease, total="page_count") if shows_progress else None,
        )


def recognised_before(document: Document) -> dict[int, bytes]:
    """Return stored OCR results by page number."""
    pages = document.pages.exclude(recognised=b"").values_list("number", "recognised")
    return {number: bytes(packed) for number, packed in pages}


def given_up_before(document: Document) -> dict[int, str]:
    """Return the failures of pages whose OCR was given up, by page number."""
    tried = document.pages.filter(tries__gte=MOST_TRIES, recognised=b"")
    return dict(tried.values_list("number", "failure"))


def why_empty(pages: Sequence[ParsedPage]) -> str:
    """Return the most frequent failure of the pages; '' where they are blank."""
    reasons = Counter(page.failure for page in pages if page.failure)
    return reasons.most_common(1)[0][0] if reasons else ""


def title_of(document: Document, found: DocumentMetadata) -> str:
    """Return the owner's title; a title made from the file's name is replaced by the extracted one."""
    named_after_file = document.title == Document.title_from(document.original_name)
    return found.title if named_after_file and found.title else document.title


def progress_of(lease: Lease, total: str = "") -> Callable[[int, int], None]:
    """Return a callback that writes progress to the row, at most once a second; it may raise LostLease.

    ``total`` names the column for the total.
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
    """Yield a local path of the stored file; a temporary copy when the storage is remote."""
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
