"""The limits of a parse as the settings give them."""

from __future__ import annotations

from django.conf import settings

from documents.pdf.limits import Limits


def parse_limits() -> Limits:
    return Limits(
        file_bytes=settings.UPLOAD_MAX_BYTES,
        pages=settings.PARSE_MAX_PAGES,
        memory_bytes=settings.PARSE_MEMORY_BYTES,
        base_seconds=settings.PARSE_BASE_SECONDS,
        page_seconds=settings.PARSE_PAGE_SECONDS,
    )
