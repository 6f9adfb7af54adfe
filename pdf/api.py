"""The parser's front door: a PDF in, values out, whatever the file does to the process that reads it.

``parse_file`` reads it, ``draw_page`` shows what was read, ``add_text_layer``
gives scanned pages their words. Each starts one confined child and leaves none.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping, Sequence
from pathlib import Path

import msgspec

from pdf.failures import FailureCode, ParseFailure, check_header
from pdf.sandbox.client import answers_of, retry_if_killed
from pdf.sandbox.limits import Limits
from pdf.sandbox.messages import (
    About,
    AnnotateRequest,
    ConvertRequest,
    DrawRequest,
    EvidenceRequest,
    Finished,
    HeldAnnotations,
    HeldRequest,
    HighlightedFile,
    HighlightedPage,
    Maker,
    Opened,
    PageNotRecognised,
    PageParsed,
    PageRecognised,
    ParseRequest,
    PictureRequest,
    Produced,
    Progress,
    RecogniseRequest,
    Request,
    TextLayerRequest,
    UnlockRequest,
)
from pdf.structure import Layer, ParsedDocument, ParsedPage

PARSER_NAME = "fast"
# What the units of an unchanged file depend on. Whoever changes which units come of a page (their bounds,
# types, order, cells) counts on: ``backfill`` then reads the documents again that an older parser read.
# tests/pdf/test_parser_version.py fails until it is done.
PARSER_VERSION = "11"

__all__ = [
    "FailureCode",
    "Limits",
    "ParseFailure",
    "add_text_layer",
    "annotate_file",
    "annotations_in",
    "convert_file",
    "draw_page",
    "draw_plain_page",
    "parse_file",
    "recognise_pages",
    "without_password",
]


def parse_file(
    path: str | Path,
    *,
    pages: Sequence[int] | None = None,
    password: str | None = None,
    on_progress: Callable[[int, int], None] | None = None,
    limits: Limits | None = None,
    recognised: Mapping[int, bytes] | None = None,
    unrecognised: Mapping[int, str] | None = None,
    recognise: bool = True,
    pictures: bool = False,
) -> ParsedDocument:
    """The file's pages as units, read in a confined child process.

    Args:
        pages: 1-based numbers of the pages wanted; all where None. The whole file is read all the
            same: running heads, sections and line numbers are the document's.
        recognised: ``ParsedPage.recognised`` of an earlier reading, by page number.
        unrecognised: reasons why the recognition of a page was given up, by page number.
        recognise: recognise all other pages that need it, however long that takes; else such a page
            says in ``awaits`` that ``recognise_pages`` has to be asked.
        pictures: the words in pictures on pages with text are wanted, too.
        on_progress: called with the pages read so far and their whole number.

    Raises:
        ParseFailure: with a code of the closed list. A page that fails alone does not raise: its
            ``failure`` says why.
    """
    limits = limits or Limits()
    path = _checked(path, limits)
    wanted = None if pages is None else tuple(pages)
    request = ParseRequest(
        str(path),
        limits,
        wanted,
        password,
        dict(recognised or {}),
        dict(unrecognised or {}),
        recognise,
        pictures,
    )
    return retry_if_killed(lambda: _read(request, on_progress))


def _read(request: ParseRequest, on_progress: Callable[[int, int], None] | None) -> ParsedDocument:
    count, said, found, seconds = 0, About(), [], {}
    for answer in answers_of(request):
        if isinstance(answer, Opened):
            count = answer.page_count
        elif isinstance(answer, About):
            said = answer
        elif isinstance(answer, PageParsed):
            found.append(answer.page)
        elif isinstance(answer, Progress) and on_progress:
            on_progress(answer.done, answer.total)
        elif isinstance(answer, Finished):
            seconds = answer.stages
    return ParsedDocument(
        engine=PARSER_NAME,
        version=PARSER_VERSION,
        page_count=count,
        pages=tuple(found),
        metadata=said.metadata,
        outline=said.outline,
        language=said.language,
        stage_seconds=seconds,
        sealed=said.sealed,
    )


def recognise_pages(
    path: str | Path,
    numbers: Sequence[int],
    *,
    password: str | None = None,
    limits: Limits | None = None,
    background: bool = False,
    is_over: Callable[[], bool] = lambda: False,
) -> Generator[PageRecognised | PageNotRecognised]:
    """What the pictures of the pages say, one answer a page in that order.

    ``background``: at a lower priority, as nobody waits for it, and only until ``is_over``, whatever page it
    is at. Closing the generator ends the work.
    Raises ParseFailure.
    """
    limits = limits or Limits()
    path = _checked(path, limits)
    request = RecogniseRequest(str(path), tuple(numbers), limits, password, background)
    for answer in answers_of(request, is_over):
        if isinstance(answer, PageRecognised | PageNotRecognised):
            yield answer


def draw_page(
    path: str | Path,
    page_number: int,
    layers: Sequence[Layer],
    *,
    password: str | None = None,
    limits: Limits | None = None,
) -> bytes:
    """A PNG of the page as displayed, with what the parser found drawn over it. Raises ParseFailure."""
    limits = limits or Limits()
    path = _checked(path, limits)
    reading = ParseRequest(str(path), limits, (page_number,), password)
    return _produced(DrawRequest(reading, page_number, tuple(layers)))


def draw_plain_page(
    path: str | Path,
    page_number: int,
    *,
    dpi: int = 144,
    password: str | None = None,
    limits: Limits | None = None,
) -> bytes:
    """A PNG of the page as displayed; quick, since nothing is read. Raises ParseFailure."""
    limits = limits or Limits()
    path = _checked(path, limits)
    return _produced(PictureRequest(str(path), page_number, dpi, limits, password))


def add_text_layer(
    path: str | Path,
    pages: Sequence[ParsedPage],
    *,
    password: str | None = None,
    limits: Limits | None = None,
) -> bytes:
    """The PDF with the words of its recognised pages laid under them, not painted. Raises ParseFailure."""
    limits = limits or Limits()
    path = _checked(path, limits)
    recognised = tuple(page for page in pages if page.ocr)
    return _produced(TextLayerRequest(str(path), recognised, limits, password))


def without_password(path: str | Path, password: str, *, limits: Limits | None = None) -> bytes:
    """The PDF as it is once its password was given. Raises ParseFailure (PASSWORD_PROTECTED: a wrong one)."""
    limits = limits or Limits()
    path = _checked(path, limits)
    return _produced(UnlockRequest(str(path), password, limits))


def bind_evidence(html: str, files: Sequence[HighlightedFile], *, limits: Limits | None = None) -> bytes:
    """One PDF: the HTML, then the files' marked pages with highlights as annotations. Raises ParseFailure."""
    limits = limits or Limits()
    for file in files:
        _checked(file.path, limits)
    return _produced(EvidenceRequest(html, tuple(files), limits))


