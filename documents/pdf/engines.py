"""One file through an engine, in the confined child: read the pages, recognise some, lay out all."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import msgspec

from documents.pdf import readers
from documents.pdf.confinement import limit_cpu, limit_memory
from documents.pdf.failures import FailureCode, ParseFailure, file_failure, page_failure
from documents.pdf.fast.pipeline import layout
from documents.pdf.fast.raw import RawPage, read_raw
from documents.pdf.fast.traits import traits_of
from documents.pdf.geometry import PageFrame
from documents.pdf.header import check_header
from documents.pdf.limits import wall_seconds
from documents.pdf.messages import About, Answer, Finished, Opened, PageParsed, ParseRequest, Progress
from documents.pdf.opening import about, open_document
from documents.pdf.picture_words import with_picture_words
from documents.pdf.readers import Allowance, Done, GivenUp, Job
from documents.pdf.recognition import with_recognised
from documents.pdf.structure import OutlineEntry, ParsedPage

_MOST_WORDS = 100_000
# Fewer pages than this are read sooner by one reader than a second one has opened the file.
_PAGES_A_READER = 8
_REPORT_SECONDS = 0.2
# A structure tree may cost this share of the time that a page may take.
TAGGED_SHARE = 0.3
_LAYOUT_ERRORS = (ArithmeticError, AssertionError, LookupError, TypeError, ValueError, RecursionError)

Tell = Callable[[Answer], None]


def parse(request: ParseRequest, tell: Tell) -> None:
    """Answers the request, page by page at the end. Raises ParseFailure."""
    began = time.monotonic()
    check_header(Path(request.path))
    count, said = readers.first_look(lambda: _about_file(request), About, _allowance(request, 0, began))
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
    traits = traits_of(document, tags)

    def read(number: Job) -> RawPage:
        raw = read_raw(document[number - 1], traits)
        if len(raw.words) > _MOST_WORDS:
            raise ParseFailure(FailureCode.TOO_LARGE, detail=f"{len(raw.words)} words on page {number}")
        return raw

    return document.page_count, read


def _allowance(request: ParseRequest, pages: int, began: float) -> Allowance:
    limits = request.limits
    seconds = limits.reading_seconds(pages)
    return Allowance(
        limits.memory_bytes,
        limits.base_seconds,
        limits.stall_seconds,
        began + wall_seconds(seconds),
        cpu_seconds=seconds,
    )


def _with_tags(allowance: Allowance) -> Allowance:
    """What the reading of a tagged file may take, so that enough is left to read it without its tags."""
    return msgspec.structs.replace(
        allowance,
        job_seconds=TAGGED_SHARE * allowance.job_seconds,
        cpu_seconds=2 * TAGGED_SHARE * allowance.cpu_seconds,
    )


def _read(
    request: ParseRequest, count: int, allowance: Allowance, tell: Tell
) -> tuple[list[RawPage], list[GivenUp]]:
    raw_pages, failures, told = [], [], 0.0
    numbers = range(1, count + 1)
    at_once = readers.readers_for(count, request.limits.readers, _PAGES_A_READER)
    for answer in readers.answers(lambda: _raw_pages(request), numbers, RawPage, allowance, at_once):
        if isinstance(answer, Done):
            raw_pages.append(answer.value)
        else:
            failures.append(answer)
            raw_pages.append(_unread(answer))
        if time.monotonic() - told > _REPORT_SECONDS:
            told = time.monotonic()
            tell(Progress(answer.job, count))
    return raw_pages, failures


def _read_without_tags(
    request: ParseRequest, raw_pages: list[RawPage], failures: Sequence[GivenUp], allowance: Allowance
) -> list[GivenUp]:
    """Reads the pages again whose structure may have been what broke them; those that fail again."""
    still = []
    jobs = [failure.job for failure in failures]
    for answer in readers.answers(lambda: _raw_pages(request, tags=False), jobs, RawPage, allowance):
        if isinstance(answer, Done):
            raw_pages[answer.job - 1] = answer.value
        else:
            still.append(answer)
    return still


def _unread(given_up: GivenUp) -> RawPage:
    failure = page_failure(given_up.code, given_up.limit)
    return RawPage(number=given_up.job, frame=PageFrame(612.0, 792.0), failure=failure)


def _why_empty(pages: Sequence[ParsedPage]) -> str:
    """Why no page has a word: what happened to most of those that show writing; '' where none does."""
    reasons = Counter(page.failure for page in pages if page.failure)
    return reasons.most_common(1)[0][0] if reasons else ""


def _worst(failures: Sequence[GivenUp]) -> ParseFailure:
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
