"""Parse a document within the limits of the settings: its pages, chunks and metadata."""

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
    """All that is stored of a document's file."""

    parsed: ParsedDocument
    chunks: tuple[ChunkDraft, ...]
    title: str
    stage_seconds: dict[str, float]
    description: DocumentMetadata


def read_document(lease: Lease, document: Document, *, shows_progress: bool = True) -> Content:
    """Parses (in the limited child) and chunks. Raises ParseFailure, IngestionFailure, LostLease.

    ``shows_progress``: writes how many pages are parsed to the document's row.

    Pages that have to be recognised from their pictures only say so: ``documents.ingestion.recognition``.
    """
    if document.is_imported:
        parsed = read_import(document, read_file(lease, document, shows_progress) if document.file else None)
    else:
        parsed = read_file(lease, document, shows_progress)
    if not any(page.units or page.awaits for page in parsed.pages):
        raise IngestionFailure(FailureCode.NO_TEXT, why_empty(parsed.pages))
    return content_of(parsed, document.title if document.is_imported else "", document)


def content_of(parsed: ParsedDocument, title: str, document: Document | None = None) -> Content:
    """The pages with their chunks; a ``title`` of '' is that of the document, or what its pages say."""
    description = extract_metadata(parsed)
    title = title or (title_of(document, description) if document else description.title)
    start = time.perf_counter()
    chunks = chunk_pages(parsed.pages, title, chunk_sizes())
    stages = {f"read: {stage}": round(spent, 3) for stage, spent in parsed.stage_seconds.items()}
    stages["chunk"] = round(time.perf_counter() - start, 3)
    return Content(parsed, tuple(chunks), title, stages, description)


def read_file(lease: Lease, document: Document, shows_progress: bool = True) -> ParsedDocument:
    """The document's PDF. Raises ParseFailure, LostLease."""
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


def title_of(document: Document, found: DocumentMetadata) -> str:
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
