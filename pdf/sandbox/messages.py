"""The wire format between the processes of a parse, and the resource limits of one file.

A frame is its length (4 bytes, big endian) and that many bytes of MessagePack, validated by the receiver.
Requests go to the standard input of ``pdf.sandbox.server``, answers come from its standard output; readers
send the same frames through a pipe.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import select
import struct
import sys
import time
from collections.abc import Sequence
from typing import Generic, Literal, TypeVar

import msgspec
from msgspec.structs import replace

from pdf.failures import FailureCode
from pdf.geometry import Rect
from pdf.structure import OutlineEntry, ParsedPage

MIB = 1024 * 1024
# Layout needs a base, and memory per page (measured: 0.5 MB for a dense page of a filing).
_LAYOUT_BYTES, _LAYOUT_PAGE_BYTES = 256 * MIB, 3 * MIB // 4

_READING_SHARE = 0.7


# Wall time per second of CPU time: for a taken-over process that sleeps, and wakes too often to be stuck.
WALL_FOR_CPU, _LEAST_WALL_SECONDS = 100.0, 600.0


def wall_seconds(cpu_seconds: float) -> float:
    """Return the wall time in seconds after which work with this limit of CPU time is given up, stuck or not.

    It got less than a hundredth of a processor.
    """
    return max(_LEAST_WALL_SECONDS, WALL_FOR_CPU * cpu_seconds)


class Limits(msgspec.Struct, frozen=True):
    """Limits on one parse.

    Attributes:
        file_bytes: size of the file.
        pages: number of pages.
        words: number of words of the whole file.
        readers: the number of processes that read one file in parallel.
        memory_bytes: address space of each of them.
        base_seconds, page_seconds: CPU time for the file and for each page. Wall time is bounded by
            ``wall_seconds`` of it, since a busy machine is slow.
        stall_seconds: CPU time per page before it is given up.
        ocr_memory_bytes: address space of the OCR process; its models and a page's picture need more
            than reading does (measured: 1.0 GB).
        ocr_page_seconds: CPU time for OCR of a page (measured: 10 ms a word); the wall time is 45 times that.
        tesseract: languages (``rus+ara``) for Tesseract, where our models recognise little.
    """

    file_bytes: int = 200 * MIB
    pages: int = 5000
    words: int = 5_000_000
    readers: int = 2
    memory_bytes: int = 1024 * MIB
    base_seconds: float = 20.0
    page_seconds: float = 0.2
    stall_seconds: float = 6.0
    ocr_memory_bytes: int = 2048 * MIB
    ocr_page_seconds: float = 40.0
    tesseract: str = ""

    def layout_bytes(self, pages: int) -> int:
        """Return the address space of the layout process, which never opens the file."""
        return max(self.memory_bytes, _LAYOUT_BYTES + pages * _LAYOUT_PAGE_BYTES)

    def seconds(self, pages: int) -> float:
        """Return the CPU time for a file of this many pages."""
        return self.base_seconds + self.page_seconds * pages

    def reading_seconds(self, pages: int) -> float:
        """Return the part of it for reading; the rest is for the layout."""
        return _READING_SHARE * self.seconds(pages)

    @property
    def most_extra_seconds(self) -> float:
        """The most wall time of any further stage."""
        return self.base_seconds + self.pages * 45 * self.ocr_page_seconds


FRAME_BYTES = 256 * MIB
_LENGTH = struct.Struct(">I")
_READ_BYTES = _PIPE_BYTES = 1 << 20

T = TypeVar("T")
Stroke = tuple[tuple[float, float], ...]  # points of a drawn line, in page space
Maker = Literal["image", "book", "text", "markdown", "html"]


class ParseRequest(msgspec.Struct, frozen=True, tag="parse"):
    """Parse the file at ``path``; answer with these pages, all where None.

    Attributes:
        recognised: earlier OCR results (``ParsedPage.recognised``), by page number.
        unrecognised: why the OCR of a page was given up, by page number.
        pictures: also recognise pictures on pages with text.
        recognise: run OCR on pages that need it; otherwise mark them in ``awaits``.
    """

    path: str
    limits: Limits
    pages: tuple[int, ...] | None = None
    password: str | None = None
    recognised: dict[int, bytes] = {}
    unrecognised: dict[int, str] = {}
    recognise: bool = True
    pictures: bool = False


class RecogniseRequest(msgspec.Struct, frozen=True, tag="recognise"):
    """Run OCR on these pages in this order. ``background``: at a low priority."""

    path: str
    pages: tuple[int, ...]
    limits: Limits
    password: str | None = None
    background: bool = False


class PictureRequest(msgspec.Struct, frozen=True, tag="picture"):
    """Render a page as displayed; answer with a PNG."""

    path: str
    page: int
    dpi: int
    limits: Limits
    password: str | None = None


class TextLayerRequest(msgspec.Struct, frozen=True, tag="text_layer"):
    """Add an invisible text layer to the pages; answer with the whole PDF."""

    path: str
    pages: tuple[ParsedPage, ...]
    limits: Limits
    password: str | None = None


class UnlockRequest(msgspec.Struct, frozen=True, tag="unlock"):
    """Answer with the decrypted PDF."""

    path: str
    password: str
    limits: Limits


YELLOW = (1.0, 0.84, 0.29)


class PdfHighlight(msgspec.Struct, frozen=True):
    """Words to highlight.

    Attributes:
        label: printed beside the words.
        rects: in page space.
        note: the annotation's text.
        colour: red, green, blue in 0..1.
        author: the label by default.
        strokes: of a drawing, whose rects are not painted.
    """

    label: str
    rects: tuple[Rect, ...]
    note: str = ""
    colour: tuple[float, float, float] = YELLOW
    underline: bool = False
    author: str = ""
    strokes: tuple[Stroke, ...] = ()


class HeldAnnotation(msgspec.Struct, frozen=True):
    """An annotation in a PDF; rectangles and strokes in page space.

    Attributes:
        xref: the number of its PDF object.
        kind: "highlight", "underline" (lines through or under words), "ink" or "note".
        rects: one per line of words; of a note or drawing, its box.
    """

    page: int
    xref: int
    kind: Literal["highlight", "underline", "ink", "note"]
    rects: tuple[Rect, ...]
    strokes: tuple[Stroke, ...]
    colour: tuple[float, float, float] | None
    note: str


class HeldAnnotations(msgspec.Struct, frozen=True):
    """The annotations of a PDF in order; ``fingerprint`` identifies the file as in pdf.js and Hypothesis."""

    fingerprint: str
    annotations: tuple[HeldAnnotation, ...]


class HighlightedPage(msgspec.Struct, frozen=True):
    """A page of a file, counted from 1, and its highlights."""

    number: int
    marks: tuple[PdfHighlight, ...]


class HighlightedFile(msgspec.Struct, frozen=True):
    path: str
    title: str
    pages: tuple[HighlightedPage, ...]


class EvidenceRequest(msgspec.Struct, frozen=True, tag="evidence"):
    """Combine the HTML and the marked pages of the files; answer with one PDF."""

    html: str
    files: tuple[HighlightedFile, ...]
    limits: Limits


class AnnotateRequest(msgspec.Struct, frozen=True, tag="annotate"):
    """Add the marks as annotations; answer with the whole PDF.

    ``without``: object numbers of annotations to remove.
    """

    path: str
    pages: tuple[HighlightedPage, ...]
    limits: Limits
    without: tuple[int, ...] = ()


class HeldRequest(msgspec.Struct, frozen=True, tag="held"):
    """Answer with the JSON of the file's HeldAnnotations."""

    path: str
    limits: Limits


