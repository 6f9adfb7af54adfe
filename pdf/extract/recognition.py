"""Recognise the text of scanned pages and of pictures on other pages.

Decide which pages have no reliable text and which show writing, run the recogniser within its limits, and
lay out the words in pictures as separate units after those of the page's text (``from_picture``). Words in
pictures that recur at the same place on several pages (a logo) are left out.
"""

from __future__ import annotations

import dataclasses
import math
import unicodedata
import zlib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

import msgspec
import numpy as np
import pymupdf
from numpy.typing import NDArray

from pdf.extract.figures import pictures_of_scan
from pdf.extract.open_document import open_document
from pdf.extract.page_content import RawPage, read_page
from pdf.extract.words import UNDECODABLE, RawWord, ScanContent
from pdf.failures import FailureCode, recognition_failure
from pdf.geometry import Rect
from pdf.layout.pipeline import layout
from pdf.layout.unit_writer import renumbered, with_appended
from pdf.sandbox import reader_pool
from pdf.sandbox.messages import (
    Answer,
    Finished,
    MoreTime,
    PageNotRecognised,
    PageRecognised,
    ParseRequest,
    Progress,
    RecogniseRequest,
)
from pdf.sandbox.reader_pool import Job, JobFailure, JobLimits, JobResult
from pdf.structure import Awaits, ParsedPage

if TYPE_CHECKING:
    from pdf.extract.ocr import Recogniser


# A word at the same place on this number of pages is a running header or a logo.
_REPEATED = 3
# Grid (points) in which positions count as the same place.
_SAME_PLACE = 6
# A smaller picture is an icon, a ruling or a letter (points).
_LEAST_WIDTH, _LEAST_HEIGHT = 40.0, 14.0


def without_repeated(words: Mapping[int, Sequence[RawWord]]) -> dict[int, list[RawWord]]:
    """Return the words in pictures by page number, without those that recur at the same place."""
    count = Counter(place for page in words.values() for place in {_place(word) for word in page})
    return {
        number: [word for word in page if count[_place(word)] < _REPEATED] for number, page in words.items()
    }


def with_picture_words(
    pages: Sequence[ParsedPage], words: Mapping[int, Sequence[RawWord]]
) -> list[ParsedPage]:
    """Return the pages with the units of their pictures after those of their text; renumber the lines."""
    extended, lines = [], 0
    for page in pages:
        found = words.get(page.number)
        page = renumbered(page, lines)
        if found:
            last = max((unit.line_end for unit in page.units), default=lines)
            (pictures,) = layout([RawPage(page.number, page.frame, words=list(found))])
            page = with_appended(page, renumbered(pictures, last))
            lines += max((unit.line_end for unit in pictures.units), default=0)
        extended.append(page)
    return extended


def _place(word: RawWord) -> tuple[str, int, int]:
    return word.text, round(word.x0 / _SAME_PLACE), round(word.y0 / _SAME_PLACE)


def places_of(images: Sequence[Rect]) -> list[Rect]:
    """Return the pictures that are large enough to contain words."""
    return [rect for rect in images if rect.width >= _LEAST_WIDTH and rect.height >= _LEAST_HEIGHT]


# A page with a larger share of characters without a Unicode value has garbled text.
GARBLED_SHARE = 0.3
# A page with fewer words than this, and a picture over more than this share, is a scan with a stamp.
FEW_WORDS, WHOLE_PAGE = 20, 0.8
# A page with less contrast (0..255) is blank; one with fewer pixels in small marks shows no writing.
LEAST_CONTRAST, LEAST_PIXELS = 40, 12
# Largest size of letters (pixels of the coarse picture).
LARGEST_LETTER = 60
# Private use, not assigned, control, surrogate.
_MEANINGLESS = {"Co", "Cn", "Cc", "Cs"}


def needs_recognition(page: RawPage) -> bool:
    """Return whether the page has no reliable text. It may be blank: only its picture shows that."""
    if page.failure:
        return False
    return not page.words or is_garbled(page.words) or _is_stamped_scan(page)


def may_show_writing(page: pymupdf.Page) -> bool:
    """Return whether a coarse picture of the page has marks as small as letters, not only boxes."""
    scale = min(1.0, 1000 / max(page.rect.width, page.rect.height, 1))
    pixmap = page.get_pixmap(matrix=pymupdf.Matrix(scale, scale), alpha=False, colorspace=pymupdf.csGRAY)
    grey = np.frombuffer(pixmap.samples, np.uint8).reshape(pixmap.height, pixmap.width)
    if not grey.size:
        return False
    low, high = int(grey.min()), int(grey.max())
    if high - low < LEAST_CONTRAST:
        return False
    dark = grey < (low + high) / 2
    return any(
        int((ink & ~_in_long_runs(ink) & ~_in_long_runs(ink.T).T).sum()) >= LEAST_PIXELS
        for ink in (dark, ~dark)
    )


