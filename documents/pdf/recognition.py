"""The stage that reads pages from their picture: which, for how long, and what becomes of their own text."""

from __future__ import annotations

import dataclasses
import time
import zlib
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

import msgspec

from documents.pdf import readers
from documents.pdf.confinement import limit_cpu
from documents.pdf.failures import NOT_YET_RECOGNISED
from documents.pdf.fast.raw import RawPage, RawWord
from documents.pdf.messages import Answer, MoreTime, ParseRequest, Progress
from documents.pdf.opening import open_document
from documents.pdf.readers import Allowance, Done, Job
from documents.pdf.trust import is_garbled, may_show_writing, needs_recognition

if TYPE_CHECKING:
    from documents.pdf.ocr import Recogniser

NOT_RECOGNISED = "The text of this page could not be recognised from its picture."
# Recognising goes on at least so long, however late it begins (seconds).
_LEAST_SECONDS = 5.0
# A page takes seconds, the models half a second to load.
_PAGES_A_READER = 2


class Recognised(msgspec.Struct, frozen=True):
    """The pages, and for those whose picture was read what it said, packed for the next reading."""

    pages: list[RawPage]
    packed: Mapping[int, bytes]


def with_recognised(
    request: ParseRequest, pages: Sequence[RawPage], began: float, tell: Callable[[Answer], None]
) -> Recognised:
    """The pages; those without text to trust as their picture reads. Garbled text is never kept.

    What an earlier reading recognised is taken as it is. ``began``: when reading the file began.
    """
    doubtful = {page.number: page for page in pages if needs_recognition(page) and _is_wanted(request, page)}
    packed = {number: said for number, said in request.recognised.items() if number in doubtful}
    found = {number: _recognised(doubtful[number], unpack(said)) for number, said in packed.items()}
    jobs = [number for number in doubtful if number not in found]
    allowance = _allowance(request, began)
    if jobs:
        tell(MoreTime(allowance.deadline - time.monotonic()))
    at_once = readers.readers_for(len(jobs), request.limits.readers, _PAGES_A_READER)
    for answer in readers.answers(
        lambda: _recogniser(request, doubtful), jobs, list[RawWord], allowance, at_once
    ):
        page = doubtful[answer.job]
        if isinstance(answer, Done):
            packed[answer.job] = pack(answer.value)
            found[answer.job] = _recognised(page, answer.value)
        else:
            found[answer.job] = _given_up(page, time.monotonic() >= allowance.deadline)
        tell(Progress(len(found), len(doubtful), "recognise"))
    return Recognised([found.get(page.number, page) for page in pages], packed)


def pack(words: Sequence[RawWord]) -> bytes:
    return zlib.compress(msgspec.msgpack.encode(words))


def unpack(packed: bytes) -> list[RawWord]:
    return msgspec.msgpack.decode(zlib.decompress(packed), type=list[RawWord])


def _allowance(request: ParseRequest, began: float) -> Allowance:
    limits = request.limits
    deadline = max(began + limits.ocr_seconds, time.monotonic() + min(limits.ocr_seconds, _LEAST_SECONDS))
    return Allowance(limits.ocr_memory_bytes, limits.base_seconds, limits.ocr_page_seconds, deadline)


def _is_wanted(request: ParseRequest, page: RawPage) -> bool:
    return request.pages is None or page.number in request.pages


def _recogniser(
    request: ParseRequest, known: Mapping[int, RawPage]
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
    added = [msgspec.structs.replace(word, line=first + word.line) for word in words]
    failure = "" if kept or added else NOT_RECOGNISED
    return dataclasses.replace(page, words=[*kept, *added], ocr=bool(added), failure=failure)


def _given_up(page: RawPage, out_of_time: bool) -> RawPage:
    if page.words and not is_garbled(page.words):
        return page
    return dataclasses.replace(page, words=[], failure=NOT_YET_RECOGNISED if out_of_time else NOT_RECOGNISED)
