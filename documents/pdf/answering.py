"""What the confined child does with each kind of request."""

from __future__ import annotations

import time
from collections.abc import Callable

from documents.pdf import readers
from documents.pdf.drawing import page_picture, plain_picture
from documents.pdf.engines import parse
from documents.pdf.evidence import bound_evidence
from documents.pdf.failures import FailureCode, ParseFailure, file_failure
from documents.pdf.limits import wall_seconds
from documents.pdf.messages import (
    Answer,
    ConvertRequest,
    DrawRequest,
    EvidenceRequest,
    Finished,
    PageParsed,
    ParseRequest,
    PictureRequest,
    Produced,
    RecogniseRequest,
    Request,
    TextLayerRequest,
    UnlockRequest,
)
from documents.pdf.opening import open_document
from documents.pdf.readers import Allowance, Done, Job
from documents.pdf.recognition import recognise
from documents.pdf.structure import ParsedPage
from documents.pdf.textlayer import with_text_layer

Tell = Callable[[Answer], None]
# pymupdf.PDF_ENCRYPT_NONE, which its types leave out.
_NO_ENCRYPTION = 1


def answer(request: Request, tell: Tell) -> None:
    """Raises ParseFailure."""
    if isinstance(request, ParseRequest):
        parse(request, tell)
    elif isinstance(request, RecogniseRequest):
        recognise(request, tell)
    elif isinstance(request, DrawRequest):
        _draw(request, tell)
    elif isinstance(request, PictureRequest):
        _picture(request, tell)
    elif isinstance(request, TextLayerRequest):
        _add_text_layer(request, tell)
    elif isinstance(request, UnlockRequest):
        _unlock(request, tell)
    elif isinstance(request, EvidenceRequest):
        _bind_evidence(request, tell)
    else:
        _convert(request, tell)


def _draw(request: DrawRequest, tell: Tell) -> None:
    found: list[ParsedPage] = []

    def keep(message: Answer) -> None:
        if isinstance(message, PageParsed):
            found.append(message.page)
        elif not isinstance(message, Finished):
            tell(message)

    parse(request.reading, keep)
    if not found:
        raise ParseFailure(FailureCode.NO_PAGES, f"There is no page {request.page}.")
    reading = request.reading

    def prepare() -> tuple[int, Callable[[Job], bytes]]:
        document = open_document(reading.path, reading.password, reading.limits.pages)
        return document.page_count, lambda job: page_picture(document[job - 1], found[0], request.layers)

    tell(Produced(_made(prepare, request.page, request)))
    tell(Finished())


def _picture(request: PictureRequest, tell: Tell) -> None:
    def prepare() -> tuple[int, Callable[[Job], bytes]]:
        document = open_document(request.path, request.password, request.limits.pages)
        return document.page_count, lambda job: plain_picture(document[job - 1], request.dpi)

    tell(Produced(_made(prepare, request.page, request)))
    tell(Finished())


def _add_text_layer(request: TextLayerRequest, tell: Tell) -> None:
    def prepare() -> tuple[int, Callable[[Job], bytes]]:
        document = open_document(request.path, request.password, request.limits.pages)
        return document.page_count, lambda _: with_text_layer(document, request.pages)

    tell(Produced(_made(prepare, 1, request)))
    tell(Finished())


def _unlock(request: UnlockRequest, tell: Tell) -> None:
    def prepare() -> tuple[int, Callable[[Job], bytes]]:
        document = open_document(request.path, request.password, request.limits.pages)
        return document.page_count, lambda _: bytes(document.tobytes(encryption=_NO_ENCRYPTION))

    tell(Produced(_made(prepare, 1, request)))
    tell(Finished())


def _bind_evidence(request: EvidenceRequest, tell: Tell) -> None:
    def prepare() -> tuple[int, Callable[[Job], bytes]]:
        return 1, lambda _: bound_evidence(request)

    tell(Produced(_made(prepare, 1, request)))
    tell(Finished())


def _convert(request: ConvertRequest, tell: Tell) -> None:
    from documents.pdf.converting import converted  # its libraries take 0.3 s that no other request needs

    def prepare() -> tuple[int, Callable[[Job], bytes]]:
        return 1, lambda _: converted(request)

    tell(Produced(_made(prepare, 1, request)))
    tell(Finished())


def _made(prepare: readers.Prepare[bytes], job: Job, request: Request) -> bytes:
    """What one job of a reader makes, within the file's own time."""
    limits = request.limits
    seconds = limits.base_seconds
    deadline = time.monotonic() + wall_seconds(seconds)
    allowance = Allowance(limits.memory_bytes, seconds, seconds, deadline)
    (made,) = readers.answers(prepare, [job], bytes, allowance)
    if isinstance(made, Done):
        return made.value
    message = made.message if made.message != made.code.label else ""
    raise ParseFailure(made.code, message or file_failure(made.code, made.limit), made.detail)
