"""``python -m pdf.sandbox.server PARENT``: answer requests about hostile files, one after the other.

It reads frames from standard input and writes frames to standard output. It has
no access to Django, settings or secrets, and opens no file of a request. A fork
answers each request: it starts clean, can access that request's files only, and
takes a millisecond to start, compared to a third of a second for Python and MuPDF.
"""

from __future__ import annotations

import gc
import os
import select
import signal
import sys
import time
import traceback
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import msgspec

from pdf.convert.pdf_writer import (
    annotated_pdf,
    held_annotations,
    plain_picture,
    with_annotations,
    with_text_layer,
)
from pdf.extract.figures import pictures_of_scan
from pdf.extract.open_document import about, open_document
from pdf.extract.page_content import RawPage, document_features, read_page
from pdf.extract.recognition import recognise, with_picture_words, with_recognised
from pdf.failures import FailureCode, ParseFailure, check_header, file_failure, page_failure
from pdf.geometry import PageFrame
from pdf.layout.pipeline import layout
from pdf.sandbox import reader_pool
from pdf.sandbox.confinement import (
    adopt_orphans,
    confine,
    confine_to_files,
    die_with_parent,
    is_alone,
    limit_cpu,
    limit_memory,
)
from pdf.sandbox.messages import (
    About,
    AnnotateRequest,
    Answer,
    ConvertRequest,
    EvidenceRequest,
    Failed,
    Finished,
    Frames,
    HeldRequest,
    Opened,
    PageParsed,
    ParseRequest,
    PictureRequest,
    Produced,
    Progress,
    RecogniseRequest,
    Request,
    TextLayerRequest,
    UnlockRequest,
    files_of,
    send,
    wall_seconds,
    with_files,
)
from pdf.sandbox.reader_pool import Job, JobFailure, JobLimits, JobResult
from pdf.structure import OutlineEntry, ParsedPage, most_frequent_failure

_REQUEST_SECONDS = 30.0
_LOOK_SECONDS = 0.02
# The readers of a fork end with it, by PR_SET_PDEATHSIG.
_LEFT_BEHIND_SECONDS = 1.0


def main() -> None:
    die_with_parent(int(sys.argv[1]))
    adopt_orphans()
    out = _own_standard_output()
    confine()
    gc.disable()  # pages allocate thousands of tuples, but no cycles; the process is short-lived
    requests: Frames[Request] = Frames(0, Request)
    try:
        while request := requests.next(time.monotonic() + _REQUEST_SECONDS):
            _see_through(_forked(request, out))
            if not is_alone(_LEFT_BEHIND_SECONDS):
                sys.exit(1)  # a process left behind must not answer the next request
    except TimeoutError:
        return


def _forked(request: Request, out: int) -> int:
    """Fork the process that answers the request. Return its id."""
    parent = os.getpid()
    if child := os.fork():
        return child
    try:
        die_with_parent(parent)
        os.dup2(os.open(os.devnull, os.O_RDONLY), 0)  # the fork must not read further requests
        request = with_files(request, confine_to_files(files_of(request)))
        die_with_parent(parent)  # a change of user clears it
        _answer(request, out)
        os._exit(0)
    finally:
        os._exit(1)


def _see_through(fork: int) -> None:
    """Wait until the fork ends or the next request arrives. Exit with the fork's failure."""
    while not select.select([0], [], [], _LOOK_SECONDS)[0]:
        ended, status = os.waitpid(fork, os.WNOHANG)
        if ended and os.WIFSIGNALED(status):
            os.kill(os.getpid(), os.WTERMSIG(status))
        if ended and status:
            sys.exit(1)
        if ended:
            return
    os.kill(fork, signal.SIGKILL)
    os.waitpid(fork, 0)


def _answer(request: Request, out: int) -> None:
    limit_memory(request.limits.memory_bytes)
    limit_cpu(request.limits.seconds(0))
    try:
        answer(request, lambda message: send(out, message))
    except ParseFailure as failure:
        send(out, Failed(failure.code, failure.message, failure.detail))
    except MemoryError:
        send(out, Failed(FailureCode.TOO_MUCH_MEMORY, detail="layout"))
    except BrokenPipeError:
        return
    except Exception:
        send(out, Failed(FailureCode.INTERNAL, detail=traceback.format_exc(limit=-8)))


def _own_standard_output() -> int:
    """Keep the pipe for frames; discard what C libraries print."""
    kept, nowhere = os.dup(1), os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 1)
    return kept


# --- Answers by type of request: parse, recognise, draw, convert, decrypt, annotate ---