class ConvertRequest(msgspec.Struct, frozen=True, tag="convert"):
    """Convert a file; answer with a PDF. ``filetype`` is MuPDF's name of the format."""

    path: str
    maker: Maker
    filetype: str
    limits: Limits


class Opened(msgspec.Struct, frozen=True, tag="opened"):
    """The file was opened and has this many pages."""

    page_count: int


class About(msgspec.Struct, frozen=True, tag="about"):
    """The file's own metadata.

    ``tagged``: the structure tags of its pages are used. ``sealed``: as in ``ParsedDocument``.
    """

    metadata: dict[str, str] = {}
    outline: tuple[OutlineEntry, ...] = ()
    language: str = ""
    tagged: bool = False
    sealed: bool = False


class Progress(msgspec.Struct, frozen=True, tag="progress"):
    done: int
    total: int
    stage: str = "read"


class MoreTime(msgspec.Struct, frozen=True, tag="more_time"):
    """A stage begins that may take this many seconds; the client accepts it within the limits."""

    seconds: float


class PageParsed(msgspec.Struct, frozen=True, tag="page"):
    page: ParsedPage


class PageRecognised(msgspec.Struct, frozen=True, tag="page_recognised"):
    """The OCR result of a page, packed as in ``ParsedPage.recognised``."""

    number: int
    packed: bytes


