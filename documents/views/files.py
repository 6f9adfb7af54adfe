"""Serve PDFs with byte ranges, originals, thumbnails and icons; each view checks access."""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path
from typing import IO, cast
from uuid import UUID

from django.contrib.auth.decorators import login_not_required
from django.db.models.fields.files import FieldFile
from django.http import Http404, HttpRequest, HttpResponse, StreamingHttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import get_object_or_404, redirect
from django.templatetags.static import static
from django.utils.http import content_disposition_header
from django.views.decorators.cache import cache_control
from django.views.decorators.http import require_safe

from documents.files import PartsOfFiles
from documents.files.page_pictures import PictureFailed, thumbnail_of
from documents.library import NOT_ON_CARDS
from documents.models import Document, EventKind
from documents.models.security import record
from documents.templatetags.ui import sprite
from text.numbers import whole_number

KEPT = "private, max-age=604800, immutable"  # for a URL that contains the digest of the file
SINGLE_RANGE = re.compile(r"bytes=(\d*)-(\d*)\s*")


class RangeNotSatisfiable(Exception):
    """The range lies outside the file: respond with 416."""


@dataclass(frozen=True, slots=True)
class ByteRange:
    """Bytes ``start`` to ``end``, both included, of a file of ``size`` bytes."""

    start: int
    end: int
    size: int

    @property
    def length(self) -> int:
        return self.end - self.start + 1

    @property
    def content_range(self) -> str:
        return f"bytes {self.start}-{self.end}/{self.size}"


def requested_range(header: str, size: int) -> ByteRange | None:
    """Return the range a Range header asks for; None when the whole file is to be sent.

    A header that is malformed or asks for several ranges is ignored, as the
    RFC allows. Raises RangeNotSatisfiable when it lies outside the file.
    """
    match = SINGLE_RANGE.fullmatch(header.strip())
    if match is None or match[0].strip() == "bytes=-":
        return None
    first, last = (_offset(digits) for digits in match.groups())
    if first is None:
        start, end = max(size - (last or 0), 0), size - 1
        if last == 0:
            raise RangeNotSatisfiable
    else:
        start, end = first, min(size - 1 if last is None else last, size - 1)
        if last is not None and last < start:
            return None
    if start >= size:
        raise RangeNotSatisfiable
    return ByteRange(start, end, size)


def _offset(digits: str) -> int | None:
    """Return a number of a Range header; None where there is none. More than any file has is ``BEYOND``."""
    return None if not digits else whole_number(digits, BEYOND) or (0 if not digits.strip("0") else BEYOND)


BEYOND = 2**62
BLANK_SHEET = '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 17 22" width="170" height="220"/>'
WHOLE_IN_MEMORY = 1 << 19  # bytes; longer answers are streamed in blocks of this size


@require_safe
def document_file(request: HttpRequest, pk: UUID) -> HttpResponseBase:
    """Return the PDF for viewers, or with ``?download`` the uploaded file; whole or the requested range."""
    document = get_object_or_404(Document.objects.visible_to(request.user), pk=pk)
    if "download" in request.GET and document.file and request.method == "GET":
        record(EventKind.EXPORTED, f"file of {document.pk}")
    return pdf_of(request, document, document.file if "download" in request.GET else document.shown_file)


def pdf_of(request: HttpRequest, document: Document, file: FieldFile) -> HttpResponseBase:
    """Return the file, whole or the requested range; 304 for a cached one. The caller checks access."""
    if not file:
        raise Http404
    etag = f'"{document.sha256}"' if file == document.file else f'"{Path(file.name).stem}"'
    if request.headers.get("If-None-Match") == etag:
        return _described(HttpResponse(status=304), document, etag)
    try:
        span = requested_range(_range_header(request, etag), file.size)
    except RangeNotSatisfiable:
        headers = {"Content-Range": f"bytes */{file.size}"}
        return HttpResponse(status=416, headers=headers)
    return _described(_bytes_of(file, span, request.method == "HEAD"), document, etag, request)