Tell = Callable[[Answer], None]
_FileRequest = (
    EvidenceRequest | AnnotateRequest | HeldRequest | PictureRequest | TextLayerRequest | UnlockRequest
)
# pymupdf.PDF_ENCRYPT_NONE, which is missing in its types.
_NO_ENCRYPTION = 1
_MOST_WORDS = 100_000  # of one page
# With fewer pages, one reader finishes before a second one has opened the file.
_PAGES_A_READER = 8
_REPORT_SECONDS = 0.2
# The share of a page's time that its structure tree may take.
TAGGED_SHARE = 0.3
_LAYOUT_ERRORS = (ArithmeticError, AssertionError, LookupError, TypeError, ValueError, RecursionError)


def parse(request: ParseRequest, tell: Tell) -> None:
    """Parse the file and send its pages. Raises ParseFailure."""
    began = time.monotonic()
    check_header(Path(request.path))
    count, info = reader_pool.run_first_job(
        lambda: _about_file(request), About, _allowance(request, 0, began)
    )
    tell(Opened(count))
    limit_memory(request.limits.layout_bytes(count))
    info = info or About()
    tell(info)
    limit_cpu(request.limits.seconds(count))  # of this process, which lays out the pages
    allowance = _allowance(request, count, began)
    raw_pages, failures = _read(request, count, _with_tags(allowance) if info.tagged else allowance, tell)
    if failures and info.tagged:
        failures = _read_without_tags(request, raw_pages, failures, allowance)
    read = time.monotonic()
    if len(failures) == count:
        raise _worst(failures)
    if sum(len(raw.words) for raw in raw_pages) > request.limits.words:
        raise ParseFailure(FailureCode.TOO_LARGE, "This PDF holds more words than this server accepts.")
    scans = with_recognised(request, raw_pages, tell)
    raw_pages, recognised = scans.pages, time.monotonic()
    pages = _laid_out(raw_pages, info.outline)
    if scans.picture_words:
        pages = with_picture_words(pages, scans.picture_words)
    if request.pages is None and not scans.awaits and not any(page.words for page in pages):
        without_text = ParseFailure(FailureCode.NO_TEXT, most_frequent_failure(pages))
        raise _worst(failures) if failures else without_text
    wanted = set(request.pages or range(1, count + 1))
    for page in pages:
        if page.number in wanted:
            tell(PageParsed(scans.with_recognition(page)))
    moments = {"read": read, "recognise": recognised, "layout": time.monotonic()}
    tell(Finished(_durations(began, moments)))


def _durations(began: float, ends: Mapping[str, float]) -> dict[str, float]:
    """Return the seconds of consecutive stages, from their end times."""
    starts = [began, *list(ends.values())[:-1]]
    return {stage: round(end - start, 4) for start, (stage, end) in zip(starts, ends.items(), strict=True)}


def _about_file(request: ParseRequest) -> tuple[int, Callable[[Job], About]]:
    document = open_document(request.path, request.password, request.limits.pages)
    return document.page_count, lambda _: about(document)


def _raw_pages(request: ParseRequest, tags: bool = True) -> tuple[int, Callable[[Job], RawPage]]:
    document = open_document(request.path, request.password, request.limits.pages)
    traits = document_features(document, tags)

    def read(number: Job) -> RawPage:
        page = document[number - 1]
        raw = read_page(page, traits)
        if raw.is_scan:
            raw.images = pictures_of_scan(page, raw.frame, raw.words)
        if len(raw.words) > _MOST_WORDS:
            raise ParseFailure(FailureCode.TOO_LARGE, detail=f"{len(raw.words)} words on page {number}")
        return raw

    return document.page_count, read


def _allowance(request: ParseRequest, pages: int, began: float) -> JobLimits:
    limits = request.limits
    seconds = limits.reading_seconds(pages)
    return JobLimits(
        limits.memory_bytes,
        limits.base_seconds,
        limits.stall_seconds,
        began + wall_seconds(seconds),
        cpu_seconds=seconds,
    )


def _with_tags(allowance: JobLimits) -> JobLimits:
    """Return limits for reading with structure tags that leave time to read again without them."""
    return msgspec.structs.replace(
        allowance,
        job_seconds=TAGGED_SHARE * allowance.job_seconds,
        cpu_seconds=2 * TAGGED_SHARE * allowance.cpu_seconds,
    )


