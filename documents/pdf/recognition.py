"""Reads pages from their picture: which need it, its limits, and what becomes of their own text."""

from __future__ import annotations

import dataclasses
import math
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

import msgspec

from documents.pdf import readers
from documents.pdf.failures import FailureCode, recognition_failure
from documents.pdf.fast.raw import RawPage, RawWord, read_raw
from documents.pdf.geometry import Rect
from documents.pdf.messages import (
    Answer,
    Finished,
    MoreTime,
    PageNotRecognised,
    PageRecognised,
    ParseRequest,
    Progress,
    RecogniseRequest,
)
from documents.pdf.opening import open_document
from documents.pdf.picture_words import places_of, without_repeated
from documents.pdf.readers import Allowance, Done, GivenUp, Job
from documents.pdf.structure import Awaits, ParsedPage
from documents.pdf.trust import is_garbled, may_show_writing, needs_recognition

if TYPE_CHECKING:
    from documents.pdf.ocr import Recogniser

# A page takes seconds, the models half a second to load.
_PAGES_A_READER = 2
# Recognition yields the processor to everything else, so a page may take much longer than it costs.
_WALL_FOR_CPU = 45.0


class Recognised(msgspec.Struct, frozen=True):
    """The pages with what was recognised.

    Attributes:
        packed: what their pictures said, for the next reading.
        awaits: what is still to be recognised.
        picture_words: words of pictures beside text, by page number.
    """

    pages: list[RawPage]
    packed: Mapping[int, bytes]
    awaits: Mapping[int, Awaits]
    picture_words: Mapping[int, list[RawWord]] = {}

    def told(self, page: ParsedPage) -> ParsedPage:
        """The page laid out, with what is kept of its recognition."""
        said, awaits = self.packed.get(page.number, b""), self.awaits.get(page.number, "")
        return msgspec.structs.replace(page, recognised=said, awaits=awaits)


def with_recognised(
    request: ParseRequest, pages: Sequence[RawPage], tell: Callable[[Answer], None]
) -> Recognised:
    """The pages; those without text to trust as their picture reads. Garbled text is never kept.

    What an earlier reading recognised or gave up is taken as it is.
    """
    doubtful = {page.number: page for page in pages if needs_recognition(page) and _is_wanted(request, page)}
    illustrated = {page.number for page in pages if _has_pictures_to_read(request, page)} - doubtful.keys()
    packed = {
        number: said for number, said in request.recognised.items() if number in doubtful.keys() | illustrated
    }
    found = {
        number: _recognised(doubtful[number], unpack(said))
        for number, said in packed.items()
        if number in doubtful
    }
    beside = without_repeated({number: unpack(packed[number]) for number in illustrated & packed.keys()})
    for number in doubtful.keys() & request.unrecognised.keys() - found.keys():
        found[number] = _given_up(doubtful[number], request.unrecognised[number])
    rest = tuple(number for number in doubtful if number not in found)
    if not request.recognise:
        found |= {number: _without_noise(doubtful[number]) for number in rest}
        awaits: dict[int, Awaits] = dict.fromkeys(rest, "page")
        awaits |= dict.fromkeys(illustrated - packed.keys() - request.unrecognised.keys(), "pictures")
        pages = [found.get(page.number, page) for page in pages]
        return Recognised(pages, packed, awaits, beside)
    wanted = RecogniseRequest(request.path, rest, request.limits, request.password)
    for answer in _answers(wanted, tell):
        page = doubtful[answer.job]
        if isinstance(answer, Done):
            packed[answer.job] = pack(answer.value)
            found[answer.job] = _recognised(page, answer.value)
        else:
            found[answer.job] = _given_up(page, recognition_failure(answer.code))
        tell(Progress(len(found), len(doubtful), "recognise"))
    return Recognised([found.get(page.number, page) for page in pages], packed, {}, beside)


def recognise(request: RecogniseRequest, tell: Callable[[Answer], None]) -> None:
    """Answers the request page by page."""
    for answer in _answers(request, tell):
        if isinstance(answer, Done):
            tell(PageRecognised(answer.job, pack(answer.value)))
        else:
            tell(PageNotRecognised(answer.job, answer.code, answer.detail))
    tell(Finished())


def pack(words: Sequence[RawWord]) -> bytes:
    return zlib.compress(msgspec.msgpack.encode(words))


def unpack(packed: bytes) -> list[RawWord]:
    return msgspec.msgpack.decode(zlib.decompress(packed), type=list[RawWord])


def _answers(
    request: RecogniseRequest, tell: Callable[[Answer], None]
) -> Iterator[Done[list[RawWord]] | GivenUp]:
    """What each page says, in order. No limit on the whole: each page has its own."""
    limits = request.limits
    most = _WALL_FOR_CPU * (limits.base_seconds + limits.ocr_page_seconds)
    allowance = Allowance(
        limits.ocr_memory_bytes, limits.base_seconds, limits.ocr_page_seconds, math.inf, _WALL_FOR_CPU
    )
    at_once = readers.readers_for(len(request.pages), limits.readers, _PAGES_A_READER)
    if request.pages:
        tell(MoreTime(most))
    for answer in readers.answers(
        lambda: _recogniser(request), request.pages, list[RawWord], allowance, at_once
    ):
        tell(MoreTime(most))
        yield answer


def _has_pictures_to_read(request: ParseRequest, page: RawPage) -> bool:
    return request.pictures and page.shows_pictures and not page.failure and _is_wanted(request, page)


def _is_wanted(request: ParseRequest, page: RawPage) -> bool:
    return request.pages is None or page.number in request.pages


def _recogniser(request: RecogniseRequest) -> tuple[int, Callable[[Job], list[RawWord]]]:
    document = open_document(request.path, request.password, request.limits.pages)
    loaded: list[Recogniser] = []

    def words_of(number: Job) -> list[RawWord]:
        page = document[number - 1]
        raw = read_raw(page)
        is_picture = needs_recognition(raw)
        pictures = () if is_picture else places_of([Rect(*info["bbox"]) for info in page.get_image_info()])
        if not (may_show_writing(page) if is_picture else pictures):
            return []
        if not loaded:  # only now: most pages without text are blank, and OpenCV alone takes half a second
            from documents.pdf.ocr import Recogniser

            loaded.append(Recogniser())
        if not is_picture:
            return loaded[0].words_in_pictures(page, raw.frame, pictures, raw.words)
        return loaded[0].words(page, raw.frame, () if is_garbled(raw.words) else raw.words)

    return document.page_count, words_of


def _recognised(page: RawPage, words: list[RawWord]) -> RawPage:
    kept = [] if is_garbled(page.words) else page.words
    if not words and not page.words:
        return page  # blank
    first = 1 + max((word.line for word in kept), default=-1)
    added = [msgspec.structs.replace(word, line=first + word.line) for word in words]
    failure = "" if kept or added else recognition_failure(FailureCode.NO_TEXT)
    return dataclasses.replace(page, words=[*kept, *added], ocr=bool(added), failure=failure)


def _without_noise(page: RawPage) -> RawPage:
    return dataclasses.replace(page, words=[]) if is_garbled(page.words) else page


def _given_up(page: RawPage, reason: str) -> RawPage:
    if page.words and not is_garbled(page.words):
        return page
    return dataclasses.replace(page, words=[], failure=reason)