class PageNotRecognised(msgspec.Struct, frozen=True, tag="page_not_recognised"):
    """The page could not be recognised. ``detail`` is for the log."""

    number: int
    code: FailureCode
    detail: str = ""


class Produced(msgspec.Struct, frozen=True, tag="produced"):
    """The requested PNG or PDF."""

    data: bytes


class Failed(msgspec.Struct, frozen=True, tag="failed"):
    """The whole file failed. ``message`` is for users, ``detail`` for the log."""

    code: FailureCode
    message: str = ""
    detail: str = ""


class Finished(msgspec.Struct, frozen=True, tag="finished"):
    """The last answer, with the seconds of each stage."""

    stages: dict[str, float] = {}


Request = (
    ParseRequest
    | RecogniseRequest
    | PictureRequest
    | TextLayerRequest
    | UnlockRequest
    | EvidenceRequest
    | AnnotateRequest
    | HeldRequest
    | ConvertRequest
)
Answer = (
    Opened
    | About
    | Progress
    | MoreTime
    | PageParsed
    | PageRecognised
    | PageNotRecognised
    | Produced
    | Failed
    | Finished
)


def files_of(request: Request) -> list[str]:
    """Return the paths of the files that the request reads."""
    if isinstance(request, EvidenceRequest):
        return [file.path for file in request.files]
    return [request.path]


def with_files(request: Request, paths: Sequence[str]) -> Request:
    """Return the request with other paths, in the order of ``files_of``."""
    if isinstance(request, EvidenceRequest):
        files = [replace(file, path=path) for file, path in zip(request.files, paths, strict=True)]
        return replace(request, files=tuple(files))
    return replace(request, path=paths[0])


_encoder = msgspec.msgpack.Encoder()


def frame(message: object) -> bytes:
    body = _encoder.encode(message)
    return _LENGTH.pack(len(body)) + body


def widen(descriptor: int) -> None:
    """Enlarge a pipe to about 20 dense pages, where the system allows it."""
    if sys.platform == "linux":
        with contextlib.suppress(OSError):
            fcntl.fcntl(descriptor, fcntl.F_SETPIPE_SZ, _PIPE_BYTES)


def send(descriptor: int, message: object) -> None:
    """Write one frame, however slowly the other side reads."""
    rest = memoryview(frame(message))
    while rest:
        rest = rest[os.write(descriptor, rest) :]


class Frames(Generic[T]):
    """Read frames of one type from a pipe."""

    def __init__(self, descriptor: int, kind: object) -> None:
        self._descriptor = descriptor
        self._decoder: msgspec.msgpack.Decoder[T] = msgspec.msgpack.Decoder(kind)
        self._buffer = bytearray()

    def next(self, deadline: float) -> T | None:
        """Return the next message, or None at the end of the stream.

        Raises TimeoutError when ``time.monotonic()`` passes the deadline, and
        msgspec.ValidationError for an invalid message.
        """
        while (body := self._complete()) is None:
            wait = deadline - time.monotonic()
            if wait <= 0 or not select.select([self._descriptor], [], [], wait)[0]:
                raise TimeoutError
            piece = os.read(self._descriptor, _READ_BYTES)
            if not piece:
                return None
            self._buffer += piece
        return self._decoder.decode(body)

    def _complete(self) -> bytes | None:
        if len(self._buffer) < _LENGTH.size:
            return None
        (length,) = _LENGTH.unpack_from(self._buffer)
        if length > FRAME_BYTES:
            raise msgspec.ValidationError(f"a frame of {length} bytes")
        end = _LENGTH.size + length
        if len(self._buffer) < end:
            return None
        body = bytes(self._buffer[_LENGTH.size : end])
        del self._buffer[:end]
        return body
