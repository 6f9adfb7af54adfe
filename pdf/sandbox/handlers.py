"""Answer each kind of request in the confined child: parse, recognise, draw, convert, unlock, annotate."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import msgspec

from pdf.convert.annotated_pdf import annotated_pdf, held_annotations, with_annotations
from pdf.convert.page_images import page_picture, plain_picture
from pdf.convert.text_layer import with_text_layer
from pdf.extract.open_document import about, open_document
from pdf.extract.page_content import RawPage, document_features, read_page
from pdf.extract.recognition import recognise, with_picture_words, with_recognised
from pdf.failures import FailureCode, ParseFailure, check_header, file_failure, page_failure
from pdf.geometry import PageFrame
from pdf.layout.pipeline import layout
from pdf.sandbox import reader_pool
from pdf.sandbox.confinement import limit_cpu, limit_memory
from pdf.sandbox.limits import wall_seconds
from pdf.sandbox.messages import (
    About,
    AnnotateRequest,
    Answer,
    ConvertRequest,
    DrawRequest,
    EvidenceRequest,
    Finished,
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
)
from pdf.sandbox.reader_pool import Job, JobFailure, JobLimits, JobResult
from pdf.structure import OutlineEntry, ParsedPage

_MOST_WORDS = 100_000
# Fewer pages than this are read sooner by one reader than a second one has opened the file.
_PAGES_A_READER = 8
_REPORT_SECONDS = 0.2
# A structure tree may cost this share of the time that a page may take.
TAGGED_SHARE = 0.3
_LAYOUT_ERRORS = (ArithmeticError, AssertionError, LookupError, TypeError, ValueError, RecursionError)


def parse(request: ParseRequest, tell: Tell) -> None:
    """Answers the request, page by page at the end. Raises ParseFailure."""
    began = time.monotonic()
    check_header(Path(request.path))
    count, said = reader_pool.run_first_job(
        lambda: _about_file(request), About, _allowance(request, 0, began)
    )
    tell(Opened(count))
    limit_memory(request.limits.layout_bytes(count))
    said = said or About()
    tell(said)
    limit_cpu(request.limits.seconds(count))  # of this process: it lays out what the readers read
    allowance = _allowance(request, count, began)
    raw_pages, failures = _read(request, count, _with_tags(allowance) if said.tagged else allowance, tell)
    if failures and said.tagged:
        failures = _read_without_tags(request, raw_pages, failures, allowance)
    read = time.monotonic()
    if len(failures) == count:
        raise _worst(failures)
    if sum(len(raw.words) for raw in raw_pages) > request.limits.words:
        raise ParseFailure(FailureCode.TOO_LARGE, "This PDF holds more words than this server accepts.")
    scans = with_recognised(request, raw_pages, tell)
    raw_pages, recognised = scans.pages, time.monotonic()
    pages = _laid_out(raw_pages, said.outline)
    if scans.picture_words:
        pages = with_picture_words(pages, scans.picture_words)
    if request.pages is None and not scans.awaits and not any(page.words for page in pages):
        raise _worst(failures) if failures else ParseFailure(FailureCode.NO_TEXT, _why_empty(pages))
    wanted = set(request.pages or range(1, count + 1))
    for page in pages:
        if page.number in wanted:
            tell(PageParsed(scans.told(page)))
    moments = {"read": read, "recognise": recognised, "layout": time.monotonic()}
    tell(Finished(_durations(began, moments)))


def _durations(began: float, ends: Mapping[str, float]) -> dict[str, float]:
    """Seconds of stages that follow one another, from the moments they ended at."""
    starts = [began, *list(ends.values())[:-1]]
    return {stage: round(end - start, 4) for start, (stage, end) in zip(starts, ends.items(), strict=True)}


def _about_file(request: ParseRequest) -> tuple[int, Callable[[Job], About]]:
    document = open_document(request.path, request.password, request.limits.pages)
    return document.page_count, lambda _: about(document)


def _raw_pages(request: ParseRequest, tags: bool = True) -> tuple[int, Callable[[Job], RawPage]]:
    document = open_document(request.path, request.password, request.limits.pages)
    traits = document_features(document, tags)

    def read(number: Job) -> RawPage:
        raw = read_page(document[number - 1], traits)
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
    """What the reading of a tagged file may take, so that enough is left to read it without its tags."""
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
    """Reads the pages again whose structure may have been what broke them; those that fail again."""
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


def _why_empty(pages: Sequence[ParsedPage]) -> str:
    """Why no page has a word: what happened to most of those that show writing; '' where none does."""
    reasons = Counter(page.failure for page in pages if page.failure)
    return reasons.most_common(1)[0][0] if reasons else ""


def _worst(failures: Sequence[JobFailure]) -> ParseFailure:
    """The failure of a file none of whose pages could be read: the one most pages had."""
    codes = [failure.code for failure in failures]
    code = max(codes, key=codes.count)
    details = "; ".join(f"p. {failure.job}: {failure.detail}" for failure in failures[:5])
    limit = next(failure.limit for failure in failures if failure.code == code)
    return ParseFailure(code, file_failure(code, limit), details)


def _laid_out(raw_pages: Sequence[RawPage], outline: Sequence[OutlineEntry]) -> list[ParsedPage]:
    """All pages together; where that fails, without the pages that fail alone."""
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
    elif isinstance(request, AnnotateRequest):
        _annotate(request, tell)
    elif isinstance(request, HeldRequest):
        _read_annotations(request, tell)
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
        return 1, lambda _: annotated_pdf(request)

    tell(Produced(_made(prepare, 1, request)))
    tell(Finished())


def _annotate(request: AnnotateRequest, tell: Tell) -> None:
    def prepare() -> tuple[int, Callable[[Job], bytes]]:
        return 1, lambda _: with_annotations(request)

    tell(Produced(_made(prepare, 1, request)))
    tell(Finished())


def _read_annotations(request: HeldRequest, tell: Tell) -> None:
    def prepare() -> tuple[int, Callable[[Job], bytes]]:
        return 1, lambda _: msgspec.json.encode(held_annotations(request))

    tell(Produced(_made(prepare, 1, request)))
    tell(Finished())


def _convert(request: ConvertRequest, tell: Tell) -> None:
    from pdf.convert.to_pdf import convert  # its libraries take 0.3 s that no other request needs

    def prepare() -> tuple[int, Callable[[Job], bytes]]:
        return 1, lambda _: convert(request)

    tell(Produced(_made(prepare, 1, request)))
    tell(Finished())


def _made(prepare: reader_pool.JobFactory[bytes], job: Job, request: Request) -> bytes:
    """What one job of a reader makes, within the file's own time."""
    limits = request.limits
    seconds = limits.base_seconds
    deadline = time.monotonic() + wall_seconds(seconds)
    allowance = JobLimits(limits.memory_bytes, seconds, seconds, deadline)
    (made,) = reader_pool.answers(prepare, [job], bytes, allowance)
    if isinstance(made, JobResult):
        return made.value
    message = made.message if made.message != made.code.label else ""
    raise ParseFailure(made.code, message or file_failure(made.code, made.limit), made.detail)
