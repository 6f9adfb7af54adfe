"""The stage that reads pages from their picture: which, for how long, and what becomes of their own text."""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from documents.pdf import readers
from documents.pdf.confinement import limit_cpu
from documents.pdf.fast.raw import RawPage, RawWord
from documents.pdf.messages import Answer, MoreTime, ParseRequest, Progress
from documents.pdf.opening import open_document
from documents.pdf.readers import WALL_FOR_CPU, Allowance, Done, Job
from documents.pdf.trust import is_garbled, may_show_writing, needs_recognition

if TYPE_CHECKING:
    from documents.pdf.ocr import Recogniser

# After so many pages that could not be recognised, the rest of the document is not tried.
_MOST_GIVEN_UP = 3
NOT_RECOGNISED = "The text of this page could not be recognised from its picture."
OUT_OF_TIME = "The text of this page was not recognised: time for this document ran out."


def with_recognised(
    request: ParseRequest, pages: Sequence[RawPage], tell: Callable[[Answer], None]
) -> list[RawPage]:
    """The pages; those without text to trust as their picture reads. Garbled text is never kept."""
    doubtful = [page for page in pages if needs_recognition(page) and _is_wanted(request, page)]
    if not doubtful:
        return list(pages)
    limits = request.limits
    seconds = min(limits.ocr_seconds, len(doubtful) * limits.ocr_page_seconds * WALL_FOR_CPU)
    tell(MoreTime(seconds))
    allowance = Allowance(
        limits.ocr_memory_bytes, limits.base_seconds, limits.ocr_page_seconds, time.monotonic() + seconds
    )
    known = {page.number: page for page in doubtful}
    found: dict[int, RawPage] = {}
    given_up = 0
    jobs = [page.number for page in doubtful]
    for answer in readers.answers(lambda: _recogniser(request, known), jobs, list[RawWord], allowance):
        page = known[answer.job]
        if isinstance(answer, Done):
            found[answer.job] = _recognised(page, answer.value)
        else:
            given_up += 1
            found[answer.job] = _given_up(page, time.monotonic() >= allowance.deadline)
        tell(Progress(len(found), len(jobs), "recognise"))
        if given_up == _MOST_GIVEN_UP:
            break
    rest = {number: _given_up(page, True) for number, page in known.items() if number not in found}
    return [(found | rest).get(page.number, page) for page in pages]


def _is_wanted(request: ParseRequest, page: RawPage) -> bool:
    return request.pages is None or page.number in request.pages


def _recogniser(
    request: ParseRequest, known: dict[int, RawPage]
) -> tuple[int, Callable[[Job], list[RawWord]]]:
    document = open_document(request.path, request.password, request.limits.pages)
    loaded: list[Recogniser] = []

    def recognise(number: Job) -> list[RawWord]:
        page, raw = document[number - 1], known[number]
        limit_cpu(request.limits.stall_seconds)
        if not may_show_writing(page):
            return []
        limit_cpu(request.limits.ocr_page_seconds)
        if not loaded:  # only now: most pages without text are blank, and OpenCV alone takes half a second
            from documents.pdf.ocr import Recogniser

            loaded.append(Recogniser())
        return loaded[0].words(page, raw.frame, () if is_garbled(raw.words) else raw.words)

    return document.page_count, recognise


def _recognised(page: RawPage, words: list[RawWord]) -> RawPage:
    kept = [] if is_garbled(page.words) else page.words
    if not words and not page.words:
        return page  # blank
    first = 1 + max((word.line for word in kept), default=-1)
    added = [word._replace(line=first + word.line) for word in words]
    failure = "" if kept or added else NOT_RECOGNISED
    return dataclasses.replace(page, words=[*kept, *added], ocr=bool(added), failure=failure)


def _given_up(page: RawPage, out_of_time: bool) -> RawPage:
    if page.words and not is_garbled(page.words):
        return page
    return dataclasses.replace(page, words=[], failure=OUT_OF_TIME if out_of_time else NOT_RECOGNISED)
