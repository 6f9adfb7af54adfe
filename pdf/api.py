"""The PDF engine's interface: parse, recognise, draw, convert, decrypt and annotate a file.

Each function works in a confined child process, so a hostile file costs that process only.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping, Sequence
from pathlib import Path

import msgspec

from pdf.failures import FailureCode, ParseFailure, check_header
from pdf.sandbox.client import answers_of, retry_if_killed
from pdf.sandbox.messages import (
    About,
    AnnotateRequest,
    ConvertRequest,
    EvidenceRequest,
    Finished,
    HeldAnnotations,
    HeldRequest,
    HighlightedFile,
    HighlightedPage,
    Limits,
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
from pdf.structure import ParsedDocument, ParsedPage

PARSER_NAME = "fast"
# Increment it with every change of the units of a page (bounds, types, order, cells): ``backfill`` then
# parses older documents again. tests/pdf/test_structure_version.py fails until it is done.
PARSER_VERSION = "35"

USUAL_LIMITS = Limits()

__all__ = [
    "FailureCode",
    "Limits",
    "ParseFailure",
    "add_text_layer",
    "annotate_file",
    "annotations_in",
    "convert_file",
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
    limits: Limits = USUAL_LIMITS,
    recognised: Mapping[int, bytes] | None = None,
    unrecognised: Mapping[int, str] | None = None,
    recognise: bool = True,
    pictures: bool = False,
) -> ParsedDocument:
    """Parse a PDF to pages and units in a confined child process.

    Args:
        pages: 1-based numbers of the pages to return; all by default. The whole file is parsed in
            any case, for page headers, sections and line numbers.
        recognised: OCR results of an earlier run (``ParsedPage.recognised``), by page number.
        unrecognised: reasons of pages whose OCR was given up, by page number.
        recognise: run OCR on all other pages that need it; otherwise they are marked in ``awaits``
            for ``recognise_pages``.
        pictures: also recognise words in pictures on pages with text.
        on_progress: called with the number of pages read so far and in total.

    Raises:
        ParseFailure: with a FailureCode. A failed page does not raise; its ``failure`` is set.
    """
    request = ParseRequest(
        _checked(path, limits),
        limits,
        None if pages is None else tuple(pages),
        password,
        dict(recognised or {}),
        dict(unrecognised or {}),
        recognise,
        pictures,
    )
    return retry_if_killed(lambda: _read(request, on_progress))


def _read(request: ParseRequest, on_progress: Callable[[int, int], None] | None) -> ParsedDocument:
    count, info, found, seconds = 0, About(), [], {}
    for answer in answers_of(request):
        if isinstance(answer, Opened):
            count = answer.page_count
        elif isinstance(answer, About):
            info = answer
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
        metadata=info.metadata,
        outline=info.outline,
        language=info.language,
        stage_seconds=seconds,
        sealed=info.sealed,
    )


def recognise_pages(
    path: str | Path,
    numbers: Sequence[int],
    *,
    password: str | None = None,
    limits: Limits = USUAL_LIMITS,
    background: bool = False,
    is_over: Callable[[], bool] = lambda: False,
) -> Generator[PageRecognised | PageNotRecognised]:
    """Run OCR on the pages; yield one result per page, in that order. Raises ParseFailure.

    ``background``: at a low priority, and only until ``is_over``. Closing the generator stops the work.
    """
    request = RecogniseRequest(_checked(path, limits), tuple(numbers), limits, password, background)
    for answer in answers_of(request, is_over):
        if isinstance(answer, PageRecognised | PageNotRecognised):
            yield answer


def draw_plain_page(
    path: str | Path,
    page_number: int,
    *,
    dpi: int = 144,
    password: str | None = None,
    limits: Limits = USUAL_LIMITS,
) -> bytes:
    """Return a PNG of the page as displayed, without parsing it. Raises ParseFailure."""
    return _produced(PictureRequest(_checked(path, limits), page_number, dpi, limits, password))


def add_text_layer(
    path: str | Path,
    pages: Sequence[ParsedPage],
    *,
    limits: Limits = USUAL_LIMITS,
) -> bytes:
    """Return the PDF with an invisible text layer on its recognised pages. Raises ParseFailure."""
    recognised = tuple(page for page in pages if page.ocr)
    return _produced(TextLayerRequest(_checked(path, limits), recognised, limits))


def without_password(path: str | Path, password: str, *, limits: Limits = USUAL_LIMITS) -> bytes:
    """Return the decrypted PDF. Raises ParseFailure (PASSWORD_PROTECTED for a wrong password)."""
    return _produced(UnlockRequest(_checked(path, limits), password, limits))


def bind_evidence(html: str, files: Sequence[HighlightedFile], *, limits: Limits = USUAL_LIMITS) -> bytes:
    """Return one PDF of the HTML and the files' marked pages, with highlights as annotations.

    Raises ParseFailure.
    """
    for file in files:
        _checked(file.path, limits)
    return _produced(EvidenceRequest(html, tuple(files), limits))


def annotate_file(
    path: str | Path,
    pages: Sequence[HighlightedPage],
    *,
    without: Sequence[int] = (),
    limits: Limits = USUAL_LIMITS,
) -> bytes:
    """Return the PDF with the marks as annotations, and those ``without`` removed. Raises ParseFailure."""
    return _produced(AnnotateRequest(_checked(path, limits), tuple(pages), limits, tuple(without)))


def annotations_in(path: str | Path, *, limits: Limits = USUAL_LIMITS) -> HeldAnnotations:
    """Return the PDF's annotations and its fingerprint. Raises ParseFailure."""
    made = _produced(HeldRequest(_checked(path, limits), limits))
    return msgspec.json.decode(made, type=HeldAnnotations)


def convert_file(path: str | Path, maker: Maker, filetype: str, *, limits: Limits = USUAL_LIMITS) -> bytes:
    """Convert a file of another format to PDF. Raises ParseFailure."""
    return _produced(ConvertRequest(str(Path(path).absolute()), maker, filetype, limits))


def _checked(path: str | Path, limits: Limits) -> str:
    """Return the absolute path. Raises ParseFailure unless the file begins as a PDF and is not too large."""
    path = Path(path).absolute()
    check_header(path)
    if path.stat().st_size > limits.file_bytes:
        raise ParseFailure(FailureCode.TOO_LARGE)
    return str(path)


def _produced(request: Request) -> bytes:
    def produce() -> bytes:
        made = [answer.data for answer in answers_of(request) if isinstance(answer, Produced)]
        if not made:
            raise ParseFailure(FailureCode.INTERNAL, detail="nothing was made")
        return made[0]

    return retry_if_killed(produce)