def _read(
    request: ParseRequest, count: int, allowance: JobLimits, tell: Tell
) -> tuple[list[RawPage], list[JobFailure]]:
    raw_pages, failures, told = [], [], 0.0
    numbers = range(1, count + 1)
    at_once = reader_pool.readers_for(count, request.limits.readers, _PAGES_A_READER)
    for answer in reader_pool.answers(lambda: _raw_pages(request), numbers, RawPage, allowance, at_once):
        if isinstance(answer, JobResult):
            raw_pages.append(answer.value)
        else:
            failures.append(answer)
            raw_pages.append(_unread(answer))
        if time.monotonic() - told > _REPORT_SECONDS:
            told = time.monotonic()
            tell(Progress(answer.job, count))
    return raw_pages, failures


def _read_without_tags(
    request: ParseRequest, raw_pages: list[RawPage], failures: Sequence[JobFailure], allowance: JobLimits
) -> list[JobFailure]:
    """Read failed pages again without structure tags. Return those that fail again."""
    still = []
    jobs = [failure.job for failure in failures]
    for answer in reader_pool.answers(lambda: _raw_pages(request, tags=False), jobs, RawPage, allowance):
        if isinstance(answer, JobResult):
            raw_pages[answer.job - 1] = answer.value
        else:
            still.append(answer)
    return still


def _unread(given_up: JobFailure) -> RawPage:
    failure = page_failure(given_up.code, given_up.limit)
    return RawPage(number=given_up.job, frame=PageFrame(612.0, 792.0), failure=failure)


def _worst(failures: Sequence[JobFailure]) -> ParseFailure:
    """Return the failure of a file without a readable page: that of most pages."""
    codes = [failure.code for failure in failures]
    code = max(codes, key=codes.count)
    details = "; ".join(f"p. {failure.job}: {failure.detail}" for failure in failures[:5])
    limit = next(failure.limit for failure in failures if failure.code == code)
    return ParseFailure(code, file_failure(code, limit), details)


def _laid_out(raw_pages: Sequence[RawPage], outline: Sequence[OutlineEntry]) -> list[ParsedPage]:
    """Lay out all pages together; if that fails, without the pages that fail alone."""
    try:
        return layout(raw_pages, outline)
    except _LAYOUT_ERRORS:
        return layout([raw if _can_be_laid_out(raw) else _blank(raw) for raw in raw_pages], outline)


def _can_be_laid_out(raw: RawPage) -> bool:
    try:
        layout([raw])
    except _LAYOUT_ERRORS:
        return False
    return True


def _blank(raw: RawPage) -> RawPage:
    return RawPage(raw.number, raw.frame, raw.label, failure=page_failure(FailureCode.INTERNAL))


def answer(request: Request, tell: Tell) -> None:
    """Answer the request; the last message is Finished. Raises ParseFailure."""
    if isinstance(request, ParseRequest):
        parse(request, tell)
    elif isinstance(request, RecogniseRequest):
        recognise(request, tell)
    elif isinstance(request, ConvertRequest):
        from pdf.convert.to_pdf import convert  # 0.3 s, for this request only; before the reader is confined

        _produce(lambda: (1, lambda _: convert(request)), 1, request, tell)
    else:
        number = request.page if isinstance(request, PictureRequest) else 1
        _produce(lambda: _producer(request), number, request, tell)


def _producer(request: _FileRequest) -> tuple[int, Callable[[Job], bytes]]:
    """Return the number of pages and what makes the PNG, PDF or JSON. Runs in the reader."""
    if isinstance(request, EvidenceRequest):
        return 1, lambda _: annotated_pdf(request)
    if isinstance(request, AnnotateRequest):
        return 1, lambda _: with_annotations(request)
    if isinstance(request, HeldRequest):
        return 1, lambda _: msgspec.json.encode(held_annotations(request))
    document = open_document(request.path, request.password, request.limits.pages)
    if isinstance(request, PictureRequest):
        return document.page_count, lambda job: plain_picture(document[job - 1], request.dpi)
    if isinstance(request, TextLayerRequest):
        return document.page_count, lambda _: with_text_layer(document, request.pages)
    return document.page_count, lambda _: bytes(document.tobytes(encryption=_NO_ENCRYPTION))


def _produce(prepare: reader_pool.JobFactory[bytes], job: Job, request: Request, tell: Tell) -> None:
    """Run one job in a reader, within the file's time, and send its result. Raises ParseFailure."""
    limits = request.limits
    seconds = limits.base_seconds
    deadline = time.monotonic() + wall_seconds(seconds)
    allowance = JobLimits(limits.memory_bytes, seconds, seconds, deadline)
    (result,) = reader_pool.answers(prepare, [job], bytes, allowance)
    if isinstance(result, JobResult):
        tell(Produced(result.value))
        tell(Finished())
        return
    message = result.message if result.message != result.code.label else ""
    raise ParseFailure(result.code, message or file_failure(result.code, result.limit), result.detail)


if __name__ == "__main__":
    main()