@require_safe
def document_original(request: HttpRequest, pk: UUID) -> HttpResponseBase:
    """Return an uploaded file that was no PDF, only as a download, since browsers would run HTML."""
    document = get_object_or_404(Document.objects.visible_to(request.user), pk=pk)
    if not document.original:
        raise Http404
    record(EventKind.EXPORTED, f"original of {document.pk}")
    response = _bytes_of(document.original, None, request.method == "HEAD")
    name = content_disposition_header(True, document.original_name)
    response.headers["Content-Disposition"] = name or "attachment"
    response.headers["Content-Type"] = "application/octet-stream"
    response.headers["X-Content-Type-Options"] = "nosniff"
    response.headers["Content-Security-Policy"] = "default-src 'none'; sandbox"
    response.headers["Cache-Control"] = "private, no-cache"
    return response


def _range_header(request: HttpRequest, etag: str) -> str:
    """Return the Range header, unless If-Range names another version of the file."""
    condition = request.headers.get("If-Range", etag)
    return request.headers.get("Range", "") if condition == etag else ""


def _bytes_of(stored: FieldFile, span: ByteRange | None, head: bool) -> HttpResponseBase:
    size = stored.size
    part = span or ByteRange(0, size - 1, size)
    response: HttpResponseBase
    if head:
        response = HttpResponse()
    else:
        file = cast(PartsOfFiles, stored.storage).open_part(stored.name, part.start, part.length)
        if part.length > WHOLE_IN_MEMORY:
            response = StreamingHttpResponse(_blocks(file, part.length))
        else:
            with file:
                response = HttpResponse(file.read(part.length))
    response.headers["Content-Length"] = str(part.length)
    if span:
        response.status_code = 206
        response.headers["Content-Range"] = span.content_range
    return response


async def _blocks(file: IO[bytes], length: int) -> AsyncIterator[bytes]:
    """Yield ``length`` bytes in blocks, read in a thread to keep the event loop free."""
    try:
        left = length
        while left > 0 and (block := await asyncio.to_thread(file.read, min(left, WHOLE_IN_MEMORY))):
            left -= len(block)
            yield block
    finally:
        file.close()


def _described(
    response: HttpResponseBase, document: Document, etag: str, request: HttpRequest | None = None
) -> HttpResponseBase:
    as_attachment = request is not None and "download" in request.GET
    name = f"{document.title}.pdf"
    response.headers["Content-Type"] = "application/pdf"
    response.headers["X-Content-Type-Options"] = "nosniff"
    response.headers["Content-Disposition"] = content_disposition_header(as_attachment, name) or "inline"
    response.headers["Content-Security-Policy"] = "default-src 'none'; sandbox"
    response.headers["Accept-Ranges"] = "bytes"
    response.headers["Cache-Control"] = "private, no-cache"
    response.headers["ETag"] = etag
    return response


@require_safe
def document_thumbnail(request: HttpRequest, pk: UUID) -> HttpResponse:
    """Return the first page's picture; a blank sheet that is not cached, if it cannot be drawn now."""
    document = get_object_or_404(Document.objects.visible_to(request.user).defer(*NOT_ON_CARDS), pk=pk)
    try:
        response = HttpResponse(thumbnail_of(document), content_type="image/webp")
        response.headers["Cache-Control"] = KEPT if "v" in request.GET else "private, max-age=3600"
    except PictureFailed:
        response = HttpResponse(BLANK_SHEET, content_type="image/svg+xml")
        response.headers["Cache-Control"] = "private, no-store"
    response.headers["X-Content-Type-Options"] = "nosniff"
    return response


@login_not_required
@require_safe
@cache_control(public=True, max_age=24 * 3600)
def favicon(request: HttpRequest) -> HttpResponse:
    return redirect(static("img/pincite.svg"))


@login_not_required
@require_safe
@cache_control(public=True, max_age=31536000, immutable=True)
def icons(request: HttpRequest) -> HttpResponse:
    return HttpResponse(sprite(), content_type="image/svg+xml")