def annotate_file(
    path: str | Path,
    pages: Sequence[HighlightedPage],
    *,
    without: Sequence[int] = (),
    limits: Limits | None = None,
) -> bytes:
    """The whole PDF with the marks as annotations of its own, less those ``without``. Raises ParseFailure."""
    limits = limits or Limits()
    return _produced(AnnotateRequest(str(_checked(path, limits)), tuple(pages), limits, tuple(without)))


def annotations_in(path: str | Path, *, limits: Limits | None = None) -> HeldAnnotations:
    """The annotations that the PDF holds, and its fingerprint. Raises ParseFailure."""
    limits = limits or Limits()
    made = _produced(HeldRequest(str(_checked(path, limits)), limits))
    return msgspec.json.decode(made, type=HeldAnnotations)


def convert_file(path: str | Path, maker: Maker, filetype: str, *, limits: Limits | None = None) -> bytes:
    """The PDF made of a file of another kind, in a confined child process. Raises ParseFailure."""
    limits = limits or Limits()
    return _produced(ConvertRequest(str(Path(path).absolute()), maker, filetype, limits))


def _checked(path: str | Path, limits: Limits) -> Path:
    """The absolute path of what begins as a PDF and is not too large. Raises ParseFailure."""
    path = Path(path).absolute()
    check_header(path)
    if path.stat().st_size > limits.file_bytes:
        raise ParseFailure(FailureCode.TOO_LARGE)
    return path


def _produced(request: Request) -> bytes:
    def produce() -> bytes:
        made = [answer.data for answer in answers_of(request) if isinstance(answer, Produced)]
        if not made:
            raise ParseFailure(FailureCode.INTERNAL, detail="nothing was made")
        return made[0]

    return retry_if_killed(produce)
