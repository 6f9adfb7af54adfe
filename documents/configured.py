"""What the parser and the chunker are told by the settings."""

from __future__ import annotations

from django.conf import settings

from documents.chunking import ChunkSizes
from documents.pdf.limits import Limits


def parse_limits() -> Limits:
    return Limits(
        file_bytes=settings.UPLOAD_MAX_BYTES,
        pages=settings.PARSE_MAX_PAGES,
        words=settings.PARSE_MAX_WORDS,
        memory_bytes=settings.PARSE_MEMORY_BYTES,
        base_seconds=settings.PARSE_BASE_SECONDS,
        page_seconds=settings.PARSE_PAGE_SECONDS,
        ocr_memory_bytes=settings.PARSE_OCR_MEMORY_BYTES,
        readers=settings.PARSE_READERS,
    )


def chunk_sizes() -> ChunkSizes:
    return ChunkSizes(
        target_tokens=settings.CHUNK_TARGET_TOKENS,
        max_tokens=settings.CHUNK_MAX_TOKENS,
        min_units=settings.CHUNK_MIN_UNITS,
        max_units=settings.CHUNK_MAX_UNITS,
    )