def _in_long_runs(ink: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Return which pixels are in a run along their row that is longer than letters are wide."""
    if ink.shape[1] <= LARGEST_LETTER:
        return np.zeros_like(ink)
    sums = np.pad(ink, ((0, 0), (1, 0))).cumsum(axis=1)
    full = (
        sums[:, LARGEST_LETTER:] - sums[:, :-LARGEST_LETTER]
    ) == LARGEST_LETTER  # by first column of the run
    starts = np.pad(full, ((0, 0), (LARGEST_LETTER, LARGEST_LETTER - 1))).cumsum(axis=1)
    return (starts[:, LARGEST_LETTER:] - starts[:, :-LARGEST_LETTER]) > 0


def is_garbled(words: Iterable[RawWord]) -> bool:
    """Return whether more than ``GARBLED_SHARE`` of the characters have no meaning."""
    text = "".join([word.text for word in words])
    if text.isascii() and text.isprintable():
        return False
    counts = Counter(text)
    noise = sum(count for character, count in counts.items() if _is_meaningless(character))
    return noise > GARBLED_SHARE * len(text)


def _is_meaningless(character: str) -> bool:
    return character == UNDECODABLE or unicodedata.category(character) in _MEANINGLESS


def _is_stamped_scan(page: RawPage) -> bool:
    """Return whether a picture covers the page, with few words over it beside the fields of a form."""
    if len(page.words) - len(page.fields) >= FEW_WORDS:
        return False
    whole = Rect(0, 0, page.frame.width, page.frame.height)
    return any(_shared_area(image, whole) > WHOLE_PAGE * whole.area for image in page.images)


def _shared_area(a: Rect, b: Rect) -> float:
    return max(0.0, a.overlap_x(b)) * max(0.0, a.overlap_y(b))


# Least pages per reader: a page takes seconds, loading the models half a second.
_PAGES_A_READER = 2
# Largest wall time over CPU time: recognition yields the processor to other work.
_WALL_FOR_CPU = 45.0


class Recognised(msgspec.Struct, frozen=True):
    """The pages with the results of recognition.

    Attributes:
        packed: recognised words and pictures (``ScanContent``) by page number, stored for the next parse.
        awaits: what is still to be recognised, by page number.
        picture_words: words of pictures beside text, by page number.
    """

    pages: list[RawPage]
    packed: Mapping[int, bytes]
    awaits: Mapping[int, Awaits]
    picture_words: Mapping[int, list[RawWord]] = {}

    def with_recognition(self, page: ParsedPage) -> ParsedPage:
        """Return the page after layout, with the stored results of its recognition."""
        packed, awaits = self.packed.get(page.number, b""), self.awaits.get(page.number, "")
        return msgspec.structs.replace(page, recognised=packed, awaits=awaits)


def with_recognised(
    request: ParseRequest, pages: Sequence[RawPage], tell: Callable[[Answer], None]
) -> Recognised:
    """Return the pages, with recognised words for those without reliable text.

    Garbled text is never kept. Results and failures of an earlier parse are reused. Unless the request
    asks for recognition, ``awaits`` of the result lists the pages that need it.
    """
    doubtful = {page.number: page for page in pages if needs_recognition(page) and _is_wanted(request, page)}
    illustrated = {page.number for page in pages if _has_pictures_to_read(request, page)} - doubtful.keys()
    packed = {
        number: stored
        for number, stored in request.recognised.items()
        if number in doubtful.keys() | illustrated
    }
    found = {
        number: _recognised(doubtful[number], unpack(stored))
        for number, stored in packed.items()
        if number in doubtful
    }
    beside = without_repeated(
        {number: unpack(packed[number]).words for number in illustrated & packed.keys()}
    )
    for number in doubtful.keys() & request.unrecognised.keys() - found.keys():
        found[number] = _with_failure(doubtful[number], request.unrecognised[number])
    rest = tuple(number for number in doubtful if number not in found)
    if not request.recognise:
        found |= {number: _without_garbled_text(doubtful[number]) for number in rest}
        awaits: dict[int, Awaits] = dict.fromkeys(rest, "page")
        awaits |= dict.fromkeys(illustrated - packed.keys() - request.unrecognised.keys(), "pictures")
        pages = [found.get(page.number, page) for page in pages]
        return Recognised(pages, packed, awaits, beside)
    wanted = RecogniseRequest(request.path, rest, request.limits, request.password)
    for answer in _recognition_results(wanted, tell):
        page = doubtful[answer.job]
        if isinstance(answer, JobResult):
            packed[answer.job] = pack(answer.value)
            found[answer.job] = _recognised(page, answer.value)
        else:
            found[answer.job] = _with_failure(page, recognition_failure(answer.code))
        tell(Progress(len(found), len(doubtful), "recognise"))
    return Recognised([found.get(page.number, page) for page in pages], packed, {}, beside)


def recognise(request: RecogniseRequest, tell: Callable[[Answer], None]) -> None:
    """Recognise the pages of the request; ``tell`` sends each result, then ``Finished``."""
    for answer in _recognition_results(request, tell):
        if isinstance(answer, JobResult):
            tell(PageRecognised(answer.job, pack(answer.value)))
        else:
            tell(PageNotRecognised(answer.job, answer.code, answer.detail))
    tell(Finished())


def pack(content: ScanContent) -> bytes:
    return zlib.compress(msgspec.msgpack.encode(content))


def unpack(packed: bytes) -> ScanContent:
    """Return a stored result. Earlier versions stored only the words."""
    stored = msgspec.msgpack.decode(zlib.decompress(packed), type=ScanContent | list[RawWord])
    return stored if isinstance(stored, ScanContent) else ScanContent(stored)


def _recognition_results(
    request: RecogniseRequest, tell: Callable[[Answer], None]
) -> Iterator[JobResult[ScanContent] | JobFailure]:
    """Yield the result or failure of each page, in order. Each page has a time limit, the whole has none."""
    limits = request.limits
    most = _WALL_FOR_CPU * (limits.base_seconds + limits.ocr_page_seconds)
    allowance = JobLimits(
        limits.ocr_memory_bytes, limits.base_seconds, limits.ocr_page_seconds, math.inf, _WALL_FOR_CPU
    )
    at_once = reader_pool.readers_for(len(request.pages), limits.readers, _PAGES_A_READER)
    if request.pages:
        tell(MoreTime(most))
    for answer in reader_pool.answers(
        lambda: _recogniser(request), request.pages, ScanContent, allowance, at_once
    ):
        tell(MoreTime(most))
        yield answer


def _has_pictures_to_read(request: ParseRequest, page: RawPage) -> bool:
    return request.pictures and page.shows_pictures and not page.failure and _is_wanted(request, page)


def _is_wanted(request: ParseRequest, page: RawPage) -> bool:
    return request.pages is None or page.number in request.pages


def _recogniser(request: RecogniseRequest) -> tuple[int, Callable[[Job], ScanContent]]:
    """Open the document; return its number of pages, and a function from page number to what it shows."""
    document = open_document(request.path, request.password, request.limits.pages)
    loaded: list[Recogniser] = []

    def content_of(number: Job) -> ScanContent:
        page = document[number - 1]
        raw = read_page(page)
        is_picture = needs_recognition(raw)
        pictures = () if is_picture else places_of([Rect(*info["bbox"]) for info in page.get_image_info()])
        if not (may_show_writing(page) if is_picture else pictures):
            return ScanContent([], pictures_of_scan(page, raw.frame, raw.words) if is_picture else [])
        if not loaded:  # loaded late: most pages without text are blank, and OpenCV takes half a second
            from pdf.extract.ocr import Recogniser

            loaded.append(Recogniser(request.limits.tesseract))
        if not is_picture:
            return ScanContent(loaded[0].words_in_pictures(page, raw.frame, pictures, raw.words))
        return loaded[0].content(page, raw.frame, () if is_garbled(raw.words) else raw.words)

    return document.page_count, content_of


def _recognised(page: RawPage, content: ScanContent) -> RawPage:
    """Return the page with the recognised words after its own, unless these are garbled.

    Its pictures are those in the scan, not the scan itself.
    """
    kept = [] if is_garbled(page.words) else page.words
    if not content.words and not page.words:
        return dataclasses.replace(page, images=content.pictures)  # blank, or a photograph
    first = 1 + max((word.line for word in kept), default=-1)
    added = [msgspec.structs.replace(word, line=first + word.line) for word in content.words]
    failure = "" if kept or added else recognition_failure(FailureCode.NO_TEXT)
    return dataclasses.replace(
        page, words=[*kept, *added], images=content.pictures, ocr=bool(added), failure=failure
    )


def _without_garbled_text(page: RawPage) -> RawPage:
    return dataclasses.replace(page, words=[]) if is_garbled(page.words) else page


def _with_failure(page: RawPage, reason: str) -> RawPage:
    """Return a page whose recognition failed: with its own text where legible, else with the failure."""
    if page.words and not is_garbled(page.words):
        return page
    return dataclasses.replace(page, words=[], failure=reason)
